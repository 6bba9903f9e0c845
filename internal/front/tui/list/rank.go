package list

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Hit is a text that fits a query.
type Hit struct {
	Index int // in what was ranked
	Score int
	At    [][2]int // byte ranges of the text that matched, in order
}

const (
	scoreByte     = 16 // each matched byte
	scoreRun      = 12 // next to the one before
	scoreStart    = 24 // at the start of the text
	scoreBoundary = 18 // at the start of a word
	scoreName     = 14 // in the last element of a path
	maxGap        = 20 // points that a gap may cost
)

// Rank returns the texts that hold the characters of query in order, best first, at most limit of them. Case counts
// when the query has an upper-case letter. An empty query takes all in their order.
func Rank(query string, texts []string, limit int) []Hit {
	if query == "" {
		out := make([]Hit, 0, min(limit, len(texts)))
		for i := range min(limit, len(texts)) {
			out = append(out, Hit{Index: i})
		}
		return out
	}
	m := newMatcher(query)
	hits := make([]Hit, 0, 256)
	for i, t := range texts {
		if s, ok := m.score(t); ok {
			hits = append(hits, Hit{Index: i, Score: s})
		}
	}
	hits = best(hits, limit)
	slices.SortStableFunc(hits, func(a, b Hit) int {
		if a.Score != b.Score {
			return b.Score - a.Score
		}
		return len(texts[a.Index]) - len(texts[b.Index])
	})
	hits = hits[:min(limit, len(hits))]
	for i := range hits {
		hits[i].At = m.at(texts[hits[i].Index])
	}
	return hits
}

// best drops hits that cannot be among the first limit, so that only few must be sorted.
func best(hits []Hit, limit int) []Hit {
	if len(hits) <= 4*limit {
		return hits
	}
	counts := map[int]int{}
	for _, h := range hits {
		counts[h.Score]++
	}
	scores := make([]int, 0, len(counts))
	for s := range counts {
		scores = append(scores, s)
	}
	slices.Sort(scores)
	least, n := 0, 0
	for i := len(scores) - 1; i >= 0 && n < limit; i-- {
		least = scores[i]
		n += counts[least]
	}
	return slices.DeleteFunc(hits, func(h Hit) bool { return h.Score < least })
}

// matcher holds a query in pieces: one a character.
type matcher struct {
	pieces []string
	exact  bool
	path   bool  // the query has a slash
	ends   []int // reused by places
}

func newMatcher(query string) *matcher {
	m := &matcher{exact: strings.IndexFunc(query, unicode.IsUpper) >= 0, path: strings.Contains(query, "/")}
	for _, r := range query {
		if r == ' ' || len(m.pieces) == maxQuery {
			continue
		}
		m.pieces = append(m.pieces, string(r))
	}
	return m
}

// index finds a piece in s from from on.
func (m *matcher) index(s, piece string, from int) int {
	if len(piece) == 1 && !m.exact {
		c := piece[0]
		if c|0x20 < 'a' || c|0x20 > 'z' {
			if i := strings.IndexByte(s[from:], c); i >= 0 {
				return from + i
			}
			return -1
		}
		for i := from; i < len(s); i++ {
			if s[i]|0x20 == c {
				return i
			}
		}
		return -1
	}
	if i := strings.Index(s[from:], piece); i >= 0 {
		return from + i
	}
	if !m.exact && piece[0] >= utf8.RuneSelf {
		for i, r := range s[from:] {
			if r >= utf8.RuneSelf && r != utf8.RuneError && utf8.RuneLen(r) == len(piece) && string(unicode.ToLower(r)) == piece {
				return from + i
			}
		}
	}
	return -1
}

// maxQuery is how many characters of a query are looked at.
const maxQuery = 100

// maxText is how much of a text is looked at.
const maxText = 1000

