package picture

import (
	"fmt"
	"slices"
	"strings"

	"lathe/internal/front/tui/theme"
	"lathe/internal/front/tui/width"
)

// Usage is what fills a context window, in the form of the documented answer to get_context_usage.
type Usage struct {
	Model      string     `json:"model"`
	Max        int        `json:"maxTokens"`
	Total      int        `json:"totalTokens"`
	Categories []Category `json:"categories"`
}

// Category is one kind of content. Kinds are "used", "free", "buffer" (kept free for compaction) and "deferred" (known,
// not loaded); anything else counts as used.
type Category struct {
	Name   string `json:"name"`
	Tokens int    `json:"tokens"`
	Kind   string `json:"kind"`
}

// side is the number of squares in a row and of rows: each square is a hundredth of the window.
const side = 10

// marks tell the categories apart where there are no colours.
var marks = []rune("■▲●◆▼★▰◉")

// Context draws the window as a grid of squares with a legend, beside each other where there is room.
func Context(th *theme.Theme, u Usage, cols int) []width.Line {
	squares, legend := grid(th, u), legend(th, u)
	title := fmt.Sprintf("%s of %s tokens (%s)", Tokens(u.Total), Tokens(u.Max), percent(u.Total, u.Max))
	if u.Model != "" {
		title = width.Inert(u.Model) + " · " + title
	}
	out := []width.Line{{Text: th.Strong.Paint(title)}, {}}
	gridCells := 2*side - 1
	if cols < gridCells+4+28 {
		for _, row := range squares {
			out = append(out, width.Line{Text: row, Fixed: true})
		}
		out = append(out, width.Line{})
		for _, l := range legend {
			out = append(out, width.Line{Text: l, Hang: "  "})
		}
		return out
	}
	for i := range max(len(squares), len(legend)) {
		left, right := width.Spaces(gridCells), ""
		if i < len(squares) {
			left = squares[i]
		}
		if i < len(legend) {
			right = legend[i]
		}
		out = append(out, width.Line{Text: width.Cut(strings.TrimRight(left+"    "+right, " "), cols, "…"), Fixed: true})
	}
	return out
}

// look is the style and the mark of a category.
func look(th *theme.Theme, c Category, used int) (theme.Style, string) {
	switch c.Kind {
	case "free":
		return th.Faint, "·"
	case "buffer":
		return th.Faint, "░"
	case "deferred":
		return th.Muted, "□"
	}
	if th.Depth > theme.Mono {
		return th.Series[used%len(th.Series)], "■"
	}
	return "", string(marks[used%len(marks)])
}

func grid(th *theme.Theme, u Usage) []string {
	var all []string
	used := 0
	counts := share(u)
	for i, c := range u.Categories {
		style, mark := look(th, c, used)
		if c.Kind != "free" && c.Kind != "buffer" && c.Kind != "deferred" {
			used++
		}
		for range counts[i] {
			all = append(all, style.Paint(mark))
		}
	}
	for len(all) < side*side {
		all = append(all, th.Faint.Paint("·"))
	}
	var out []string
	for row := range slices.Chunk(all, side) {
		out = append(out, strings.Join(row, " "))
	}
	return out
}

// share gives each category its squares. What is used has, together, as many as it fills of the window, one at least;
// they go to its categories in turn, so that one which is too small for a square has none.
func share(u Usage) []int {
	const all = side * side
	counts := make([]int, len(u.Categories))
	window, used := 0, 0
	for _, c := range u.Categories {
		switch c.Kind {
		case "deferred":
			continue
		case "free", "buffer":
		default:
			used += c.Tokens
		}
		window += c.Tokens
	}
	window = max(window, u.Max, 1)
	filled := 0
	if used > 0 {
		filled = max(1, (used*all+window/2)/window)
	}
	sum, before := filled, 0
	for i, c := range u.Categories {
		switch c.Kind {
		case "deferred":
		case "free", "buffer":
			counts[i] = min(all-sum, (c.Tokens*all+window/2)/window)
			sum += counts[i]
		default:
			to := before + c.Tokens
			counts[i] = cell(to, filled, used) - cell(before, filled, used)
			before = to
		}
	}
	return counts
}

// cell is the square at which a part of the used tokens ends.
func cell(part, filled, used int) int { return (part*filled + used/2) / max(1, used) }

// legend is a line a category: mark, name, tokens, share. Names are cut to what stays readable.
func legend(th *theme.Theme, u Usage) []string {
	names, tokens := 0, 0
	for _, c := range u.Categories {
		names = max(names, width.Of(width.Inert(c.Name)))
		tokens = max(tokens, len(Tokens(c.Tokens)))
	}
	names = min(names, 24)
	var out []string
	used := 0
	for _, c := range u.Categories {
		style, mark := look(th, c, used)
		share := percent(c.Tokens, u.Max)
		switch c.Kind {
		case "free", "buffer":
		case "deferred":
			share = "not loaded"
		default:
			used++
		}
		n := Tokens(c.Tokens)
		out = append(out, style.Paint(mark)+" "+width.Fit(width.Inert(c.Name), names)+"  "+width.Spaces(tokens-len(n))+n+"  "+th.Muted.Paint(share))
	}
	return out
}

func percent(n, of int) string {
	if of <= 0 {
		return "–"
	}
	p := float64(n) * 100 / float64(of)
	switch {
	case n > 0 && p < 0.1:
		return "<0.1%"
	case p < 10:
		return fmt.Sprintf("%.1f%%", p)
	}
	return fmt.Sprintf("%.0f%%", p)
}
