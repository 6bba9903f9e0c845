package search

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// Filter says which names a search looks at.
type Filter struct {
	globs []*rules // one for each folder that globs may be meant from; !glob excludes
	bases []string // path from that folder to the search root, "" when they are the same
	only  bool     // some glob includes, so that what matches none is left out
	types *rules
}

// NewFilter builds a filter for a search of root. Globs (with {a,b}, **, and ! before those that exclude) that hold
// a slash are taken from cwd or from root, the others apply to the name. Types are names as typeNames lists them.
func NewFilter(root, cwd string, globs, types []string) (*Filter, error) {
	f := &Filter{}
	r := &rules{}
	for _, g := range globs {
		pattern, not := strings.CutPrefix(g, "!")
		if err := checkPattern(pattern); err != nil {
			return nil, err
		}
		parts, err := expandBraces(strings.TrimPrefix(pattern, "./"))
		if err != nil {
			return nil, err
		}
		for _, p := range parts {
			r.addRule(p, not, true)
			f.only = f.only || !not
		}
	}
	if len(r.list) > 0 {
		f.globs, f.bases = []*rules{r}, []string{""}
		if rel, err := filepath.Rel(cwd, root); err == nil && rel != "." && filepath.IsLocal(rel) {
			f.globs, f.bases = append(f.globs, r), append(f.bases, filepath.ToSlash(rel))
		}
	}
	if len(types) > 0 {
		f.types = &rules{}
		for _, t := range types {
			list, ok := fileTypes()[t]
			if !ok {
				return nil, unknownType(t)
			}
			for _, g := range list {
				f.types.addRule(g, false, true)
			}
		}
	}
	return f, nil
}

// judge says ignored for what is left out, included for what a glob names (ignore rules do not matter then).
func (f *Filter) judge(dir, name string, isDir bool) verdict {
	if f == nil {
		return noRule
	}
	if f.types != nil && !isDir && f.types.match("", name, false) == noRule {
		return ignored
	}
	v := noRule
	for i, r := range f.globs {
		d := dir
		if b := f.bases[i]; b != "" {
			d = b
			if dir != "" {
				d = b + "/" + dir
			}
		}
		if w := r.match(d, name, isDir); v == noRule || w == included {
			v = w
		}
	}
	switch {
	case v == included: // the rule had an exclamation mark, which excludes here
		return ignored
	case v == ignored:
		return included
	case f.only && !isDir:
		return ignored
	}
	return noRule
}

func unknownType(t string) error {
	names := typeNames()
	var near []string
	for _, n := range names {
		if len(t) > 1 && (strings.HasPrefix(n, t[:2]) || slices.Contains(fileTypes()[n], "*."+t)) {
			near = append(near, n)
		}
	}
	if len(near) == 0 {
		return fmt.Errorf("unknown file type %q; use glob instead, such as *.%s", t, t)
	}
	return fmt.Errorf("unknown file type %q; did you mean %s? Or use glob, such as *.%s", t, strings.Join(near, ", "), t)
}

// typeNames lists the known file types in order.
func typeNames() []string {
	var out []string
	for n := range fileTypes() {
		out = append(out, n)
	}
	slices.Sort(out)
	return out
}

// SplitGlobs splits a list of globs at blanks and at commas outside braces.
func SplitGlobs(s string) []string {
	var out []string
	depth, start := 0, 0
	flush := func(end int) {
		if part := strings.TrimSpace(s[start:end]); part != "" {
			out = append(out, part)
		}
		start = end + 1
	}
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '{':
			depth++
		case '}':
			depth = max(0, depth-1)
		case ',', ' ', '\t', '\n':
			if depth == 0 {
				flush(i)
			}
		}
	}
	flush(len(s))
	return out
}

// fileTypes maps type names, as ripgrep has them, to name patterns.
var fileTypes = sync.OnceValue(func() map[string][]string {
	m := map[string][]string{}
	for line := range strings.Lines(typeTable) {
		names, globs, ok := strings.Cut(strings.TrimSpace(line), ":")
		if !ok {
			continue
		}
		for _, n := range strings.Fields(names) {
			m[n] = strings.Fields(globs)
		}
	}
	return m
})
