package markdown

import (
	"net/url"
	"strings"
	"unicode/utf8"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	gmtext "github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	"lathe/internal/event"
	"lathe/internal/front/tui/theme"
	"lathe/internal/front/tui/width"
)

// references are the addresses that [name]: lines defined so far.
type references struct {
	parser parser.Parser
	known  []parser.Reference
}

// parse parses text as one paragraph.
func (r *Renderer) parse(src []byte) ast.Node {
	if r.refs.parser == nil {
		r.refs.parser = parser.NewParser(
			parser.WithBlockParsers(util.Prioritized(parser.NewParagraphParser(), 1000)),
			parser.WithInlineParsers(append(parser.DefaultInlineParsers(), util.Prioritized(strikeParser{}, 500))...),
			parser.WithParagraphTransformers(parser.DefaultParagraphTransformers()...),
		)
	}
	ctx := parser.NewContext()
	for _, ref := range r.refs.known {
		ctx.AddReference(ref)
	}
	tree := r.refs.parser.Parse(gmtext.NewReader(src), parser.WithContext(ctx))
	r.refs.known = ctx.References()
	return tree
}

// run is text of one style. A run that ends a line has text "\n".
type run struct {
	text  string
	style theme.Style
	link  string
	code  bool
}

// inline renders what stands inside a block: a line for each of its lines.
func (r *Renderer) inline(src string, base theme.Style) []width.Line {
	if r.drafting && len(src) > openBytes {
		src = "…" + src[len(src)-openBytes+utf8.UTFMax:]
		for i := 0; i < utf8.UTFMax && !utf8.RuneStart(src[len("…")]); i++ {
			src = "…" + src[len("…")+1:]
		}
	}
	if plainText(src) {
		var out []width.Line
		for line := range strings.SplitSeq(src, "\n") {
			out = append(out, width.Line{Text: base.Paint(strings.TrimSpace(line))})
		}
		return out
	}
	w := inliner{r: r, src: []byte(src)}
	tree := r.parse(w.src)
	for n := tree.FirstChild(); n != nil; n = n.NextSibling() {
		if len(w.runs) > 0 {
			w.add("\n", "")
		}
		w.children(n, base)
	}
	if len(w.runs) == 0 { // nothing but definitions of links: show them
		return []width.Line{{Text: r.opts.Theme.Muted.Paint(strings.ReplaceAll(src, "\n", " "))}}
	}
	return r.lines(w.runs)
}

// plainText reports that nothing in the text could be markup, which is so for most lines.
func plainText(s string) bool {
	return !strings.ContainsAny(s, "*_`[]<>&\\~!") && !strings.Contains(s, "://") && !strings.Contains(s, "  \n")
}

type inliner struct {
	r    *Renderer
	src  []byte
	runs []run
}

func (w *inliner) add(text string, style theme.Style) { w.put(run{text: text, style: style}) }

func (w *inliner) put(n run) {
	if n.text == "" {
		return
	}
	if k := len(w.runs); k > 0 && n.text != "\n" && w.runs[k-1].text != "\n" {
		if l := &w.runs[k-1]; l.style == n.style && l.link == n.link && l.code == n.code {
			l.text += n.text
			return
		}
	}
	w.runs = append(w.runs, n)
}

func (w *inliner) children(n ast.Node, style theme.Style) {
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		w.node(c, style)
	}
}

func (w *inliner) node(n ast.Node, style theme.Style) {
	th := w.r.opts.Theme
	switch n := n.(type) {
	case *ast.Text:
		w.add(decoded(n.Segment.Value(w.src)), style)
		if n.SoftLineBreak() || n.HardLineBreak() {
			w.add("\n", "")
		}
	case *ast.String:
		w.add(decoded(n.Value), style)
	case *ast.CodeSpan:
		text := ""
		for c := n.FirstChild(); c != nil; c = c.NextSibling() {
			if t, ok := c.(*ast.Text); ok {
				text += string(t.Segment.Value(w.src))
			}
		}
		if th.Depth <= theme.Mono {
			text = "`" + text + "`"
		}
		w.put(run{text: event.InertLine(strings.ReplaceAll(text, "\n", " ")), style: style.With(th.Code), code: true})
	case *ast.Emphasis:
		s := th.Emph
		if n.Level > 1 {
			s = th.Strong
		}
		w.marked(n, style.With(s), strings.Repeat("*", n.Level))
	case *strike:
		w.marked(n, style.With(th.Strike), "~~")
	case *ast.Link:
		w.link(n, string(n.Destination), style)
	case *ast.AutoLink:
		w.put(run{text: event.InertLine(string(n.Label(w.src))), style: style.With(th.Link), link: string(n.URL(w.src))})
	case *ast.Image:
		w.add("[image: ", style)
		w.children(n, style)
		w.add("]", style)
		w.add(" ("+event.InertLine(string(n.Destination))+")", style.With(th.Muted))
	case *ast.RawHTML:
		for i := range n.Segments.Len() {
			seg := n.Segments.At(i)
			w.lines(string(seg.Value(w.src)), style.With(th.Muted))
		}
	default:
		w.children(n, style)
	}
}

