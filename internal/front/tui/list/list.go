package list

import (
	"fmt"
	"strings"
	"unicode"

	"lathe/internal/front/tui/theme"
	"lathe/internal/front/tui/width"
)

// Item is one line of a list.
type Item struct {
	Text    string   // what is matched and shown
	Detail  string   // shown behind it, muted
	Aliases []string // matched as well, by Prefix
	Value   any      // the caller's
}

// Match is how a query narrows the list.
type Match int

const (
	Fuzzy  Match = iota // the characters of the query in order: paths
	Words               // every word of the query, anywhere in text or detail: sessions, models
	Prefix              // a name, an alias or a word of the name begins so, : _ - and blanks aside: commands
)

// List is a list with a query, a chosen item and a window.
type List struct {
	items  []Item
	texts  []string
	match  Match
	query  string
	hits   []Hit
	chosen int
	top    int
	height int
}

// maxHits is how many matches a list keeps.
const maxHits = 1000

// New returns a list of ten rows with an empty query.
func New(items []Item, m Match) *List {
	l := &List{match: m, height: 10}
	l.SetItems(items)
	return l
}

// SetItems replaces the items; the query stays, and so does the chosen item when it is still there.
func (l *List) SetItems(items []Item) {
	was, had := l.Chosen()
	l.items, l.texts = items, make([]string, len(items))
	for i, it := range items {
		l.texts[i] = it.Text
	}
	l.narrow()
	if had {
		for i, h := range l.hits {
			if l.items[h.Index].Text == was.Text {
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
	switch {
	case l.query == "" || l.match == Fuzzy:
		l.hits = Rank(l.query, l.texts, max(maxHits, 0))
	case l.match == Prefix:
		l.hits = l.prefixes()
	default:
		l.hits = l.words()
	}
}

// prefixes ranks names that begin with the query before those of which a word does.
func (l *List) prefixes() []Hit {
	q := plain(l.query)
	var first, second []Hit
	for i, it := range l.items {
		switch at, word := namePrefix(it.Text, q); {
		case at != nil && !word:
			first = append(first, Hit{Index: i, Score: 2, At: at})
		case anyPrefix(it.Aliases, q):
			first = append(first, Hit{Index: i, Score: 2})
		case at != nil:
			second = append(second, Hit{Index: i, Score: 1, At: at})
		}
	}
	return append(first, second...)
}

// plain is a name without what separates its words.
func plain(s string) string {
	return strings.ToLower(strings.Map(func(r rune) rune {
		if separates(r) {
			return -1
		}
		return r
	}, s))
}

func separates(r rune) bool { return r == ':' || r == '_' || r == '-' || r == ' ' }

func anyPrefix(names []string, q string) bool {
	for _, n := range names {
		if strings.HasPrefix(plain(n), q) {
			return true
		}
	}
	return false
}

// namePrefix finds q at the start of name, or, with word, at the start of one of its words.
func namePrefix(name, q string) (at [][2]int, word bool) {
	for i, r := range name {
		if i > 0 && !separates(rune(name[i-1])) || separates(r) {
			continue
		}
		if end, ok := covers(name[i:], q); ok {
			return [][2]int{{i, i + end}}, i > 0
		}
	}
	return nil, false
}

// covers reports how much of s holds q from its start on, separators in s aside.
func covers(s, q string) (end int, ok bool) {
	for i, r := range s {
		if q == "" {
			return i, true
		}
		if separates(r) {
			continue
		}
		low := string(unicode.ToLower(r))
		if !strings.HasPrefix(q, low) {
			return 0, false
		}
		q = q[len(low):]
	}
	return len(s), q == ""
}

func (l *List) words() []Hit {
	words := strings.Fields(strings.ToLower(l.query))
	var out []Hit
	for i, it := range l.items {
		all := strings.ToLower(it.Text + " " + it.Detail)
		ok := true
		for _, w := range words {
			ok = ok && strings.Contains(all, w)
		}
		if !ok {
			continue
		}
		h := Hit{Index: i}
		for _, w := range words {
			low := strings.ToLower(it.Text)
			if k := strings.Index(low, w); k >= 0 && len(low) == len(it.Text) {
				h.At = addRange(h.At, [2]int{k, k + len(w)})
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
	return l.items[l.hits[l.chosen].Index], true
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

// Position is "3/120": the chosen item and how many there are.
func (l *List) Position() string {
	if len(l.hits) == 0 {
		return "0/0"
	}
	return fmt.Sprintf("%d/%d", l.chosen+1, len(l.hits))
}

// Rows draws the window: a pointer, the text with what matched, the detail where there is room for it.
func (l *List) Rows(th *theme.Theme, cols int) []string {
	end := min(l.top+l.height, len(l.hits))
	column := 0 // of the details
	for _, h := range l.hits[l.top:end] {
		column = max(column, width.Of(width.Inert(l.items[h.Index].Text)))
	}
	column = min(column, cols/2)
	out := make([]string, 0, end-l.top)
	for i := l.top; i < end; i++ {
		it, h := l.items[l.hits[i].Index], l.hits[i]
		lead, style := "  ", th.Text
		if i == l.chosen {
			lead, style = th.Accent.Paint("›")+" ", th.Accent
		}
		text := paint(th, it.Text, h.At, style)
		row := lead + width.Cut(text, cols-2, "…")
		if room := cols - 2 - column - 2; it.Detail != "" && room > 8 {
			text = width.Cut(text, column, "…")
			row = lead + text + width.Spaces(column-width.Of(text)+2) + th.Muted.Paint(width.Cut(width.Inert(it.Detail), room, "…"))
		}
		out = append(out, row)
	}
	return out
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
