package hook

import (
	"regexp"
	"slices"
	"strings"
)

// matcher decides whether a group of handlers is meant. The zero value matches everything.
type matcher struct {
	names  []string       // exact
	expr   *regexp.Regexp // unanchored
	broken string         // why the pattern cannot be used; it matches nothing
}

// newMatcher reads a matcher: nothing or a star is everything; only letters, digits and a few signs is a name or a
// list of names; all else is a regular expression that matches anywhere in the text.
func newMatcher(text string, narrow bool) matcher {
	switch {
	case text == "" || text == "*":
		return matcher{}
	case strings.IndexFunc(text, func(r rune) bool { return !nameRune(r, narrow) }) < 0:
		m := matcher{names: []string{}}
		for _, n := range strings.FieldsFunc(text, func(r rune) bool { return r == '|' || r == ',' }) {
			if n = strings.TrimSpace(n); n != "" {
				m.names = append(m.names, n)
			}
		}
		return m
	}
	expr, err := regexp.Compile(text)
	if err != nil {
		why := strings.TrimPrefix(err.Error(), "error parsing regexp: ")
		return matcher{broken: why + "; look-around and back-references are not supported"}
	}
	return matcher{expr: expr}
}

func nameRune(r rune, narrow bool) bool {
	switch {
	case r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '|':
		return true
	}
	return !narrow && (r == '-' || r == ' ' || r == ',')
}

func (m matcher) match(text string) bool {
	switch {
	case m.broken != "":
		return false
	case m.expr != nil:
		return m.expr.MatchString(text)
	case m.names != nil:
		return slices.Contains(m.names, text)
	}
	return true
}
