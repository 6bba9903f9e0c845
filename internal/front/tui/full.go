package tui

import (
	"fmt"
	"strings"

	"lathe/internal/front/tui/screen"
	"lathe/internal/front/tui/term"
	"lathe/internal/front/tui/width"
)

// fullView draws the conversation on the alternate screen. Where it stands is said by an item and a row in it, so that
// only what is seen is ever rendered, however long the conversation is.
type fullView struct {
	scr        *screen.Full
	cols, n    int
	transcript bool // everything whole, nothing to type; else the screen of --fullscreen
	follow     bool // at the end, and stays there
	item, row  int  // the first row that is shown, when not following
	cache      map[int]cached
	view       int     // rows of the conversation that were shown last
	shown      []place // where each of them stands
	sel        selection
	peek       bool // the transcript is before a question, which waits

	searching bool
	query     string
	found     int // item of the last find

	running cached // sub-agents that work
}

type cached struct {
	rows  []width.Row
	cols  int
	whole bool
	inner int // see innerSize
}

// cacheLimit is how many rendered items are kept.
const cacheLimit = 400

func newFullView(u *ui, transcript bool) *fullView {
	return &fullView{
		scr: screen.NewFull(u.tty, u.cols, u.rows), cols: u.cols, n: u.rows, transcript: transcript, follow: true,
		cache: map[int]cached{}, found: -1,
	}
}

// toFull changes to the alternate screen.
func (u *ui) toFull() {
	_ = u.inline.Leave()
	u.tty.Alt(true, !u.noMouse)
	u.full = newFullView(u, false)
	u.relay()
}

// toInline changes back. What came meanwhile is printed then.
func (u *ui) toInline() {
	u.full = nil
	u.tty.Alt(false, false)
	u.inline.Enter(u.cols, u.rows)
	if over := len(u.commit) - commitKept; over > 0 {
		u.commit = append([]width.Line{{Text: u.th.Faint.Paint(fmt.Sprintf("… %s more · ctrl+o shows all", count(over, "line")))}}, u.commit[over:]...)
	}
}

// commitKept is how many lines are printed at most when the whole screen is left.
const commitKept = 1000

// openTranscript shows the conversation with everything in full.
func (u *ui) openTranscript() {
	u.askInner()
	if u.full != nil {
		u.full.sel = selection{}
		u.full.transcript = !u.full.transcript
		u.full.scr.Resize(u.cols, u.rows)
		return
	}
	u.tty.Alt(true, true)
	u.full = newFullView(u, true)
	u.lent = true // the inline screen stands behind it, as it was
	u.relay()
}

// closeTranscript goes back to where it was opened.
func (u *ui) closeTranscript() {
	if !u.lent {
		u.full.sel = selection{}
		u.full.transcript, u.full.peek = false, false
		u.full.follow = true
		return
	}
	u.lent = false
	u.full = nil
	u.tty.Alt(false, false)
	if c, r := u.inline.Size(); u.moved || c != u.cols || r != u.rows {
		u.moved = false
		u.hold()
	}
}

// peek opens the transcript before a question.
func (u *ui) peek() {
	if u.full == nil || !u.full.transcript {
		u.openTranscript()
	}
	u.full.peek = true
	u.full.follow = true
}

func (u *ui) peeking() bool {
	return u.full != nil && u.full.transcript && u.full.peek && u.dialog() != nil
}

// questionRows are the whole of what is asked about.
func (f *fullView) questionRows(u *ui) []width.Row {
	c, ok := u.dialog().(*choice)
	if !ok {
		return nil
	}
	out := []width.Row{{}, {Text: u.th.Accent.Paint("? ") + c.style.With(u.th.Strong).Paint(c.title)}}
	for _, l := range c.body(f.cols - 3) {
		out = append(out, width.Row{Text: "  " + l})
	}
	return out
}

func (f *fullView) resize(cols, rows int) {
	f.cols, f.n = cols, rows
	f.sel = selection{}
	f.scr.Resize(cols, rows)
}

// count of items, with one more for what is not there yet: the answer that comes, sub-agents that work.
func (f *fullView) len(u *ui) int {
	if u.work.stream != nil || f.transcript && u.innerRuns() > 0 || u.peeking() {
		return len(u.items) + 1
	}
	return len(u.items)
}

// rowsOf are the rows of an item, with the empty row before it.
func (f *fullView) rowsOf(u *ui, i int) []width.Row {
	if i == len(u.items) {
		var out []width.Row
		if u.work.stream != nil {
			out = allRows(append(append([]width.Line{{}}, u.work.lines...), u.work.stream.Open()...), f.cols-1)
		}
		if f.transcript {
			out = append(out, f.innerRows(u)...)
		}
		if u.peeking() {
			out = append(out, f.questionRows(u)...)
		}
		return out
	}
	it := &u.items[i]
	whole, inner := f.transcript || it.open, 0
	if whole && it.kind == kindTool {
		inner = u.innerSize(it.id, 0)
	}
	if c, ok := f.cache[i]; ok && c.cols == f.cols && c.whole == whole && c.inner == inner {
		return c.rows
	}
	var out []width.Row
	if i > 0 && !(it.kind == u.items[i-1].kind && (it.kind == kindNotice || it.kind == kindTool)) || f.transcript && i > 0 {
		out = append(out, width.Row{})
	}
	out = append(out, allRows(u.render(it, whole), f.cols-1)...)
	if len(f.cache) > cacheLimit {
		clear(f.cache)
	}
	f.cache[i] = cached{out, f.cols, whole, inner}
	return out
}