// marked shows the marks themselves where styles cannot be seen.
func (w *inliner) marked(n ast.Node, style theme.Style, mark string) {
	plain := w.r.opts.Theme.Depth == theme.Plain
	if plain {
		w.add(mark, style)
	}
	w.children(n, style)
	if plain {
		w.add(mark, style)
	}
}

func (w *inliner) lines(text string, style theme.Style) {
	for i, l := range strings.Split(text, "\n") {
		if i > 0 {
			w.add("\n", "")
		}
		w.add(event.InertLine(l), style)
	}
}

// link shows the address too, unless the terminal has it and the text does not pretend to be another one.
func (w *inliner) link(n ast.Node, dest string, style theme.Style) {
	th := w.r.opts.Theme
	from := len(w.runs)
	w.put(run{text: "\x00", link: "\x00"}) // keeps the text apart from what stands before
	w.children(n, style.With(th.Link))
	text := ""
	for i := from + 1; i < len(w.runs); i++ {
		text += w.runs[i].text
		if w.runs[i].text != "\n" {
			w.runs[i].link = dest
		}
	}
	w.runs = append(w.runs[:from], w.runs[from+1:]...)
	if dest != text && dest != "" && (!w.r.opts.Links || !linkable(dest) || pretends(text, dest)) {
		w.put(run{text: " (" + event.InertLine(dest) + ")", style: style.With(th.Muted), code: true})
	}
}

// pretends reports a text that looks like an address but is not that of the link.
func pretends(text, dest string) bool {
	if !strings.Contains(text, ".") || strings.ContainsAny(text, " \n") {
		return false
	}
	u, err := url.Parse(dest)
	return err != nil || u.Host != "" && !strings.HasPrefix(strings.TrimPrefix(strings.TrimPrefix(text, "https://"), "http://"), u.Host)
}

// linkable reports an address that may be clicked: of the web. Others open files and programs.
func linkable(dest string) bool {
	return strings.HasPrefix(dest, "https://") || strings.HasPrefix(dest, "http://")
}

// decoded resolves escapes and entities, and makes the result inert again.
func decoded(b []byte) string {
	b = util.UnescapePunctuations(b)
	if i := strings.IndexByte(string(b), '&'); i >= 0 {
		b = util.ResolveNumericReferences(b)
		b = util.ResolveEntityNames(b)
	}
	return event.InertLine(string(b))
}

// lines writes runs as lines with their styles and links.
func (r *Renderer) lines(runs []run) []width.Line {
	var out []width.Line
	var b strings.Builder
	end := func() {
		out = append(out, width.Line{Text: strings.TrimRight(b.String(), " ")})
		b.Reset()
	}
	for _, n := range runs {
		switch {
		case n.text == "\n":
			end()
		case n.link != "":
			b.WriteString(r.address(n.link, n.style.Paint(n.text)))
		case !n.code && strings.Contains(n.text, "://"):
			r.bare(&b, n)
		default:
			b.WriteString(n.style.Paint(n.text))
		}
	}
	end()
	return out
}

func (r *Renderer) address(dest, text string) string {
	if !r.opts.Links || !linkable(dest) {
		return text
	}
	return width.Link(dest, text)
}

// bare finds addresses that stand in the text as they are. Terminals find them too, so they get no OSC 8 link.
func (r *Renderer) bare(b *strings.Builder, n run) {
	s := n.text
	for {
		i := strings.Index(s, "http")
		for i >= 0 && !strings.HasPrefix(s[i:], "http://") && !strings.HasPrefix(s[i:], "https://") {
			k := strings.Index(s[i+4:], "http")
			if k < 0 {
				i = -1
				break
			}
			i += 4 + k
		}
		if i < 0 {
			b.WriteString(n.style.Paint(s))
			return
		}
		end := i
		for end < len(s) && s[end] > ' ' && s[end] < 0x7f && !strings.ContainsRune("<>\"`|", rune(s[end])) {
			end++
		}
		for end > i && (strings.IndexByte(".,;:!?'*_", s[end-1]) >= 0 || s[end-1] == ')' && strings.Count(s[i:end], "(") < strings.Count(s[i:end], ")") ||
			s[end-1] == ']') {
			end--
		}
		b.WriteString(n.style.Paint(s[:i]))
		b.WriteString(n.style.With(r.opts.Theme.Link).Paint(s[i:end]))
		s = s[end:]
	}
}
