package list

import (
	"fmt"
	"strings"

	"lathe/internal/front/tui/theme"
	"lathe/internal/front/tui/width"
)

// Item is one line of a list.
type Item struct {
	Text   string // what is matched and shown
	Detail string // shown behind it, muted
	Value  any    // the caller's
}

// hit is an item that fits the query.
type hit struct {
	index int
	at    [][2]int // byte ranges of the text that matched, in order
}

// List is a list with a query, a chosen item and a window.
type List struct {
	items  []Item
	query  string
	hits   []hit
	chosen int
	top    int
	height int
}

// New returns a list of ten rows with an empty query, which every word of must be in an item's text or detail.
func New(items []Item) *List {
	l := &List{height: 10}
	l.SetItems(items)
	return l
}

// SetItems replaces the items; the query stays, and so does the chosen item when it is still there.
func (l *List) SetItems(items []Item) {
	was, had := l.Chosen()
	l.items = items
	l.narrow()
	if had {
		for i, h := range l.hits {
			if l.items[h.index].Text == was.Text {
				l.choose(i)
				break
			}
		}
	}
}

// SetQuery narrows the list and chooses the best match.
func (l *List) SetQuery(q string) {
	if q != l.query {
		l.query = q
		l.narrow()
	}
}

func (l *List) narrow() {
	l.chosen, l.top = 0, 0
	l.hits = l.words()
}

func (l *List) words() []hit {
	words := strings.Fields(strings.ToLower(l.query))
	var out []hit
	for i, it := range l.items {
		all := strings.ToLower(it.Text + " " + it.Detail)
		ok := true
		for _, w := range words {
			ok = ok && strings.Contains(all, w)
		}
		if !ok {
			continue
		}
		h := hit{index: i}
		for _, w := range words {
			low := strings.ToLower(it.Text)
			if k := strings.Index(low, w); k >= 0 && len(low) == len(it.Text) {
				h.at = addRange(h.at, [2]int{k, k + len(w)})
			}
		}
		out = append(out, h)
	}
	return out
}

// addRange keeps ranges in order and apart.
func addRange(in [][2]int, r [2]int) [][2]int {
	var out [][2]int
	for _, x := range in {
		switch {
		case x[1] < r[0]:
			out = append(out, x)
		case x[0] > r[1]:
			out, r = append(out, r), x
		default:
			r = [2]int{min(x[0], r[0]), max(x[1], r[1])}
		}
	}
	return append(out, r)
}

// Len is how many items fit the query.
func (l *List) Len() int { return len(l.hits) }

// Chosen is the chosen item; ok is false when nothing fits.
func (l *List) Chosen() (it Item, ok bool) {
	if l.chosen >= len(l.hits) {
		return Item{}, false
	}
	return l.items[l.hits[l.chosen].index], true
}

// SetHeight sets the rows of the window.
func (l *List) SetHeight(n int) {
	l.height = max(1, n)
	l.choose(l.chosen)
}

// Move goes n items down, or up; at the ends it goes round.
func (l *List) Move(n int) {
	if k := len(l.hits); k > 0 {
		l.choose(((l.chosen+n)%k + k) % k)
	}
}

// Page goes n windows down, or up, and stops at the ends.
func (l *List) Page(n int) { l.choose(l.chosen + n*l.height) }

// First and Last go to the ends.
func (l *List) First() { l.choose(0) }
func (l *List) Last()  { l.choose(len(l.hits) - 1) }

// Choose takes the item in row n of the window: a click.
func (l *List) Choose(n int) { l.choose(l.top + n) }

func (l *List) choose(i int) {
	l.chosen = max(0, min(i, len(l.hits)-1))
	l.top = min(l.top, l.chosen)
	l.top = max(l.top, l.chosen-l.height+1)
	l.top = max(0, min(l.top, len(l.hits)-l.height))
}

// At is the place of the chosen item among those that fit; Go chooses the one at a place.
func (l *List) At() int   { return l.chosen }
func (l *List) Go(at int) { l.choose(at) }

// Position is "3/120": the chosen item and how many there are.
func (l *List) Position() string {
	if len(l.hits) == 0 {
		return "0/0"
	}
	return fmt.Sprintf("%d/%d", l.chosen+1, len(l.hits))
}

// minDetail is the least room in which a detail says anything.
const minDetail = 14

// Rows draws the window: a pointer, the text with what matched, the detail where there is room for it.
func (l *List) Rows(th *theme.Theme, cols int) []string {
	end := min(l.top+l.height, len(l.hits))
	column, detail := 0, 0 // where the details begin; the longest of them
	for _, h := range l.hits[l.top:end] {
		it := l.items[h.index]
		column, detail = max(column, width.Of(width.Inert(it.Text))), max(detail, width.Of(width.Inert(it.Detail)))
	}
	if cols >= minDetail*3 { // a half of the row, and what the details do not need of the other one
		column = min(column, max(cols/2, cols-4-detail))
	}
	details := cols-2-column-2 >= min(minDetail, detail) // else the text has the row for itself
	out := make([]string, 0, end-l.top)
	for i := l.top; i < end; i++ {
		it, h := l.items[l.hits[i].index], l.hits[i]
		lead, style := "  ", th.Text
		if i == l.chosen {
			lead, style = th.Accent.Paint("›")+" ", th.Accent
		}
		text := paint(th, it.Text, h.at, style)
		row := lead + width.Cut(text, cols-2, "…")
		if room := cols - 2 - column - 2; it.Detail != "" && details {
			text = width.Cut(text, column, "…")
			row = lead + text + width.Spaces(column-width.Of(text)+2) + th.Muted.Paint(width.Cut(width.Inert(it.Detail), room, "…"))
		}
		out = append(out, row)
	}
	return out
}

// Whole is the text and the detail of the chosen item where its row shows them cut off, else "".
func (l *List) Whole(th *theme.Theme, cols int) string {
	it, ok := l.Chosen()
	rows := l.Rows(th, cols)
	if at := l.chosen - l.top; !ok || at >= len(rows) || strings.Count(rows[at], "…") <= strings.Count(it.Text+it.Detail, "…") {
		return ""
	}
	if it.Detail == "" {
		return it.Text
	}
	return it.Text + " · " + it.Detail
}

// paint marks the matched ranges.
func paint(th *theme.Theme, text string, at [][2]int, style theme.Style) string {
	var b strings.Builder
	pos := 0
	for _, r := range at {
		b.WriteString(style.Paint(width.Inert(text[pos:r[0]])))
		b.WriteString(style.With(th.Match).Paint(width.Inert(text[r[0]:r[1]])))
		pos = r[1]
	}
	b.WriteString(style.Paint(width.Inert(text[pos:])))
	return b.String()
}
