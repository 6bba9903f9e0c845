package tui

import (
	"strings"

	"lathe/internal/front/tui/width"
)

// streamer turns an answer that grows into lines. Lines that Write and Close return are final.
type streamer interface {
	Write(text string) []width.Line
	Open() []width.Line // what is not final yet
	Close() []width.Line
	Resize(cols int) // for what comes
}

// rowsOf breaks text into rows at words.
func rowsOf(text string, cols int) []string {
	var out []string
	for _, l := range strings.Split(text, "\n") {
		out = append(out, width.Line{Text: l}.Rows(cols)...)
	}
	return out
}

// head is the first n lines of a text, and how many more there are.
func head(text string, n int) (lines []string, more int) {
	text = strings.TrimRight(text, "\n")
	if text == "" {
		return nil, 0
	}
	all := strings.Count(text, "\n") + 1
	for i := 0; i < n && text != ""; i++ {
		l, rest, _ := strings.Cut(text, "\n")
		lines = append(lines, l)
		text = rest
	}
	return lines, max(0, all-n)
}

// tailLines is the last n lines of a text that are not blank.
func tailLines(text string, n int) []string {
	text = strings.TrimRight(text, "\n ")
	var out []string
	for len(out) < n && text != "" {
		i := strings.LastIndexByte(text, '\n')
		if l := text[i+1:]; strings.TrimSpace(l) != "" {
			out = append([]string{l}, out...)
		}
		if i < 0 {
			break
		}
		text = text[:i]
	}
	return out
}

// Of a line in two columns: how wide the first one may be, and what the second needs to be read beside it.
const (
	nameColumn = 32
	textColumn = 24
)

// columns lays out a line of a command's output that has two columns and does not fit in a row: the second column wraps below
// itself, and stands below the first one where there is no room beside it. Nil: the line is no such one.
func (u *ui) columns(l string) []width.Line {
	if width.Of(l)+2 < u.cols {
		return nil
	}
	indent := len(l) - len(strings.TrimLeft(l, " "))
	if text := l[indent:]; indent > maxHang { // it goes on with a second column
		hang := width.Spaces(min(indent, maxHang/2))
		if indent+2+textColumn <= u.cols {
			hang = width.Spaces(indent + 2)
		}
		return []width.Line{{Text: hang + markedTabs(text), Hang: hang, Prose: true}}
	}
	name, rest, ok := strings.Cut(l[indent:], "  ")
	rest = strings.TrimLeft(rest, " ")
	at := width.Of(l) - width.Of(rest)
	if !ok || name == "" || rest == "" || width.Of(name) > nameColumn {
		return nil
	}
	if hang := width.Spaces(2 + at); at+2+textColumn <= u.cols {
		return []width.Line{{Text: "  " + markedTabs(l), Hang: hang, Prose: true}}
	}
	hang := width.Spaces(indent + 4)
	return []width.Line{
		{Text: width.Spaces(indent+2) + markedTabs(name), Hang: hang, Prose: true},
		{Text: hang + markedTabs(strings.Join(strings.Fields(rest), " ")), Hang: hang, Prose: true},
	}
}
