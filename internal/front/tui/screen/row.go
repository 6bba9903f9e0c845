package screen

import (
	"strings"

	"github.com/clipperhouse/displaywidth"
)

// row is what one row of the terminal shows of a line.
type row struct {
	carry string // sequences in force where it begins
	body  string
	end   string // sequences in force where it ends
	width int
	cont  bool // the terminal itself wrapped from the row before
	fixed bool // its width may be judged otherwise by the terminal: written with wrapping off

	last      string // the last character, and what was in force there
	lastWidth int
	lastState string
}

const tabStop = 4

// Rows is the number of rows that a line takes.
func Rows(line string, width int) int {
	if len(line) < width && strings.IndexByte(line, '\t') < 0 { // no character is wider than its bytes
		return 1
	}
	return len(split(nil, line, width))
}

// split appends the rows of a line at a width, as a terminal would wrap it.
func split(out []row, line string, width int) []row {
	s := splitter{rows: out, width: max(1, width), fixed: unsure(line)}
	s.line(line)
	return s.rows
}

type splitter struct {
	rows  []row
	cur   row
	body  strings.Builder
	width int
	fixed bool
	style string // SGR in force
	link  string // OSC 8 in force
}

func (s *splitter) line(line string) {
	s.cur = row{fixed: s.fixed}
	for line != "" {
		if line[0] == 0x1b {
			n := s.sequence(line)
			line = line[n:]
			continue
		}
		i := strings.IndexByte(line, 0x1b)
		if i < 0 {
			i = len(line)
		}
		s.text(line[:i])
		line = line[i:]
	}
	s.flush()
}

// text adds characters, and wraps.
func (s *splitter) text(text string) {
	g := displaywidth.StringGraphemes(text)
	for g.Next() {
		v, w := g.Value(), g.Width()
		if v == "\t" {
			w = tabStop - s.cur.width%tabStop
			v = "    "[:w]
		}
		if s.cur.width+w > s.width && s.cur.width > 0 {
			s.flush()
			s.cur = row{carry: s.style + s.link, cont: !s.fixed, fixed: s.fixed}
		}
		s.body.WriteString(v)
		s.cur.width += w
		if w > 0 {
			s.cur.last, s.cur.lastWidth, s.cur.lastState = v, w, s.style+s.link
		} else {
			s.cur.last += v
		}
	}
}

func (s *splitter) flush() {
	s.cur.body, s.cur.end = s.body.String(), s.style+s.link
	s.body.Reset()
	s.rows = append(s.rows, s.cur)
}

// sequence takes one escape sequence and returns its length.
func (s *splitter) sequence(line string) int {
	n := sequenceLen(line)
	seq := line[:n]
	s.body.WriteString(seq)
	switch {
	case strings.HasPrefix(seq, "\x1b[") && seq[n-1] == 'm':
		if p := seq[2 : n-1]; p == "" || p == "0" {
			s.style = ""
		} else {
			s.style += seq
		}
	case strings.HasPrefix(seq, "\x1b]8;"):
		if strings.HasPrefix(seq, "\x1b]8;;\x1b") || strings.HasPrefix(seq, "\x1b]8;;\a") {
			s.link = ""
		} else {
			s.link = seq
		}
	}
	return n
}

// sequenceLen is the length of the escape sequence at the start of s.
func sequenceLen(s string) int {
	if len(s) < 2 {
		return len(s)
	}
	switch s[1] {
	case '[':
		for i := 2; i < len(s); i++ {
			if s[i] >= 0x40 && s[i] <= 0x7e {
				return i + 1
			}
		}
		return len(s)
	case ']':
		for i := 2; i < len(s); i++ {
			if s[i] == '\a' {
				return i + 1
			}
			if s[i] == 0x1b && i+1 < len(s) && s[i+1] == '\\' {
				return i + 2
			}
		}
		return len(s)
	}
	return 2
}

// unsure reports whether the line holds characters on whose width terminals disagree: emoji made of several, flags,
// signs that a selector turns into pictures, marks that combine.
func unsure(line string) bool {
	for _, r := range line {
		switch {
		case r < 0x300:
		case r <= 0x36f, r == 0x200d, r == 0xfe0f, r == 0xfe0e, r >= 0x1f1e6 && r <= 0x1f1ff, r >= 0x1f3fb && r <= 0x1f3ff, r == 0x20e3:
			return true
		case r >= 0x0900 && r <= 0x0dff, r >= 0x0e31 && r <= 0x0e4e, r >= 0x0eb1 && r <= 0x0ece, r >= 0x1000 && r <= 0x109f, r >= 0x1780 && r <= 0x17ff:
			return true
		}
	}
	return false
}

func closing(state string) string {
	switch {
	case state == "":
		return ""
	case strings.Contains(state, "\x1b]8;"):
		return "\x1b]8;;\x1b\\\x1b[m"
	}
	return "\x1b[m"
}
