package editor

import (
	"strings"
	"unicode"
)

// put inserts what was cut or copied, n times, after or before the cursor; whole lines below or above.
func (v *Vim) put(e *Editor, after bool, n int) {
	if v.reg == "" && !v.regLines || len(v.reg)*n > 1<<20 {
		return
	}
	if v.regLines {
		text := strings.Repeat("\n"+v.reg, n)
		at, line := e.lineEnd(e.cur), 1
		if !after {
			at, line = e.lineStart(e.cur), 0
			text = strings.Repeat(v.reg+"\n", n)
		}
		e.begin(other)
		e.splice(at, at, text)
		e.moveTo(firstNonBlank(e, e.snap(min(at+line, len(e.text)))))
		return
	}
	at := e.cur
	if after {
		at = min(e.next(at), e.lineEnd(at))
	}
	e.begin(other)
	e.splice(at, at, strings.Repeat(v.reg, n))
	e.moveTo(e.prev(e.cur))
}

// join puts n following lines behind the line of pos, with one blank between.
func (v *Vim) join(e *Editor, pos, n int) {
	for range n {
		at := e.lineEnd(pos)
		if at == len(e.text) {
			return
		}
		to := at + 1
		for to < len(e.text) && (e.text[to] == ' ' || e.text[to] == '\t') {
			to++
		}
		glue := " "
		if at == e.lineStart(at) || e.text[at-1] == ' ' || to == len(e.text) || e.text[to] == '\n' {
			glue = ""
		}
		e.begin(other)
		e.splice(at, to, glue)
		e.moveTo(e.snap(at))
		pos = e.cur
	}
}

func (v *Vim) replace(e *Editor, text string) {
	n, to := v.total(), e.cur
	for range n {
		if to == e.lineEnd(e.cur) {
			return
		}
		to = e.next(to)
	}
	text, _ = clean(text)
	e.begin(other)
	at := e.cur
	e.splice(at, to, strings.Repeat(text, n))
	e.moveTo(max(at, e.prev(e.cur)))
}

const indentWidth = 2

// indent moves the lines of [from, to] right or left.
func (v *Vim) indent(e *Editor, from, to int, right bool) {
	from = e.lineStart(from)
	to = max(from, min(to, len(e.text)))
	rows := strings.Split(e.text[from:to], "\n")
	for i, l := range rows {
		switch {
		case right && l != "":
			rows[i] = strings.Repeat(" ", indentWidth) + l
		case !right && strings.HasPrefix(l, "\t"):
			rows[i] = l[1:]
		case !right:
			n := 0
			for n < indentWidth && n < len(l) && l[n] == ' ' {
				n++
			}
			rows[i] = l[n:]
		}
	}
	e.begin(other)
	e.splice(from, to, strings.Join(rows, "\n"))
	e.moveTo(firstNonBlank(e, e.snap(from)))
}

func toggle(r rune) rune {
	if unicode.IsUpper(r) {
		return unicode.ToLower(r)
	}
	return unicode.ToUpper(r)
}

// recase changes the case of [from, to).
func (v *Vim) recase(e *Editor, from, to int, f func(rune) rune) {
	if from >= to {
		return
	}
	e.begin(other)
	e.splice(from, to, strings.Map(func(r rune) rune {
		if r >= firstPart {
			return r
		}
		return f(r)
	}, e.text[from:to]))
	e.moveTo(e.snap(from))
}
