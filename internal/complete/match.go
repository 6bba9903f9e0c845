package complete

import (
	"bytes"
	"cmp"
	"runtime"
	"slices"
	"strings"
	"sync"
)

// table is a list of paths that can be searched at once.
type table struct {
	paths []string
	lower []byte   // all paths in lower case, one after the other
	ends  []uint32 // where each ends in lower
	names []uint32 // where the last name of each begins in it
	masks []uint64 // which letters each has
}

func newTable(paths []string) *table {
	size := 0
	for _, p := range paths {
		size += len(p)
	}
	t := &table{paths: paths, lower: make([]byte, 0, size), ends: make([]uint32, len(paths)), names: make([]uint32, len(paths)), masks: make([]uint64, len(paths))}
	for i, p := range paths {
		at := len(t.lower)
		t.lower = appendLower(t.lower, p)
		t.ends[i] = uint32(len(t.lower))
		t.names[i] = uint32(strings.LastIndexByte(strings.TrimSuffix(p, "/"), '/') + 1)
		t.masks[i] = mask(t.lower[at:])
	}
	return t
}

// appendLower writes a path in lower case. Letters beyond ASCII are folded too, where that keeps their length.
func appendLower(dst []byte, s string) []byte {
	for i := 0; i < len(s); i++ {
		if s[i] >= 0x80 {
			if folded := strings.ToLower(s); len(folded) == len(s) {
				return append(dst, folded...)
			}
			break
		}
	}
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c >= 'A' && c <= 'Z' {
			c += 'a' - 'A'
		}
		dst = append(dst, c)
	}
	return dst
}

// mask has a bit for each letter, digit and sign that occurs.
func mask(b []byte) (m uint64) {
	for _, c := range b {
		m |= 1 << (c & 63)
	}
	return m
}

// hit is a path that fits, and how well.
type hit struct {
	score int
	index int
}

func (t *table) better(a, b hit) int {
	return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(len(t.paths[a.index]), len(t.paths[b.index])), strings.Compare(t.paths[a.index], t.paths[b.index]))
}

// best returns the paths that fit the query best, at most limit.
func (t *table) best(query string, limit int) []hit {
	q := appendLower(nil, query)
	if len(q) == 0 || limit <= 0 {
		return nil
	}
	workers := min(runtime.GOMAXPROCS(0), 4, 1+len(t.paths)/8192)
	parts := make([][]hit, workers)
	var wg sync.WaitGroup
	for w := range workers {
		from, to := w*len(t.paths)/workers, (w+1)*len(t.paths)/workers
		wg.Go(func() { parts[w] = t.part(q, from, to, limit) })
	}
	wg.Wait()
	all := slices.Concat(parts...)
	slices.SortFunc(all, t.better)
	return all[:min(len(all), limit)]
}

// part searches a part of the paths.
func (t *table) part(q []byte, from, to, limit int) []hit {
	want := mask(q)
	var kept []hit
	worst := -1 << 60 // of those kept, once there are enough
	for i := from; i < to; i++ {
		if t.masks[i]&want != want {
			continue
		}
		start := uint32(0)
		if i > 0 {
			start = t.ends[i-1]
		}
		if inName+atStart-len(t.paths[i]) <= worst {
			continue // the best that it could be
		}
		s, ok := score(t.lower[start:t.ends[i]], t.paths[i], q, int(t.names[i]))
		if !ok || s <= worst {
			continue
		}
		kept = append(kept, hit{s, i})
		if len(kept) >= 4*limit {
			slices.SortFunc(kept, t.better)
			kept = kept[:limit]
			worst = kept[limit-1].score
		}
	}
	return kept
}

// Scores: where the letters stand counts first, then how long the path is.
const (
	inName  = 4000 // the letters stand together in the last name
	inPath  = 3000 // together, and reach further
	spread  = 1000 // in order, with others between
	atStart = 600  // at the start of the name
	atWord  = 300  // at the start of a word
	perGap  = 12   // for each letter between
)

// score says how well a path fits; name is where its last name begins. ok is false where the letters are not all in it,
// in order.
func score(lower []byte, path string, q []byte, name int) (s int, ok bool) {
	if at := bytes.Index(lower[name:], q); at >= 0 {
		s = inName
		switch {
		case at == 0:
			s += atStart
		case wordStart(path, name+at):
			s += atWord
		}
		return s - len(path), true
	}
	if at := bytes.Index(lower, q); at >= 0 {
		s = inPath
		if wordStart(path, at) {
			s += atWord
		}
		return s - len(path), true
	}
	return scattered(lower, path, q, name)
}

// scattered scores letters that stand apart: the shortest stretch that ends where they first are all there.
func scattered(lower []byte, path string, q []byte, name int) (s int, ok bool) {
	if s, ok = stretch(lower[name:], path[name:], q); ok {
		return spread + atStart + s - len(path), true // all in the name
	}
	s, ok = stretch(lower, path, q)
	return spread + s - len(path), ok
}

func stretch(lower []byte, path string, q []byte) (s int, ok bool) {
	k, end := 0, 0
	for i, c := range lower {
		if c == q[k] {
			if k++; k == len(q) {
				end = i
				break
			}
		}
	}
	if k < len(q) {
		return 0, false
	}
	start, words := end, 0
	for i, k := end, len(q)-1; k >= 0; i-- {
		if lower[i] == q[k] {
			if wordStart(path, i) {
				words++
			}
			start = i
			k--
		}
	}
	return 60*words - perGap*(end-start+1-len(q)), true
}

// wordStart reports whether a word of the path starts at a byte: behind a separator, or a capital behind a small letter.
func wordStart(path string, at int) bool {
	if at == 0 || at >= len(path) {
		return at == 0
	}
	switch p, c := path[at-1], path[at]; {
	case strings.IndexByte("/_-. ", p) >= 0:
		return true
	default:
		return c >= 'A' && c <= 'Z' && p >= 'a' && p <= 'z'
	}
}
