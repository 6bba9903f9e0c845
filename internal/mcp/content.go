package mcp

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"lathe/internal/msg"
	"lathe/internal/token"
)

const (
	maxText   = 50_000  // characters of a result
	maxTokens = 25_000  // MAX_MCP_OUTPUT_TOKENS
	maxImage  = 5 << 20 // base64 characters that the API takes
	headChars = 4_000   // of a saved result, shown
)

// content turns a result into blocks.
func (s *Set) content(res *sdk.CallToolResult, t Tool) Result {
	out := Result{IsError: res.IsError}
	name := Prefix(t.Server) + normalize(t.Name)
	for _, c := range res.Content {
		out.Blocks = append(out.Blocks, s.block(c, name)...)
	}
	if res.StructuredContent != nil {
		if raw, err := json.Marshal(res.StructuredContent); err == nil {
			out.Structured = raw
			if !hasText(out.Blocks) {
				out.Blocks = append(out.Blocks, msg.Text(string(raw)))
			}
		}
	}
	out.Blocks = s.fit(out.Blocks, t.MaxResult, name)
	if len(out.Blocks) == 0 {
		out.Blocks = []msg.Block{msg.Text("(no output)")}
	}
	out.Output = out.Blocks
	return out
}

func hasText(blocks []msg.Block) bool {
	for _, b := range blocks {
		if b.Type == msg.TypeText && strings.TrimSpace(b.Text) != "" {
			return true
		}
	}
	return false
}

// block turns one piece of content into blocks. What a model cannot take is saved, and its place told.
func (s *Set) block(c sdk.Content, name string) []msg.Block {
	switch v := c.(type) {
	case *sdk.TextContent:
		return text(v.Text)
	case *sdk.ImageContent:
		return []msg.Block{s.image(v.Data, v.MIMEType, name)}
	case *sdk.AudioContent:
		return []msg.Block{s.saved(v.Data, v.MIMEType, "audio", name)}
	case *sdk.ResourceLink:
		line := "Resource " + v.URI
		if d := strings.Join(nonEmpty(or(v.Title, v.Name), v.Description, v.MIMEType), ", "); d != "" {
			line += " (" + d + ")"
		}
		return text(line)
	case *sdk.EmbeddedResource:
		if v.Resource == nil {
			return nil
		}
		return s.resource(v.Resource, name)
	}
	raw, err := json.Marshal(c)
	if err != nil {
		return nil
	}
	return text(string(raw))
}

func text(s string) []msg.Block {
	if strings.TrimSpace(s) == "" {
		return nil
	}
	return []msg.Block{msg.Text(strings.ToValidUTF8(s, "�"))}
}

// resource shows the content of a resource.
func (s *Set) resource(r *sdk.ResourceContents, name string) []msg.Block {
	if r.Blob == nil {
		return text(fmt.Sprintf("[Resource %s]\n%s", r.URI, r.Text))
	}
	b := s.saved(r.Blob, r.MIMEType, "binary content of "+r.URI, name)
	if isImage(r.Blob) {
		b = s.image(r.Blob, r.MIMEType, name)
	}
	return []msg.Block{b}
}

func isImage(data []byte) bool { return imageType(data) != "" }

// imageType looks at the content; what a server says of it does not count.
func imageType(data []byte) string {
	switch t := http.DetectContentType(data); t {
	case "image/png", "image/jpeg", "image/gif", "image/webp":
		return t
	}
	return ""
}

func (s *Set) image(data []byte, mime, name string) msg.Block {
	if t := imageType(data); t != "" && base64.StdEncoding.EncodedLen(len(data)) <= maxImage {
		return msg.Image(t, base64.StdEncoding.EncodeToString(data))
	}
	return s.saved(data, mime, "an image", name)
}

// saved keeps binary content in a file.
func (s *Set) saved(data []byte, mime, what, name string) msg.Block {
	about := strings.Join(nonEmpty(mime, fmt.Sprintf("%d bytes", len(data))), ", ")
	if s.deps.Spill != nil {
		if path, err := s.deps.Spill(name+extension(mime), data); err == nil {
			return msg.Text(fmt.Sprintf("[%s (%s) was saved as %s]", what, about, path))
		}
	}
	return msg.Text(fmt.Sprintf("[%s (%s) cannot be shown]", what, about))
}

func extension(mime string) string {
	kind, sub, _ := strings.Cut(strings.ToLower(strings.TrimSpace(strings.Split(mime, ";")[0])), "/")
	switch sub {
	case "mpeg":
		return ".mp3"
	case "x-wav", "wave":
		return ".wav"
	case "svg+xml":
		return ".svg"
	case "plain":
		return ".txt"
	}
	if kind == "" || sub == "" || normalize(sub) != sub || len(sub) > 8 {
		return ".bin"
	}
	return "." + sub
}

func nonEmpty(list ...string) []string {
	var out []string
	for _, s := range list {
		if s = strings.TrimSpace(s); s != "" {
			out = append(out, s)
		}
	}
	return out
}

// fit keeps the texts of a result within its limit. A longer text is saved whole, and its head shown.
func (s *Set) fit(blocks []msg.Block, own int, name string) []msg.Block {
	var all strings.Builder
	for _, b := range blocks {
		if b.Type == msg.TypeText {
			if all.Len() > 0 {
				all.WriteString("\n")
			}
			all.WriteString(b.Text)
		}
	}
	whole := all.String()
	limit := s.number("MAX_MCP_OUTPUT_TOKENS", maxTokens)
	switch {
	case own > 0 && len(whole) <= own:
		return blocks
	case own == 0 && (len(whole) <= maxText || s.deps.Getenv("MAX_MCP_OUTPUT_TOKENS") != "") && (len(whole) < limit || token.Text(whole) <= limit):
		return blocks
	}
	where := "and could not be saved"
	if s.deps.Spill != nil {
		if path, err := s.deps.Spill(name+textExtension(whole), []byte(whole)); err == nil {
			where = "saved whole as " + path + ": read it there in parts, or search it"
		}
	}
	head := cut(whole, min(headChars, max(200, limit)))
	out := []msg.Block{msg.Text(fmt.Sprintf("[The result is too long: %d characters, about %d tokens, %s. It begins:]\n%s", len(whole), token.Text(whole), where, head))}
	for _, b := range blocks {
		if b.Type != msg.TypeText {
			out = append(out, b)
		}
	}
	return out
}

func textExtension(s string) string {
	if json.Valid([]byte(s)) {
		return ".json"
	}
	return ".txt"
}
