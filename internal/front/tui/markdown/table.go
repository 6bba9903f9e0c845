package markdown

import (
	"strings"

	"lathe/internal/front/tui/width"
)

// tableLines fits a table to room cells: columns side by side with wrapped cells, or, when that would leave too little
// for each, every row as a list of "header: cell".
func (r *Renderer) tableLines(rows []string, room int) []width.Line {
	th := r.opts.Theme
	aligns := alignments(rows[1])
	head := r.cellsOf(rows[0], len(aligns))
	body := make([][]string, 0, len(rows)-2)
	for _, row := range rows[2:] {
		body = append(body, r.cellsOf(row, len(aligns)))
	}
	cols, ok := columns(append([][]string{head}, body...), room)
	if !ok {
		return r.stacked(head, body)
	}
	for i, h := range head {
		head[i] = th.Strong.Paint(h)
	}
	t := grid{cols: cols, aligns: aligns}
	out := t.row(nil, head)
	var rule strings.Builder
	for i, w := range cols {
		if i > 0 {
			rule.WriteString("┼")
		}
		n := w + 2
		if i == 0 {
			n--
		}
		if i == len(cols)-1 {
			n--
		}
		rule.WriteString(strings.Repeat("─", n))
	}
	out = append(out, width.Line{Text: th.Border.Paint(rule.String()), Fixed: true})
	for _, row := range body {
		out = t.row(out, row)
	}
	return out
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

const (
	// minColumn is the least that a column is made narrower to; words up to maxWord stay whole.
	minColumn = 8
	maxWord   = 24
	// On a screen narrower than narrow no cell may become higher than maxHeight rows.
	narrow    = 60
	maxHeight = 4
)

// columns finds the width of each column so that a row has at most room cells, with three between columns. Wide
// columns give first. It reports false when that cannot be, or not well.
func columns(rows [][]string, room int) ([]int, bool) {
	cols, least := make([]int, len(rows[0])), make([]int, len(rows[0]))
	for _, row := range rows {
		for i, c := range row {
			w := width.Of(c)
			cols[i] = max(cols[i], w)
			least[i] = max(least[i], min(w, minColumn), min(longestWord(c), maxWord))
		}
	}
	screen := room
	room -= 3 * (len(cols) - 1)
	if sum(cols, cols, room) <= room {
		return cols, true
	}
	if len(cols) == 0 || sum(least, least, room) > room {
		return nil, false
	}
	low, high := 1, room // the greatest limit of widths that fits
	for low < high {
		mid := (low + high + 1) / 2
		if sum(cols, least, mid) <= room {
			low = mid
		} else {
			high = mid - 1
		}
	}
	left := room - sum(cols, least, low)
	for i, w := range cols {
		cols[i] = max(least[i], min(w, low))
		if extra := min(left, w-cols[i]); extra > 0 {
			cols[i] += extra
			left -= extra
		}
	}
	if screen < narrow {
		for _, row := range rows {
			for i, c := range row {
				if len(width.Breaks(c, cols[i], cols[i])) > maxHeight {
					return nil, false
				}
			}
		}
	}
	return cols, true
}

// sum is the total of widths cut to limit, but not below least.
func sum(cols, least []int, limit int) int {
	total := 0
	for i, w := range cols {
		total += max(least[i], min(w, limit))
	}
	return total
}

// longestWord is the width of the longest part that should not be broken. Text of wide characters breaks anywhere.
func longestWord(s string) int {
	longest := 0
	for word := range strings.FieldsSeq(s) {
		if strings.IndexFunc(word, func(r rune) bool { return r >= 0x1100 }) < 0 {
			longest = max(longest, width.Of(word))
		}
	}
	return longest
}

type grid struct {
	cols   []int
	aligns []byte
}

// row adds the lines of one row: as many as its tallest cell.
func (t *grid) row(out []width.Line, texts []string) []width.Line {
	wrapped := make([][]string, len(t.cols))
	height := 1
	for i, w := range t.cols {
		wrapped[i] = width.Line{Text: texts[i]}.Rows(max(w, 1))
		height = max(height, len(wrapped[i]))
	}
	for k := range height {
		var b strings.Builder
		for i, w := range t.cols {
			text := ""
			if k < len(wrapped[i]) {
				text = wrapped[i][k]
			}
			pad := max(0, w-width.Of(text))
			left := 0
			switch t.aligns[i] {
			case 'r':
				left = pad
			case 'c':
				left = pad / 2
			}
			b.WriteString(width.Spaces(left) + text)
			if i < len(t.cols)-1 {
				b.WriteString(width.Spaces(pad-left) + " │ ")
			}
		}
		out = append(out, width.Line{Text: strings.TrimRight(b.String(), " "), Fixed: true})
	}
	return out
}

// stacked shows each row as lines of "header: cell", for narrow screens.
func (r *Renderer) stacked(head []string, body [][]string) []width.Line {
	th := r.opts.Theme
	var out []width.Line
	for i, row := range body {
		if i > 0 {
			out = append(out, width.Line{})
		}
		for k, c := range row {
			if c == "" {
				continue
			}
			label := th.Strong.Paint(head[k] + ":")
			if head[k] == "" {
				label = "-"
			}
			out = append(out, width.Line{Text: label + " " + c, Hang: "  "})
		}
	}
	if len(body) == 0 {
		out = append(out, width.Line{Text: th.Strong.Paint(strings.Join(head, ", "))})
	}
	return out
}
