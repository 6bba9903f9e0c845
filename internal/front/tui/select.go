package tui

import (
	"strings"
	"time"

	"lathe/internal/front/tui/term"
	"lathe/internal/front/tui/width"
)

// place is a place in the conversation on the whole screen: a cell of a row of an item.
type place struct{ item, row, col int }

func (p place) before(q place) bool {
	if p.item != q.item {
		return p.item < q.item
	}
	return p.row < q.row || p.row == q.row && p.col < q.col
}

// selection is what the mouse has marked. It holds on to the conversation, not to the screen, so that it stays while
// that scrolls.
type selection struct {
	pressed  bool // the button is down
	dragged  bool // and was moved
	words    bool // whole words are marked
	refollow bool // the end of the conversation was followed before
	first    [2]place
	from, to place // to is behind the last cell
	at       time.Time
	inside   bool // the mouse has been below the first row, so that there it means what is above
	edge     int  // rows to scroll by while the mouse stands beyond the view
	crept    time.Time
}

// doubleClick is the longest time between the two presses of one.
const doubleClick = 400 * time.Millisecond

func (s *selection) any() bool { return s.from.before(s.to) }

// paint shows what is marked of a row.
func (s *selection) paint(u *ui, p place, row width.Row) string {
	from, to := s.in(p)
	if from >= to {
		return row.Text
	}
	out, _ := width.Mark(row.Text, max(from, row.Hang), to, u.th.Selection.Paint)
	return out
}

// in is which cells of a row are marked: [from, to).
func (s *selection) in(p place) (from, to int) {
	const end = 1 << 20
	row := func(q place) place { return place{q.item, q.row, 0} }
	switch {
	case !s.any() || p.before(row(s.from)) || row(s.to).before(p):
		return 0, 0
	case p == row(s.from) && p == row(s.to):
		return s.from.col, s.to.col
	case p == row(s.from):
		return s.from.col, end
	case p == row(s.to):
		return 0, s.to.col
	}
	return 0, end
}

// under is the place below the mouse; beyond the view it is the nearest in it.
func (f *fullView) under(m term.Mouse) (place, bool) {
	if len(f.shown) == 0 {
		return place{}, false
	}
	y := max(0, min(m.Y, len(f.shown)-1))
	p := f.shown[y]
	p.col = max(0, m.X)
	if m.Y > y {
		p.col = 1 << 20
	}
	return p, true
}

func (f *fullView) press(u *ui, m term.Mouse) {
	p, ok := f.under(m)
	if !ok || m.Y >= len(f.shown) {
		f.sel = selection{}
		return
	}
	last := f.sel
	now := u.o.Now()
	f.sel = selection{pressed: true, inside: m.Y > 0, first: [2]place{p, p}, at: now}
	if last.first[0] == p && now.Sub(last.at) <= doubleClick {
		f.sel.words = true
		f.sel.first[0], f.sel.first[1] = f.word(u, p)
		f.sel.from, f.sel.to = f.sel.first[0], f.sel.first[1]
		f.sel.dragged = f.sel.any()
	}
}

// drag marks up to where the mouse is. Beyond the view it scrolls.
func (f *fullView) drag(u *ui, m term.Mouse) {
	if !f.sel.pressed {
		return
	}
	if f.follow { // what comes now does not push away what is marked
		f.toEnd(u, f.view)
		f.follow, f.sel.refollow = false, true
	}
	f.sel.edge = 0
	f.sel.inside = f.sel.inside || m.Y > 0
	switch {
	case m.Y <= 0 && f.sel.inside:
		f.sel.edge = -1
	case m.Y >= f.view:
		f.sel.edge = 1
	}
	f.window(u, f.view) // where everything stands now
	p, ok := f.under(m)
	if !ok || !f.sel.dragged && !f.sel.words && p == f.sel.first[0] {
		return
	}
	f.sel.dragged = true
	f.markTo(u, p)
}

func (f *fullView) markTo(u *ui, p place) {
	a, b := p, place{p.item, p.row, p.col + 1}
	if f.sel.words {
		a, b = f.word(u, p)
	}
	from, to := f.sel.first[0], f.sel.first[1]
	if !f.sel.words {
		to.col++
	}
	if a.before(from) {
		from = a
	}
	if to.before(b) {
		to = b
	}
	f.sel.from, f.sel.to = from, to
}

// creepTime is the time between two rows of scrolling while the mouse stands still.
const creepTime = 50 * time.Millisecond

