package edit

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"lathe/internal/file"
)

// maxFold is the largest text that is looked at a second time when old_string is not in it.
const maxFold = 4 << 20

// folded is text without the differences that models do not see: kinds of quotes and blanks, blanks at line ends,
// composed and decomposed letters, line ends. Each byte knows the piece of the original that it stands for.
type folded struct {
	text       string
	start, end []int
}

func fold(s string) folded {
	f := folded{}
	out := make([]byte, 0, len(s))
	put := func(piece string, from, to int) {
		for range len(piece) {
			f.start, f.end = append(f.start, from), append(f.end, to)
		}
		out = append(out, piece...)
	}
	for i := 0; i < len(s); {
		if end := lineEnd(s[i:]); end > 0 {
			n := len(out)
			for n > 0 && (out[n-1] == ' ' || out[n-1] == '\t') {
				n--
			}
			out, f.start, f.end = out[:n], f.start[:n], f.end[:n]
			put("\n", i, i+end)
			i += end
			continue
		}
		if s[i] < utf8.RuneSelf && (i+1 == len(s) || s[i+1] < utf8.RuneSelf) {
			put(s[i:i+1], i, i+1)
			i++
			continue
		}
		n := max(1, norm.NFC.NextBoundaryInString(s[i:], true))
		put(strings.Map(plain, norm.NFC.String(s[i:i+n])), i, i+n)
		i += n
	}
	f.text = string(out)
	return f
}

// lineEnd is the length of the line end that s starts with, or 0.
func lineEnd(s string) int {
	switch {
	case s[0] == '\n':
		return 1
	case strings.HasPrefix(s, "\r\n"):
		return 2
	}
	return 0
}

// plain is the letter that a model takes r for.
func plain(r rune) rune {
	switch {
	case r >= '\u2018' && r <= '\u201b':
		return '\''
	case r >= '\u201c' && r <= '\u201f':
		return '"'
	case oddBlank(r):
		return ' '
	}
	return r
}

func oddBlank(r rune) bool {
	return r == '\u00a0' || r >= '\u2000' && r <= '\u200a' || r == '\u202f' || r == '\u205f' || r == '\u3000'
}

func curly(r rune) bool { return r >= '\u2018' && r <= '\u201f' }

// boundary reports whether a piece of the original begins at byte i of the folded text.
func (f folded) boundary(i int) bool {
	return i == 0 || i >= len(f.start) || f.start[i] != f.start[i-1]
}

// span is the part of the original that bytes from to to of the folded text stand for, where what is dropped at
// either side belongs to it unless that side is the edge of a match (lo and hi).
func (f folded) span(from, to, lo, hi int) (int, int) {
	start, end := 0, 0
	if from > lo {
		start = f.end[from-1]
	} else if from < len(f.start) {
		start = f.start[from]
	}
	switch {
	case to < hi:
		end = f.start[to]
	case to > 0:
		end = f.end[to-1]
	}
	return start, max(start, end)
}

// foldApply is tried when old_string is not in the file: it matches without the differences above, when that is
// unique. Only what differs between old_string and new_string is written; the rest keeps the file's own characters.
func foldApply(body string, in Input) (applied, error) {
	if len(body) > maxFold || strings.TrimSpace(in.OldString) == "" {
		return applied{}, notFound(body, in.OldString)
	}
	f, old, new := fold(body), fold(in.OldString), fold(in.NewString)
	at := strings.Index(f.text, old.text)
	if at < 0 {
		return applied{}, notFound(body, in.OldString)
	}
	odd := oddities(body[f.start[at]:f.end[at+len(old.text)-1]], in.OldString)
	line := 1 + strings.Count(f.text[:at], "\n")
	refuse := func(why string) (applied, error) {
		return applied{}, fmt.Errorf("old_string was not found as it is. Line %d matches but for %s%s; send the characters that the file has", line, odd, why)
	}
	if strings.Contains(f.text[at+1:], old.text) {
		return refuse(", and so do others")
	}
	pre, post := common(old.text, new.text)
	from, to := at+pre, at+len(old.text)-post
	edge := 0
	if at > 0 {
		edge = f.end[at-1]
	}
	if edge != f.start[at] { // it begins in the middle of the blanks at a line end
		return refuse("")
	}
	if old.text == new.text || !f.boundary(at) || !f.boundary(from) || !f.boundary(to) || !f.boundary(at+len(old.text)) ||
		!new.boundary(pre) || !new.boundary(len(new.text)-post) {
		return refuse("")
	}
	start, end := f.span(from, to, at, at+len(old.text))
	ns, ne := 0, len(in.NewString)
	if len(new.text) > 0 {
		ns, ne = new.span(pre, len(new.text)-post, 0, len(new.text))
	}
	middle := in.NewString[ns:ne]
	if strings.ContainsAny(middle, `'"`) && strings.ContainsFunc(body[f.start[at]:f.end[at+len(old.text)-1]], curly) {
		return refuse(", and it is unclear which quotes the new text should have")
	}
	text := body[:start] + lineEnds(body, start, end, middle) + body[end:]
	if text == body {
		return refuse("")
	}
	return applied{text: text, count: 1, note: "matched but for " + odd + ", which were kept outside the changed words"}, nil
}

// common is the length of the longest common start and, in the rest, of the longest common end, in whole letters.
func common(a, b string) (pre, post int) {
	for pre < len(a) && pre < len(b) && a[pre] == b[pre] {
		pre++
	}
	for pre > 0 && (pre < len(a) && !utf8.RuneStart(a[pre]) || pre < len(b) && !utf8.RuneStart(b[pre])) {
		pre--
	}
	for post < len(a)-pre && post < len(b)-pre && a[len(a)-1-post] == b[len(b)-1-post] {
		post++
	}
	for post > 0 && !utf8.RuneStart(a[len(a)-post]) {
		post--
	}
	return pre, post
}

// oddities names what differs between a piece of the file and old_string, which fold alike.
func oddities(piece, old string) string {
	var names []string
	add := func(differs bool, name string) {
		if differs {
			names = append(names, name)
		}
	}
	count := func(s string, is func(rune) bool) int { return len(s) - len(strings.Map(drop(is), s)) }
	add(count(piece, curly) != count(old, curly), "curly and straight quotes")
	add(count(piece, oddBlank) != count(old, oddBlank), "special blanks such as U+00A0")
	trailing := func(s string) string { return fold(strings.Map(plain, file.LF(s))).text }
	add(len(norm.NFC.String(strings.Map(plain, file.LF(piece)))) != len(trailing(piece)) ||
		len(norm.NFC.String(strings.Map(plain, file.LF(old)))) != len(trailing(old)), "blanks at line ends")
	add(norm.NFC.IsNormalString(piece) != norm.NFC.IsNormalString(old), "decomposed letters (NFD)")
	if len(names) == 0 {
		return "characters that look alike"
	}
	return strings.Join(names, " and ")
}

func drop(is func(rune) bool) func(rune) rune {
	return func(r rune) rune {
		if is(r) {
			return -1
		}
		return r
	}
}
