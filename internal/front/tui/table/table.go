package table

import (
	"strings"

	"lathe/internal/front/tui/theme"
	"lathe/internal/front/tui/width"
)

// Table is text in rows and columns. Cells may carry styles; rows have as many cells as Head.
type Table struct {
	Head   []string
	Rows   [][]string
	Aligns []byte // 'l', 'r' or 'c' a column; left where there is none
}

// Fit returns the lines of the table in at most room cells: columns side by side with wrapped cells, or, when that would
// leave too little for each, every row as a list of "header: cell".
func Fit(th *theme.Theme, t Table, room int) []width.Line {
	cols, ok := columns(append([][]string{t.Head}, t.Rows...), room)
	if !ok {
		return stacked(th, t.Head, t.Rows, room)
	}
	head := make([]string, len(t.Head))
	for i, h := range t.Head {
		head[i] = th.Strong.Paint(h)
	}
	g := grid{cols: cols, aligns: t.Aligns}
	out := g.row(nil, head)
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
	for _, row := range t.Rows {
		out = g.row(out, row)
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
			switch t.align(i) {
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

func (t *grid) align(i int) byte {
	if i < len(t.aligns) {
		return t.aligns[i]
	}
	return 'l'
}

// stacked shows each row as lines of "header: cell", for narrow screens.
func stacked(th *theme.Theme, head []string, body [][]string, room int) []width.Line {
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
			if word := longestWord(c); word > max(room/2, room-width.Of(label)-1) && word <= room-2 { // whole, in a row below
				out = append(out, width.Line{Text: label}, width.Line{Text: "  " + c, Hang: "  ", Prose: true})
				continue
			}
			out = append(out, width.Line{Text: label + " " + c, Hang: "  ", Prose: true})
		}
	}
	if len(body) == 0 {
		out = append(out, width.Line{Text: th.Strong.Paint(strings.Join(head, ", "))})
	}
	return out
}
