package msg

import (
	"encoding/binary"
	"encoding/json"
	"math/bits"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// SkipValue checks the JSON value that begins at b[i] by the full grammar and returns the index behind it, or
// -1 when there is none. It allocates nothing and reads about a gigabyte a second, so that whole records can be
// checked for the sake of the few fields that somebody wants.
func SkipValue(b []byte, i int) int {
	s := scanner{b: b}
	return s.value(i, 0)
}

// SkipSpace returns the index of the first byte at or behind i that is no JSON white space.
func SkipSpace(b []byte, i int) int {
	s := scanner{b: b}
	return s.space(i)
}

// Unquote returns the value of a JSON string, given with its quotes and checked by SkipValue.
func Unquote(raw []byte) (string, bool) {
	if len(raw) < 2 || raw[0] != '"' {
		return "", false
	}
	return unquote(raw)
}

// scanner walks over JSON. Its methods return the index behind what they read, or -1.
type scanner struct {
	b     []byte
	loose bool // white space was seen between tokens
}

const maxDepth = 10000 // as in encoding/json

func (s *scanner) space(i int) int {
	for i < len(s.b) && (s.b[i] == ' ' || s.b[i] == '\t' || s.b[i] == '\n' || s.b[i] == '\r') {
		s.loose = true
		i++
	}
	return i
}

func (s *scanner) value(i, depth int) int {
	if i < 0 || i >= len(s.b) || depth > maxDepth {
		return -1
	}
	switch c := s.b[i]; {
	case c == '"':
		return s.str(i)
	case c == '{':
		return s.object(i, depth)
	case c == '[':
		return s.array(i, depth)
	case c == 't':
		return s.literal(i, "true")
	case c == 'f':
		return s.literal(i, "false")
	case c == 'n':
		return s.literal(i, "null")
	case c == '-' || (c >= '0' && c <= '9'):
		return s.number(i)
	}
	return -1
}

func (s *scanner) object(i, depth int) int {
	i = s.space(i + 1)
	if i < len(s.b) && s.b[i] == '}' {
		return i + 1
	}
	for {
		if i >= len(s.b) || s.b[i] != '"' {
			return -1
		}
		if i = s.colon(s.str(i)); i < 0 {
			return -1
		}
		if i = s.value(i, depth+1); i < 0 {
			return -1
		}
		var done bool
		if i, done = s.next(i, '}'); done || i < 0 {
			return i
		}
	}
}

func (s *scanner) array(i, depth int) int {
	i = s.space(i + 1)
	if i < len(s.b) && s.b[i] == ']' {
		return i + 1
	}
	for {
		if i = s.value(i, depth+1); i < 0 {
			return -1
		}
		var done bool
		if i, done = s.next(i, ']'); done || i < 0 {
			return i
		}
	}
}

// colon reads the colon behind a key that ended at i, and the space around it.
func (s *scanner) colon(i int) int {
	if i < 0 {
		return -1
	}
	i = s.space(i)
	if i >= len(s.b) || s.b[i] != ':' {
		return -1
	}
	return s.space(i + 1)
}

// next reads what follows an element: a comma, or the closing byte, after which done is true.
func (s *scanner) next(i int, closing byte) (end int, done bool) {
	i = s.space(i)
	if i >= len(s.b) {
		return -1, false
	}
	switch s.b[i] {
	case ',':
		return s.space(i + 1), false
	case closing:
		return i + 1, true
	}
	return -1, false
}

func (s *scanner) literal(i int, want string) int {
	if len(s.b)-i < len(want) || string(s.b[i:i+len(want)]) != want {
		return -1
	}
	return i + len(want)
}

func (s *scanner) number(i int) int {
	if s.b[i] == '-' {
		i++
	}
	switch {
	case i >= len(s.b):
		return -1
	case s.b[i] == '0':
		i++
	default:
		if i = s.digits(i); i < 0 {
			return -1
		}
	}
	if i < len(s.b) && s.b[i] == '.' {
		if i = s.digits(i + 1); i < 0 {
			return -1
		}
	}
	if i < len(s.b) && (s.b[i] == 'e' || s.b[i] == 'E') {
		i++
		if i < len(s.b) && (s.b[i] == '+' || s.b[i] == '-') {
			i++
		}
		return s.digits(i)
	}
	return i
}

func (s *scanner) digits(i int) int {
	start := i
	for i < len(s.b) && s.b[i] >= '0' && s.b[i] <= '9' {
		i++
	}
	if i == start {
		return -1
	}
	return i
}

func (s *scanner) str(i int) int {
	i++
	for {
		i += plain(s.b[i:])
		if i >= len(s.b) {
			return -1
		}
		switch s.b[i] {
		case '"':
			return i + 1
		case '\\':
			if i = s.escape(i + 1); i < 0 {
				return -1
			}
		default:
			return -1 // a control character
		}
	}
}

// string reads the string at i and returns its value.
func (s *scanner) string(i int) (string, int) {
	if i >= len(s.b) || s.b[i] != '"' {
		return "", -1
	}
	end := s.str(i)
	if end < 0 {
		return "", -1
	}
	v, ok := unquote(s.b[i:end])
	if !ok {
		return "", -1
	}
	return v, end
}

func (s *scanner) escape(i int) int {
	if i >= len(s.b) {
		return -1
	}
	switch s.b[i] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return i + 1
	case 'u':
		if hex4(s.b[i+1:]) < 0 {
			return -1
		}
		return i + 5
	}
	return -1
}

