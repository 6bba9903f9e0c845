package token

import "sync"

// Classes of bytes. What a byte adds depends on its class and on that of the byte before it: the first letter of
// a word costs more than the next ones.
const (
	lower = iota
	upper
	digit
	newline
	space
	punct
	tail  // a continuation byte of UTF-8
	lead2 // two-byte characters: Latin with accents, Greek, Cyrillic, Hebrew, Arabic
	lead3 // three-byte characters up to U+2FFF: Indic scripts, arrows, boxes, typographic marks
	wide  // three-byte characters from U+3000: CJK, kana, Hangul
	lead4 // four-byte characters: emoji, rare scripts
	classes
)

// unit is one token in the weights.
const unit = 1000

type weights struct {
	class [256]uint8
	add   [256]uint16 // by class before × 16 + class
}

// table is built once; the numbers are fitted to recorded usage (all but lead2, wide and lead4, of which the
// records have too little).
var table = sync.OnceValue(func() *weights {
	w := &weights{}
	for b := range 256 {
		w.class[b] = classOf(byte(b))
	}
	first := [classes]uint16{602, 602, 833, 1474, 0, 1310, 0, 600, 763, 1150, 2500}
	for before := range classes {
		for c := range classes {
			w.add[before*16+c] = first[c]
		}
	}
	w.add[lower*16+lower], w.add[upper*16+lower], w.add[upper*16+upper] = 106, 106, 106
	w.add[punct*16+punct] = 270
	w.add[newline*16+newline] = 270
	w.add[space*16+space] = 12
	return w
})

func classOf(b byte) uint8 {
	switch {
	case b >= 'a' && b <= 'z':
		return lower
	case b >= 'A' && b <= 'Z':
		return upper
	case b >= '0' && b <= '9':
		return digit
	case b == '\n':
		return newline
	case b == ' ' || b == '\t' || b == '\r':
		return space
	case b < 0x80:
		return punct
	case b < 0xc0:
		return tail
	case b < 0xe0:
		return lead2
	case b < 0xe3:
		return lead3
	case b < 0xf0:
		return wide
	}
	return lead4
}

// Text estimates the tokens of s for models before the newer tokenizer; see Counter.
func Text[T string | []byte](s T) int {
	w := table()
	sum, before := uint64(0), uint(space)
	for i := 0; i < len(s); i++ {
		c := uint(w.class[s[i]])
		sum += uint64(w.add[(before<<4|c)&255])
		before = c
	}
	return int((sum + unit - 1) / unit)
}
