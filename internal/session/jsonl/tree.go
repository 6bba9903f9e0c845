package jsonl

import (
	"encoding/json"
	"slices"
)

// tree is the records of a file that form the conversation, in file order. A session is a tree by parentUuid,
// but not a reliable one: parents are missing, records are copied, old versions wrote no links at all. Every
// parent is looked for before the child only, so a walk always ends.
type tree struct {
	recs   []line
	index  map[string]int   // first record of each uuid
	copies map[string][]int // later records of the same uuid
	bounds []int            // compact boundaries
	// unlinked says that links mean nothing in this file: its answers have none.
	unlinked bool
}

const none = -1

func newTree(lines []line) *tree {
	t := buildTree(lines, nil)
	if torn := t.torn(); len(torn) > 0 {
		return buildTree(lines, torn)
	}
	return t
}

// torn names the records of compactions whose write a crash cut off: a boundary counts with all that it carries over, or
// the conversation would begin with nothing.
func (t *tree) torn() map[string]bool {
	var out map[string]bool
	for _, bound := range t.bounds {
		carried := t.metadata(bound).Carried
		if len(carried) == 0 {
			continue
		}
		if _, whole := t.index[carried[len(carried)-1]]; whole {
			continue
		}
		if out == nil {
			out = map[string]bool{}
		}
		out[t.uuid(bound)] = true
		for _, id := range carried {
			out[id] = true
		}
	}
	return out
}

// buildTree leaves out the records that are named.
func buildTree(lines []line, without map[string]bool) *tree {
	t := &tree{}
	onlySide := !slices.ContainsFunc(lines, func(l line) bool {
		return (l.kind == kindUser || l.kind == kindAssistant) && !l.has(flagSidechain)
	})
	t.recs = make([]line, 0, len(lines))
	t.index = make(map[string]int, len(lines))
	for _, l := range lines {
		if l.kind < kindUser || l.kind > kindProgress || l.has(flagSidechain) && !onlySide {
			continue
		}
		if without != nil && without[string(l.get(l.uuid))] {
			continue
		}
		l.flags &^= flagSidechain // a sub-agent's own file, resumed: there is nothing beside which it could run
		t.add(l)
	}
	return t
}

func (t *tree) add(l line) {
	i := len(t.recs)
	if id := l.get(l.uuid); len(id) > 0 {
		if first, seen := t.index[string(id)]; seen && l.hasContent() && !t.recs[first].hasContent() {
			t.recs[first].flags |= flagCopy // a damaged record that was written again
			t.index[string(id)] = i
		} else if seen {
			l.flags |= flagCopy
			if t.copies == nil {
				t.copies = map[string][]int{}
			}
			t.copies[string(id)] = append(t.copies[string(id)], i)
		} else {
			t.index[string(id)] = i
		}
	}
	if l.has(flagBoundary) {
		t.bounds = append(t.bounds, i)
	}
	if l.kind == kindAssistant && l.has(flagNull) {
		t.unlinked = true
	}
	t.recs = append(t.recs, l)
}

func (t *tree) uuid(i int) string { return string(t.recs[i].get(t.recs[i].uuid)) }

// leaf is the newest record of the conversation. Copies of older records are not news, nor is progress.
func (t *tree) leaf() int {
	for i := len(t.recs) - 1; i >= 0; i-- {
		if !t.recs[i].has(flagCopy) && t.recs[i].kind != kindProgress {
			return i
		}
	}
	return len(t.recs) - 1
}

// boundBefore is the last compact boundary before i.
func (t *tree) boundBefore(i int) int {
	n, _ := slices.BinarySearch(t.bounds, i)
	if n == 0 {
		return none
	}
	return t.bounds[n-1]
}

// previous is the record before i in file order: where the walk goes on when a link is broken.
func (t *tree) previous(i int) int {
	for i--; i >= 0 && t.recs[i].has(flagCopy); i-- {
	}
	return i
}

