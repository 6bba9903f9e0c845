package markdown

import (
	"strings"

	"lathe/internal/front/tui/highlight"
	"lathe/internal/front/tui/theme"
	"lathe/internal/front/tui/width"
)

// doc is a document, an item of a list or a quote: a sequence of blocks, of which the last is open.
type doc struct {
	r      *Renderer
	out    *[]width.Line // of the outermost
	parent *doc

	first, next string // what stands before the first line and the others
	hang        string // what stands before the rows into which a line is wrapped
	used        bool   // first was written
	depth       int    // of lists

	any   bool // something was written
	blank bool // a blank line is due before what comes next

	leaf  []string // lines of the open paragraph or table
	table bool
	fence *fence
	child *doc
	item  int // cells that the content of child is indented by; 0 for a quote
	list  list
}

// list is the list that the last item belongs to.
type list struct {
	marker byte // '-', '*', '+', '.' or ')'; 0 for none
	number int
}

type fence struct {
	mark   byte
	length int
	indent int
	code   highlight.Scanner
	known  bool
}

func (d *doc) clone(parent *doc) *doc {
	c := *d
	c.parent = parent
	c.leaf = d.leaf[:len(d.leaf):len(d.leaf)]
	if d.fence != nil {
		f := *d.fence
		f.code = d.fence.code.Fork()
		c.fence = &f
	}
	if d.child != nil {
		c.child = d.child.clone(&c)
	}
	return &c
}

// put writes a finished line.
func (d *doc) put(l width.Line) {
	if d.blank {
		if d.any {
			d.raw(width.Line{})
		}
		d.blank = false
	}
	d.any = true
	d.raw(l)
}

func (d *doc) raw(l width.Line) {
	if d.parent == nil {
		*d.out = append(*d.out, l)
		return
	}
	prefix := d.next
	if !d.used {
		prefix, d.used = d.first, true
	}
	if l.Text == "" {
		prefix = strings.TrimRight(prefix, " ")
	}
	d.parent.put(width.Line{Text: prefix + l.Text, Hang: d.hang + l.Hang, Fixed: l.Fixed, Prose: l.Prose})
}

// room is how many cells a line may have.
func (d *doc) room() int {
	n := d.r.opts.Width
	for p := d; p != nil; p = p.parent {
		n -= width.Of(p.hang)
	}
	return max(n, 10)
}

// line takes the next line, which is complete and inert.
func (d *doc) line(s string) {
	if d.child != nil && d.toChild(s) {
		return
	}
	if d.fence != nil {
		d.codeLine(s)
		return
	}
	text, indent := lead(s)
	switch {
	case text == "":
		d.flush()
		d.blank = true
	case indent >= 4 && len(d.leaf) == 0:
		d.list = list{}
		d.put(width.Line{Text: d.r.opts.Theme.Code.Paint(width.Tabs(dedent(s, 4)))})
	case indent < 4 && d.startsBlock(text, indent):
	default:
		d.paragraph(width.Tabs(text))
	}
}

// startsBlock takes a line that starts something other than a paragraph.
func (d *doc) startsBlock(text string, indent int) bool {
	if len(d.leaf) > 0 && !d.table && d.underline(text) {
		return true
	}
	switch text[0] {
	case '#':
		if level := headingLevel(text); level > 0 {
			d.flush()
			d.heading(level, width.Tabs(strings.Trim(strings.TrimRight(strings.TrimLeft(text, "#"), "# \t"), " \t")))
			return true
		}
	case '`', '~':
		if f := opensFence(text, indent); f != nil {
			d.flush()
			d.openFence(f, text)
			return true
		}
	case '>':
		d.flush()
		d.list = list{}
		d.openQuote()
		d.child.line(strings.TrimPrefix(text[1:], " "))
		return true
	}
	if isRule(text) {
		d.flush()
		d.list = list{}
		d.put(width.Line{Text: d.r.opts.Theme.Border.Paint(strings.Repeat("─", min(24, d.room()))), Fixed: true})
		return true
	}
	if m, ok := readMarker(text); ok && (len(d.leaf) == 0 || m.rest != "" && (m.kind != '.' && m.kind != ')' || m.number == 1)) {
		d.flush()
		d.openItem(m, indent)
		return true
	}
	return false
}

// toChild gives the line to the open item or quote. It reports false after it closed that, when the line is for d.
func (d *doc) toChild(s string) bool {
	text, indent := lead(s)
	switch {
	case d.item == 0 && indent < 4 && strings.HasPrefix(text, ">"):
		d.child.line(strings.TrimPrefix(text[1:], " "))
		return true
	case d.item > 0 && text == "":
		d.child.line("")
		return true
	case d.item > 0 && indent >= d.item:
		d.child.line(dedent(s, d.item))
		return true
	case d.item > 2 && indent >= 2 && d.child.fence == nil: // below "1." many indent by two
		if _, ok := readMarker(text); ok {
			d.child.line(text)
			return true
		}
	}
	if text != "" && d.child.lazy() && !startsAny(text, indent) {
		d.child.line(text)
		return true
	}
	d.closeChild()
	return false
}

// lazy reports that a paragraph is open in the innermost child: a line without indent goes on with it.
func (d *doc) lazy() bool {
	for d.child != nil {
		d = d.child
	}
	return d.fence == nil && len(d.leaf) > 0 && !d.table
}

