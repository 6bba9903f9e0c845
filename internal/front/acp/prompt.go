package acp

import (
	"fmt"
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
			inline(&text, link(label(c.Resource.URI), c.Resource.URI))
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

// link is how something with a name and a URI stands in the text. Both may come from anywhere (a file can be called
// anything): they stay within the link, and mention nothing.
func link(name, uri string) string {
	name = strings.NewReplacer("[", `\[`, "]", `\]`, "@", `\@`).Replace(event.InertLine(name))
	return "[" + name + "](" + cleanURI(uri) + ")"
}

// cleanURI encodes what may not stand in a URI as it is, or would end it where it is written.
func cleanURI(uri string) string {
	var b strings.Builder
	for _, r := range uri {
		if r > ' ' && unicode.IsPrint(r) && !strings.ContainsRune("\"<>()`\\", r) {
			b.WriteRune(r)
			continue
		}
		for _, c := range []byte(string(r)) {
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}

// linked is how a link stands in the text: a mention when it names a file, and can be one.
func linked(c content) string {
	path, from, to := fileOf(c.URI)
	if path == "" || strings.ContainsAny(path, "\"\r\n") {
		return link(c.Name, c.URI)
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

var marks = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?i)<(\s*/?\s*resource\b)`) })

// embedded is a resource that came along whole. Its text stays within the marks: what would end them is spelled so that
// it does not.
func embedded(r resource) []msg.Block {
	head := "<resource uri=\"" + cleanURI(r.URI) + "\">"
	if r.Text != nil {
		return []msg.Block{msg.Text(head + "\n" + marks().ReplaceAllString(*r.Text, `<\$1`) + "\n</resource>")}
	}
	switch r.MimeType {
	case "image/png", "image/jpeg", "image/gif", "image/webp":
		return []msg.Block{msg.Image(r.MimeType, r.Blob)}
	case "application/pdf":
		return []msg.Block{{Type: msg.TypeDocument, Source: &msg.Source{Type: "base64", MediaType: r.MimeType, Data: r.Blob}}}
	}
	return []msg.Block{msg.Text(head + "binary content of type " + cleanURI(r.MimeType) + ", not shown</resource>")}
}
