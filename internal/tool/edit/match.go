package edit

import (
	"errors"
	"fmt"
	"sort"
	"strings"

	"lathe/internal/file"
)

// applied is an edit that was made in memory.
type applied struct {
	text  string // the whole new text
	count int    // pieces replaced
	note  string // what was not exact about the match, for the model
}

// apply replaces old_string in body. Matching does not see the difference between CRLF and LF; every line end
// outside the changed lines stays as it is, and new lines get the kind that stands around them.
func apply(body string, in Input) (applied, error) {
	if in.OldString == "" {
		if body != "" {
			return applied{}, errors.New("old_string is empty, but the file has content; give the text to replace, or use Write to replace it all")
		}
		return applied{text: in.NewString, count: 1}, nil
	}
	v := newView(body)
	old := file.LF(in.OldString)
	at := strings.Index(v.text, old)
	if at < 0 {
		return foldApply(body, in)
	}
	if !in.ReplaceAll && strings.Contains(v.text[at+1:], old) {
		return applied{}, several(v.text, old)
	}
	var b strings.Builder
	done, count := 0, 0 // done: bytes of body that are written
	for at >= 0 {
		start, end := v.raw(at), v.raw(at+len(old))
		b.WriteString(body[done:start])
		b.WriteString(lineEnds(body, start, end, in.NewString))
		done, count = end, count+1
		next := at + len(old)
		if !in.ReplaceAll {
			break
		}
		if at = strings.Index(v.text[next:], old); at >= 0 {
			at += next
		}
	}
	b.WriteString(body[done:])
	if b.String() == body {
		return applied{}, errors.New("this edit changes nothing")
	}
	return applied{text: b.String(), count: count}, nil
}

// several is the error for a match that is not unique; it tells the lines.
func several(text, old string) error {
	var lines []string
	n, line, pos := 0, 1, 0
	for {
		i := strings.Index(text[pos:], old)
		if i < 0 {
			break
		}
		n++
		line += strings.Count(text[pos:pos+i], "\n")
		if len(lines) < 8 {
			lines = append(lines, fmt.Sprint(line))
		} else if len(lines) == 8 {
			lines = append(lines, "…")
		}
		if text[pos+i] == '\n' {
			line++
		}
		pos += i + 1 // overlapping ones count: any of them may be meant
	}
	return fmt.Errorf("old_string was found %d times (lines %s); add lines around it to make it unique, or set replace_all to change all of them",
		n, strings.Join(lines, ", "))
}

// view is text with LF line ends and the way back to the offsets of the original.
type view struct {
	text string
	crs  []int // offsets in text of the LFs that were CRLFs, ascending
}

func newView(body string) view {
	if !strings.Contains(body, "\r\n") {
		return view{text: body}
	}
	v := view{}
	var b strings.Builder
	b.Grow(len(body))
	for {
		i := strings.Index(body, "\r\n")
		if i < 0 {
			b.WriteString(body)
			break
		}
		b.WriteString(body[:i])
		v.crs = append(v.crs, b.Len())
		b.WriteByte('\n')
		body = body[i+2:]
	}
	v.text = b.String()
	return v
}

// raw is the offset in the original of offset i of the view. An LF that was a CRLF begins at its CR.
func (v view) raw(i int) int { return i + sort.SearchInts(v.crs, i) }

// lineEnds gives the new text for body[start:end] the line ends that it should have there: a line that stays keeps
// its own, a line that is replaced hands its own on, and a further line gets that of the line before it.
func lineEnds(body string, start, end int, text string) string {
	if !strings.Contains(body, "\n") {
		return text // nothing says what this file uses
	}
	text = file.LF(text)
	was, now := strings.SplitAfter(body[start:end], "\n"), strings.SplitAfter(text, "\n")
	pre := 0
	for pre < len(was) && pre < len(now) && file.LF(was[pre]) == now[pre] {
		pre++
	}
	post := 0
	for post < len(was)-pre && post < len(now)-pre && file.LF(was[len(was)-1-post]) == now[len(now)-1-post] {
		post++
	}
	var b strings.Builder
	last := endAround(body, start)
	for j, line := range now {
		content, ended := strings.CutSuffix(line, "\n")
		b.WriteString(content)
		if !ended {
			continue
		}
		i := j
		if j >= len(now)-post {
			i = j - len(now) + len(was)
		}
		if (j >= len(now)-post || i < len(was)-post) && i < len(was) && strings.HasSuffix(was[i], "\n") {
			last = endOf(was[i])
		}
		b.WriteString(last)
	}
	return b.String()
}

// endAround is the line end before offset i, or else the first after it.
func endAround(body string, i int) string {
	if j := strings.LastIndexByte(body[:i], '\n'); j >= 0 {
		return endOf(body[:j+1])
	}
	if j := strings.IndexByte(body[i:], '\n'); j >= 0 {
		return endOf(body[:i+j+1])
	}
	return "\n"
}

func endOf(s string) string {
	if strings.HasSuffix(s, "\r\n") {
		return "\r\n"
	}
	return "\n"
}
