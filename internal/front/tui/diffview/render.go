package diffview

import (
	"fmt"
	"strconv"
	"strings"

	"lathe/internal/front/tui/highlight"
	"lathe/internal/front/tui/theme"
	"lathe/internal/front/tui/width"
)

// SideBySide is the width from which Render takes two columns.
const SideBySide = 120

// View says how to show a diff.
type View struct {
	Theme *theme.Theme
	Width int
	Path  string // its extension tells the language
	// Unified keeps one column at any width.
	Unified bool
	// Accept, if not nil, gives each hunk a mark; Selected is the hunk that the keys act on, -1 for none.
	Accept   []bool
	Selected int
	// NoHighlight leaves code without the colours of its language.
	NoHighlight bool
}

// Page is a rendered diff. Lines of one column may be longer than the screen; they wrap behind the numbers.
type Page struct {
	Lines  []width.Line
	HunkAt []int // the line where each hunk begins
}

// Render shows the diff.
func (d *Diff) Render(v View) Page {
	r := renderer{View: v, th: v.Theme}
	if r.th == nil {
		r.th = &theme.Theme{}
	}
	r.Width = max(r.Width, 20)
	r.digits = len(strconv.Itoa(d.lastNumber()))
	end := 1 // the first old line after the hunk before
	for i := range d.Hunks {
		h := &d.Hunks[i]
		r.page.HunkAt = append(r.page.HunkAt, len(r.page.Lines))
		r.header(h, i, len(d.Hunks), h.OldStart-end)
		end = h.OldStart + h.OldLines
		painted := r.paint(h)
		if r.Width >= SideBySide && !r.Unified {
			r.twoColumns(h, painted)
		} else {
			r.oneColumn(h, painted)
		}
	}
	if d.old != nil && len(d.Hunks) > 0 {
		if n := len(d.old) - end + 1; n > 0 {
			r.gap(n)
		}
	}
	return r.page
}

func (d *Diff) lastNumber() int {
	n := 1
	for _, h := range d.Hunks {
		n = max(n, h.OldStart+h.OldLines-1, h.NewStart+h.NewLines-1)
	}
	return n
}

type renderer struct {
	View
	th     *theme.Theme
	digits int
	page   Page
}

func (r *renderer) add(l width.Line) { r.page.Lines = append(r.page.Lines, l) }

func (r *renderer) gap(n int) {
	unit := "lines"
	if n == 1 {
		unit = "line"
	}
	r.add(width.Line{Text: r.th.Faint.Paint(fmt.Sprintf("⋯ %d unchanged %s", n, unit))})
}

// header stands before a hunk when there is something to say: a mark, or what was left out.
func (r *renderer) header(h *Hunk, i, total, left int) {
	if r.Accept == nil {
		if left > 0 {
			r.gap(left)
		}
		return
	}
	mark := "[ ]"
	if i < len(r.Accept) && r.Accept[i] {
		mark = "[x]"
	}
	text := fmt.Sprintf("%s change %d of %d, line %d", mark, i+1, total, max(h.NewStart, 1))
	if i == r.Selected {
		r.add(width.Line{Text: r.th.Accent.Paint("› " + text)})
		return
	}
	r.add(width.Line{Text: r.th.Muted.Paint("  " + text)})
}

// paint is the text of each row with its styles.
func (r *renderer) paint(h *Hunk) []string {
	oldScan, newScan := highlight.New(r.Path), highlight.New(r.Path)
	partners := pair(h.Rows)
	out := make([]string, len(h.Rows))
	for i, row := range h.Rows {
		text := width.Inert(row.Text)
		var spans []highlight.Span
		if !r.NoHighlight {
			scan := newScan
			if row.Kind == '-' {
				scan = oldScan
			}
			spans = scan.Line(text)
			if row.Kind == ' ' {
				oldScan.Line(text)
			}
		}
		var words [][2]int
		if p := partners[i]; p >= 0 {
			words = changed(text, width.Inert(h.Rows[p].Text))
		}
		out[i] = r.compose(row.Kind, text, spans, words)
		if row.NoEOL {
			out[i] += r.th.Faint.Paint(" (no line end)")
		}
	}
	return out
}

