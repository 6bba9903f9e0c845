package tools

import (
	"encoding/json"
	"strings"

	"lathe/internal/msg"
)

// replaced is what the model is shown of an output that a hook gave in the place of a tool's own: a text as it is; content
// of MCP or of the API, alone or in an object; the text of a command's or a file's structured result; anything else as JSON.
func replaced(out json.RawMessage) []msg.Block {
	var text string
	if json.Unmarshal(out, &text) == nil {
		return []msg.Block{msg.Text(text)}
	}
	if b := contentBlocks(out); b != nil {
		return b
	}
	var o struct {
		Content json.RawMessage `json:"content"`
		Stdout  *string         `json:"stdout"`
		Stderr  string          `json:"stderr"`
		File    struct {
			Content *string `json:"content"`
		} `json:"file"`
	}
	if json.Unmarshal(out, &o) == nil {
		if b := contentBlocks(o.Content); b != nil {
			return b
		}
		switch {
		case o.Stdout != nil:
			return []msg.Block{msg.Text(strings.Join(nonEmpty(*o.Stdout, o.Stderr), "\n"))}
		case o.File.Content != nil:
			return []msg.Block{msg.Text(*o.File.Content)}
		}
	}
	return []msg.Block{msg.Text(string(out))}
}

// contentBlocks reads a list of text and image blocks; nil when it is anything else.
func contentBlocks(raw json.RawMessage) []msg.Block {
	var list []struct {
		Type   string      `json:"type"`
		Text   string      `json:"text"`
		Data   string      `json:"data"`
		Mime   string      `json:"mimeType"`
		Source *msg.Source `json:"source"`
	}
	if len(raw) == 0 || json.Unmarshal(raw, &list) != nil || len(list) == 0 {
		return nil
	}
	out := make([]msg.Block, 0, len(list))
	for _, b := range list {
		switch {
		case b.Type == msg.TypeText:
			out = append(out, msg.Text(b.Text))
		case b.Type == msg.TypeImage && b.Source != nil && b.Source.Type == "base64":
			out = append(out, msg.Image(b.Source.MediaType, b.Source.Data))
		case b.Type == msg.TypeImage && b.Data != "":
			out = append(out, msg.Image(b.Mime, b.Data))
		default:
			return nil
		}
	}
	return out
}

func nonEmpty(parts ...string) []string {
	var out []string
	for _, p := range parts {
		if p != "" {
			out = append(out, p)
		}
	}
	return out
}
