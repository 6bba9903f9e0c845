package screen

import (
	"io"
	"strconv"
	"strings"
	"time"

	"lathe/internal/front/tui/width"
)

// Cursor is where the cursor stands in the lower part of the region.
type Cursor struct {
	Row, Col int
	Hidden   bool
}

// Frame is what an inline screen shows next.
type Frame struct {
	Commit []width.Line // lines that are final: they go into the scrollback, above all that follows
	Open   []width.Line // lines that still grow; when they come as Commit later, they are not written again
	Foot   []string     // rows below; what is wider than the terminal is cut
	Cursor Cursor       // in Foot
}

// keepLines is roughly how many committed lines are kept to paint the screen again after a resize.
const keepLines = 600

// Inline draws below what the terminal shows already. All of its positions are relative, so it needs no answer of the
// terminal. It is not safe for concurrent use.
type Inline struct {
	w             io.Writer
	width, height int
	reflow        Reflow

	above   []row    // of Open, as drawn
	foot    []string // as drawn
	at, col int      // the cursor, counted from the first row of above
	hidden  bool
	printed int     // rows that were committed, at least
	tail    []shown // the last committed lines
	count   int     // of all committed lines

	flight   []written // what may be on its way
	question Question
	asked    []asked // what is not answered, the oldest first
	answers  int     // that have come
	askedAt  time.Time
	late     bool   // answers do not come in time
	row      int    // of the cursor, from 1, as the terminal says; 0: not known
	rowIn    [2]int // the size of then

	now func() time.Time
	b   strings.Builder
}

// NewInline returns a screen that begins at the cursor, which must be at the start of a row.
func NewInline(w io.Writer, width, height int, reflow Reflow) *Inline {
	return &Inline{w: w, width: max(1, width), height: max(2, height), reflow: reflow, now: time.Now}
}

// Size is the size that frames are made for.
func (s *Inline) Size() (width, height int) { return s.width, s.height }

// Draw brings the frame onto the terminal, in one write.
func (s *Inline) Draw(f Frame) error {
	foot := s.fit(f.Foot)
	var rows []row
	for _, l := range f.Commit {
		rows = split(rows, l, s.width)
	}
	committed := len(rows)
	rows = s.open(rows, f.Open, s.height-len(foot))
	drawn := len(s.foot)
	s.change(rows, foot)
	s.cursor(len(rows), f.Cursor)
	reach := len(s.above) + drawn
	if s.reflow != Reflows { // all that the screen shows is painted over, and a higher one has not scrolled when we think so
		reach = s.height
	}
	s.note(s.count-reach, committed > 0, false)
	s.remember(f.Commit, committed)
	s.above = append(s.above[:0:0], rows[committed:]...)
	s.at -= committed
	s.foot = foot
	return s.flush()
}

// open appends the rows of lines, at most n: the last ones.
func (s *Inline) open(rows []row, lines []width.Line, n int) []row {
	first := len(rows)
	total := 0
	from := len(lines)
	for from > 0 && total < n { // what is above cannot be seen
		from--
		total += Rows(lines[from], s.width)
	}
	for _, l := range lines[from:] {
		rows = split(rows, l, s.width)
	}
	if over := len(rows) - first - max(0, n); over > 0 {
		rows = append(rows[:first], rows[first+over:]...)
		rows[first].cont = false
	}
	return rows
}

// fit makes the foot no wider than the terminal and no higher.
func (s *Inline) fit(lines []string) []string {
	if over := len(lines) - s.height; over > 0 {
		lines = lines[over:]
	}
	out := make([]string, len(lines))
	for i, l := range lines {
		out[i] = width.Cut(l, s.width, "…")
	}
	return out
}

// change turns what is drawn into rows and foot.
func (s *Inline) change(rows []row, foot []string) {
	d := 0
	for d < len(rows) && d < len(s.above) && rows[d] == s.above[d] {
		d++
	}
	old, top := len(s.above), d
	if d > 0 && d < len(rows) && rows[d].cont { // its wrap is taken up again in the row before
		top--
	}
	switch delta := len(rows) - old; {
	case s.marked(rows, d):
		s.reprint(rows, foot, d)
		return
	case delta == 0 && len(foot) >= len(s.foot):
		s.rewrite(rows, d)
	case delta > 0 && len(s.foot) > 0 && len(rows)+len(s.foot)-top <= s.height && len(foot) == len(s.foot):
		s.insert(old, delta)
		s.rewrite(rows, d)
	default:
		s.reprint(rows, foot, d)
		return
	}
	s.feet(len(rows), foot)
}

