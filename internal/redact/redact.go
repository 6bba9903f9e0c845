package redact

import (
	"bytes"
	"cmp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// minValue is the length, in bytes, below which a value is not taken for a secret: it would be found everywhere.
const minValue = 8

const (
	markStart = "[redacted: "
	maxMark   = 120 // length of a mark, in bytes
)

// Mark is what stands in the place of a secret.
func Mark(name string) string { return markStart + name + "]" }

// Marks counts the marks in a text.
func Marks(text []byte) int { return bytes.Count(text, []byte(markStart)) }

// Redactor takes secrets out of text. It is safe for concurrent use; nil redacts nothing.
type Redactor struct {
	forms bool // the forms of common keys too, not only known values

	mu     sync.Mutex
	values map[string]string // value to name
	table  atomic.Pointer[table]
}

// New returns a redactor that knows no values yet. forms says whether it knows the forms of common keys.
func New(forms bool) *Redactor {
	r := &Redactor{forms: forms, values: map[string]string{}}
	r.compile()
	return r
}

// Add makes a value known under a name. Values that are too short to be told from other text are left out. Of a value
// of several lines each long line counts too, since it may be shown with line numbers.
func (r *Redactor) Add(name, value string) {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	before := len(r.values)
	value = strings.TrimSpace(value)
	r.add(name, value)
	if lines := strings.Split(value, "\n"); len(lines) > 1 {
		for _, l := range lines {
			if l = strings.TrimSpace(l); len(l) >= 16 && !strings.HasPrefix(l, "-----") {
				r.add(name, l)
			}
		}
	}
	if len(r.values) != before {
		r.compile()
	}
}

func (r *Redactor) add(name, value string) {
	if _, known := r.values[value]; !known && len(value) >= minValue && !strings.Contains(value, markStart) {
		r.values[value] = name
	}
}

// compile builds the search table. The caller holds the lock, or is the only one who knows r.
func (r *Redactor) compile() {
	t := &table{}
	t.put(markStart[:4], rule{match: mark})
	for value, name := range r.values {
		t.put(value[:4], rule{value: value, mark: Mark(name)})
		for _, form := range encodings(value) {
			t.put(form[:4], encoded(form, Mark(name+", encoded")))
		}
	}
	if r.forms {
		addForms(t)
	}
	for _, rules := range t.rules {
		// The longest value wins where several begin at one place; a mark is never looked into.
		slices.SortStableFunc(rules, func(a, b rule) int { return cmp.Compare(len(b.value), len(a.value)) })
	}
	r.table.Store(t)
}

// rule is one thing to look for: a value, or what match finds at s[i:]; its zero value is nothing.
type rule struct {
	value string
	mark  string
	match func(s string, i int) found
}

// found is a secret from..to, both counted from the start of the text, and its mark. Without a mark it is text to leave
// alone.
type found struct {
	from, to int
	mark     string
}

// table finds rules by the first four bytes of what they look for: a bitmap over a hash of each window of the text
// rules out nearly all places at the cost of a multiplication.
type table struct {
	bits  [1 << 10]uint64 // one bit for each of 65,536 hashes
	rules map[uint32][]rule
}

func hash(w uint32) uint32 { return w * 0x9E3779B1 >> 16 }

func window(s string) uint32 {
	return uint32(s[0])<<24 | uint32(s[1])<<16 | uint32(s[2])<<8 | uint32(s[3])
}

// put adds a rule for text that starts with the four bytes of start.
func (t *table) put(start string, r rule) {
	if t.rules == nil {
		t.rules = map[uint32][]rule{}
	}
	w := window(start)
	h := hash(w)
	t.bits[h>>6] |= 1 << (h & 63)
	t.rules[w] = append(t.rules[w], r)
}

// next returns the first secret; ok is false when there is none.
func (t *table) next(s string) (f found, ok bool) {
	if len(s) < 4 {
		return found{}, false
	}
	bits := &t.bits
	i, w := 0, uint32(s[0])<<16|uint32(s[1])<<8|uint32(s[2]) // what stands before i was looked at
	for end := 3; end < len(s); end++ {
		w = w<<8 | uint32(s[end])
		h := hash(w)
		if bits[h>>6]&(1<<(h&63)) == 0 {
			continue
		}
		at := end - 3
		if at < i {
			continue
		}
		f, ok := t.look(s, at, w)
		switch {
		case !ok:
		case f.mark != "":
			return t.before(s, at+1, f), true
		default: // a mark, unless somebody dressed a secret up as one
			if f = t.before(s, at+1, found{from: f.to}); f.mark != "" {
				return f, true
			}
			i = f.from
		}
	}
	return found{}, false
}

// has reports whether there is a secret in s. Most texts have nothing that could begin one and are not copied.
func (t *table) has(s []byte) bool {
	if len(s) < 4 {
		return false
	}
	w := uint32(s[0])<<16 | uint32(s[1])<<8 | uint32(s[2])
	for _, c := range s[3:] {
		w = w<<8 | uint32(c)
		if h := hash(w); t.bits[h>>6]&(1<<(h&63)) != 0 && len(t.rules[w]) > 0 {
			_, ok := t.next(string(s))
			return ok
		}
	}
	return false
}

// before returns a known value that begins in front of a secret which was found by the text before it, such as the
// user's name in a URL; else the secret itself.
func (t *table) before(s string, i int, f found) found {
	for ; i < f.from && i+4 <= len(s); i++ {
		for _, r := range t.rules[window(s[i:])] {
			if r.match == nil && strings.HasPrefix(s[i:], r.value) {
				return found{i, i + len(r.value), r.mark}
			}
		}
	}
	return f
}

func (t *table) look(s string, at int, w uint32) (found, bool) {
	for _, r := range t.rules[w] {
		if r.match == nil {
			if strings.HasPrefix(s[at:], r.value) {
				return found{at, at + len(r.value), r.mark}, true
			}
			continue
		}
		if f := r.match(s, at); f.to > 0 {
			return f, true
		}
	}
	return found{}, false
}

// String returns s without secrets; s itself when it has none.
func (r *Redactor) String(s string) string {
	if r == nil {
		return s
	}
	t := r.table.Load()
	for range 4 { // a mark can make a word of its own of what stood behind a secret
		f, ok := t.next(s)
		if !ok {
			break
		}
		s = t.replace(s, f)
	}
	return s
}

// replace puts marks in the place of the first secret and all behind it.
func (t *table) replace(s string, f found) string {
	var b strings.Builder
	b.Grow(len(s))
	for ok := true; ok; f, ok = t.next(s) {
		b.WriteString(s[:f.from])
		b.WriteString(f.mark)
		s = s[f.to:]
	}
	b.WriteString(s)
	return b.String()
}

// mark finds the mark of something that was redacted before.
func mark(s string, i int) found {
	if !strings.HasPrefix(s[i:], markStart) {
		return found{}
	}
	end := strings.IndexAny(s[i+1:min(len(s), i+maxMark)], "]\n[")
	if end < 0 || s[i+1+end] != ']' {
		return found{}
	}
	return found{from: i, to: i + end + 2}
}
