package history

import (
	"strings"
	"unicode"

	"lathe/internal/front/tui/editor"
)

// Walk goes through entries with Up and Down. What was being typed is kept and comes back at the end.
type Walk struct {
	entries []Entry
	at      int
	typed   editor.Draft
}

// NewWalk starts behind the newest entry.
func NewWalk(entries []Entry) *Walk { return &Walk{entries: entries, at: len(entries)} }

// Prev is the entry before; present is what is in the editor now. Entries that equal it are passed over.
func (w *Walk) Prev(present editor.Draft) (editor.Draft, bool) {
	if w.at == len(w.entries) {
		w.typed = present
	}
	for k := w.at - 1; k >= 0; k-- {
		if w.entries[k].Draft.Text != present.Text {
			w.at = k
			return w.entries[k].Draft, true
		}
	}
	return editor.Draft{}, false
}

// Next is the entry after, and behind the newest what was being typed.
func (w *Walk) Next() (editor.Draft, bool) {
	if w.at >= len(w.entries) {
		return editor.Draft{}, false
	}
	w.at++
	if w.at == len(w.entries) {
		return w.typed, true
	}
	return w.entries[w.at].Draft, true
}

// Hit is an entry that a search found.
type Hit struct {
	Entry Entry
	At    [][2]int // byte ranges of Draft.Text to highlight, in order
}

// Search finds the entries that hold every word of query, newest first, each text once. Case counts when the query has
// an upper-case letter. An empty query finds all.
func Search(entries []Entry, query string) []Hit {
	words := strings.Fields(query)
	exact := strings.IndexFunc(query, unicode.IsUpper) >= 0
	var out []Hit
	seen := map[string]bool{}
	for i := len(entries) - 1; i >= 0; i-- {
		text := entries[i].Draft.Text
		if seen[text] {
			continue
		}
		if at, ok := find(text, words, exact); ok {
			seen[text] = true
			out = append(out, Hit{entries[i], at})
		}
	}
	return out
}

func find(text string, words []string, exact bool) ([][2]int, bool) {
	in := text
	if !exact {
		in = lower(text)
	}
	mark := make([]bool, len(text))
	for _, w := range words {
		if !exact {
			w = lower(w)
		}
		from, found := 0, false
		for {
			i := strings.Index(in[from:], w)
			if i < 0 {
				break
			}
			found = true
			for k := from + i; k < from+i+len(w); k++ {
				mark[k] = true
			}
			from += i + len(w)
		}
		if !found {
			return nil, false
		}
	}
	var out [][2]int
	for i := 0; i < len(mark); i++ {
		if !mark[i] {
			continue
		}
		start := i
		for i < len(mark) && mark[i] {
			i++
		}
		out = append(out, [2]int{start, i})
	}
	return out, true
}

// lower keeps every character's length in bytes, so that places in it are places in s.
func lower(s string) string {
	return strings.Map(func(r rune) rune {
		if l := unicode.ToLower(r); len(string(l)) == len(string(r)) {
			return l
		}
		return r
	}, s)
}
