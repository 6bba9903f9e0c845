package markdown

import (
	"bytes"
	"strings"

	"lathe/internal/event"
	"lathe/internal/front/tui/theme"
	"lathe/internal/front/tui/width"
)

// Options say how to render.
type Options struct {
	Theme *theme.Theme
	// Width is the screen's, in cells. Only tables and rules are fitted to it.
	Width int
	// Links makes OSC 8 links; without, a link's address stands behind its text.
	Links bool
	// NoHighlight leaves code blocks without colours of a language.
	NoHighlight bool
}

// Renderer renders one text. It is not safe for concurrent use.
type Renderer struct {
	opts Options
	tail []byte // the last line, which has no end yet
	doc  *doc
	out  []width.Line
	refs references

	drafting bool         // Open is at work
	open     []width.Line // of Open, until something is fed
	opened   bool
}

// New returns a renderer for one text.
func New(o Options) *Renderer {
	if o.Theme == nil {
		o.Theme = &theme.Theme{}
	}
	if o.Width <= 0 {
		o.Width = 80
	}
	r := &Renderer{opts: o}
	r.doc = &doc{r: r, out: &r.out}
	return r
}

// Feed adds a piece and returns the lines that are finished by it.
func (r *Renderer) Feed(delta string) []width.Line {
	r.opened = false
	for {
		line, rest, ended := strings.Cut(delta, "\n")
		r.tail = append(r.tail, line...)
		if !ended {
			break
		}
		r.doc.line(normal(r.tail))
		r.tail, delta = r.tail[:0], rest
	}
	return r.take()
}

// What Open renders of a block that is longer than any screen: the end of it.
const (
	openBytes = 8 << 10
	openRows  = 100
)

// Open returns the lines that would be finished if the text ended here; of a very long block only the last ones. They are
// valid until the next call.
func (r *Renderer) Open() []width.Line {
	if !r.opened {
		r.opened = true
		var out []width.Line
		d := r.doc.clone(nil)
		d.out = &out
		known := r.refs.known
		r.drafting = true
		if len(r.tail) > 0 {
			d.line(normal(r.tail))
		}
		d.finish()
		r.drafting = false
		r.refs.known = known
		r.open = out
	}
	return r.open
}

// Resize takes a new width of the screen, for what is not finished yet.
func (r *Renderer) Resize(cols int) { r.opts.Width, r.opened = max(1, cols), false }

// Close ends the text and returns the last lines.
func (r *Renderer) Close() []width.Line {
	r.opened = false
	if len(r.tail) > 0 {
		r.doc.line(normal(r.tail))
		r.tail = nil
	}
	r.doc.finish()
	return r.take()
}

func (r *Renderer) take() []width.Line {
	out := r.out
	r.out = nil
	return out
}

// normal makes a line inert; tabs stay for the blocks to count.
func normal(line []byte) string { return event.Inert(string(bytes.TrimSuffix(line, []byte("\r")))) }
