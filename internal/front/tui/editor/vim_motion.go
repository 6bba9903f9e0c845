package editor

import (
	"strings"
)

// motion is where a motion goes.
type motion struct {
	to        int
	inclusive bool // an operator takes the character there, too
	lines     bool // an operator takes whole lines
	vertical  bool
	goal      int    // column to aim for, of vertical ones
	result    Result // what the caller is told instead: the history
}

// motion finds where the motion of one key goes from the cursor.
func (v *Vim) motion(e *Editor, c byte) (motion, bool) {
	n := v.total()
	pos, start, end := e.cur, e.lineStart(e.cur), e.lineEnd(e.cur)
	switch c {
	case 'h':
		for range n {
			pos = max(e.prev(pos), start)
		}
	case 'l', ' ':
		for range n {
			pos = min(e.next(pos), end)
		}
	case 'j', 'k':
		return v.vertical(e, c == 'j', n), true
	case '0':
		pos = start
	case '^':
		pos = firstNonBlank(e, start)
	case '$':
		pos = end
	case 'G':
		n := v.count
		if n == 0 {
			n = 1 + strings.Count(e.text, "\n")
		}
		return motion{to: lineAt(e, n), lines: true}, true
	case 'w', 'W':
		return motion{to: v.wordForward(e, c == 'W', n)}, true
	case 'e', 'E':
		for range n {
			pos = vimWordEnd(e, pos, c == 'E')
		}
		return motion{to: pos, inclusive: true}, true
	case 'b', 'B':
		for range n {
			pos = vimWordBack(e, pos, c == 'B')
		}
	case ';', ',':
		if v.find == 0 {
			return motion{to: pos}, true
		}
		kind := v.find
		if c == ',' {
			kind ^= 0x20 // f and F, t and T
		}
		if m, ok := v.findMotion(e, kind, v.findText); ok {
			return m, true
		}
		return motion{to: pos}, v.op == 0
	default:
		return motion{}, false
	}
	return motion{to: pos}, true
}

// vertical goes n rows down or up: wrapped rows, or lines when an operator waits.
func (v *Vim) vertical(e *Editor, down bool, n int) motion {
	if v.op != 0 || v.mode == VisualLine {
		pos := e.cur
		for range n {
			if down {
				if end := e.lineEnd(pos); end < len(e.text) {
					pos = end + 1
				}
			} else if start := e.lineStart(pos); start > 0 {
				pos = e.lineStart(start - 1)
			}
		}
		return motion{to: pos, lines: true, vertical: true, goal: -1}
	}
	was := e.cur
	var r Result
	for range n {
		if down {
			r = e.down()
		} else {
			r = e.up()
		}
		if r != Done {
			break
		}
	}
	m := motion{to: e.cur, vertical: true, goal: e.goal}
	if r != Done && e.cur == was && v.mode == Normal {
		m.result = r
	}
	return m
}

// lineAt is the first character of line n, counted from 1; the last line if there are fewer.
func lineAt(e *Editor, n int) int {
	pos := 0
	for range n - 1 {
		end := e.lineEnd(pos)
		if end == len(e.text) {
			break
		}
		pos = end + 1
	}
	return firstNonBlank(e, pos)
}

func firstNonBlank(e *Editor, start int) int {
	pos, end := start, e.lineEnd(start)
	for pos < end && (e.text[pos] == ' ' || e.text[pos] == '\t') {
		pos++
	}
	return e.snap(pos)
}

// findMotion is f, F, t or T to text in the cursor's line.
func (v *Vim) findMotion(e *Editor, kind byte, text string) (motion, bool) {
	start, end := e.lineStart(e.cur), e.lineEnd(e.cur)
	at := func(pos int) bool { return strings.HasPrefix(e.text[pos:], text) }
	pos := e.cur
	for range v.total() {
		found := -1
		if kind == 'f' || kind == 't' {
			from := e.next(pos)
			if kind == 't' && from < end && at(from) && v.find != 0 && len(v.keys) == 1 { // ; after t goes on
				from = e.next(from)
			}
			for p := from; p < end; p = e.next(p) {
				if at(p) {
					found = p
					break
				}
			}
		} else {
			for p := pos; p > start; {
				if p = e.prev(p); at(p) {
					found = p
					break
				}
			}
		}
		if found < 0 {
			return motion{}, false
		}
		pos = found
	}
	switch kind {
	case 't':
		pos = e.prev(pos)
	case 'T':
		pos = e.next(pos)
	}
	return motion{to: pos, inclusive: kind == 'f' || kind == 't'}, true
}

// kindOf is a character's class as w and its like see it; big words know only blanks.
func kindOf(e *Editor, pos int, big bool) class {
	k := e.class(pos)
	if big && k != space {
		return letter
	}
	return k
}