func allRows(lines []width.Line, cols int) (out []width.Row) {
	for _, l := range lines {
		out = append(out, l.Wrap(cols)...)
	}
	return out
}

// draw shows the conversation, and below it what the inline screen has there.
func (f *fullView) draw(u *ui) error {
	var foot []string
	cur := screen.Cursor{Hidden: true}
	f.peek = f.peek && u.dialog() != nil
	if f.transcript && (u.dialog() == nil || f.peek) {
		foot = f.transcriptFoot(u)
		if f.searching {
			cur = screen.Cursor{Row: len(foot) - 1, Col: width.Of("/" + f.query)}
		}
	} else {
		foot, cur = u.foot(max(4, f.n-2))
	}
	f.view = max(1, f.n-len(foot))
	f.creep(u)
	if f.sel.edge != 0 {
		u.frame.Reset(creepTime)
	}
	rows := f.window(u, f.view)
	for len(rows) < f.view {
		rows = append(rows, "")
	}
	if !f.transcript && !f.follow && len(foot) > 0 && foot[0] == "" {
		foot[0] = u.th.Faint.Paint("↓ more below · ctrl+end")
	}
	cur.Row += len(rows)
	return f.scr.Draw(append(rows, foot...), cur)
}

// window are n rows from where the view stands.
func (f *fullView) window(u *ui, n int) []string {
	total := f.len(u)
	f.shown = f.shown[:0]
	if total == 0 {
		return []string{u.th.Strong.Paint("Lathe") + u.th.Muted.Paint(" "+u.o.Version+"  "+width.Inert(u.o.Cwd))}
	}
	if f.follow {
		f.toEnd(u, n)
	}
	f.item = max(0, min(f.item, total-1))
	var out []string
	for i, row := f.item, f.row; i < total && len(out) < n; i, row = i+1, 0 {
		rows := f.rowsOf(u, i)
		for r := row; r < len(rows) && len(out) < n; r++ {
			out = append(out, f.sel.paint(u, place{i, r, 0}, rows[r]))
			f.shown = append(f.shown, place{item: i, row: r})
		}
	}
	if len(out) < n && !f.follow { // scrolled past the end
		f.follow = true
		return f.window(u, n)
	}
	return out[:min(n, len(out))]
}

// toEnd puts the view where the last row is seen.
func (f *fullView) toEnd(u *ui, n int) {
	f.item, f.row = f.len(u), 0
	f.up(u, n)
}

func (f *fullView) up(u *ui, n int) {
	for n > 0 {
		if f.row >= n {
			f.row -= n
			return
		}
		n -= f.row
		if f.item == 0 {
			f.row = 0
			return
		}
		f.item--
		f.row = len(f.rowsOf(u, f.item))
	}
}

func (f *fullView) down(u *ui, n int) {
	for n > 0 && f.item < f.len(u) {
		left := len(f.rowsOf(u, f.item)) - f.row
		if n < left {
			f.row += n
			return
		}
		n -= left
		f.item, f.row = f.item+1, 0
	}
}

// scroll moves by rows; the end is followed again once it is reached.
func (f *fullView) scroll(u *ui, n int) {
	if n < 0 {
		if f.follow {
			f.toEnd(u, f.view)
		}
		f.follow = false
		f.up(u, -n)
		return
	}
	if !f.follow {
		f.down(u, n)
	}
}

func (f *fullView) mouse(u *ui, m term.Mouse) {
	switch {
	case m.Button == 64:
		f.scroll(u, -3)
		f.drag(u, m)
	case m.Button == 65:
		f.scroll(u, 3)
		f.drag(u, m)
	case m.Button == 0 && !m.Release && !m.Motion:
		f.press(u, m)
	case m.Button == 0 && m.Motion:
		f.drag(u, m)
	case m.Button == 0:
		f.release(u, m)
	}
}

