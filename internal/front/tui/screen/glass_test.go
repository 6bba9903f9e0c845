package screen

import (
	"fmt"
	"strconv"
	"strings"

	"lathe/internal/front/tui/width"
)

// glass is a small terminal that does what this package asks of one, strictly, and fails on anything else. Other emulators
// that are made for tests neither wrap lines anew at a resize nor wrap behind a wide character at the edge.
type glass struct {
	cols, height int
	reflows      bool
	lines        []glassRow // scrolled off, and then the screen
	top          int        // first row of the screen
	x, y         int        // y counts from the top of the screen
	pending      bool       // the next character wraps
	nowrap       bool
	answers      []reply // to questions
	err          error
}

// reply is the answer to a question: the size and the cursor's row of then.
type reply struct {
	to              Question
	cols, rows, row int
}

type glassRow struct {
	cells []string // "" is blank; behind a wide character stands "\x00"
	soft  bool     // goes on in the next row
}

func newGlass(cols, height int, reflows bool) *glass {
	g := &glass{cols: cols, height: height, reflows: reflows}
	g.fill()
	return g
}

func (g *glass) fill() {
	for len(g.lines) < g.top+g.height {
		g.lines = append(g.lines, glassRow{cells: make([]string, g.cols)})
	}
}

func (g *glass) Write(p []byte) (int, error) {
	s := string(p)
	for s != "" {
		switch {
		case s[0] == '\r':
			g.x, g.pending = 0, false
			s = s[1:]
		case s[0] == '\n':
			g.feed()
			s = s[1:]
		case s[0] == 0x1b:
			n := sequenceLen(s)
			g.sequence(s[:n])
			s = s[n:]
		case s[0] < 0x20:
			g.fail("control character %q", s[0])
			s = s[1:]
		default:
			n, w := width.Next(s)
			g.put(s[:n], w)
			s = s[n:]
		}
	}
	return len(p), g.err
}

func (g *glass) fail(format string, args ...any) {
	if g.err == nil {
		g.err = fmt.Errorf(format, args...)
	}
}

func (g *glass) feed() {
	g.pending = false
	if g.y < g.height-1 {
		g.y++
		return
	}
	g.top++
	g.fill()
}

func (g *glass) put(s string, w int) {
	if w == 0 {
		return
	}
	if g.pending || g.x+w > g.cols {
		if g.nowrap {
			g.x = g.cols - w
		} else {
			g.lines[g.top+g.y].soft = true
			g.feed()
			g.x = 0
		}
	}
	g.pending = false
	row := g.lines[g.top+g.y].cells
	row[g.x] = s
	if w == 2 {
		row[g.x+1] = "\x00"
	}
	g.x += w
	if g.x >= g.cols {
		g.x, g.pending = g.cols-1, !g.nowrap
	}
}

func (g *glass) sequence(s string) {
	if !strings.HasPrefix(s, "\x1b[") {
		g.fail("sequence %q", s)
		return
	}
	final, body := s[len(s)-1], s[2:len(s)-1]
	n := 1
	if v, err := strconv.Atoi(body); err == nil {
		n = v
	}
	if !strings.ContainsRune("mhltn", rune(final)) {
		g.pending = g.pending && final == 'K'
	}
	at := g.top + g.y
	switch {
	case final == 'm', body == "?2026", body == "?25":
	case final == 't' && body == "18", final == 'n' && body == "6":
		g.answers = append(g.answers, reply{Question(s), g.cols, g.height, g.y + 1})
	case body == "?7":
		g.nowrap = final == 'l'
	case final == 'A':
		g.y = max(0, g.y-n)
	case final == 'B':
		g.y = min(g.height-1, g.y+n)
	case final == 'C':
		g.x = min(g.cols-1, g.x+n)
	case final == 'G':
		g.x = min(g.cols-1, n-1)
	case final == 'H' && body == "":
		g.x, g.y = 0, 0
	case final == 'K' && body == "":
		if !g.pending {
			clear(g.lines[at].cells[g.x:])
			g.lines[at].soft = false
		}
		if g.x == 0 && at > 0 { // as tmux does
			g.lines[at-1].soft = false
		}
	case final == 'X':
		clear(g.lines[at].cells[g.x:min(g.cols, g.x+n)])
		if g.x == 0 && n >= g.cols && at > 0 {
			g.lines[at-1].soft = false
		}
	case final == 'J' && body == "" && g.x == 0 && g.y == 0: // as tmux does
		g.top += g.height
		g.fill()
	case final == 'J' && body == "":
		clear(g.lines[at].cells[g.x:])
		g.lines[at].soft = false
		for i := at + 1; i < len(g.lines); i++ {
			g.lines[i] = glassRow{cells: make([]string, g.cols)}
		}
	case final == 'L':
		for range n {
			copy(g.lines[at+1:g.top+g.height], g.lines[at:g.top+g.height-1])
			g.lines[at] = glassRow{cells: make([]string, g.cols)}
		}
		g.x = (g.x + 1) % g.cols // some go to the first column, others do not
	default:
		g.fail("sequence %q", s)
	}
}

