package screen

import (
	"strings"

	"lathe/internal/front/tui/width"
)

// Reflow says whether a terminal wraps lines anew when its width changes.
type Reflow int

// What is known of a terminal.
const (
	MayReflow Reflow = iota
	Reflows
	Cuts // it leaves its rows as they are, or cuts them off
)

// SetReflow says what is known of the terminal.
func (s *Inline) SetReflow(r Reflow) { s.reflow = r }

// view is what the screen shows after a change of its size, before we paint.
type view struct {
	up      int  // from the first of our rows to the cursor
	height  int  // of the region
	covered bool // our rows fill the screen
	from    int  // the first line of tail of which the screen shows any
	hidden  int  // rows of that line that stand above the screen
}

// Resize takes a new size of the terminal. What the screen shows by then is the terminal's own work: some wrap every
// line anew, some cut; some bring rows back from the scrollback, some make room below. Where the terminal has told in which row the
// cursor stands, what stands above is known; else nothing is guessed: where our lines fill the screen, it is painted again from what
// was committed last; else everything of ours is still to be seen, and is painted again from where it begins. The next Draw
// shows the region.
func (s *Inline) Resize(cols, rows int) error {
	cols, rows = max(1, cols), max(2, rows)
	damaged, sure := s.safe(rows)
	v := s.view(cols, rows, sure)
	s.width, s.height = cols, rows
	s.flight = nil
	if !v.covered {
		s.b.WriteByte('\r')
		if v.up > 0 {
			s.csi(v.up, 'A')
		}
		s.wipe(v.up + v.height)
		s.printed = s.again(0)
		s.note(s.count-len(s.tail), true, true)
		return s.flush()
	}
	s.b.WriteString("\x1b[H")
	from := v.from
	switch {
	case sure && v.hidden > 0:
		s.wipeBelow(rows)
		s.rest(&s.tail[from], v.hidden)
		from++
	case !sure:
		from = min(from, damaged)
		fallthrough
	default:
		s.wipe(rows)
	}
	s.again(from)
	s.note(s.count-len(s.tail)+min(from, v.from), true, true)
	return s.flush()
}

// view is what is known of the screen. Where the terminal may have wrapped anew or not, it is what suits both: rather some lines twice
// than one of them lost.
func (s *Inline) view(cols, rows int, sure bool) view {
	if s.reflow != MayReflow {
		return s.viewIf(s.reflow == Reflows, cols, rows, sure)
	}
	a, b := s.viewIf(true, cols, rows, sure), s.viewIf(false, cols, rows, sure)
	if cols == s.width {
		return a
	}
	return view{up: min(a.up, b.up), height: max(a.height, b.height), covered: a.covered || b.covered, from: min(a.from, b.from)}
}

func (s *Inline) viewIf(wrapped bool, cols, rows int, sure bool) view {
	at := s.width
	if wrapped {
		at = cols
	}
	ours := s.ours(at, wrapped)
	above := s.heights(at, wrapped, s.at)
	if wrapped { // the row of the cursor itself may have been wrapped before it
		above += s.col / at
	}
	v := view{up: ours + above, height: s.heights(at, wrapped, len(s.above)+len(s.foot))}
	drawn := len(s.above) + len(s.foot)
	room := max(0, rows-v.height)
	switch {
	case sure && s.row > 0 && s.rowIn == [2]int{cols, rows}:
		room = max(0, s.row-1-above)
		v.covered = ours >= room
	case !wrapped:
		room = s.height - drawn // all that could be seen is written, so that what finds no place goes into the scrollback
		v.covered = ours+v.height > rows || s.printed+drawn >= max(s.height, rows)
	default:
		v.covered = ours+v.height > rows // else the terminal may have brought back what stood there before us
		if !sure {                       // where our rows stand is not known
			room = rows
		}
		if rows < s.height { // some terminals cut the rows below the cursor instead of scrolling
			room += drawn - s.at - 1
		}
	}
	v.from, v.hidden = s.seen(room, at, wrapped)
	if !sure || !wrapped && cols != s.width {
		v.hidden = 0
	}
	return v
}