// key takes the keys that scroll, and all keys of the transcript.
func (f *fullView) key(u *ui, name string) bool {
	switch name {
	case "pgup":
		f.scroll(u, -f.view/2)
	case "pgdown":
		f.scroll(u, f.view/2)
	case "ctrl+home":
		f.follow, f.item, f.row = false, 0, 0
	case "ctrl+end":
		f.follow = true
	case "ctrl+shift+c", "super+c":
		return f.copySelected(u)
	case "selection:clear":
		f.sel = selection{}
	case "shift+left", "shift+right", "shift+up", "shift+down", "shift+home", "shift+end":
		return f.extend(u, name)
	case "scroll:lineUp":
		f.scroll(u, -1)
	case "scroll:lineDown":
		f.scroll(u, 1)
	case "scroll:fullPageUp":
		f.scroll(u, 1-f.view)
	case "scroll:fullPageDown":
		f.scroll(u, f.view-1)
	default:
		return f.transcript && f.transcriptKey(u, name)
	}
	return true
}

func (f *fullView) transcriptKey(u *ui, name string) bool {
	if f.searching {
		f.searchKey(u, name)
		return true
	}
	switch name {
	case "q", "esc", "ctrl+o", "ctrl+d":
		u.closeTranscript()
	case "j", "down", "enter":
		f.scroll(u, 1)
	case "k", "up":
		f.scroll(u, -1)
	case "space", "f":
		f.scroll(u, f.view-1)
	case "b":
		f.scroll(u, 1-f.view)
	case "g", "home":
		f.follow, f.item, f.row = false, 0, 0
	case "G", "end", "shift+g":
		f.follow = true
	case "{":
		f.prompt(u, -1)
	case "}":
		f.prompt(u, 1)
	case "/":
		f.searching, f.query = true, ""
	case "n":
		f.find(u, 1)
	case "N", "shift+n":
		f.find(u, -1)
	case "[":
		u.dump()
	case "v":
		u.editTranscript()
	case "?":
		u.hint = "j k scroll · space b page · g G ends · { } prompts · / search, n N · [ to the scrollback · v in your editor · q back"
	}
	return true
}

// prompt goes to the next prompt of the person, or the one before.
func (f *fullView) prompt(u *ui, step int) {
	if f.follow {
		f.toEnd(u, f.view)
	}
	for i := f.item + step; i >= 0 && i < len(u.items); i += step {
		if u.items[i].kind == kindUser {
			f.follow, f.item, f.row = false, i, 0
			return
		}
	}
}

func (f *fullView) searchKey(u *ui, name string) {
	switch name {
	case "esc":
		f.searching = false
	case "enter":
		f.searching = false
		f.found = -1
		f.find(u, -1)
	case "backspace":
		if r := []rune(f.query); len(r) > 0 {
			f.query = string(r[:len(r)-1])
		}
	case "space":
		f.query += " "
	default:
		if !strings.Contains(name, "+") || len(name) == 1 {
			if len([]rune(name)) == 1 {
				f.query += name
			}
		}
	}
}

// find goes to the next item that holds what is searched; it goes round.
func (f *fullView) find(u *ui, step int) {
	if f.query == "" || len(u.items) == 0 {
		return
	}
	q := strings.ToLower(f.query)
	i := f.found
	if i < 0 {
		i = len(u.items)
		if step > 0 {
			i = -1
		}
	}
	for range u.items {
		i = (i + step + len(u.items)) % len(u.items)
		it := &u.items[i]
		if strings.Contains(strings.ToLower(it.text), q) || strings.Contains(strings.ToLower(it.summary), q) || it.kind == kindTool && u.innerHolds(it.id, q) {
			f.found, f.follow, f.item, f.row = i, false, i, 0
			for r, row := range f.rowsOf(u, i) {
				if strings.Contains(strings.ToLower(width.Strip(row.Text)), q) {
					f.row = r
					break
				}
			}
			return
		}
	}
	u.hint = "not found: " + f.query
}

func (f *fullView) transcriptFoot(u *ui) []string {
	line := "transcript · q back · / search · ? keys"
	if u.peeking() {
		line = "a question waits · " + line
	}
	switch {
	case f.searching:
		return []string{"/" + width.Inert(f.query)}
	case u.hint != "":
		line = u.hint
	case !f.follow && len(u.items) > 0:
		line = fmt.Sprintf("%d of %d · %s", min(f.item+1, len(u.items)), len(u.items), line)
	}
	if f.query != "" && u.hint == "" {
		line = "/" + f.query + " · n N · " + line
	}
	return []string{u.th.Muted.Paint(width.Cut(width.Inert(line), f.cols-1, "…"))}
}

// dump prints the whole conversation into the terminal's own scrollback.
func (u *ui) dump() {
	var lines []width.Line
	for i := range u.items {
		lines = append(lines, width.Line{})
		lines = append(lines, u.render(&u.items[i], true)...)
	}
	if u.lent {
		u.closeTranscript()
	} else {
		u.toInline()
	}
	u.print(lines...)
}

func (u *ui) editTranscript() {
	var b strings.Builder
	for i := range u.items {
		for _, l := range u.render(&u.items[i], true) {
			b.WriteString(width.Strip(l.Text) + "\n")
		}
		b.WriteString("\n")
	}
	if _, err := u.edited(b.String(), ".txt"); err != nil {
		u.hint = err.Error()
	}
}
