package search

import (
	"strings"
)

// verdict is what a list of rules says of one path.
type verdict int8

const (
	noRule verdict = iota
	ignored
	included // a later rule with ! takes it back in
)

// rules is one ignore file, in git's syntax. The last rule that matches decides. Most rules are a plain name or
// an ending, so these are looked up, not tried.
type rules struct {
	list     []rule
	byName   map[string][]int32 // plain names, to rule numbers
	byEnding map[string][]int32 // *.ext, keyed by ".ext" (from the last dot on)
	rest     []int32            // rules that must be tried, and all that ask for the path
}

type rule struct {
	pattern pathPattern
	negate  bool
	dirOnly bool
	anchor  bool // matched against the path below the file's folder, not the name alone
	deep    bool // an anchored pattern without ** needs as many names as it has segments
}

// parseRules reads an ignore file. It returns nil when there is no rule in it.
func parseRules(data string) *rules {
	data = strings.TrimPrefix(data, "\ufeff")
	r := &rules{}
	for line := range strings.Lines(data) {
		line = strings.TrimSuffix(line, "\n")
		line = strings.TrimSuffix(line, "\r")
		r.add(line)
	}
	if len(r.list) == 0 {
		return nil
	}
	return r
}

// add appends one line.
func (r *rules) add(line string) {
	if strings.HasPrefix(line, "#") {
		return
	}
	line = trimSpaces(line)
	negate := strings.HasPrefix(line, "!")
	if negate {
		line = line[1:]
	}
	if line == "" {
		return
	}
	r.addRule(line, negate, false)
}

// addRule appends one pattern without its exclamation mark.
func (r *rules) addRule(pattern string, negate, runes bool) {
	dirOnly := strings.HasSuffix(pattern, "/")
	if dirOnly {
		pattern = pattern[:len(pattern)-1]
	}
	anchor := strings.Contains(pattern, "/")
	pattern = strings.TrimPrefix(pattern, "/")
	if pattern == "" {
		return
	}
	n := int32(len(r.list))
	x := rule{pattern: compilePattern(pattern, runes), negate: negate, dirOnly: dirOnly, anchor: anchor}
	for _, s := range x.pattern.segs {
		x.deep = x.deep || s.deep
	}
	r.list = append(r.list, x)
	switch ext, ok := strings.CutPrefix(pattern, "*"); {
	case !anchor && x.pattern.segs[0].literal:
		put(&r.byName, pattern, n)
	case !anchor && ok && strings.LastIndexByte(ext, '.') == 0 && !strings.ContainsAny(ext, `*?[\`):
		put(&r.byEnding, ext, n)
	default:
		r.rest = append(r.rest, n)
	}
}

func put(m *map[string][]int32, key string, n int32) {
	if *m == nil {
		*m = map[string][]int32{}
	}
	(*m)[key] = append((*m)[key], n)
}

// trimSpaces removes spaces at the end that are not escaped.
func trimSpaces(s string) string {
	for strings.HasSuffix(s, " ") && !oddBackslashes(s[:len(s)-1]) {
		s = s[:len(s)-1]
	}
	return s
}

// match judges the entry name in the folder dir (relative to the rules' folder, "" for that folder itself).
func (r *rules) match(dir, name string, isDir bool) verdict {
	best := int32(-1)
	pick := func(list []int32) {
		for i := len(list) - 1; i >= 0 && list[i] > best; i-- {
			if !r.list[list[i]].dirOnly || isDir {
				best = list[i]
				return
			}
		}
	}
	if r.byName != nil {
		pick(r.byName[name])
	}
	if r.byEnding != nil {
		if i := strings.LastIndexByte(name, '.'); i >= 0 {
			pick(r.byEnding[name[i:]])
		}
	}
	path := ""
	for i := len(r.rest) - 1; i >= 0 && r.rest[i] > best; i-- {
		x := &r.list[r.rest[i]]
		if x.dirOnly && !isDir {
			continue
		}
		var hit bool
		switch {
		case !x.anchor:
			hit = x.pattern.matchSegment(0, name)
		case !x.couldMatch(dir, name):
		default:
			if path == "" {
				path = joinPath(dir, name)
			}
			hit = x.pattern.match(path)
		}
		if hit {
			best = r.rest[i]
		}
	}
	switch {
	case best < 0:
		return noRule
	case r.list[best].negate:
		return included
	}
	return ignored
}

// couldMatch rules out most anchored patterns without joining the path: the last segment must fit the name, and
// without ** the depth must agree.
func (x *rule) couldMatch(dir, name string) bool {
	if !x.deep {
		depth := 1
		if dir != "" {
			depth += 1 + strings.Count(dir, "/")
		}
		if depth != len(x.pattern.segs) {
			return false
		}
	}
	return x.pattern.matchSegment(len(x.pattern.segs)-1, name)
}

func joinPath(dir, name string) string {
	if dir == "" {
		return name
	}
	return dir + "/" + name
}