// marked reports whether the terminal holds a full row for one that goes on, which does so no more: only erasing takes
// that mark away.
func (s *Inline) marked(rows []row, d int) bool {
	for i := d; i < len(rows) && i+1 < len(s.above); i++ {
		if s.above[i+1].cont && rows[i].cont && rows[i].width >= s.width && (i+1 == len(rows) || !rows[i+1].cont) {
			return true
		}
	}
	return false
}

// insert makes room for n rows before the foot.
func (s *Inline) insert(at, n int) {
	bottom := at + len(s.foot) - 1
	s.down(bottom + n)
	s.up(at)
	s.csi(n, 'L') // some terminals leave the column
	s.col = s.width
}

// rewrite writes the rows from d on, each of which has its place already. Those that were drawn before may grow by what
// is new at their end.
func (s *Inline) rewrite(rows []row, d int) {
	for i := d; i < len(rows); i++ {
		r := rows[i]
		var was *row
		if i < len(s.above) {
			was = &s.above[i]
		}
		next := i+1 < len(rows) && rows[i+1].cont
		wrapped := was != nil && i+1 < len(s.above) && s.above[i+1].cont // the terminal has a mark there that it goes on
		stale := was != nil && (was.width > r.width || wrapped && !next)
		switch {
		case was != nil && was.cont == r.cont && (i == d || !r.cont) && !r.fixed && (next || !wrapped) && s.extend(i, was, r):
		case r.cont && i == d: // take up the wrap again: write the last character before it once more
			p := rows[i-1]
			s.move(i-1, p.width-p.lastWidth)
			s.b.WriteString(p.lastState + p.last + r.carryAfter(p) + r.body)
		case r.cont:
			s.b.WriteString(r.body)
		default:
			s.move(i, 0)
			if stale {
				s.b.WriteString("\x1b[K")
				stale = false
			}
			s.unwrapped(r, true)
			s.b.WriteString(r.carry + r.body)
		}
		s.at, s.col = i, r.width
		if !next || stale {
			s.b.WriteString(closing(r.end))
		}
		if stale && r.width < s.width {
			s.b.WriteString("\x1b[K")
			if next {
				s.b.WriteString(r.end)
			}
		}
		s.unwrapped(r, false)
		if r.width >= s.width {
			s.col = s.width // the wrap is pending
		}
	}
}

// extend writes what row i has other than before, from the first character that differs. It reports false where nothing is
// the same.
func (s *Inline) extend(i int, was *row, r row) bool {
	if was.carry != r.carry {
		return false
	}
	n, cells, state := common(was.body, r.body, r.carry)
	if cells == 0 || cells >= s.width {
		return false
	}
	s.move(i, cells)
	s.b.WriteString(state + r.body[n:])
	return true
}

// carryAfter is what must be in force for r's body when the last character of the row before was just written.
func (r row) carryAfter(p row) string {
	if r.carry == p.lastState {
		return ""
	}
	return closing(p.lastState) + r.carry
}

// unwrapped switches the terminal's wrapping off before a row of unsure width, and on behind it.
func (s *Inline) unwrapped(r row, begin bool) {
	switch {
	case !r.fixed:
	case begin:
		s.b.WriteString("\x1b[?7l")
	default:
		s.b.WriteString("\x1b[?7h")
	}
}

// reprint erases from row d on and writes all that follows, letting the terminal scroll.
func (s *Inline) reprint(rows []row, foot []string, d int) {
	for d > 0 && (d >= len(rows) || rows[d].cont) { // begin with a whole line
		d--
	}
	if len(rows) == 0 {
		d = 0
	}
	if drawn := len(s.above) + len(s.foot); drawn > 0 {
		s.move(min(d, drawn-1), 0)
		s.wipe(drawn - d)
	}
	s.print(rows[d:])
	for i, l := range foot {
		if i > 0 {
			s.b.WriteString("\r\n")
		}
		s.b.WriteString(l)
	}
	s.at, s.col = len(rows)+max(0, len(foot)-1), s.width
}