// ours is how many rows stand above the region that are ours, when they are wrapped at a width.
func (s *Inline) ours(cols int, wrapped bool) int {
	n := 0
	for _, l := range s.tail {
		if wrapped {
			n += l.rows(cols)
		} else {
			n += l.rows(l.at)
		}
	}
	return n
}

// heights is the height of the first rows of the region at a width.
func (s *Inline) heights(cols int, wrapped bool, rows int) int {
	if !wrapped {
		return rows
	}
	n, line := 0, 0
	for i := range rows {
		w, goesOn := 0, false
		if i < len(s.above) {
			w, goesOn = s.above[i].width, i+1 < len(s.above) && s.above[i+1].cont
		} else {
			w = width.Of(s.foot[i-len(s.above)])
		}
		line += w
		if goesOn && i+1 < rows {
			continue
		}
		n += max(1, (line+cols-1)/cols)
		line = 0
	}
	return n
}

// seen is the first of the lines that fill n rows, wrapped at cols or as they were written, and how many rows of it find no place
// there.
func (s *Inline) seen(n, cols int, wrapped bool) (from, hidden int) {
	from = len(s.tail)
	for n > 0 && from > 0 {
		from--
		at := cols
		if !wrapped {
			at = s.tail[from].at
		}
		n -= s.tail[from].rows(at)
	}
	return from, max(0, -n)
}

// again writes the committed lines from one on, for the size of now, and forgets the region. It returns the rows written.
func (s *Inline) again(from int) int {
	var rows []row
	for i, l := range s.tail[from:] {
		rows = split(rows, l.Line, s.width)
		s.tail[from+i].at, s.tail[from+i].as = s.width, ""
	}
	s.print(rows)
	s.forget()
	return len(rows)
}

// rest writes a line without what stands in its first rows, as the terminal has wrapped them.
func (s *Inline) rest(l *shown, hidden int) {
	if unsure(l.Text) { // each row is a line to the terminal
		rows := split(nil, l.Line, s.width)
		s.b.WriteString("\x1b[K")
		s.print(rows[min(hidden, len(rows)-1):])
		return
	}
	rows := split(nil, l.written(), s.width)
	hidden = min(hidden, len(rows)-1)
	above, n := "", 0
	for _, r := range rows[:hidden] {
		above += r.body
		n += r.visible()
	}
	rows = rows[hidden:]
	if l.Prose && l.at != s.width { // wrapped at other words from there on
		rest := width.Line{Text: behind(l.Text, n), Hang: l.Hang, Prose: true}
		if strings.HasPrefix(width.Strip(rows[0].body), " ") { // the row above ends with a word
			rest.Text = " " + rest.Text
		}
		rows = split(nil, rest, s.width)
		l.as, l.at = above+rest.Filled(s.width), s.width
	}
	rows[0].cont = false
	s.csi(max(1, s.width-1), 'X') // to erase the whole row would tell tmux that the one above does not go on in it
	if len(rows) == 1 && rows[0].width < s.width {
		rows[0].body += closing(rows[0].end) + "\x1b[K"
	}
	s.print(rows)
}

// forget says that the region is not drawn, and begins at the cursor.
func (s *Inline) forget() { s.above, s.foot, s.at, s.col = nil, nil, 0, 0 }

// Redraw paints the screen again, for a person who sees it in disorder.
func (s *Inline) Redraw() error { return s.Resize(s.width, s.height) }

// Leave takes the region away and leaves the cursor below what was committed, for the shell or another program.
func (s *Inline) Leave() error {
	s.move(0, 0)
	s.wipe(len(s.above) + len(s.foot))
	if s.hidden {
		s.b.WriteString("\x1b[?25h")
		s.hidden = false
	}
	s.forget()
	return s.flush()
}

// Enter begins anew at the cursor, after another program had the terminal: what stands above is not known.
func (s *Inline) Enter(cols, rows int) {
	s.width, s.height = max(1, cols), max(2, rows)
	s.forget()
	s.printed = 0
	s.tail, s.flight, s.row = nil, nil, 0
}
