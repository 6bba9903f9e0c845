package markdown

import (
	"strings"

	"lathe/internal/front/tui/table"
	"lathe/internal/front/tui/width"
)

// tableLines renders a table's rows, the second of which tells the alignments.
func (r *Renderer) tableLines(rows []string, room int) []width.Line {
	if r.drafting && len(rows) > openRows+2 {
		rows = append(rows[:2:2], rows[len(rows)-openRows:]...)
	}
	t := table.Table{Aligns: alignments(rows[1])}
	t.Head = r.cellsOf(rows[0], len(t.Aligns))
	for _, row := range rows[2:] {
		t.Rows = append(t.Rows, r.cellsOf(row, len(t.Aligns)))
	}
	return table.Fit(r.opts.Theme, t, room)
}

func alignments(row string) []byte {
	cs := cells(row)
	out := make([]byte, len(cs))
	for i, c := range cs {
		left, right := strings.HasPrefix(c, ":"), strings.HasSuffix(c, ":")
		switch {
		case left && right:
			out[i] = 'c'
		case right:
			out[i] = 'r'
		default:
			out[i] = 'l'
		}
	}
	return out
}

// cellsOf renders a row's cells: exactly n of them.
func (r *Renderer) cellsOf(row string, n int) []string {
	out := make([]string, n)
	for i, c := range cells(row) {
		if i == n {
			break
		}
		var texts []string
		for _, l := range r.inline(c, "") {
			texts = append(texts, l.Text)
		}
		out[i] = strings.Join(texts, " ")
	}
	return out
}