func startsAny(text string, indent int) bool {
	if indent >= 4 {
		return false
	}
	_, item := readMarker(text)
	return item || text[0] == '>' || headingLevel(text) > 0 || opensFence(text, indent) != nil || isRule(text)
}

func (d *doc) open(child *doc, item int) {
	child.r, child.parent, child.depth = d.r, d, d.depth
	d.child, d.item = child, item
}

func (d *doc) closeChild() {
	c := d.child
	c.finish()
	if !c.used { // an item without content
		c.raw(width.Line{Text: ""})
	}
	d.child = nil
	d.blank = d.blank || c.blank
}

// openQuote begins a quote. Its bar is a background, so that it can stand in every row into which a line is wrapped, and a copy
// has spaces there. It is not in the first column: where a terminal scrolls for a row that it wraps, it may fill that with
// the background which is in force.
func (d *doc) openQuote() {
	bar := d.r.opts.Theme.QuoteBar
	begin, hang := " "+bar.Paint("│")+" ", " "+bar.Paint(" ")+" "
	if bar == "" {
		hang = begin
	}
	d.open(&doc{first: begin, next: begin, hang: hang}, 0)
}

func (d *doc) openItem(m marker, indent int) {
	th := d.r.opts.Theme
	if d.list.marker == m.kind {
		d.list.number++
	} else {
		d.list = list{m.kind, m.number}
	}
	bullet := bullets[min(d.depth, len(bullets)-1)]
	if m.kind == '.' || m.kind == ')' {
		bullet = itoa(d.list.number) + string(m.kind)
	}
	cells := width.Of(bullet) + 1
	if m.task != "" {
		bullet, cells = m.task, len(m.task)+1
		if m.task == "[x]" {
			bullet = th.Success.Paint(m.task)
		}
	}
	d.open(&doc{first: bullet + " ", next: width.Spaces(cells), hang: width.Spaces(cells)}, indent+m.width)
	d.child.depth = d.depth + 1
	if m.rest != "" {
		d.child.line(m.rest)
	}
}

var bullets = []string{"•", "◦", "▪"}

// finish ends all that is open.
func (d *doc) finish() {
	if d.child != nil {
		d.closeChild()
	}
	d.flush()
	if d.fence != nil {
		d.closeFence()
	}
}

func (d *doc) heading(level int, text string) {
	th := d.r.opts.Theme
	d.list = list{}
	d.blank = true
	style := th.Heading
	if level > 2 {
		style = th.Strong
	}
	if th.Depth == theme.Plain {
		text = strings.Repeat("#", level) + " " + text
	}
	d.prose(text, style)
	d.blank = true
}

// underline takes a line of = or - below a paragraph, which makes it a heading.
func (d *doc) underline(text string) bool {
	text = strings.TrimRight(text, " ")
	if strings.Trim(text, "=") != "" && strings.Trim(text, "-") != "" {
		return false
	}
	level := 1
	if text[0] == '-' {
		level = 2
	}
	lines := strings.Join(d.leaf, " ")
	d.leaf = nil
	d.heading(level, lines)
	return true
}

func (d *doc) openFence(f *fence, text string) {
	th := d.r.opts.Theme
	d.list = list{}
	info, _, _ := strings.Cut(strings.TrimLeft(text[f.length:], " "), " ")
	f.code = *highlight.New(strings.Trim(info, "{}."))
	f.known = f.code.Known() && !d.r.opts.NoHighlight
	d.fence = f
	if th.Depth <= theme.Mono { // no colours: the fence tells what is code
		d.put(width.Line{Text: th.Faint.Paint(text)})
	}
}

func (d *doc) codeLine(s string) {
	f, th := d.fence, d.r.opts.Theme
	text, indent := lead(s)
	text = strings.TrimRight(text, " \t")
	if indent < 4 && len(text) >= f.length && strings.Trim(text, string(f.mark)) == "" {
		d.closeFence()
		return
	}
	s = width.Tabs(dedent(s, f.indent))
	if f.known {
		s = highlight.Paint(th, s, f.code.Line(s))
	} else {
		s = th.Code.Paint(s)
	}
	d.put(width.Line{Text: s})
}

func (d *doc) closeFence() {
	th := d.r.opts.Theme
	if th.Depth <= theme.Mono {
		d.put(width.Line{Text: th.Faint.Paint(strings.Repeat(string(d.fence.mark), d.fence.length))})
	}
	d.fence = nil
}

func (d *doc) paragraph(text string) {
	d.list = list{}
	if !d.table && len(d.leaf) > 0 && isDelimiterRow(text) {
		last := d.leaf[len(d.leaf)-1]
		if n := len(cells(last)); n == len(cells(text)) && strings.Contains(last+text, "|") {
			before := d.leaf[:len(d.leaf)-1]
			if len(before) > 0 {
				d.leaf = before
				d.flush()
			}
			d.leaf, d.table = []string{last}, true
		}
	}
	d.leaf = append(d.leaf, text)
}

// flush ends the open paragraph or table.
func (d *doc) flush() {
	lines, table := d.leaf, d.table
	if len(lines) == 0 {
		return
	}
	d.leaf, d.table = nil, false
	if table {
		for _, l := range d.r.tableLines(lines, d.room()) {
			d.put(l)
		}
		return
	}
	d.prose(strings.Join(lines, "\n"), "")
}

// prose writes what stands inside of a block, which is wrapped at words.
func (d *doc) prose(text string, style theme.Style) {
	for _, l := range d.r.inline(text, style) {
		l.Prose = true
		d.put(l)
	}
}