func (r glassRow) text() string {
	var b strings.Builder
	for _, c := range r.cells {
		switch c {
		case "":
			b.WriteByte(' ')
		case "\x00":
		default:
			b.WriteString(c)
		}
	}
	return strings.TrimRight(b.String(), " ")
}

// rows are all rows, without empty ones at the end.
func (g *glass) rows() []string {
	var out []string
	for _, r := range g.lines {
		out = append(out, r.text())
	}
	for len(out) > 0 && out[len(out)-1] == "" {
		out = out[:len(out)-1]
	}
	return out
}

// copied are all lines as a person would copy them: rows that the terminal itself wrapped are one line.
func (g *glass) copied() []string {
	var out []string
	line := ""
	for _, r := range g.lines {
		if r.soft {
			var b strings.Builder
			for _, c := range r.cells {
				if c != "\x00" {
					b.WriteString(c)
				}
			}
			line += b.String()
			continue
		}
		out = append(out, strings.TrimRight(line+r.text(), " "))
		line = ""
	}
	for len(out) > 0 && out[len(out)-1] == "" {
		out = out[:len(out)-1]
	}
	return out
}

// resize changes the size as terminals do. One that wraps lines anew keeps the cursor at its character, and the bottom of
// the text at the bottom of the screen; others cut or fill up.
func (g *glass) resize(cols, height int) {
	if !g.reflows || cols == g.cols {
		for i := range g.lines {
			c := make([]string, cols)
			copy(c, g.lines[i].cells)
			g.lines[i].cells = c
		}
		at := g.top + g.y
		g.cols, g.height = cols, height
		g.x, g.pending = min(g.x, cols-1), false
		if over := at - g.top - height + 1; over > 0 {
			g.top += over
		}
		g.y = at - g.top
		g.lines = g.lines[:min(len(g.lines), g.top+height)]
		g.fill()
		return
	}
	var out []glassRow
	cursorRow, cursorCol := 0, 0
	for i := 0; i < len(g.lines); {
		var cells []string
		mark := -1
		for {
			r := g.lines[i]
			n := len(r.cells)
			if !r.soft {
				for n > 0 && r.cells[n-1] == "" {
					n--
				}
			}
			if i == g.top+g.y {
				mark = len(cells) + g.x
				n = max(n, min(g.x, len(r.cells)))
			}
			cells = append(cells, r.cells[:n]...)
			i++
			if !r.soft || i == len(g.lines) {
				break
			}
		}
		first := true
		for pos := 0; first || pos < len(cells); first = false {
			n := min(cols, len(cells)-pos)
			if pos+n < len(cells) && cells[pos+n] == "\x00" {
				n--
			}
			row := make([]string, cols)
			copy(row, cells[pos:pos+n])
			if mark >= pos && (mark < pos+n || pos+n >= len(cells)) {
				cursorRow, cursorCol = len(out), min(mark-pos, cols-1)
			}
			pos += n
			out = append(out, glassRow{cells: row, soft: pos < len(cells)})
		}
	}
	used := len(out)
	for used > cursorRow+1 && !out[used-1].soft && out[used-1].text() == "" {
		used--
	}
	g.lines, g.cols, g.height = out[:used], cols, height
	g.top = max(0, used-height)
	g.y, g.x, g.pending = cursorRow-g.top, cursorCol, false
	if g.y < 0 {
		g.top, g.y = cursorRow, 0
		g.lines = g.lines[:min(len(g.lines), g.top+height)]
	}
	g.fill()
}
