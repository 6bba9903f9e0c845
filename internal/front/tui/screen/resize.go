package screen

import "lathe/internal/front/tui/width"

// Resize takes a new size of the terminal. What the screen shows by then is the terminal's own work: some wrap every
// line anew, some cut, and where the region is cannot be known. So nothing is guessed from it. Where our lines fill the
// screen, the screen is painted again from what was committed last; else everything of ours is still to be seen, and is
// painted again from where it begins. The next Draw shows the region.
func (s *Inline) Resize(cols, rows int) error {
	cols, rows = max(1, cols), max(2, rows)
	covered := s.printed+len(s.above)+len(s.foot) >= max(s.height, rows)
	oldWidth, oldHeight := s.width, s.height
	s.width, s.height = cols, rows
	if covered {
		s.b.WriteString("\x1b[H\x1b[J")
		s.repaint(oldWidth, oldHeight)
		return s.flush()
	}
	at := oldWidth
	if s.reflows {
		at = cols
	}
	up := s.ours(at, s.reflows)
	s.b.WriteByte('\r')
	if up > 0 {
		s.csi(up, 'A')
	}
	s.b.WriteString("\x1b[J")
	s.lines(s.tail)
	s.forget()
	return s.flush()
}

// ours is how many rows stand above the cursor that are ours, when they are wrapped at a width.
func (s *Inline) ours(cols int, wrapped bool) int {
	n := 0
	for _, l := range s.tail {
		n += Rows(l, cols)
	}
	for i := 0; i < s.at; i++ {
		w := 0
		switch {
		case i < len(s.above):
			w = s.above[i].width
		case i-len(s.above) < len(s.foot):
			w = width.Of(s.foot[i-len(s.above)])
		}
		if wrapped {
			n += max(1, (w+cols-1)/cols)
		} else {
			n++
		}
	}
	if wrapped { // the row of the cursor itself may have been wrapped before it
		n += s.col / cols
	}
	return n
}

// repaint writes the committed lines that fill the screen. Where the terminal does not wrap anew, all lines that could be
// seen before are written, so that those which find no place go into the scrollback.
func (s *Inline) repaint(oldWidth, oldHeight int) {
	room := s.height - len(s.foot) - len(s.above)
	cols := s.width
	if !s.reflows {
		room, cols = max(room, oldHeight-len(s.foot)-len(s.above)), oldWidth
	}
	from := len(s.tail)
	for n := 0; from > 0; from-- {
		if n += Rows(s.tail[from-1], cols); n > room {
			break
		}
	}
	s.lines(s.tail[from:])
	s.forget()
}

func (s *Inline) lines(list []string) {
	var rows []row
	for _, l := range list {
		rows = split(rows, l, s.width)
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
	s.b.WriteString("\x1b[J")
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