// plain returns how many bytes of b come before the first quote, backslash or control character. It looks at
// eight bytes at a time: in each of the three terms, the lowest high bit that is set marks the first hit.
func plain(b []byte) int {
	const ones, highs = 0x0101010101010101, 0x8080808080808080
	n := 0
	for len(b)-n >= 8 {
		x := binary.LittleEndian.Uint64(b[n:])
		q, e := x^(ones*'"'), x^(ones*'\\')
		hit := ((q - ones) &^ q) | ((e - ones) &^ e) | ((x - ones*0x20) &^ x)
		if hit &= highs; hit != 0 {
			return n + bits.TrailingZeros64(hit)/8
		}
		n += 8
	}
	for n < len(b) && b[n] >= 0x20 && b[n] != '"' && b[n] != '\\' {
		n++
	}
	return n
}

// hex4 returns the value of four hexadecimal digits, or -1.
func hex4(b []byte) rune {
	if len(b) < 4 {
		return -1
	}
	var r rune
	for _, c := range b[:4] {
		switch {
		case c >= '0' && c <= '9':
			c -= '0'
		case c >= 'a' && c <= 'f':
			c -= 'a' - 10
		case c >= 'A' && c <= 'F':
			c -= 'A' - 10
		default:
			return -1
		}
		r = r<<4 | rune(c)
	}
	return r
}

// unquote returns the value of a checked JSON string, given with its quotes.
func unquote(raw []byte) (string, bool) {
	in := raw[1 : len(raw)-1]
	if !utf8.Valid(in) { // rare, and encoding/json has its own rule for how many U+FFFD there are
		var s string
		err := json.Unmarshal(raw, &s)
		return s, err == nil
	}
	n := plain(in)
	if n == len(in) {
		return string(in), true
	}
	var out strings.Builder
	out.Grow(len(in))
	for {
		out.Write(in[:n])
		if in = in[n:]; len(in) == 0 {
			return out.String(), true
		}
		if len(in) < 2 || in[0] != '\\' {
			return "", false
		}
		r, size := unescape(in)
		if size == 0 {
			return "", false
		}
		if r < utf8.RuneSelf {
			out.WriteByte(byte(r))
		} else {
			out.WriteRune(r)
		}
		in = in[size:]
		n = plain(in)
	}
}

// unescape reads one escape sequence and returns its length too. A lone surrogate is U+FFFD.
func unescape(in []byte) (r rune, size int) {
	switch in[1] {
	case 'n':
		return '\n', 2
	case 't':
		return '\t', 2
	case 'r':
		return '\r', 2
	case 'b':
		return '\b', 2
	case 'f':
		return '\f', 2
	case '"', '\\', '/':
		return rune(in[1]), 2
	case 'u':
		r = hex4(in[2:])
		if r < 0 {
			return 0, 0
		}
		if !utf16.IsSurrogate(r) {
			return r, 6
		}
		if len(in) >= 12 && in[6] == '\\' && in[7] == 'u' {
			if both := utf16.DecodeRune(r, hex4(in[8:])); both != utf8.RuneError {
				return both, 12
			}
		}
		return utf8.RuneError, 6
	}
	return 0, 0
}
