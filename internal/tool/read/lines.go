package read

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"lathe/internal/token"
	"lathe/internal/tool"
)

// Limits of what one result shows.
const (
	maxLines = 2000      // unless limit says otherwise
	maxWidth = 2000      // characters of a line
	maxBytes = 256 << 10 // of the whole
)

// part is a range of a file's lines.
type part struct {
	text    string // numbered, for the model
	content string // as it is
	start   int    // first line, from 1
	num     int    // lines shown
	total   int    // lines of the file
	long    int    // lines that were shortened
	capped  bool   // a limit of size ended it
	over    bool   // the limit was that of tokens
}

// cut takes the lines from offset (from 1) on, at most limit, and numbers them. They have no more than most tokens; 0: any number.
func cut(body string, offset, limit *int, most int) part {
	p := part{start: 1}
	if offset != nil {
		p.start = max(1, *offset)
	}
	want := maxLines
	if limit != nil {
		want = *limit
	}
	p.total = strings.Count(body, "\n")
	if !strings.HasSuffix(body, "\n") {
		p.total++
	}
	for i := 1; i < p.start; i++ {
		j := strings.IndexByte(body, '\n')
		if j < 0 {
			return p
		}
		body = body[j+1:]
	}
	var text, content strings.Builder
	tokens := 0
	for body != "" && p.num < want {
		raw := body
		if j := strings.IndexByte(body, '\n'); j >= 0 {
			raw = body[:j+1]
		}
		line, shortened := clip(strings.TrimSuffix(strings.TrimSuffix(raw, "\n"), "\r"))
		number := strconv.Itoa(p.start + p.num)
		if text.Len()+len(number)+len(line)+2 > maxBytes && p.num > 0 {
			p.capped = true
			break
		}
		if most > 0 {
			tokens += token.Text(number + "\t" + line + "\n")
			if tokens > most && p.num > 0 {
				p.capped, p.over = true, true
				break
			}
		}
		text.WriteString(number + "\t" + line + "\n")
		if shortened {
			p.long++
			content.WriteString(line + "\n")
		} else {
			content.WriteString(raw)
		}
		body = body[len(raw):]
		p.num++
	}
	p.text, p.content = text.String(), content.String()
	return p
}

// clip shortens a line that is too long to show, between letters.
func clip(line string) (string, bool) {
	if len(line) <= maxWidth {
		return line, false
	}
	n := 0
	for i := range line {
		if n == maxWidth {
			return fmt.Sprintf("%s… (%d more characters)", line[:i], utf8.RuneCountInString(line[i:])), true
		}
		n++
	}
	return line, false
}

// notice tells what was left out and how to get it.
func (p part) notice() string {
	var b strings.Builder
	if last := p.start + p.num - 1; last < p.total {
		why := ""
		switch {
		case p.over:
			why = ", cut at the limit of tokens"
		case p.capped:
			why = ", cut at 256 KB"
		}
		fmt.Fprintf(&b, "(PARTIAL view: lines %d-%d of %d%s; go on with offset %d)\n", p.start, last, p.total, why, last+1)
	}
	if p.long > 0 {
		fmt.Fprintf(&b, "(shortened: %s over %d characters; use grep -o or cut to see the rest)\n", tool.Count(p.long, "line"), maxWidth)
	}
	return b.String()
}