// creep goes on scrolling while the mouse stands beyond the view with its button down.
func (f *fullView) creep(u *ui) {
	now := u.o.Now()
	if !f.sel.pressed || f.sel.edge == 0 || now.Sub(f.sel.crept) < creepTime {
		return
	}
	f.sel.crept = now
	item, row := f.item, f.row
	follow := f.follow
	f.scroll(u, f.sel.edge)
	f.window(u, f.view)
	if f.follow { // the end is reached
		f.toEnd(u, f.view)
		f.follow = follow
	}
	if item == f.item && row == f.row {
		f.sel.edge = 0
		return
	}
	y := 0
	if f.sel.edge > 0 {
		y = len(f.shown)
	}
	if p, ok := f.under(term.Mouse{X: f.sel.to.col, Y: y}); ok {
		f.markTo(u, p)
	}
}

// release ends what the button began: a click opens or closes an item, what was marked is copied.
func (f *fullView) release(u *ui, m term.Mouse) {
	if !f.sel.pressed {
		return
	}
	f.sel.pressed, f.sel.edge = false, 0
	if f.sel.refollow {
		f.follow, f.sel.refollow = true, false
	}
	if f.sel.dragged {
		f.copySelected(u)
		return
	}
	if i := f.sel.first[0].item; m.Y < len(f.shown) && i < len(u.items) {
		u.items[i].open = !u.items[i].open
		u.askInner()
	}
}

// copySelected sends what is marked to the terminal's clipboard. It reports whether anything is.
func (f *fullView) copySelected(u *ui) bool {
	text := f.selected(u)
	if text == "" {
		return false
	}
	u.clipboard(text)
	lines := strings.Count(text, "\n") + 1
	if lines == 1 {
		u.hint = "copied to the clipboard: " + width.Cut(width.Inert(text), 40, "…")
	} else {
		u.hint = "copied to the clipboard: " + count(lines, "line")
	}
	return true
}

// selected is the text that is marked, without line breaks and indents that only wrapping has made.
func (f *fullView) selected(u *ui) string {
	if !f.sel.any() {
		return ""
	}
	var b strings.Builder
	begun := false
	for i := f.sel.from.item; i <= f.sel.to.item && i < f.len(u); i++ {
		for r, row := range f.rowsOf(u, i) {
			from, to := f.sel.in(place{i, r, 0})
			if from >= to && (place{i, r, 0}.before(f.sel.from) || f.sel.to.before(place{i, r, 0})) {
				continue
			}
			_, text := width.Mark(row.Text, max(from, row.Hang), to, func(s string) string { return s })
			switch {
			case begun && row.Cont:
				b.WriteString(row.Glue)
			case begun:
				b.WriteByte('\n')
			}
			begun = true
			b.WriteString(text)
		}
	}
	return strings.TrimRight(b.String(), "\n ")
}

// word is where the word at a place begins and ends.
func (f *fullView) word(u *ui, p place) (from, to place) {
	rows := f.rowsOf(u, p.item)
	if p.row >= len(rows) {
		return p, p
	}
	text := width.Strip(rows[p.row].Text)
	from, to = p, p
	start, cells := 0, 0
	for i := 0; i < len(text); {
		n, w := width.Next(text[i:])
		if text[i] == ' ' {
			if cells >= p.col {
				break
			}
			start = cells + w
		}
		cells += w
		i += n
	}
	if start > p.col || p.col >= cells { // on a space, or behind the text
		return p, p
	}
	from.col, to.col = start, cells
	return from, to
}

// extend moves the end of what is marked. It reports whether anything is.
func (f *fullView) extend(u *ui, name string) bool {
	to := f.sel.to
	if !f.sel.any() || to.item >= f.len(u) {
		return false
	}
	rows := f.rowsOf(u, to.item)
	cells := func() int {
		if to.row < len(rows) {
			return width.Of(rows[to.row].Text)
		}
		return 0
	}
	to.col = min(to.col, cells())
	switch name {
	case "shift+left":
		to.col--
	case "shift+right":
		to.col++
	case "shift+home":
		to.col = 0
	case "shift+end":
		to.col = cells()
	case "shift+up":
		if to.row--; to.row < 0 && to.item > 0 {
			to.item--
			to.row = len(f.rowsOf(u, to.item)) - 1
		}
	case "shift+down":
		if to.row++; to.row >= len(rows) && to.item+1 < f.len(u) {
			to.item, to.row = to.item+1, 0
		}
	}
	if to.row >= 0 && to.col >= 0 && f.sel.from.before(to) {
		f.sel.to = to
	}
	return true
}
