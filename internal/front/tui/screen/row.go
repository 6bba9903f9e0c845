package screen

import (
	"strings"

	"github.com/clipperhouse/displaywidth"

	"lathe/internal/front/tui/width"
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

// shown is a line and the width of the terminal that it was written for.
type shown struct {
	width.Line
	at int
	as string // what was written, where that was partly for another width
}

// written is the text as it was written, which the terminal may have wrapped anew since.
func (l shown) written() width.Line {
	if l.as != "" {
		return width.Line{Text: l.as}
	}
	return width.Line{Text: l.Filled(l.at)}
}

// rows is the number of rows that the line takes now, in a terminal that has wrapped it anew at cols.
func (l shown) rows(cols int) int {
	if cols == l.at && l.as == "" {
		return Rows(l.Line, cols)
	}
	if !unsure(l.Text) {
		return Rows(l.written(), cols)
	}
	n := 0
	for _, r := range split(nil, l.Line, l.at) { // each is a line to the terminal
		n += max(1, (r.width+cols-1)/cols)
	}
	return n
}

// visible counts the characters that are no spaces.
func (r row) visible() int {
	n := 0
	for at := 0; at < len(r.body); {
		size, w := width.Next(r.body[at:])
		if w > 0 && r.body[at] != ' ' {
			n++
		}
		at += size
	}
	return n
}

// behind is what of a text stands behind its first n characters that are no spaces, and behind the spaces that follow.
func behind(text string, n int) string {
	var s splitter
	at := 0
	for at < len(text) {
		size, w := width.Next(text[at:])
		switch {
		case text[at] == 0x1b:
			s.sequence(text[at : at+size])
		case text[at] == ' ', w == 0:
		case n == 0:
			return s.style + s.link + text[at:]
		default:
			n--
		}
		at += size
	}
	return ""
}

// Rows is the number of rows that a line takes.
func Rows(l width.Line, cols int) int {
	if len(l.Text) < cols && strings.IndexByte(l.Text, '\t') < 0 { // no character is wider than its bytes
		return 1
	}
	return len(split(nil, l, cols))
}

// split appends the rows of a line at a width: as a terminal would wrap it, prose at words.
func split(out []row, l width.Line, cols int) []row {
	s := splitter{rows: out, width: max(1, cols), fixed: unsure(l.Text)}
	switch {
	case !l.Prose:
		s.line(l.Text)
	case s.fixed:
		for _, r := range l.Rows(s.width) {
			s.line(r)
		}
	default:
		s.line(l.Filled(s.width))
	}
	return s.rows
}

// common is the length of what two rows have in common, in bytes and cells, and what is in force behind that.
func common(a, b, carry string) (n, cells int, state string) {
	s := splitter{style: carry}
	if i := strings.Index(carry, "\x1b]8;"); i >= 0 {
		s.style, s.link = carry[:i], carry[i:]
	}
	state = s.style + s.link
	for at := 0; at < len(b); {
		size, w := width.Next(b[at:])
		if !strings.HasPrefix(a[min(at, len(a)):], b[at:at+size]) {
			break
		}
		if b[at] == 0x1b {
			s.sequence(b[at : at+size])
		}
		at += size
		n, cells, state = at, cells+w, s.style+s.link
	}
	return n, cells, state
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
