package editor

import (
	"strings"

	"lathe/internal/front/tui/width"
)

// tabCells is how wide a tab is shown.
const tabCells = 4

// View is the text as it stands on the screen.
type View struct {
	Rows     []Row
	Row, Col int // the cursor's cell
}

// Row is one row: Text is plain, with labels for placeholders and spaces for tabs. Soft rows go on in the next one.
type Row struct {
	Text   string
	Labels [][2]int // byte ranges of Text that are labels of placeholders
	Soft   bool

	cells      []cell
	plain      bool // Text is the text itself, a cell a byte; cells are not made
	start, end int  // range in the editor's text; end of a hard row is before its line end
}

type cell struct {
	pos  int // in the editor's text
	text string
	w    int
	part bool
	head bool // the first cell of its character
}

// SetWidth sets the cells of a row; at least two, so that wide characters fit.
func (e *Editor) SetWidth(cols int) {
	if cols = max(cols, 2); cols != e.width {
		e.width, e.view = cols, nil
	}
}

// View lays the text out. It is cached until text, cursor or width change; do not change what it returns.
func (e *Editor) View() *View {
	if e.view == nil {
		e.view = e.layout()
	}
	return e.view
}

func (e *Editor) layout() *View {
	v := &View{}
	for start := 0; ; {
		end := e.lineEnd(start)
		if line := e.text[start:end]; len(line) <= e.width && isPlain(line) {
			v.Rows = append(v.Rows, Row{Text: line, plain: true, start: start, end: end})
		} else {
			v.Rows = append(v.Rows, wrap(e.cells(start, end), start, end, e.width)...)
		}
		if end == len(e.text) {
			break
		}
		start = end + 1
	}
	for i := range v.Rows {
		r := &v.Rows[i]
		if e.cur < r.start || e.cur > r.end || e.cur == r.end && r.Soft {
			continue
		}
		v.Row, v.Col = i, r.column(e.cur)
		if v.Col >= e.width { // behind a full row: the cursor stands at the start of the next
			v.Rows = append(v.Rows[:i+1], append([]Row{{start: r.end, end: r.end}}, v.Rows[i+1:]...)...)
			v.Rows[i].Soft = true
			v.Row, v.Col = i+1, 0
		}
		break
	}
	for i := range v.Rows {
		v.Rows[i].write()
	}
	return v
}

// cells are the cells of one logical line.
func (e *Editor) cells(start, end int) []cell {
	out := make([]cell, 0, end-start)
	for pos := start; pos < end; {
		n := e.size(pos)
		if p, ok := e.partAt(pos); ok {
			for i, s := 0, p.Label; s != ""; i++ {
				k, w := width.Next(s)
				out = append(out, cell{pos, s[:k], w, true, i == 0})
				s = s[k:]
			}
		} else if e.text[pos] == '\t' {
			out = append(out, cell{pos, width.Spaces(tabCells), tabCells, false, true})
		} else {
			text := e.text[pos : pos+n]
			out = append(out, cell{pos, text, width.Of(text), false, true})
		}
		pos += n
	}
	return out
}

// wrap breaks a line's cells into rows. It breaks after blanks, next to wide characters, or anywhere in a word that is
// longer than a row. A blank takes part like any character, so each position has a cell of its own.
func wrap(cells []cell, start, end, cols int) []Row {
	var rows []Row
	from, used, good := 0, 0, -1
	for i := 0; i < len(cells); i++ {
		c := cells[i]
		w := min(c.w, cols)
		if i > from && (c.w == 2 || cells[i-1].w == 2 || isBlank(cells[i-1])) {
			good = i
		}
		for used+w > cols && i > from {
			if good <= from {
				good = i
			}
			rows = append(rows, Row{cells: cells[from:good], Soft: true})
			from, used = good, 0
			for _, c := range cells[good:i] {
				used += min(c.w, cols)
			}
			good = -1
		}
		used += w
	}
	rows = append(rows, Row{cells: cells[from:]})
	for i := range rows {
		rows[i].start = start
		if i > 0 {
			rows[i].start = rows[i].cells[0].pos
			rows[i-1].end = rows[i].start
		}
	}
	rows[len(rows)-1].end = end
	return rows
}

func isPlain(s string) bool {
	for i := range len(s) {
		if s[i] < 0x20 || s[i] > 0x7e {
			return false
		}
	}
	return true
}

func isBlank(c cell) bool { return c.text[0] == ' ' }

// column is the cell of pos in the row.
func (r *Row) column(pos int) int {
	if r.plain {
		return pos - r.start
	}
	col := 0
	for _, c := range r.cells {
		if c.pos >= pos && c.head {
			break
		}
		if c.pos >= pos { // the row starts inside a placeholder
			continue
		}
		col += c.w
	}
	return col
}

// at is the position whose cell covers or precedes a column.
func (r *Row) at(col int) int {
	if r.plain {
		return min(r.start+col, r.end)
	}
	x := 0
	for _, c := range r.cells {
		if x+c.w > col {
			return c.pos
		}
		x += c.w
	}
	return r.end
}

// part are the bytes of Text that show [from, to) of the editor's text.
func (r *Row) part(from, to int) (a, b int) {
	if r.plain {
		a = min(max(from, r.start), r.end) - r.start
		return a, max(a, min(to, r.end)-r.start)
	}
	pos, started := 0, false
	for _, c := range r.cells {
		if c.pos >= from && c.pos < to {
			if !started {
				a, started = pos, true
			}
			b = pos + len(c.text)
		}
		pos += len(c.text)
	}
	return a, b
}

func (r *Row) write() {
	if r.plain {
		return
	}
	var b strings.Builder
	for _, c := range r.cells {
		if c.part {
			if n := len(r.Labels); n > 0 && r.Labels[n-1][1] == b.Len() && !c.head {
				r.Labels[n-1][1] += len(c.text)
			} else {
				r.Labels = append(r.Labels, [2]int{b.Len(), b.Len() + len(c.text)})
			}
		}
		b.WriteString(c.text)
	}
	r.Text = b.String()
}

// up moves to the row above; in the first row it is a key of the history.
func (e *Editor) up() Result {
	v := e.View()
	if v.Row == 0 {
		return HistoryPrev
	}
	e.vertical(v, v.Row-1)
	return Done
}

func (e *Editor) down() Result {
	v := e.View()
	if v.Row == len(v.Rows)-1 {
		return HistoryNext
	}
	e.vertical(v, v.Row+1)
	return Done
}

func (e *Editor) vertical(v *View, row int) {
	goal, r := e.goal, &v.Rows[row]
	if goal < 0 {
		goal = v.Col
	}
	pos := r.at(goal)
	if pos >= r.end && r.Soft && r.end > r.start { // the end of a soft row is the start of the next
		pos = e.prev(r.end)
	}
	switch { // a placeholder may span rows: always make way
	case row > v.Row && pos <= e.cur:
		pos = e.next(e.cur)
	case row < v.Row && pos >= e.cur:
		pos = e.prev(e.cur)
	}
	e.moveTo(pos)
	e.goal = goal
}
