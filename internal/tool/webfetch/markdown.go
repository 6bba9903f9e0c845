package webfetch

import (
	"bytes"
	"fmt"
	"mime"
	"net/http"
	"strings"
	"unicode/utf16"

	"github.com/JohannesKaufmann/html-to-markdown/v2/converter"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/base"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/commonmark"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/table"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// maxHTML is how much of a page is turned into Markdown; it bounds the time that this takes.
const maxHTML = 4 << 20

// errNotText says that a body is nothing that a model can read.
type errNotText struct{ kind string }

func (e errNotText) Error() string {
	return fmt.Sprintf("the content is %s, not text; use Bash (curl -o) to save it if it is needed", e.kind)
}

// pageText turns a body into Markdown or plain text. base is where relative links start from.
func pageText(body []byte, contentType, base string) (string, error) {
	kind, params, err := mime.ParseMediaType(contentType)
	if err != nil || kind == "" {
		kind, params, _ = mime.ParseMediaType(http.DetectContentType(body))
	}
	switch {
	case kind == "text/html" || kind == "application/xhtml+xml":
		return htmlText(decode(body, params["charset"]), base)
	case isText(kind):
		return decode(body, params["charset"]), nil
	}
	return "", errNotText{kind}
}

func isText(kind string) bool {
	switch kind {
	case "application/json", "application/xml", "application/javascript", "application/x-javascript", "application/ecmascript",
		"application/yaml", "application/x-yaml", "application/toml", "application/x-sh", "application/x-ndjson",
		"application/jsonl", "application/sql", "application/graphql", "application/rtf", "image/svg+xml":
		return true
	}
	return strings.HasPrefix(kind, "text/") || strings.HasSuffix(kind, "+json") || strings.HasSuffix(kind, "+xml") ||
		strings.HasSuffix(kind, "+yaml")
}

// decode makes UTF-8 of a body: of UTF-16 by its mark or name, of the Latin-1 family by name, or as it is.
func decode(body []byte, charset string) string {
	charset = strings.ToLower(charset)
	switch {
	case bytes.HasPrefix(body, []byte{0xef, 0xbb, 0xbf}):
		body = body[3:]
	case bytes.HasPrefix(body, []byte{0xff, 0xfe}):
		return fromUTF16(body[2:], false)
	case bytes.HasPrefix(body, []byte{0xfe, 0xff}):
		return fromUTF16(body[2:], true)
	case charset == "utf-16le" || charset == "utf-16":
		return fromUTF16(body, false)
	case charset == "utf-16be":
		return fromUTF16(body, true)
	case charset == "iso-8859-1" || charset == "latin1" || charset == "windows-1252" || charset == "iso-8859-15":
		return fromLatin(body)
	}
	return strings.ToValidUTF8(string(body), "\ufffd")
}

func fromUTF16(b []byte, big bool) string {
	units := make([]uint16, 0, len(b)/2)
	for i := 0; i+1 < len(b); i += 2 {
		u := uint16(b[i]) | uint16(b[i+1])<<8
		if big {
			u = u<<8 | u>>8
		}
		units = append(units, u)
	}
	return string(utf16.Decode(units))
}

// fromLatin reads Windows-1252, as browsers do for all of these names.
func fromLatin(b []byte) string {
	const c1 = "€\u0081‚ƒ„…†‡ˆ‰Š‹Œ\u008dŽ\u008f\u0090‘’“”•–—˜™š›œ\u009džŸ"
	high := []rune(c1)
	var out strings.Builder
	for _, c := range b {
		if c >= 0x80 && c < 0xa0 {
			out.WriteRune(high[c-0x80])
			continue
		}
		out.WriteRune(rune(c))
	}
	return out.String()
}

// htmlText converts a page. A fault of the converter becomes an error: its input is whatever a server sends.
func htmlText(page, baseURL string) (text string, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("turning the page into text: %v", p)
		}
	}()
	cut := len(page) > maxHTML
	if cut {
		page = strings.ToValidUTF8(page[:maxHTML], "")
	}
	doc, err := html.Parse(strings.NewReader(page))
	if err != nil {
		return "", fmt.Errorf("reading the page: %w", err)
	}
	title := titleOf(doc)
	conv := converter.NewConverter(converter.WithPlugins(base.NewBasePlugin(), commonmark.NewCommonmarkPlugin(), table.NewTablePlugin()))
	for _, tag := range []string{"svg", "canvas", "template", "dialog", "button", "select"} {
		conv.Register.TagType(tag, converter.TagTypeRemove, converter.PriorityStandard)
	}
	md, err := conv.ConvertNode(doc, converter.WithDomain(baseURL))
	if err != nil {
		return "", fmt.Errorf("turning the page into text: %w", err)
	}
	text = strings.TrimSpace(string(md))
	if title != "" && !strings.Contains(text[:min(len(text), 500)], title) {
		text = strings.TrimSpace("Title: " + title + "\n\n" + text)
	}
	if cut {
		text += fmt.Sprintf("\n\n[The page is longer than %d MB; the rest was left out.]", maxHTML>>20)
	}
	return text, nil
}

func titleOf(doc *html.Node) string {
	for n := range doc.Descendants() {
		if n.DataAtom == atom.Title && n.FirstChild != nil {
			return strings.Join(strings.Fields(n.FirstChild.Data), " ")
		}
		if n.DataAtom == atom.Body {
			break
		}
	}
	return ""
}