// compose puts the background of the line, the colours of the language and the emphasis of words together.
func (r *renderer) compose(kind byte, text string, spans []highlight.Span, words [][2]int) string {
	var line, word theme.Style
	switch kind {
	case '-':
		line, word = r.th.Removed, r.th.RemovedWord
	case '+':
		line, word = r.th.Added, r.th.AddedWord
	}
	if kind != ' ' && r.th.Depth <= theme.ANSI { // there the line's own colour says more than that of its words
		spans = nil
	}
	if line == "" && word == "" && len(spans) == 0 {
		return text
	}
	var b strings.Builder
	open := theme.Style("")
	for at := 0; at < len(text); {
		for len(spans) > 0 && spans[0].End <= at {
			spans = spans[1:]
		}
		for len(words) > 0 && words[0][1] <= at {
			words = words[1:]
		}
		style, end := line, len(text)
		if len(spans) > 0 {
			if spans[0].Start <= at {
				style, end = style.With(highlight.Style(r.th, spans[0].Kind)), spans[0].End
			} else {
				end = spans[0].Start
			}
		}
		if len(words) > 0 {
			if words[0][0] <= at {
				style, end = style.With(word), min(end, words[0][1])
			} else {
				end = min(end, words[0][0])
			}
		}
		if style != open {
			if open != "" {
				b.WriteString(theme.Reset)
			}
			b.WriteString(style.Open())
			open = style
		}
		b.WriteString(text[at:end])
		at = end
	}
	if open != "" {
		b.WriteString(theme.Reset)
	}
	return b.String()
}

// number is a line number in its column; 0 leaves it empty.
func (r *renderer) number(n int) string {
	if n == 0 {
		return width.Spaces(r.digits)
	}
	s := strconv.Itoa(n)
	return width.Spaces(r.digits-len(s)) + s
}

func (r *renderer) sign(kind byte) string {
	switch kind {
	case '-':
		return r.th.RemovedSign.Paint("-")
	case '+':
		return r.th.AddedSign.Paint("+")
	}
	return " "
}

// oneColumn shows old and new numbers where there is room, else the one that counts for the row.
func (r *renderer) oneColumn(h *Hunk, painted []string) {
	both := r.Width >= 60
	cells := r.digits + 3
	if both {
		cells += r.digits + 1
	}
	for i, row := range h.Rows {
		n := r.number(row.NewNo)
		switch {
		case both:
			n = r.number(row.OldNo) + " " + n
		case row.NewNo == 0:
			n = r.number(row.OldNo)
		}
		text := r.th.Faint.Paint(n) + " " + r.sign(row.Kind) + " " + painted[i]
		r.add(width.Line{Text: strings.TrimRight(text, " "), Hang: width.Spaces(cells)})
	}
}

// twoColumns shows the old text at the left and the new one at the right, rows that belong together side by side.
func (r *renderer) twoColumns(h *Hunk, painted []string) {
	column := (r.Width - 3) / 2
	partners := pair(h.Rows)
	for i := 0; i < len(h.Rows); {
		if h.Rows[i].Kind == ' ' {
			r.pairOf(h, painted, i, i, column)
			i++
			continue
		}
		del := i
		for i < len(h.Rows) && h.Rows[i].Kind == '-' {
			i++
		}
		add := i
		for i < len(h.Rows) && h.Rows[i].Kind == '+' {
			i++
		}
		r.block(h, painted, partners, [3]int{del, add, i}, column)
	}
}

// block puts the removed rows [b0, b1) beside the added rows [b1, b2): partners in one row, the others with what is
// free.
func (r *renderer) block(h *Hunk, painted []string, partners []int, b [3]int, column int) {
	left, right := b[0], b[1]
	for left < b[1] || right < b[2] {
		switch {
		case left < b[1] && right < b[2] && (partners[left] == right || partners[left] < 0 && partners[right] < 0):
			r.pairOf(h, painted, left, right, column)
			left, right = left+1, right+1
		case left < b[1] && (partners[left] < 0 || right >= b[2]):
			r.pairOf(h, painted, left, -1, column)
			left++
		default:
			r.pairOf(h, painted, -1, right, column)
			right++
		}
	}
}

// pairOf writes one row of two columns; -1 leaves a side empty. What does not fit wraps in its column.
func (r *renderer) pairOf(h *Hunk, painted []string, left, right, column int) {
	var l, n []string
	if left >= 0 {
		l = r.cell(h.Rows[left].OldNo, h.Rows[left].Kind, painted[left], column)
	}
	if right >= 0 {
		n = r.cell(h.Rows[right].NewNo, h.Rows[right].Kind, painted[right], column)
	}
	for k := range max(len(l), len(n)) {
		a, b := "", ""
		if k < len(l) {
			a = l[k]
		}
		if k < len(n) {
			b = n[k]
		}
		text := a + width.Spaces(column-width.Of(a)) + r.th.Border.Paint(" │ ") + b
		r.add(width.Line{Text: strings.TrimRight(text, " "), Fixed: true})
	}
}

func (r *renderer) cell(no int, kind byte, text string, column int) []string {
	l := width.Line{Text: r.th.Faint.Paint(r.number(no)) + " " + r.sign(kind) + " " + text, Hang: width.Spaces(r.digits + 3)}
	return l.Rows(column)
}
