package memory

import (
	"path/filepath"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
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
		expanded, ok := expandBraces(p, count, size)
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

// expandBraces replaces {a,b} by each of its members; several groups multiply. ok is false when there would be more
// than count patterns or size bytes.
func expandBraces(p string, count, size int) (out []string, ok bool) {
	todo := []string{p}
	for len(todo) > 0 {
		next := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		from, to, members := braceGroup(next)
		if members == nil {
			size -= len(next)
			if out = append(out, next); len(out) > count || size < 0 {
				return nil, false
			}
			continue
		}
		if len(todo)+len(members)+len(out) > count {
			return nil, false
		}
		for i := len(members) - 1; i >= 0; i-- {
			todo = append(todo, next[:from]+members[i]+next[to:])
		}
	}
	return out, true
}

// braceGroup finds the first group with a comma: from is at its {, to behind its }. members is nil if there is none.
func braceGroup(p string) (from, to int, members []string) {
	for from = 0; from < len(p); from++ {
		switch p[from] {
		case '\\':
			from++
		case '{':
			if to, members = groupAt(p, from); len(members) > 1 {
				return from, to, members
			}
		}
	}
	return 0, 0, nil
}

func groupAt(p string, from int) (to int, members []string) {
	depth, start := 0, from+1
	for i := from; i < len(p); i++ {
		switch p[i] {
		case '\\':
			i++
		case '{':
			depth++
		case ',':
			if depth == 1 {
				members = append(members, p[start:i])
				start = i + 1
			}
		case '}':
			if depth--; depth == 0 {
				return i + 1, append(members, p[start:i])
			}
		}
	}
	return 0, nil
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
