package search

import (
	"bytes"
	"math"
)

// literal is one text to look for. With fold, text is lower case and ASCII letters match in either case.
type literal struct {
	text []byte
	fold bool
	rare int // offset of the byte that the search jumps to
	next int // offset of the byte that is checked before all others
}

func newLiteral(text string, fold bool) literal {
	l := literal{text: []byte(text), fold: fold}
	best, second := math.MaxInt, math.MaxInt
	for i := range l.text {
		switch r := l.rank(i); {
		case r < best:
			second, l.next = best, l.rare
			best, l.rare = r, i
		case r < second:
			second, l.next = r, i
		}
	}
	return l
}

func isLower(b byte) bool { return 'a' <= b && b <= 'z' }

// rank is byteRank with both cases of a folded letter counted.
func (l *literal) rank(i int) int {
	b := l.text[i]
	r := int(byteRank[b])
	if l.fold && isLower(b) {
		return max(r, int(byteRank[b-'a'+'A'])) + 4
	}
	return r
}

// cost is a rough measure of how often the literal occurs by chance; lower is better.
func (l *literal) cost() int {
	best := l.rank(l.rare)
	if len(l.text) == 1 {
		return best + 60
	}
	return best + l.rank(l.next)/4 - 4*min(len(l.text), 8)
}

// at reports whether the literal stands at b[i:].
func (l *literal) at(b []byte, i int) bool {
	if i < 0 || i+len(l.text) > len(b) {
		return false
	}
	w := b[i : i+len(l.text)]
	if !l.fold {
		return w[l.next] == l.text[l.next] && bytes.Equal(w, l.text)
	}
	for k, c := range l.text {
		x := w[k]
		if 'A' <= x && x <= 'Z' {
			x += 'a' - 'A'
		}
		if x != c {
			return false
		}
	}
	return true
}

// finder looks for the first of several literals in one buffer. It remembers where each was seen next, so a
// pass over a buffer costs one scan for each literal (two for a folded letter). It is not safe for concurrent use.
type finder struct {
	lits    []literal
	cursors []cursor
}

// cursor holds, for one literal, the next places of its rare byte (-1 unknown, len none) and of the literal.
type cursor struct{ lower, upper, hit int }

func newFinder(lits []literal) *finder {
	return &finder{lits: lits, cursors: make([]cursor, len(lits))}
}

// reset forgets what was seen; call it for each new buffer.
func (f *finder) reset() {
	for i := range f.cursors {
		f.cursors[i] = cursor{-1, -1, -1}
	}
}

// find returns where the first literal at or after pos starts, and its length; -1 when there is none. Between
// two resets pos must not go back.
func (f *finder) find(b []byte, pos int) (at, length int) {
	at = -1
	for i := range f.lits {
		c := &f.cursors[i]
		if c.hit < pos {
			c.hit = f.lits[i].seek(b, pos, c)
		}
		if c.hit < len(b) && (at < 0 || c.hit < at) {
			at, length = c.hit, len(f.lits[i].text)
		}
	}
	return at, length
}

// seek returns where the literal starts at or after pos, len(b) when it does not.
func (l *literal) seek(b []byte, pos int, c *cursor) int {
	r := l.text[l.rare]
	folded := l.fold && isLower(r)
	for p := pos + l.rare; p < len(b); p++ {
		if c.lower < p {
			c.lower = indexFrom(b, r, p)
		}
		p0 := c.lower
		if folded {
			if c.upper < p {
				c.upper = indexFrom(b, r-'a'+'A', p)
			}
			p0 = min(p0, c.upper)
		}
		if p0 >= len(b) {
			break
		}
		p = p0
		if l.at(b, p-l.rare) {
			return p - l.rare
		}
	}
	return len(b)
}

func indexFrom(b []byte, c byte, from int) int {
	if i := bytes.IndexByte(b[from:], c); i >= 0 {
		return from + i
	}
	return len(b)
}