// parent is the record that i continues, or none for a root.
func (t *tree) parent(i int) int {
	l := &t.recs[i]
	switch {
	case l.has(flagBoundary):
		return none
	case l.has(flagNoParent):
		return t.previous(i)
	case l.has(flagNull):
		// A prompt may stand at a root: the first one was edited. Nothing else begins a conversation.
		if t.unlinked || l.kind != kindUser {
			return t.previous(i)
		}
		return none
	}
	return t.find(l.get(l.parent), i)
}

// find is the record with the uuid that the record i means.
func (t *tree) find(uuid []byte, i int) int {
	j, ok := t.index[string(uuid)]
	if !ok || j >= i {
		return t.previous(i)
	}
	bound := t.boundBefore(i)
	if j >= bound {
		return j
	}
	// The link leads over a compact boundary: to a record that a compaction kept and wrote again, to one that it
	// kept in place, or, after a rewind, to the time before the boundary.
	for _, k := range slices.Backward(t.copies[string(uuid)]) {
		if k > bound && k < i {
			return k
		}
	}
	if p := t.preserved(bound); p.has(string(uuid)) {
		return max(p.anchor, bound)
	}
	return j
}

// walk returns the live branch that ends in leaf, oldest first: back to the last boundary, or to the root.
func (t *tree) walk(leaf int) []int {
	var path []int
	for i := leaf; i >= 0; i = t.parent(i) {
		path = append(path, i)
	}
	slices.Reverse(path)
	return path
}

// newestUnder is the newest record of the conversation whose branch passes top.
func (t *tree) newestUnder(top int) int {
	newest := top
	under := make([]bool, len(t.recs))
	under[top] = true
	for i := top + 1; i < len(t.recs); i++ {
		if p := t.parent(i); p >= top && under[p] {
			under[i] = true
			if !t.recs[i].has(flagCopy) && t.recs[i].kind != kindProgress {
				newest = i
			}
		}
	}
	return newest
}

// preservation is what a compaction kept of the time before it: these records follow the summary.
type preservation struct {
	anchor int   // the record that they follow; none when it is not there
	list   []int // oldest first
	uuids  map[string]bool
}

func (p *preservation) has(uuid string) bool { return p.uuids[uuid] }

type compactMetadata struct {
	Carried []string `json:"carriedUuids"`
	Segment struct {
		Head   string `json:"headUuid"`
		Anchor string `json:"anchorUuid"`
		Tail   string `json:"tailUuid"`
	} `json:"preservedSegment"`
	Messages struct {
		Anchor string   `json:"anchorUuid"`
		UUIDs  []string `json:"uuids"`
	} `json:"preservedMessages"`
}

func (t *tree) preserved(bound int) *preservation {
	p := &preservation{anchor: none, uuids: map[string]bool{}}
	meta := t.metadata(bound)
	uuids := meta.Messages.UUIDs
	if len(uuids) == 0 {
		uuids = t.segment(meta.Segment.Head, meta.Segment.Tail, bound)
	}
	for _, u := range uuids {
		if i, ok := t.index[u]; ok && i < bound && !p.uuids[u] {
			p.uuids[u] = true
			p.list = append(p.list, i)
		}
	}
	for _, a := range []string{meta.Messages.Anchor, meta.Segment.Anchor} {
		if i, ok := t.index[a]; ok && i > bound {
			p.anchor = i
			break
		}
	}
	return p
}

func (t *tree) metadata(bound int) (meta compactMetadata) {
	eachField(t.recs[bound].all, func(key, value []byte) {
		if string(key) == "compactMetadata" && json.Unmarshal(value, &meta) != nil {
			meta = compactMetadata{}
		}
	})
	return meta
}

// segment lists the records from tail back to head.
func (t *tree) segment(head, tail string, bound int) []string {
	first, ok := t.index[head]
	last, ok2 := t.index[tail]
	if !ok || !ok2 || last >= bound {
		return nil
	}
	var list []string
	for i := last; i >= first; i = t.parent(i) {
		list = append(list, t.uuid(i))
		if i == first {
			slices.Reverse(list)
			return list
		}
	}
	return nil
}
