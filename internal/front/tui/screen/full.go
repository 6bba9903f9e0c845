package screen

import (
	"io"
	"strconv"
	"strings"

	"lathe/internal/front/tui/width"
)

// Full draws whole pictures on the alternate screen and writes the rows that differ.
type Full struct {
	w             io.Writer
	width, height int
	rows          []string
	hidden        bool
	fresh         bool
}

// NewFull returns a screen whose first picture is written whole.
func NewFull(w io.Writer, width, height int) *Full {
	return &Full{w: w, width: max(1, width), height: max(2, height), fresh: true}
}

// Size is the size that pictures are made for.
func (s *Full) Size() (width, height int) { return s.width, s.height }

// Resize takes a new size; the next picture is written whole.
func (s *Full) Resize(width, height int) {
	s.width, s.height, s.fresh = max(1, width), max(2, height), true
}

// Draw shows rows, from the top; c counts from there too.
func (s *Full) Draw(rows []string, c Cursor) error {
	var b strings.Builder
	if s.fresh {
		b.WriteString("\x1b[m\x1b[H\x1b[2J")
		s.rows = make([]string, s.height)
	}
	for i := range s.height {
		l := ""
		if i < len(rows) {
			l = width.Cut(rows[i], s.width, "…")
		}
		if s.rows[i] == l {
			continue
		}
		s.rows[i] = l
		b.WriteString("\x1b[" + strconv.Itoa(i+1) + "H" + l + "\x1b[m")
		if width.Of(l) < s.width {
			b.WriteString("\x1b[K")
		}
	}
	if s.fresh || c.Hidden != s.hidden {
		b.WriteString(map[bool]string{true: "\x1b[?25l", false: "\x1b[?25h"}[c.Hidden])
	}
	s.fresh, s.hidden = false, c.Hidden
	if !c.Hidden {
		b.WriteString("\x1b[" + strconv.Itoa(c.Row+1) + ";" + strconv.Itoa(min(c.Col, s.width-1)+1) + "H")
	}
	_, err := io.WriteString(s.w, "\x1b[?2026h"+b.String()+"\x1b[?2026l")
	return err
}
