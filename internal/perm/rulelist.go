package perm

import "strings"

// SplitRules splits "A(x, y),B C(z)" at commas and blanks outside parentheses.
func SplitRules(text string) []string {
	var out []string
	depth, start := 0, 0
	flush := func(end int) {
		if s := strings.TrimSpace(text[start:end]); s != "" {
			out = append(out, s)
		}
	}
	for i, r := range text {
		switch {
		case r == '(':
			depth++
		case r == ')' && depth > 0:
			depth--
		case depth == 0 && (r == ',' || r == ' ' || r == '\t' || r == '\n' || r == '\r'):
			flush(i)
			start = i + 1
		}
	}
	flush(len(text))
	return out
}
