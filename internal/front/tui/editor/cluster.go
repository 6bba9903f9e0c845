package editor

import (
	"unicode"
	"unicode/utf8"

	"lathe/internal/front/tui/width"
)

// size is the length of the cluster at pos, 0 at the end.
func (e *Editor) size(pos int) int { return clusterSize(e.text[pos:]) }

func clusterSize(s string) int {
	if s == "" {
		return 0
	}
	if s[0] == '\n' {
		return 1
	}
	if s[0] >= 0xf3 {
		if r, n := utf8.DecodeRuneInString(s); r >= firstPart {
			return n
		}
	}
	n, _ := width.Next(s)
	return max(n, 1)
}

func (e *Editor) next(pos int) int { return pos + e.size(pos) }

// prev is the start of the cluster before pos. Clusters are found from the front, from a place that is a boundary for sure.
func (e *Editor) prev(pos int) int {
	if pos <= 0 {
		return 0
	}
	from := e.sure(pos - 1)
	for {
		n := from + e.size(from)
		if n >= pos {
			return from
		}
		from = n
	}
}

// snap is the first boundary at or after pos.
func (e *Editor) snap(pos int) int {
	if pos >= len(e.text) {
		return len(e.text)
	}
	from := e.sure(pos)
	for from < pos {
		from += e.size(from)
	}
	return from
}

// sure is a boundary at or before pos: before an ASCII character that follows another one, or a line's start.
func (e *Editor) sure(pos int) int {
	for ; pos > 0; pos-- {
		if c := e.text[pos]; c == '\n' || e.text[pos-1] == '\n' || c < utf8.RuneSelf && e.text[pos-1] < utf8.RuneSelf {
			return pos
		}
	}
	return 0
}

// class sorts clusters for motions by word.
type class int

const (
	space class = iota
	punct
	letter
	ideograph // a word of its own class, so that mixed text stops at the change
	part      // a placeholder
)

func (e *Editor) class(pos int) class {
	r, _ := utf8.DecodeRuneInString(e.text[pos:])
	switch {
	case r >= firstPart:
		return part
	case unicode.IsSpace(r):
		return space
	case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana):
		return ideograph
	case r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r):
		return letter
	}
	return punct
}

// wordLeft is the start of the word before pos, skipping what is none.
func (e *Editor) wordLeft(pos int) int {
	inWord := class(-1)
	for pos > 0 {
		p := e.prev(pos)
		c := e.class(p)
		switch {
		case inWord >= 0 && c != inWord:
			return pos
		case inWord < 0 && c == part:
			return p
		case inWord < 0 && c >= letter:
			inWord = c
		}
		pos = p
	}
	return 0
}

// wordEnd is the end of the word at or after pos.
func (e *Editor) wordEnd(pos int) int {
	inWord := class(-1)
	for pos < len(e.text) {
		c := e.class(pos)
		switch {
		case inWord >= 0 && c != inWord:
			return pos
		case inWord < 0 && c == part:
			return e.next(pos)
		case inWord < 0 && c >= letter:
			inWord = c
		}
		pos = e.next(pos)
	}
	return pos
}

// wordRight is the start of the word after the one at pos.
func (e *Editor) wordRight(pos int) int {
	start := true
	was := class(-1)
	for pos < len(e.text) {
		c := e.class(pos)
		if !start && c >= letter && c != was {
			return pos
		}
		start, was = false, c
		pos = e.next(pos)
	}
	return pos
}

// blankLeft is the start of the run of non-blanks before pos.
func (e *Editor) blankLeft(pos int) int {
	for pos > 0 && e.class(e.prev(pos)) == space {
		pos = e.prev(pos)
	}
	for pos > 0 && e.class(e.prev(pos)) != space {
		pos = e.prev(pos)
	}
	return pos
}
