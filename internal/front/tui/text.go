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
