package webfetch

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"
	"time"
	"unicode/utf16"

	"github.com/JohannesKaufmann/html-to-markdown/v2/converter"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/base"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/commonmark"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/table"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// How much of a page is turned into Markdown. The converter is slow on some pages, in the square of their size, and
// cannot be stopped; these limits keep it under a second or two on any.
const (
	maxHTML  = 4 << 20 // bytes that are parsed
	maxNodes = 50_000  // elements and texts that are converted, without scripts and the like
	maxChars = 1 << 20 // bytes of their text
	maxParse = 2 * time.Second
)

// timedReader ends a page early when reading it takes too long: the parser, too, is slow on pages made for that.
type timedReader struct {
	ctx   context.Context
	r     io.Reader
	until time.Time
	cut   bool
}

func (t *timedReader) Read(b []byte) (int, error) {
	if t.ctx.Err() != nil || time.Now().After(t.until) {
		t.cut = true
		return 0, io.EOF
	}
	return t.r.Read(b)
}

// errNotText says that a body is nothing that a model can read.
type errNotText struct{ kind string }

func (e errNotText) Error() string {
	return fmt.Sprintf("the content is %s, not text; use Bash (curl -o) to save it if it is needed", e.kind)
}

// pageText turns a body into Markdown or plain text. base is where relative links start from.
func pageText(ctx context.Context, body []byte, contentType, base string) (string, error) {
	kind, params, err := mime.ParseMediaType(contentType)
	if err != nil || kind == "" {
		kind, params, _ = mime.ParseMediaType(http.DetectContentType(body))
	}
	switch {
	case kind == "text/html" || kind == "application/xhtml+xml":
		return htmlText(ctx, decode(body, params["charset"]), base)
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
func htmlText(ctx context.Context, page, baseURL string) (text string, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("turning the page into text: %v", p)
		}
	}()
	cut := len(page) > maxHTML
	if cut {
		page = strings.ToValidUTF8(page[:maxHTML], "")
	}
	r := &timedReader{ctx: ctx, r: strings.NewReader(page), until: time.Now().Add(maxParse)}
	doc, err := html.Parse(r)
	cut = cut || r.cut
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	if err != nil {
		return "", fmt.Errorf("reading the page: %w", err)
	}
	title := titleOf(doc)
	cut = prune(doc) || cut
	conv := converter.NewConverter(converter.WithEscapeMode(converter.EscapeModeDisabled), converter.WithPlugins(base.NewBasePlugin(), commonmark.NewCommonmarkPlugin(), table.NewTablePlugin()))
	md, err := conv.ConvertNode(doc, converter.WithDomain(baseURL))
	if err != nil {
		return "", fmt.Errorf("turning the page into text: %w", err)
	}
	text = strings.TrimSpace(string(md))
	if title != "" && !strings.Contains(text[:min(len(text), 500)], title) {
		text = strings.TrimSpace("Title: " + title + "\n\n" + text)
	}
	if cut {
		text += "\n\n[The page is very large; the rest of it was left out.]"
	}
	return text, nil
}

// prune removes what is not text of the page, and all that goes beyond the limits; cut says that there was some.
func prune(doc *html.Node) (cut bool) {
	nodes, chars := 0, 0
	for n := doc; n != nil; {
		next := following(n, true)
		drop := n.Type == html.CommentNode || n.Type == html.ElementNode && notText(n.DataAtom)
		if !drop {
			nodes++
			if n.Type == html.TextNode {
				if room := max(0, maxChars-chars); len(n.Data) > room {
					n.Data, cut = strings.ToValidUTF8(n.Data[:room], ""), true
				}
				chars += len(n.Data)
			}
			for _, a := range n.Attr {
				chars += len(a.Val)
			}
			if nodes > maxNodes || chars > maxChars {
				drop, cut = true, true
			}
		}
		if drop && n.Parent != nil {
			next = following(n, false)
			n.Parent.RemoveChild(n)
		}
		n = next
	}
	return cut
}

// following is the next node in the order of the page, below n only where inside is set.
func following(n *html.Node, inside bool) *html.Node {
	if inside && n.FirstChild != nil {
		return n.FirstChild
	}
	for ; n != nil; n = n.Parent {
		if n.NextSibling != nil {
			return n.NextSibling
		}
	}
	return nil
}

func notText(a atom.Atom) bool {
	switch a {
	case atom.Script, atom.Style, atom.Noscript, atom.Svg, atom.Canvas, atom.Template, atom.Iframe, atom.Object, atom.Select,
		atom.Button, atom.Dialog, atom.Audio, atom.Video, atom.Link, atom.Meta:
		return true
	}
	return false
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
