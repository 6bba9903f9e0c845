package search

import (
	"encoding/binary"
	"regexp/syntax"
	"slices"
)

// The limits of one automaton: states kept, and how often they may be thrown away before it gives up.
const (
	maxStates = 2000
	maxFlush  = 20
)

// dfa finds the earliest place where a match of its nfa ends. States are made when they are first needed, so a
// byte costs one table look-up. It answers only whether and where; it is not safe for concurrent use.
type dfa struct {
	n       *nfa
	class   [256]uint8 // bytes that the pattern treats alike
	rep     []int      // one byte of each class, and endOfText for the last
	stride  int
	trans   []int32 // state + class → state; 0 unknown, -1 a match ended before this byte
	states  []dfaState
	ids     map[string]int32
	first   int32 // the state at the start of a text
	quiet   int32 // the state in which no match is under way, 0 when there is not exactly one
	stay    [256]bool
	flushes int
	off     bool // gave up: the caller must use package regexp

	mark  []uint32 // closure: generation in which a node was seen
	gen   uint32
	stack []int32
	key   []byte
}

type dfaState struct {
	pcs  []int32
	prev byte // what stood before, as far as assertions ask
}

const (
	endOfText = -1
	never     = -2 // no state
)

// Kinds of what stands before a position.
const (
	prevStart = iota
	prevNewline
	prevWord
	prevOther
)

func newDFA(n *nfa) *dfa {
	d := &dfa{n: n, mark: make([]uint32, len(n.nodes))}
	d.classes()
	d.flush()
	return d
}

// classes groups bytes by where the pattern's ranges begin and end.
func (d *dfa) classes() {
	var cut [257]bool
	mark := func(lo, hi int) { cut[lo], cut[hi+1] = true, true }
	mark('\n', '\n')
	for _, x := range d.n.nodes {
		if x.kind == nodeByte {
			mark(int(x.lo), int(x.hi))
		}
	}
	if d.n.conds&(syntax.EmptyWordBoundary|syntax.EmptyNoWordBoundary) != 0 {
		for _, r := range [][2]int{{'0', '9'}, {'A', 'Z'}, {'_', '_'}, {'a', 'z'}} {
			mark(r[0], r[1])
		}
	}
	c := -1
	for b := range 256 {
		if c < 0 || cut[b] {
			c++
			d.rep = append(d.rep, b)
		}
		d.class[b] = uint8(c)
	}
	d.rep = append(d.rep, endOfText)
	d.stride = len(d.rep)
}

// flush throws all states away and makes the first ones.
func (d *dfa) flush() {
	d.flushes++
	d.off = d.flushes > maxFlush
	d.ids = map[string]int32{}
	d.states = append(d.states[:0], dfaState{})
	d.trans = append(d.trans[:0], make([]int32, d.stride)...)
	d.first = d.state(nil, prevStart)
	d.quiet = 0
	if d.prevKind(prevStart) == prevOther && d.n.conds == 0 {
		d.quiet = d.first
		for b := range 256 {
			d.stay[b] = d.step(d.quiet, int(d.class[b])) == d.quiet
		}
	}
}

// prevKind drops the distinctions that the pattern does not ask for.
func (d *dfa) prevKind(k byte) byte {
	switch {
	case k == prevWord && d.n.conds&(syntax.EmptyWordBoundary|syntax.EmptyNoWordBoundary) != 0:
		return k
	case k == prevNewline && d.n.conds&syntax.EmptyBeginLine != 0:
		return k
	case k == prevStart && d.n.conds&(syntax.EmptyBeginText|syntax.EmptyBeginLine) != 0:
		return k
	}
	return prevOther
}

