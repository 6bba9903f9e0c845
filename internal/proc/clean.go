package proc

import (
	"bytes"
	"unicode/utf8"
)

const (
	maxPending  = 64 << 10 // a line longer than this is passed on in parts
	maxSequence = 4 << 10  // a terminal sequence longer than this is none
)

// cleaner turns what programs write to a terminal into text: escape sequences, NUL and other control characters
// go, bytes that are no UTF-8 become U+FFFD (a run of them one), CR LF becomes LF, and of a line that was written
// over after CR, as progress bars do, the last state stays. It works on a stream, whatever the pieces.
type cleaner struct {
	emit    func([]byte) // gets clean, valid text, which it must not keep
	buf     []byte       // what was not emitted yet
	start   int          // where in buf the unfinished line starts
	midLine bool         // a part of the unfinished line was emitted already
	cr      bool         // CR seen: what comes next, unless it is LF, starts the line again
	bad     bool         // the last character was a replacement for bytes that are no UTF-8
	state   cleanState
	seq     int    // length of the sequence so far
	rune    []byte // an incomplete character
}

type cleanState int

const (
	inText   cleanState = iota
	inEscape            // after ESC
	inCSI               // ESC [
	inString            // ESC ] and the like, up to BEL or ESC \
	inStringEscape
)

func (c *cleaner) write(p []byte) {
	for len(p) > 0 {
		if c.state == inText && len(c.rune) == 0 {
			if n := plain(p); n > 0 {
				c.add(p[:n])
				p = p[n:]
				continue
			}
		}
		c.step(p[0])
		p = p[1:]
	}
	if len(c.buf)-c.start > maxPending {
		c.start = len(c.buf)
		c.midLine = true
	}
	c.pass()
}

// plain counts the leading bytes that need no care.
func plain(p []byte) int {
	for i, b := range p {
		if b < 0x20 && b != '\t' && b != '\n' || b >= 0x7f {
			return i
		}
	}
	return len(p)
}

func (c *cleaner) step(b byte) {
	switch c.state {
	case inText:
		c.text(b)
	case inEscape:
		c.seq = 0
		switch {
		case b == '[':
			c.state = inCSI
		case b == ']' || b == 'P' || b == 'X' || b == '^' || b == '_':
			c.state = inString
		case b >= 0x20 && b <= 0x2f: // an intermediate byte, the final one follows
		default:
			c.backToText(b)
		}
	case inCSI:
		if c.seq++; b < 0x20 || b > 0x3f || c.seq > maxSequence {
			c.backToText(b)
		}
	case inString:
		c.seq++
		switch {
		case b == 0x1b:
			c.state = inStringEscape
		case b == 0x07 || b == 0x18 || b == 0x1a || c.seq > maxSequence:
			c.state = inText
		case b == '\n': // a sequence that does not end: the text goes on
			c.state = inText
			c.text(b)
		}
	case inStringEscape:
		c.state = inText
		if b != '\\' {
			c.state = inEscape
			c.step(b)
		}
	}
}

// backToText ends a sequence with its final byte, or breaks it off at a byte that cannot belong to it.
func (c *cleaner) backToText(b byte) {
	c.state = inText
	if b < 0x20 || b >= 0x7f {
		c.text(b)
	}
}

func (c *cleaner) text(b byte) {
	if len(c.rune) > 0 || b >= utf8.RuneSelf {
		c.multi(b)
		return
	}
	switch b {
	case 0x1b:
		c.state = inEscape
	case '\r':
		c.cr = true
	case '\b':
		c.erase()
	default:
		if b >= 0x20 && b < 0x7f || b == '\t' || b == '\n' {
			c.add([]byte{b})
		}
	}
}

// multi collects a character of several bytes.
func (c *cleaner) multi(b byte) {
	c.rune = append(c.rune, b)
	if !utf8.FullRune(c.rune) {
		return
	}
	r, size := utf8.DecodeRune(c.rune)
	rest := append([]byte(nil), c.rune[size:]...)
	if r == utf8.RuneError && size == 1 {
		c.replace()
	} else if r >= 0xa0 { // below are control characters
		c.add(c.rune[:size])
	}
	c.rune = c.rune[:0]
	for _, b := range rest {
		c.text(b)
	}
}

func (c *cleaner) replace() {
	if !c.bad {
		c.add([]byte("\uFFFD"))
	}
	c.bad = true
}

// add takes text, which may hold ends of lines.
func (c *cleaner) add(p []byte) {
	if c.cr && p[0] != '\n' {
		c.buf = c.buf[:c.start]
		if c.midLine {
			c.buf = append(c.buf, '\n') // what was emitted cannot be taken back
			c.start = len(c.buf)
			c.midLine = false
		}
	}
	c.cr, c.bad = false, false
	c.buf = append(c.buf, p...)
	if i := bytes.LastIndexByte(p, '\n'); i >= 0 {
		c.start = len(c.buf) - len(p) + i + 1
		c.midLine = false
	}
}

func (c *cleaner) erase() {
	if line := c.buf[c.start:]; len(line) > 0 {
		_, size := utf8.DecodeLastRune(line)
		c.buf = c.buf[:len(c.buf)-size]
	}
}

// pass emits what stands before the unfinished line.
func (c *cleaner) pass() {
	if c.start > 0 {
		c.emit(c.buf[:c.start])
		c.buf = c.buf[:copy(c.buf, c.buf[c.start:])]
		c.start = 0
	}
}

// flush passes on an unfinished line too.
func (c *cleaner) flush() {
	if len(c.rune) > 0 {
		c.rune = c.rune[:0]
		c.replace()
	}
	if len(c.buf) > c.start {
		c.start = len(c.buf)
		c.midLine = true
	}
	c.pass()
}
