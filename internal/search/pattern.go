package search

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// pathPattern is a compiled name pattern: segments between slashes, of which ** stands for any number.
type pathPattern struct {
	segs  []segment
	runes bool // ? and [...] take a letter, not a byte (git takes bytes)
}

type segment struct {
	text    string
	deep    bool // **
	literal bool // no special character in text
}

// compilePattern splits a pattern; it never fails, a broken class just matches nothing, as in git.
func compilePattern(pattern string, runes bool) pathPattern {
	p := pathPattern{runes: runes}
	for _, s := range splitPattern(pattern) {
		seg := segment{text: s, deep: s == "**", literal: !strings.ContainsAny(s, `*?[\`)}
		if seg.deep && len(p.segs) > 0 && p.segs[len(p.segs)-1].deep {
			continue
		}
		p.segs = append(p.segs, seg)
	}
	return p
}

// splitPattern cuts at slashes, but not at those inside a class: there a slash is just a member that no name has. An
// escaped slash is a slash.
func splitPattern(p string) (parts []string) {
	start := 0
	for i := 0; i < len(p); i++ {
		switch p[i] {
		case '\\':
			if i++; i < len(p) && p[i] == '/' {
				parts = append(parts, p[start:i-1])
				start = i + 1
			}
		case '[':
			if end, _ := matchClass(p, i, 0, false); end > 0 {
				i = end - 1
			}
		case '/':
			parts = append(parts, p[start:i])
			start = i + 1
		}
	}
	return append(parts, p[start:])
}

func oddBackslashes(s string) bool {
	return (len(s)-len(strings.TrimRight(s, `\`)))%2 == 1
}

// match reports whether the whole path (slashes between, none at the ends) fits.
func (p *pathPattern) match(path string) bool {
	seg, at := 0, 0                    // next segment, next byte of path; at > len(path) when it is used up
	backSeg, backAt := -1, len(path)+1 // where to go on when the last ** must take one more name
	for {
		if seg == len(p.segs) && at > len(path) {
			return true
		}
		if seg < len(p.segs) && p.segs[seg].deep {
			if seg == len(p.segs)-1 {
				return at <= len(path) // a last ** takes everything, but at least one name
			}
			backSeg, backAt = seg, at
			seg++
			continue
		}
		if seg < len(p.segs) && at <= len(path) {
			name, next := cutName(path, at)
			if p.matchSegment(seg, name) {
				seg, at = seg+1, next
				continue
			}
		}
		if backSeg < 0 || backAt > len(path) {
			return false
		}
		_, backAt = cutName(path, backAt)
		seg, at = backSeg+1, backAt
	}
}

// cutName returns the name at path[at:] and where the next one starts.
func cutName(path string, at int) (name string, next int) {
	if i := strings.IndexByte(path[at:], '/'); i >= 0 {
		return path[at : at+i], at + i + 1
	}
	return path[at:], len(path) + 1
}

func (p *pathPattern) matchSegment(i int, name string) bool {
	s := &p.segs[i]
	switch {
	case s.literal:
		return s.text == name
	case s.deep:
		return true
	}
	return matchName(s.text, name, p.runes)
}

// matchName matches one name. Only the last star is ever tried again, so the time is at most the product of
// both lengths.
func matchName(pat, name string, runes bool) bool {
	pi, ni := 0, 0
	starP, starN := -1, 0
	for ni < len(name) || pi < len(pat) {
		if pi < len(pat) && pat[pi] == '*' {
			starP, starN = pi, ni
			pi++
			continue
		}
		if pi < len(pat) && ni < len(name) {
			if pn, nn, ok := matchOne(pat, pi, name, ni, runes); ok {
				pi, ni = pn, nn
				continue
			}
		}
		if starP < 0 || starN >= len(name) {
			return false
		}
		starN++
		pi, ni = starP+1, starN
	}
	return true
}

// matchOne matches one pattern element that is no star against one character.
func matchOne(pat string, pi int, name string, ni int, runes bool) (pn, nn int, ok bool) {
	r, size := rune(name[ni]), 1
	if runes {
		r, size = utf8.DecodeRuneInString(name[ni:])
	}
	switch pat[pi] {
	case '?':
		return pi + 1, ni + size, true
	case '[':
		end, in := matchClass(pat, pi, r, runes)
		return end, ni + size, end > 0 && in
	case '\\':
		if pi+1 >= len(pat) {
			return 0, 0, false
		}
		pi++
	}
	return pi + 1, ni + 1, pat[pi] == name[ni]
}

// matchClass matches r against the class that starts at pat[pi]; end is 0 when the class is not closed.
func matchClass(pat string, pi int, r rune, runes bool) (end int, in bool) {
	i := pi + 1
	negate := false
	if i < len(pat) && (pat[i] == '!' || pat[i] == '^') {
		negate = true
		i++
	}
	for first := true; ; first = false {
		if i >= len(pat) {
			return 0, false
		}
		if pat[i] == ']' && !first {
			return i + 1, in != negate
		}
		if strings.HasPrefix(pat[i:], "[:") {
			if k := strings.Index(pat[i+2:], ":]"); k >= 0 {
				known, yes := posixClass(pat[i+2:i+2+k], r)
				if !known {
					return 0, false
				}
				in = in || yes
				i += k + 4
				continue
			}
		}
		lo, next, ok := classRune(pat, i, runes)
		if !ok {
			return 0, false
		}
		hi := lo
		i = next
		if i+1 < len(pat) && pat[i] == '-' && pat[i+1] != ']' {
			if hi, i, ok = classRune(pat, i+1, runes); !ok {
				return 0, false
			}
		}
		in = in || r == lo || lo < r && r <= hi // a range the wrong way round is its first end, as in git
	}
}

func classRune(pat string, i int, runes bool) (r rune, next int, ok bool) {
	if pat[i] == '\\' {
		i++
	}
	if i >= len(pat) {
		return 0, 0, false
	}
	if !runes {
		return rune(pat[i]), i + 1, true
	}
	r, n := utf8.DecodeRuneInString(pat[i:])
	return r, i + n, true
}

func posixClass(name string, r rune) (known, yes bool) {
	lower, upper, digit := 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9'
	graph := '!' <= r && r <= '~'
	switch name {
	case "alpha":
		return true, lower || upper
	case "alnum":
		return true, lower || upper || digit
	case "digit":
		return true, digit
	case "lower":
		return true, lower
	case "upper":
		return true, upper
	case "space":
		return true, r == ' ' || '\t' <= r && r <= '\r'
	case "blank":
		return true, r == ' ' || r == '\t'
	case "punct":
		return true, graph && !lower && !upper && !digit
	case "graph":
		return true, graph
	case "print":
		return true, graph || r == ' '
	case "cntrl":
		return true, r < ' ' || r == 0x7f
	case "xdigit":
		return true, digit || 'a' <= r && r <= 'f' || 'A' <= r && r <= 'F'
	}
	return false, false
}

// checkPattern explains a pattern that can match nothing.
func checkPattern(p string) error {
	if strings.ContainsRune(p, 0) {
		return errors.New("bad glob: it holds a NUL byte")
	}
	for i := 0; i < len(p); i++ {
		switch p[i] {
		case '\\':
			i++
		case '[':
			k, _ := matchClass(p, i, 0, false)
			if k == 0 {
				return fmt.Errorf("bad glob %q: the class that starts at [ is not closed; write a literal bracket as \\[", p)
			}
			i = k - 1
		}
	}
	return nil
}
