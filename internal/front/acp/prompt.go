package acp

import (
	"net/url"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"unicode"

	"lathe/internal/event"
	"lathe/internal/msg"
)

// promptOf makes a prompt of content blocks. Text stays text; a link to a file becomes a mention, as if it had been
// typed; what is embedded goes along as blocks of its own, in which nothing is looked for.
func promptOf(blocks []content) (event.Prompt, error) {
	var p event.Prompt
	var text strings.Builder
	for _, c := range blocks {
		switch c.Type {
		case "text":
			text.WriteString(c.Text)
		case "resource_link":
			inline(&text, linked(c))
		case "image":
			if c.Data == "" {
				return p, fault(codeParams, "an image without data")
			}
			p.Blocks = append(p.Blocks, msg.Image(c.MimeType, c.Data))
		case "resource":
			if c.Resource == nil {
				return p, fault(codeParams, "a resource block without a resource")
			}
			p.Blocks = append(p.Blocks, embedded(*c.Resource)...)
			inline(&text, "["+label(c.Resource.URI)+"]("+c.Resource.URI+")")
		default:
			return p, fault(codeParams, "content of type %q cannot be sent to the model", c.Type)
		}
	}
	p.Text = text.String()
	return p, nil
}

// inline writes a word into running text, apart from what stands before it.
func inline(b *strings.Builder, word string) {
	if s := b.String(); s != "" && !unicode.IsSpace(rune(s[len(s)-1])) {
		b.WriteByte(' ')
	}
	b.WriteString(word + " ")
}

// linked is how a link stands in the text: a mention when it names a file.
func linked(c content) string {
	path, from, to := fileOf(c.URI)
	if path == "" {
		return "[" + c.Name + "](" + c.URI + ")"
	}
	if from != "" {
		path += "#L" + from
		if to != "" {
			path += "-" + to
		}
	}
	if strings.ContainsFunc(path, unicode.IsSpace) || strings.ContainsAny(path, "'`") {
		return `@"` + path + `"`
	}
	return "@" + path
}

var lines = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^L?(\d+)(?:[-:]L?(\d+))?$`) })

// fileOf takes a file URI apart: the path, and the lines that its fragment names.
func fileOf(uri string) (path, from, to string) {
	u, err := url.Parse(uri)
	if err != nil || u.Scheme != "file" {
		return "", "", ""
	}
	path = u.Path
	if runtime.GOOS == "windows" {
		path = strings.TrimPrefix(path, "/")
	}
	if m := lines().FindStringSubmatch(u.Fragment); m != nil {
		from, to = m[1], m[2]
	}
	return filepath.FromSlash(path), from, to
}

func label(uri string) string {
	if path, _, _ := fileOf(uri); path != "" {
		return filepath.Base(path)
	}
	return uri
}

// embedded is a resource that came along whole.
func embedded(r resource) []msg.Block {
	if r.Text != nil {
		return []msg.Block{msg.Text("<resource uri=\"" + r.URI + "\">\n" + *r.Text + "\n</resource>")}
	}
	switch r.MimeType {
	case "image/png", "image/jpeg", "image/gif", "image/webp":
		return []msg.Block{msg.Image(r.MimeType, r.Blob)}
	case "application/pdf":
		return []msg.Block{{Type: msg.TypeDocument, Source: &msg.Source{Type: "base64", MediaType: r.MimeType, Data: r.Blob}}}
	}
	return []msg.Block{msg.Text("<resource uri=\"" + r.URI + "\">binary content of type " + r.MimeType + ", not shown</resource>")}
}
