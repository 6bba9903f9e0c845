package markdown

import (
	"strconv"
	"strings"

	"lathe/internal/front/tui/width"
)

func itoa(n int) string { return strconv.Itoa(n) }

// lead splits off blanks at the start and counts their cells; a tab goes on to the next multiple of four.
func lead(s string) (text string, cells int) {
	i := 0
	for ; i < len(s) && (s[i] == ' ' || s[i] == '\t'); i++ {
		if s[i] == '\t' {
			cells += 4 - cells%4
		} else {
			cells++
		}
	}
	return s[i:], cells
}

// dedent takes up to n cells of blanks off. A tab goes as a whole, unless it reaches far beyond.
func dedent(s string, n int) string {
	at := 0
	for at < n && s != "" {
		switch s[0] {
		case ' ':
			at++
		case '\t':
			at += 4 - at%4
		default:
			return s
		}
		s = s[1:]
	}
	return width.Spaces(at-n) + s
}

// headingLevel is the number of # that a heading starts with, 0 if the line is none.
func headingLevel(text string) int {
	n := 0
	for n < len(text) && text[n] == '#' {
		n++
	}
	if n == 0 || n > 6 || n < len(text) && text[n] != ' ' {
		return 0
	}
	return n
}

// opensFence recognises three or more ` or ~. Behind ` no other ` may follow, since that is code inside a line.
func opensFence(text string, indent int) *fence {
	n := 0
	for n < len(text) && text[n] == text[0] {
		n++
	}
	if n < 3 || text[0] != '`' && text[0] != '~' || text[0] == '`' && strings.Contains(text[n:], "`") {
		return nil
	}
	return &fence{mark: text[0], length: n, indent: indent}
}

// isRule recognises three or more *, - or _ with nothing but blanks between.
func isRule(text string) bool {
	c, n := text[0], 0
	if c != '*' && c != '-' && c != '_' {
		return false
	}
	for i := range len(text) {
		switch text[i] {
		case c:
			n++
		case ' ':
		default:
			return false
		}
	}
	return n >= 3
}

// marker begins an item of a list.
type marker struct {
	kind   byte
	number int
	task   string // "[ ]" or "[x]"
	width  int    // up to the content
	rest   string
}

func readMarker(text string) (marker, bool) {
	var m marker
	text = strings.Replace(text, "\t", " ", 1) // one behind the marker
	n := 0
	switch c := text[0]; {
	case c == '-' || c == '*' || c == '+':
		m.kind, n = c, 1
	case c >= '0' && c <= '9':
		for n < len(text) && n < 9 && text[n] >= '0' && text[n] <= '9' {
			m.number = m.number*10 + int(text[n]-'0')
			n++
		}
		if n == len(text) || text[n] != '.' && text[n] != ')' {
			return m, false
		}
		m.kind = text[n]
		n++
	default:
		return m, false
	}
	if n < len(text) && text[n] != ' ' {
		return m, false
	}
	m.rest = strings.TrimLeft(text[n:], " ")
	m.width = len(text) - len(m.rest)
	if m.rest == "" || m.width > n+4 { // empty, or code indented in the item
		m.width = n + 1
		m.rest = text[min(len(text), m.width):]
		if strings.TrimSpace(m.rest) == "" {
			m.rest = ""
		}
	}
	if len(m.rest) > 3 && m.rest[0] == '[' && m.rest[2] == ']' && m.rest[3] == ' ' {
		switch m.rest[1] {
		case ' ':
			m.task = "[ ]"
		case 'x', 'X':
			m.task = "[x]"
		}
		if m.task != "" {
			m.rest = strings.TrimLeft(m.rest[4:], " ")
		}
	}
	return m, true
}

// isDelimiterRow recognises the second line of a table: | --- | :-: |
func isDelimiterRow(text string) bool {
	if !strings.Contains(text, "-") || strings.Trim(text, "|:- ") != "" {
		return false
	}
	for _, c := range cells(text) {
		c = strings.TrimSpace(c)
		c = strings.TrimSuffix(strings.TrimPrefix(c, ":"), ":")
		if c == "" || strings.Trim(c, "-") != "" {
			return false
		}
	}
	return true
}

// cells splits a table's row at its bars; an escaped bar is part of its cell.
func cells(row string) []string {
	row = strings.TrimSpace(row)
	row = strings.TrimPrefix(row, "|")
	if strings.HasSuffix(row, "|") && !strings.HasSuffix(row, `\|`) {
		row = row[:len(row)-1]
	}
	var out []string
	var cell strings.Builder
	for i := 0; i < len(row); i++ {
		switch {
		case row[i] == '\\' && i+1 < len(row) && row[i+1] == '|':
			cell.WriteByte('|')
			i++
		case row[i] == '|':
			out = append(out, strings.TrimSpace(cell.String()))
			cell.Reset()
		default:
			cell.WriteByte(row[i])
		}
	}
	return append(out, strings.TrimSpace(cell.String()))
}