// wordForward is the start of the nth word ahead. With c it is the end of the word at the cursor instead, and an
// operator stays in the line of the last word.
func (v *Vim) wordForward(e *Editor, big bool, n int) int {
	pos := e.cur
	for i := range n {
		last := i == n-1
		if pos >= len(e.text) {
			break
		}
		k := kindOf(e, pos, big)
		for k != space && pos < len(e.text) && kindOf(e, pos, big) == k {
			pos = e.next(pos)
		}
		if last && v.op == 'c' && k != space {
			return pos
		}
		wordEnd := pos
		for pos < len(e.text) && kindOf(e, pos, big) == space {
			if e.text[pos] == '\n' {
				if last && v.op != 0 {
					return max(wordEnd, min(pos, e.lineEnd(pos)))
				}
				if pos+1 < len(e.text) && e.text[pos+1] == '\n' && pos > e.cur { // an empty line is a word
					pos = e.next(pos)
					break
				}
			}
			pos = e.next(pos)
		}
	}
	return pos
}

func vimWordEnd(e *Editor, pos int, big bool) int {
	pos = e.next(pos)
	for pos < len(e.text) && kindOf(e, pos, big) == space {
		pos = e.next(pos)
	}
	if pos >= len(e.text) {
		return e.prev(len(e.text))
	}
	k := kindOf(e, pos, big)
	for n := e.next(pos); n < len(e.text) && kindOf(e, n, big) == k; n = e.next(pos) {
		pos = n
	}
	return pos
}

func vimWordBack(e *Editor, pos int, big bool) int {
	for pos > 0 && kindOf(e, e.prev(pos), big) == space {
		pos = e.prev(pos)
	}
	if pos == 0 {
		return 0
	}
	k := kindOf(e, e.prev(pos), big)
	for pos > 0 && kindOf(e, e.prev(pos), big) == k {
		pos = e.prev(pos)
	}
	return pos
}

// object is the range of a text object at the cursor: i or a with w W " ' ` ( [ {.
func (e *Editor) object(around bool, c byte) (from, to int, ok bool) {
	switch c {
	case 'w', 'W':
		from, to = e.wordObject(around, c == 'W')
		return from, to, from < to
	case '"', '\'', '`':
		return e.quoted(around, c)
	case '(', ')', 'b':
		return e.bracketed(around, '(', ')')
	case '[', ']':
		return e.bracketed(around, '[', ']')
	case '{', '}', 'B':
		return e.bracketed(around, '{', '}')
	}
	return 0, 0, false
}

func (e *Editor) wordObject(around, big bool) (from, to int) {
	start, end := e.lineStart(e.cur), e.lineEnd(e.cur)
	if e.cur >= end {
		return e.cur, e.cur
	}
	run := func(pos int, k class) int {
		for pos < end && kindOf(e, pos, big) == k {
			pos = e.next(pos)
		}
		return pos
	}
	k := kindOf(e, e.cur, big)
	from, to = e.cur, run(e.cur, k)
	for from > start && kindOf(e, e.prev(from), big) == k {
		from = e.prev(from)
	}
	if !around {
		return from, to
	}
	switch {
	case k == space && to < end:
		return from, run(to, kindOf(e, to, big))
	case to < end && kindOf(e, to, big) == space:
		return from, run(to, space)
	}
	for from > start && kindOf(e, e.prev(from), big) == space {
		from = e.prev(from)
	}
	return from, to
}

// quoted finds the string of the line that holds the cursor, or begins behind it.
func (e *Editor) quoted(around bool, q byte) (from, to int, ok bool) {
	pos, end := e.lineStart(e.cur), e.lineEnd(e.cur)
	for pos < end {
		open := strings.IndexByte(e.text[pos:end], q)
		if open < 0 {
			break
		}
		open += pos
		closing := strings.IndexByte(e.text[open+1:end], q)
		if closing < 0 {
			break
		}
		closing += open + 1
		if e.cur <= closing {
			if around {
				return open, closing + 1, true
			}
			return open + 1, closing, true
		}
		pos = closing + 1
	}
	return 0, 0, false
}

// bracketed finds the innermost pair of brackets around the cursor.
func (e *Editor) bracketed(around bool, left, right byte) (from, to int, ok bool) {
	depth, open := 0, -1
	for p := min(e.cur, len(e.text)-1); p >= 0; p-- {
		switch {
		case e.text[p] == right && p != e.cur:
			depth++
		case e.text[p] == left && depth > 0:
			depth--
		case e.text[p] == left:
			open = p
		}
		if open >= 0 {
			break
		}
	}
	if open < 0 {
		return 0, 0, false
	}
	depth = 0
	for p := open + 1; p < len(e.text); p++ {
		switch {
		case e.text[p] == left:
			depth++
		case e.text[p] == right && depth > 0:
			depth--
		case e.text[p] == right:
			if around {
				return open, p + 1, true
			}
			return open + 1, p, true
		}
	}
	return 0, 0, false
}
