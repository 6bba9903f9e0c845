package screen

import (
	"time"

	"lathe/internal/front/tui/width"
)

// flightTime is how long what we write may be on its way to the terminal, and the news of its new size on its way to us:
// tmux alone keeps that back for a quarter of a second.
const flightTime = 600 * time.Millisecond

// mark notes the state before something is written, for as long as that may still be on its way.
func (s *Inline) mark() {
	now := s.now()
	old := 0
	for old < len(s.marks) && now.Sub(s.marks[old].at) > flightTime {
		old++
	}
	reach := len(s.above) + len(s.foot)
	if !s.reflows { // all that the screen shows is painted over, and a higher one has not scrolled when we think so
		reach = s.height
	}
	s.marks = append(s.marks[old:], mark{now, s.count - reach})
}

// safe is how many lines of tail cannot have been damaged by what was written of late: such lines stood so far above the
// region that no movement reached them, in whatever width.
func (s *Inline) safe(now time.Time) int {
	safe := len(s.tail)
	for _, m := range s.marks {
		if now.Sub(m.at) <= flightTime {
			safe = min(safe, m.safe-(s.count-len(s.tail)))
		}
	}
	return max(0, safe)
}

// SizeChanges says that the terminal has told of a new size. What is on its way to it was made for the old one, and may
// have gone wrong there: it is written again by Resize.
func (s *Inline) SizeChanges() { s.damaged = max(s.damaged, len(s.tail)-s.safe(s.now())) }

// Resize takes a new size of the terminal. What the screen shows by then is the terminal's own work: some wrap every
// line anew, some cut, and where the region is cannot be known. So nothing is guessed from it. Where our lines fill the
// screen, the screen is painted again from what was committed last; else everything of ours is still to be seen, and is
// painted again from where it begins. The next Draw shows the region.
func (s *Inline) Resize(cols, rows int) error {
	cols, rows = max(1, cols), max(2, rows)
	at := s.width
	if s.reflows {
		at = cols
	}
	ours := s.ours(at, s.reflows)
	up := ours + s.heights(at, s.reflows, s.at)
	if s.reflows { // the row of the cursor itself may have been wrapped before it
		up += s.col / at
	}
	region := s.region(at, s.reflows)
	covered := ours+region > rows // else the terminal may have brought back what stood there before us
	if !s.reflows {
		covered = covered || s.printed+len(s.above)+len(s.foot) >= max(s.height, rows)
	}
	oldHeight := s.height
	s.width, s.height = cols, rows
	damaged := len(s.tail) - s.damaged
	s.damaged = 0
	s.mark()
	if covered {
		s.b.WriteString("\x1b[H")
		s.wipe(rows)
		s.repaint(region, oldHeight, damaged)
		return s.flush()
	}
	s.b.WriteByte('\r')
	if up > 0 {
		s.csi(up, 'A')
	}
	s.wipe(up + region)
	s.printed = s.again(0)
	return s.flush()
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

// region is how many rows the region takes when the terminal wraps it at a width.
func (s *Inline) region(cols int, wrapped bool) int {
	return s.heights(cols, wrapped, len(s.above)+len(s.foot))
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

// repaint writes the committed rows that the screen shows, the first of them perhaps in the middle of a line. Where the
// terminal does not wrap anew, all lines that could be seen before are written, so that those which find no place go
// into the scrollback.
func (s *Inline) repaint(region, oldHeight, damaged int) {
	room := max(0, s.height-region)
	if s.height < oldHeight { // some terminals cut the rows below the cursor instead of scrolling
		room += len(s.above) + len(s.foot) - s.at - 1
	}
	if !s.reflows {
		from, _ := s.seen(oldHeight-len(s.foot)-len(s.above), s.width)
		s.again(min(damaged, from))
		return
	}
	if damaged < len(s.tail) { // where our rows stand is not known: rather some lines twice than one of them lost
		from, _ := s.seen(room+region, s.width)
		s.again(min(damaged, from))
		return
	}
	from, hidden := s.seen(room, s.width)
	if hidden > 0 {
		s.rest(s.tail[from], hidden)
		from++
	}
	s.again(from)
}

// seen is the first of the lines that fill n rows, as they were written and the terminal has wrapped them anew at cols, and how
// many rows of it find no place there.
func (s *Inline) seen(n, cols int) (from, hidden int) {
	from = len(s.tail)
	for n > 0 && from > 0 {
		from--
		at := cols
		if !s.reflows {
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
		s.tail[from+i].at = s.width
	}
	s.print(rows)
	s.forget()
	return len(rows)
}

// rest writes a line without what stands in its first rows, as the terminal has wrapped them. Wrapped at other words, its
// rows may hold a little more of it.
func (s *Inline) rest(l shown, hidden int) {
	was, rows := split(nil, width.Line{Text: l.Filled(l.at)}, s.width), split(nil, l.Line, s.width)
	if unsure(l.Text) {
		was = rows
	}
	above := 0
	for _, r := range was[:min(hidden, len(was))] {
		above += r.visible()
	}
	for len(rows) > 0 && rows[0].visible() <= above {
		above -= rows[0].visible()
		rows = rows[1:]
	}
	if len(rows) == 0 { // nothing but spaces; yet the row above goes on in this one
		rows = []row{{}}
	}
	rows[0].cont = false
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
	s.tail = nil
}
