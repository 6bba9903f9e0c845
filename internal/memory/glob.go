package memory

import (
	"path/filepath"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"lathe/internal/search"
)

// What the braces of one rule's patterns may expand to, together.
const (
	maxExpanded      = 1000
	maxExpandedBytes = 4 << 20
)

// globs are the patterns of one rule, braces expanded. Paths are relative, with forward slashes.
type globs []string

// newGlobs expands the patterns. One that would exceed the budget counts as written, and so matches only a file of
// that very name; one with a bracket that is no valid expression matches nothing.
func newGlobs(patterns []string) globs {
	var out globs
	count, size := maxExpanded, maxExpandedBytes
	for _, p := range patterns {
		p = strings.TrimPrefix(strings.TrimPrefix(filepath.ToSlash(p), "./"), "/")
		expanded, ok := search.ExpandBraces(p, count, size)
		if !ok {
			expanded = []string{escapeBraces(p)}
		}
		for _, e := range expanded {
			count--
			size -= len(e)
			if doublestar.ValidatePattern(e) {
				out = append(out, e)
			}
		}
	}
	return out
}

// match reports whether a pattern fits the path.
func (g globs) match(path string) bool {
	for _, p := range g {
		if ok, err := doublestar.Match(p, path); ok && err == nil {
			return true
		}
	}
	return false
}

// escapeBraces makes the pattern's braces plain characters.
func escapeBraces(p string) string {
	var b strings.Builder
	for i := 0; i < len(p); i++ {
		switch {
		case p[i] == '\\' && i+1 < len(p):
			b.WriteByte(p[i])
			i++
		case p[i] == '{' || p[i] == '}':
			b.WriteByte('\\')
		}
		b.WriteByte(p[i])
	}
	return b.String()
}
