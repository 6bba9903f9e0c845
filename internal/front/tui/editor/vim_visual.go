package editor

import (
	"strings"
	"unicode"
)

// selected is the range of the selection; whole lines are without their last line end.
func (v *Vim) selected(e *Editor) (from, to int) {
	v.anchor = e.snap(min(v.anchor, len(e.text)))
	from, to = min(v.anchor, e.cur), max(v.anchor, e.cur)
	if v.mode == VisualLine {
		return e.lineStart(from), e.lineEnd(to)
	}
	return from, e.next(to)
}

// visual are the commands on a selection; ok is false for keys that mean the same as in Normal.
func (v *Vim) visual(e *Editor, c byte) (r Result, complete, ok bool) {
	from, to := v.selected(e)
	lines := v.mode == VisualLine
	n := v.total()
	switch c {
	case 'v', 'V':
		want := Visual
		if c == 'V' {
			want = VisualLine
		}
		if v.mode == want {
			want = Normal
		}
		v.mode = want
		return Done, true, true
	case 'o':
		at := e.cur
		e.moveTo(v.anchor)
		v.anchor = at
		return Done, true, true
	case 'd', 'x', 'y', 'c', 's', '>', '<':
		v.mode = Normal
		v.op = map[byte]byte{'x': 'd', 's': 'c'}[c]
		if v.op == 0 {
			v.op = c
		}
		v.operate(e, from, to, lines)
	case 'p':
		v.mode = Normal
		v.putOver(e, from, to, lines, n)
	case 'r':
		v.wait = 'r'
		return Done, false, true
	case '~':
		v.mode = Normal
		v.recase(e, from, to, toggle)
	case 'u':
		v.mode = Normal
		v.recase(e, from, to, unicode.ToLower)
	case 'U':
		v.mode = Normal
		v.recase(e, from, to, unicode.ToUpper)
	case 'J':
		v.mode = Normal
		v.join(e, from, max(1, strings.Count(e.text[from:to], "\n")))
	default:
		return 0, false, false
	}
	return Done, true, true
}

// putOver replaces the selection by what was cut before; what was selected takes its place.
func (v *Vim) putOver(e *Editor, from, to int, lines bool, n int) {
	text, wasLines := v.reg, v.regLines
	v.reg, v.regLines = e.text[from:to], lines
	text = strings.Repeat(text, min(n, 1+1<<20/(len(text)+1)))
	if wasLines && !lines {
		text = "\n" + text + "\n"
	}
	e.begin(other)
	e.splice(from, to, text)
	e.moveTo(e.snap(min(from, len(e.text))))
}

// replaceSelection puts text in the place of each selected character.
func (v *Vim) replaceSelection(e *Editor, text string) {
	from, to := v.selected(e)
	v.mode = Normal
	text, _ = clean(text)
	var b strings.Builder
	for pos := from; pos < to; pos = e.next(pos) {
		if e.text[pos] == '\n' {
			b.WriteByte('\n')
		} else {
			b.WriteString(text)
		}
	}
	e.begin(other)
	e.splice(from, to, b.String())
	e.moveTo(e.snap(from))
}
