package jsonl

import (
	"slices"
	"strconv"

	"github.com/google/uuid"

	"lathe/internal/msg"
)

// branch is the live branch, decoded.
type branch struct {
	t    *tree
	path []int
	live []membership    // by record
	msgs []*msg.Message  // by record; nil for links without a message, and for what was not decoded
	uses map[string]bool // tool calls of the branch: answered or not
	ids  map[string]bool // answers of the branch, by their API id
}

// membership says how a record belongs to the branch.
type membership uint8

const (
	beside membership = iota
	onPath            // found by walking back
	added             // belongs to something on the path
)

// messages returns the branch that ends in leaf, with what a walk along single parents misses: parallel tool
// calls fork the chain, so results and blocks of the same answers hang beside the path.
func (t *tree) messages(leaf int) []msg.Message {
	if leaf < 0 {
		return nil
	}
	path := t.walk(leaf)
	b := &branch{t: t, path: path, live: make([]membership, len(t.recs)), uses: map[string]bool{}, ids: map[string]bool{}}
	for _, i := range path {
		b.live[i] = onPath
	}
	b.decode(path[0])
	for _, i := range path {
		b.join(i)
	}
	b.addSiblings()
	b.addResults()
	b.addHangers()
	b.addTombstones()
	return b.ordered()
}

// decode decodes all records from the first of the path on. Records beside the path are few, and needed to
// tell whether they belong to it.
func (b *branch) decode(first int) {
	n := len(b.t.recs) - first
	b.msgs = make([]*msg.Message, len(b.t.recs))
	const batch = 64
	parallel((n+batch-1)/batch, func(k int) {
		for i := k * batch; i < min((k+1)*batch, n); i++ {
			if l := &b.t.recs[first+i]; b.live[first+i] != beside || !l.has(flagCopy) {
				b.msgs[first+i] = identified(decodeMessage(l), l, first+i)
			}
		}
	})
}

// identified gives a message without an id one; hand-made and very old records have none. The same file gives
// the same ids.
func identified(m *msg.Message, l *line, i int) *msg.Message {
	if m != nil && m.ID == "" {
		m.ID = uuid.NewSHA1(uuid.Nil, append(strconv.AppendInt(nil, int64(i), 10), l.all...)).String()
	}
	return m
}

// join notes what the record i, now part of the branch, asks and answers.
func (b *branch) join(i int) {
	if b.live[i] == beside {
		b.live[i] = added
	}
	m := b.msgs[i]
	if m == nil {
		return
	}
	if m.APIID != "" {
		b.ids[m.APIID] = true
	}
	for _, bl := range m.Blocks {
		switch bl.Type {
		case msg.TypeToolUse:
			if !b.uses[bl.ID] {
				b.uses[bl.ID] = false // known, and not answered yet
			}
		case msg.TypeToolResult:
			b.uses[bl.ToolUseID] = true
		}
	}
}

// beside calls fn for each decoded record that is not on the branch, in file order.
func (b *branch) beside(fn func(i int, m *msg.Message)) {
	for i := b.path[0] + 1; i < len(b.t.recs); i++ {
		if m := b.msgs[i]; m != nil && b.live[i] == beside {
			fn(i, m)
		}
	}
}

func (b *branch) addSiblings() {
	b.beside(func(i int, m *msg.Message) {
		if m.APIID != "" && b.ids[m.APIID] {
			b.join(i)
		}
	})
}

func (b *branch) addResults() {
	b.beside(func(i int, m *msg.Message) {
		for _, bl := range m.Blocks {
			if bl.Type != msg.TypeToolResult {
				continue
			}
			if answered, asked := b.uses[bl.ToolUseID]; asked && !answered {
				b.join(i)
				return
			}
		}
	})
}

// addHangers adds what the program itself hung on a result or into a turn: images that a tool returned, hook
// output, prompts queued meanwhile.
func (b *branch) addHangers() {
	hung := map[int]bool{} // records beside the path that lead to it
	for i := b.path[0] + 1; i < len(b.t.recs); i++ {
		l := &b.t.recs[i]
		if b.live[i] != beside || l.kind == kindAssistant || l.has(flagCopy) {
			continue
		}
		p := b.t.parent(i)
		mid := p >= 0 && (b.live[p] == added || b.live[p] == onPath && b.t.recs[p].kind == kindAssistant)
		if !mid && !hung[p] {
			continue
		}
		m := b.msgs[i]
		switch {
		case m == nil || m.Kind == msg.KindSystem:
			hung[i] = true
		case m.Kind == msg.KindAttachment || m.Meta && m.Kind == msg.KindUser && !hasResult(m):
			hung[i] = true
			b.join(i)
		}
	}
}

func hasResult(m *msg.Message) bool {
	return slices.ContainsFunc(m.Blocks, func(b msg.Block) bool { return b.Type == msg.TypeToolResult })
}

func (b *branch) addTombstones() {
	some := false
	b.beside(func(_ int, m *msg.Message) { some = some || m.Kind == msg.KindTombstone })
	if !some {
		return
	}
	uuids := map[string]bool{}
	for i, how := range b.live {
		if how != beside {
			uuids[b.t.uuid(i)] = true
		}
	}
	b.beside(func(i int, m *msg.Message) {
		if m.Kind == msg.KindTombstone && slices.ContainsFunc(m.Withdraws, func(u string) bool { return uuids[u] }) {
			b.join(i)
		}
	})
}

// ordered returns the messages of the branch in file order, what a compaction preserved after its summary.
func (b *branch) ordered() []msg.Message {
	list := make([]int, 0, len(b.path)+16)
	for i, how := range b.live {
		if how != beside {
			list = append(list, i)
		}
	}
	if first := b.path[0]; b.t.recs[first].has(flagBoundary) {
		list = b.insertPreserved(list, first)
	}
	out := make([]msg.Message, 0, len(list))
	for _, i := range list {
		if m := b.msgs[i]; m != nil {
			out = append(out, *m)
		}
	}
	return out
}

// reached is the part of what a compaction of ours preserved that the branch goes on from: a rewind may lead to the middle
// of it.
func (b *branch) reached(list []int, bound int) []int {
	if len(b.path) < 2 || !b.t.recs[bound].has(flagOurs) {
		return list
	}
	next := &b.t.recs[b.path[1]]
	from := string(next.get(next.parent))
	for k, i := range list {
		if b.t.uuid(i) == from {
			return list[:k+1]
		}
	}
	return list
}

func (b *branch) insertPreserved(list []int, bound int) []int {
	p := b.t.preserved(bound)
	if len(p.list) == 0 {
		return list
	}
	for _, i := range list {
		p.uuids[b.t.uuid(i)] = false // written again behind the boundary
	}
	var kept []int
	for _, i := range b.reached(p.list, bound) {
		if p.uuids[b.t.uuid(i)] {
			kept = append(kept, i)
			b.msgs[i] = decodeMessage(&b.t.recs[i])
		}
	}
	at := 1 // behind the boundary, and behind the anchor, when there is one
	if k := slices.Index(list, p.anchor); k >= 0 {
		at = k + 1
	} else if len(list) > 1 && b.t.recs[list[1]].has(flagSummary) {
		at = 2
	}
	return slices.Insert(list, at, kept...)
}