// state returns the id of a set of nodes; pcs is copied.
func (d *dfa) state(pcs []int32, prev byte) int32 {
	prev = d.prevKind(prev)
	d.key = append(d.key[:0], prev)
	for _, pc := range pcs {
		d.key = binary.LittleEndian.AppendUint32(d.key, uint32(pc))
	}
	if id, ok := d.ids[string(d.key)]; ok {
		return id
	}
	id := int32(len(d.states) * d.stride)
	d.states = append(d.states, dfaState{slices.Clone(pcs), prev})
	d.trans = append(d.trans, make([]int32, d.stride)...)
	d.ids[string(d.key)] = id
	return id
}

// step works out one transition and stores it.
func (d *dfa) step(s int32, class int) int32 {
	st := d.states[int(s)/d.stride]
	c := d.rep[class]
	next, matched := d.move(st, c)
	to := int32(-1)
	if !matched {
		kind := byte(prevOther)
		switch {
		case c == '\n':
			kind = prevNewline
		case c >= 0 && isWord(c):
			kind = prevWord
		}
		to = d.state(next, kind)
	}
	d.trans[int(s)+class] = to
	return to
}

func isWord(c int) bool {
	return '0' <= c && c <= '9' || 'A' <= c && c <= 'Z' || c == '_' || 'a' <= c && c <= 'z'
}

// move follows everything that needs no byte, then the byte c. It reports whether a match ends before c.
func (d *dfa) move(st dfaState, c int) (next []int32, matched bool) {
	flags := emptyFlags(st.prev, c)
	d.gen++
	d.stack = append(append(d.stack[:0], d.n.start), st.pcs...)
	for len(d.stack) > 0 {
		pc := d.stack[len(d.stack)-1]
		d.stack = d.stack[:len(d.stack)-1]
		if d.mark[pc] == d.gen {
			continue
		}
		d.mark[pc] = d.gen
		switch x := &d.n.nodes[pc]; x.kind {
		case nodeMatch:
			return nil, true
		case nodeByte:
			if int(x.lo) <= c && c <= int(x.hi) {
				next = append(next, x.a)
			}
		case nodeSplit:
			d.stack = append(d.stack, x.a, x.b)
		case nodeEmpty:
			if x.cond&^flags == 0 {
				d.stack = append(d.stack, x.a)
			}
		}
	}
	slices.Sort(next)
	return slices.Compact(next), false
}

func emptyFlags(prev byte, c int) syntax.EmptyOp {
	before := [...]rune{prevStart: -1, prevNewline: '\n', prevWord: 'a', prevOther: ' '}[prev]
	after := rune(c)
	if c >= 0x80 {
		after = ' '
	}
	return syntax.EmptyOpContext(before, after)
}

// find returns where the earliest match of b[pos:] ends, -1 when there is none. What stands before pos is taken
// for the start of a text; the end of b for its end. When d.off is set afterwards, the answer is void.
func (d *dfa) find(b []byte, pos int) int {
	s, quiet, trans, class := d.first, d.quiet, d.trans, &d.class
	hops := 0
	for i := pos; i < len(b); i++ {
		if s == quiet {
			from := i
			for i < len(b) && d.stay[b[i]] {
				i++
			}
			if i == len(b) {
				break
			}
			// Short hops cost more, in wrongly guessed branches, than they save.
			if hops += 8 - min(i-from, 64); hops > 256 {
				quiet = never
			}
		}
		to := trans[int(s)+int(class[b[i]])]
		if to == 0 {
			if to = d.miss(&s, int(class[b[i]])); d.off {
				return -1
			}
			trans = d.trans
			if quiet != never {
				quiet = d.quiet
			}
		}
		if to < 0 {
			return i
		}
		s = to
	}
	c := d.stride - 1
	to := d.trans[int(s)+c]
	if to == 0 {
		to = d.miss(&s, c)
	}
	if to < 0 && !d.off {
		return len(b)
	}
	return -1
}

// miss makes a transition that is not there yet. When the table is full it starts a new one, in which s gets a
// new number.
func (d *dfa) miss(s *int32, class int) int32 {
	if len(d.states) >= maxStates {
		old := d.states[int(*s)/d.stride]
		d.flush()
		*s = d.state(old.pcs, old.prev)
	}
	return d.step(*s, class)
}
