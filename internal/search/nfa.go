package search

import (
	"regexp/syntax"
	"unicode"
	"unicode/utf8"
)

// maxNodes bounds the automaton; a pattern that needs more is left to package regexp alone.
const maxNodes = 20000

type nodeKind uint8

const (
	nodeFail nodeKind = iota
	nodeMatch
	nodeByte  // lo <= byte <= hi, then a
	nodeSplit // a or b
	nodeEmpty // assertions in cond, then a
)

type node struct {
	kind   nodeKind
	lo, hi byte
	cond   syntax.EmptyOp
	a, b   int32
}

// nfa is a regular expression over bytes instead of runes. On valid UTF-8 it accepts what the expression
// accepts. On other bytes it may accept more (never less): its hits there need a second look.
type nfa struct {
	nodes []node
	start int32
	conds syntax.EmptyOp // all assertions that occur
}

// buildNFA returns nil when the automaton would be too large.
func buildNFA(prog *syntax.Prog) *nfa {
	n := &nfa{nodes: make([]node, len(prog.Inst))}
	for pc := range prog.Inst {
		in := &prog.Inst[pc]
		switch in.Op {
		case syntax.InstFail:
			n.nodes[pc] = node{kind: nodeFail}
		case syntax.InstMatch:
			n.nodes[pc] = node{kind: nodeMatch}
		case syntax.InstNop, syntax.InstCapture:
			n.nodes[pc] = node{kind: nodeEmpty, a: int32(in.Out)}
		case syntax.InstEmptyWidth:
			n.nodes[pc] = node{kind: nodeEmpty, cond: syntax.EmptyOp(in.Arg), a: int32(in.Out)}
			n.conds |= syntax.EmptyOp(in.Arg)
		case syntax.InstAlt, syntax.InstAltMatch:
			n.nodes[pc] = node{kind: nodeSplit, a: int32(in.Out), b: int32(in.Arg)}
		default:
			n.addRunes(int32(pc), runeRanges(in), int32(in.Out))
		}
		if len(n.nodes) > maxNodes {
			return nil
		}
	}
	n.start = int32(prog.Start)
	return n
}

// runeRanges lists the runes that an instruction matches as pairs.
func runeRanges(in *syntax.Inst) []rune {
	switch in.Op {
	case syntax.InstRuneAny:
		return []rune{0, unicode.MaxRune}
	case syntax.InstRuneAnyNotNL:
		return []rune{0, '\n' - 1, '\n' + 1, unicode.MaxRune}
	}
	if len(in.Rune) != 1 {
		return in.Rune
	}
	r0 := in.Rune[0]
	out := []rune{r0, r0}
	if syntax.Flags(in.Arg)&syntax.FoldCase != 0 {
		for r := unicode.SimpleFold(r0); r != r0; r = unicode.SimpleFold(r) {
			out = append(out, r, r)
		}
	}
	return out
}

// addRunes makes node pc match one rune of the ranges and go on to next.
func (n *nfa) addRunes(pc int32, ranges []rune, next int32) {
	var seqs [][]byteRange
	for i := 0; i+1 < len(ranges); i += 2 {
		seqs = utf8Ranges(seqs, ranges[i], ranges[i+1])
		if ranges[i] <= utf8.RuneError && utf8.RuneError <= ranges[i+1] {
			// Package regexp reads each byte that is not UTF-8 as this rune.
			seqs = append(seqs, []byteRange{{0x80, 0xff}})
		}
	}
	if len(seqs) == 0 {
		n.nodes[pc] = node{kind: nodeFail}
		return
	}
	// A chain of splits; sequences with an equal tail share it.
	tails := map[[2]int32]int32{}
	at := pc
	for i, seq := range seqs {
		to := next
		for k := len(seq) - 1; k >= 1; k-- {
			key := [2]int32{int32(seq[k].lo)<<8 | int32(seq[k].hi), to}
			have, ok := tails[key]
			if !ok {
				have = n.add(node{kind: nodeByte, lo: seq[k].lo, hi: seq[k].hi, a: to})
				tails[key] = have
			}
			to = have
		}
		first := node{kind: nodeByte, lo: seq[0].lo, hi: seq[0].hi, a: to}
		if i == len(seqs)-1 {
			n.nodes[at] = first
			return
		}
		a := n.add(first)
		b := n.add(node{})
		n.nodes[at] = node{kind: nodeSplit, a: a, b: b}
		at = b
	}
}

func (n *nfa) add(x node) int32 {
	n.nodes = append(n.nodes, x)
	return int32(len(n.nodes) - 1)
}

type byteRange struct{ lo, hi byte }

// utf8Ranges appends byte sequences that together encode exactly the runes lo to hi.
func utf8Ranges(out [][]byteRange, lo, hi rune) [][]byteRange {
	if lo > hi {
		return out
	}
	if lo <= 0xdfff && hi >= 0xd800 { // surrogates are not encoded
		out = utf8Ranges(out, lo, 0xd7ff)
		return utf8Ranges(out, 0xe000, hi)
	}
	for _, limit := range []rune{0x7f, 0x7ff, 0xffff} { // both ends must have the same length
		if lo <= limit && limit < hi {
			out = utf8Ranges(out, lo, limit)
			return utf8Ranges(out, limit+1, hi)
		}
	}
	if hi <= 0x7f {
		return append(out, []byteRange{{byte(lo), byte(hi)}})
	}
	for shift := 6; shift <= 18; shift += 6 { // below a common prefix, trailing bytes must span all or nothing
		mask := rune(1)<<shift - 1
		if lo&^mask == hi&^mask {
			break
		}
		if lo&mask != 0 {
			out = utf8Ranges(out, lo, lo|mask)
			return utf8Ranges(out, (lo|mask)+1, hi)
		}
		if hi&mask != mask {
			out = utf8Ranges(out, lo, hi&^mask-1)
			return utf8Ranges(out, hi&^mask, hi)
		}
	}
	var a, b [utf8.UTFMax]byte
	n := utf8.EncodeRune(a[:], lo)
	utf8.EncodeRune(b[:], hi)
	seq := make([]byteRange, n)
	for i := range seq {
		seq[i] = byteRange{a[i], b[i]}
	}
	return append(out, seq)
}