// wipe erases the cursor's row and all below it, of which at least n are ours. To erase all in one go would be shorter,
// but tmux takes that, in the first row, for a wish to keep the screen in its history.
func (s *Inline) wipe(n int) {
	s.b.WriteString("\r\x1b[K")
	s.col = 0
	s.wipeBelow(n)
}

// wipeBelow is the same without the cursor's row.
func (s *Inline) wipeBelow(n int) {
	if n > 1 {
		s.b.WriteString("\x1b[B\x1b[J\x1b[A")
	}
}

// print writes whole lines, each with its end.
func (s *Inline) print(rows []row) {
	for i, r := range rows {
		s.unwrapped(r, true)
		if !r.cont {
			s.b.WriteString(r.carry)
		}
		s.b.WriteString(r.body)
		if i+1 < len(rows) && rows[i+1].cont {
			continue
		}
		s.b.WriteString(closing(r.end))
		s.unwrapped(r, false)
		s.b.WriteString("\r\n")
	}
}

// feet draws the foot where it differs; its first row is row n.
func (s *Inline) feet(n int, foot []string) {
	if len(foot) < len(s.foot) { // rows go: only reprint does that
		s.foot = s.foot[:len(foot)]
	}
	for i, l := range foot {
		if i < len(s.foot) {
			if s.foot[i] == l {
				continue
			}
			if s.patch(n+i, s.foot[i], l) {
				continue
			}
			s.move(n+i, 0)
			s.b.WriteString(l + "\x1b[m")
			if width.Of(l) < s.width {
				s.b.WriteString("\x1b[K")
			}
		} else {
			if n+i > 0 {
				s.move(n+i-1, 0)
				s.b.WriteString("\n")
			}
			s.at, s.col = n+i, 0
			s.b.WriteString("\r" + l + "\x1b[m")
		}
		s.col = s.width
	}
}

// cursor leaves the cursor where the frame wants it.
func (s *Inline) cursor(n int, c Cursor) {
	if c.Hidden != s.hidden {
		s.hidden = c.Hidden
		if c.Hidden {
			s.b.WriteString("\x1b[?25l")
		} else {
			s.b.WriteString("\x1b[?25h")
		}
	}
	if c.Hidden && s.b.Len() == 0 {
		return
	}
	s.move(n+c.Row, min(c.Col, s.width-1))
}

func (s *Inline) remember(lines []width.Line, rows int) {
	s.printed = min(s.printed+rows, 1<<20)
	for _, l := range lines {
		s.tail = append(s.tail, shown{Line: l, at: s.width})
	}
	s.count += len(lines)
	safe, _ := s.safe(s.height)
	if over := min(len(s.tail)-keepLines, safe); over > keepLines/4 {
		s.tail = append(s.tail[:0:0], s.tail[over:]...)
	}
}

// move moves the cursor to a row of the region and a column.
func (s *Inline) move(row, col int) {
	if row == s.at && col == s.col {
		return
	}
	s.up(row)
	s.down(row)
	switch {
	case col == 0:
		s.b.WriteByte('\r')
	case s.col != col:
		s.csi(col+1, 'G')
	}
	s.col = col
}

func (s *Inline) up(row int) {
	if row < s.at {
		s.csi(s.at-row, 'A')
		s.at = row
	}
}

// down moves by line feeds. A terminal that gets lower may cut off the rows below the cursor before we hear of it; then line
// feeds make rows there, where a movement would stop too early and all that follows would stand too high, over what was
// committed.
func (s *Inline) down(row int) {
	if row > s.at {
		s.b.WriteString(strings.Repeat("\n", row-s.at))
		s.at = row
	}
}

func (s *Inline) csi(n int, final byte) {
	s.b.WriteString("\x1b[")
	if n != 1 {
		s.b.WriteString(strconv.Itoa(n))
	}
	s.b.WriteByte(final)
}

// smallWrite is the size up to which a change needs no protection from being seen half done.
const smallWrite = 1000

func (s *Inline) flush() error {
	if s.b.Len() == 0 {
		return nil
	}
	out := s.b.String()
	s.b.Reset()
	if len(out) > smallWrite {
		out = "\x1b[?2026h" + out + "\x1b[?2026l"
	}
	_, err := io.WriteString(s.w, out)
	return err
}