// score finds the best of two ways to match: in the last element of a path, and anywhere.
func (m *matcher) score(text string) (int, bool) {
	text = text[:min(len(text), maxText)]
	if _, ok := m.walk(text, 0); !ok {
		return 0, false
	}
	score, _ := m.tight(text, 0)
	if i := strings.LastIndexByte(strings.TrimSuffix(text, "/"), '/'); i >= 0 && !m.path {
		if s, ok := m.tight(text, i+1); ok {
			score = max(score, s+scoreName*len(m.pieces))
		}
	} else if !m.path {
		score += scoreName * len(m.pieces)
	}
	return score, true
}

// walk finds where the first match in order ends.
func (m *matcher) walk(text string, from int) (end int, ok bool) {
	for _, p := range m.pieces {
		i := m.index(text, p, from)
		if i < 0 {
			return 0, false
		}
		from = i + len(p)
	}
	return from, true
}

// tight walks to the first end, then back for the shortest match that ends there, and scores that.
func (m *matcher) tight(text string, from int) (int, bool) {
	places := m.places(text, from)
	if places == nil {
		return 0, false
	}
	score, prev := 0, -1
	for k, at := range places {
		score += scoreByte
		switch {
		case prev == at:
			score += scoreRun
		case k > 0:
			score -= min(maxGap, 2+(at-prev))
		}
		switch {
		case at == 0:
			score += scoreStart
		case boundary(text, at):
			score += scoreBoundary
		}
		prev = at + len(m.pieces[k])
	}
	return score - min(len(text), 200)/8, true
}

// places are the places of the pieces: of all that begin at a word the tightest, else the tightest.
func (m *matcher) places(text string, from int) []int {
	end, ok := m.walk(text, from)
	if !ok {
		return nil
	}
	m.ends = m.ends[:0]
	for range m.pieces {
		m.ends = append(m.ends, 0)
	}
	if !m.wordWise(text, from) {
		for k := len(m.pieces) - 1; k >= 0; k-- {
			at := m.lastIndex(text[from:end], m.pieces[k])
			m.ends[k] = from + at
			end = from + at
		}
	}
	return m.ends
}

// wordWise tries to take each piece at the place before it or at the start of a word: how abbreviations are meant.
func (m *matcher) wordWise(text string, from int) bool {
	for k, p := range m.pieces {
		i := m.index(text, p, from)
		if i < 0 {
			return false
		}
		if k == 0 || i != from {
			for j := i; j >= 0; j = m.index(text, p, j+1) {
				if boundary(text, j) {
					i = j
					break
				}
				if j+1 >= len(text) {
					break
				}
			}
			if !boundary(text, i) {
				return false
			}
		}
		m.ends[k] = i
		from = i + len(p)
	}
	return true
}

// lastIndex is the last place of a piece that s is known to hold.
func (m *matcher) lastIndex(s, piece string) int {
	for i := len(s) - len(piece); i > 0; i-- {
		if m.index(s[:i+len(piece)], piece, i) == i {
			return i
		}
	}
	return 0
}

// at are the matched ranges of a text that matches.
func (m *matcher) at(text string) [][2]int {
	text = text[:min(len(text), maxText)]
	whole, _ := m.tight(text, 0)
	from := 0
	if i := strings.LastIndexByte(strings.TrimSuffix(text, "/"), '/'); i >= 0 && !m.path {
		if s, ok := m.tight(text, i+1); ok && s+scoreName*len(m.pieces) >= whole {
			from = i + 1
		}
	}
	var out [][2]int
	for k, at := range m.places(text, from) {
		end := at + len(m.pieces[k])
		if n := len(out); n > 0 && out[n-1][1] == at {
			out[n-1][1] = end
			continue
		}
		out = append(out, [2]int{at, end})
	}
	return out
}

// boundary reports that a word starts at i: at the start, behind a separator, or with a capital.
func boundary(s string, i int) bool {
	if i == 0 {
		return true
	}
	p, c := s[i-1], s[i]
	if strings.IndexByte("/\\_-. :,@#(", p) >= 0 {
		return true
	}
	return p >= 'a' && p <= 'z' && c >= 'A' && c <= 'Z' || (p < '0' || p > '9') && c >= '0' && c <= '9'
}
