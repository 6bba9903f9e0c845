package search

import "fmt"

// maxBraces bounds what {a,b} may expand to.
const maxBraces = 1000

// expandBraces writes out the groups of a search's pattern.
func expandBraces(pattern string) ([]string, error) {
	out, ok := ExpandBraces(pattern, maxBraces, maxBraces*maxLine)
	if !ok {
		return nil, fmt.Errorf("bad glob %q: its braces stand for more than %d patterns", pattern, maxBraces)
	}
	return out, nil
}

// ExpandBraces replaces {a,b} by each of its members; several groups multiply, nested ones count too. A lone brace stands
// for itself, and so does one in a class such as [{]. ok is false when there would be more than count patterns or size bytes.
func ExpandBraces(pattern string, count, size int) (out []string, ok bool) {
	todo := []string{pattern}
	for len(todo) > 0 {
		p := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		open, parts, end := firstBrace(p)
		if open < 0 {
			size -= len(p)
			out = append(out, p)
		}
		for i := len(parts) - 1; i >= 0; i-- {
			todo = append(todo, p[:open]+parts[i]+p[end:])
		}
		if len(todo)+len(out) > count || size < 0 {
			return nil, false
		}
	}
	return out, true
}

// firstBrace finds the first closed group with a comma.
func firstBrace(p string) (open int, parts []string, end int) {
	for i := 0; i < len(p); i++ {
		switch p[i] {
		case '\\':
			i++
		case '[':
			if k, _ := matchClass(p, i, 0, false); k > 0 {
				i = k - 1
			}
		case '{':
			if parts, end := braceParts(p, i); len(parts) > 1 {
				return i, parts, end
			}
		}
	}
	return -1, nil, 0
}

func braceParts(p string, open int) (parts []string, end int) {
	depth, start := 0, open+1
	for i := open; i < len(p); i++ {
		switch p[i] {
		case '\\':
			i++
		case '{':
			depth++
		case ',':
			if depth == 1 {
				parts = append(parts, p[start:i])
				start = i + 1
			}
		case '}':
			if depth--; depth == 0 {
				return append(parts, p[start:i]), i + 1
			}
		}
	}
	return nil, 0
}
