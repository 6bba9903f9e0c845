package turn

import (
	"slices"

	"lathe/internal/msg"
	"lathe/internal/provider"
	"lathe/internal/provider/wire"
	"lathe/internal/trace"
)

// list is messages, and the references to them.
type list struct {
	messages []msg.Message
	refs     []trace.Ref
}

// kept is how many messages of the list are the first ones of ms too. Neither is ever changed in place.
func (l *list) kept(ms []msg.Message) int {
	n := min(len(l.messages), len(ms))
	if n > 0 && &l.messages[0] == &ms[0] {
		return n
	}
	for i := range n {
		if !same(l.messages[i], ms[i]) {
			return i
		}
	}
	return n
}

// same reports whether two messages are one: a shortened copy has the id of the whole one, and other blocks.
func same(a, b msg.Message) bool {
	return a.ID == b.ID && len(a.Blocks) == len(b.Blocks) && (len(a.Blocks) == 0 || &a.Blocks[0] == &b.Blocks[0])
}

// conversation describes all messages of the conversation.
func (x *Tracer) conversation(ms []msg.Message) []trace.Ref {
	return x.extend(&x.messages, ms)
}

func (x *Tracer) extend(l *list, ms []msg.Message) []trace.Ref {
	keep := l.kept(ms)
	if keep < len(l.refs) {
		l.refs = append([]trace.Ref(nil), l.refs[:keep]...) // others hold what is cut off
	}
	for _, m := range ms[keep:] {
		l.refs = append(l.refs, x.stored(m))
	}
	l.messages = ms
	return l.refs[:len(l.refs):len(l.refs)]
}

// seen describes the view. Mostly it is the end of the conversation, whose references are there already.
func (x *Tracer) seen(t *Turn) []trace.Ref {
	all := x.conversation(t.Messages)
	if n := len(t.View); n > 0 && n <= len(t.Messages) && &t.View[n-1] == &t.Messages[len(t.Messages)-1] {
		return all[len(all)-n:]
	}
	known := make(map[string]int, len(t.Messages))
	for i, m := range t.Messages {
		known[m.ID] = i
	}
	keep := x.view.kept(t.View)
	refs := append([]trace.Ref(nil), x.view.refs[:keep]...)
	for _, m := range t.View[keep:] {
		if i, ok := known[m.ID]; ok && same(m, t.Messages[i]) {
			refs = append(refs, all[i])
			continue
		}
		refs = append(refs, x.message(m))
	}
	x.view = list{messages: t.View, refs: refs}
	return refs
}

// stored describes a message of the conversation, which is in the transcript.
func (x *Tracer) stored(m msg.Message) trace.Ref {
	if m.ID == "" {
		return x.message(m)
	}
	return x.ref(m, trace.Stored(m.ID), msg.Size(m.Blocks))
}

// message describes a message that only this view has.
func (x *Tracer) message(m msg.Message) trace.Ref {
	x.buf = msg.AppendBlocks(x.buf[:0], m.Blocks)
	return x.ref(m, x.rec.Blob(x.buf), len(x.buf))
}

func (x *Tracer) ref(m msg.Message, hash string, size int) trace.Ref {
	kind := string(m.Kind)
	if m.Kind == msg.KindUser && m.SourceAssistant != "" {
		kind = "result"
	}
	r := trace.Ref{ID: m.ID, Kind: kind, Source: m.Source, Key: m.Key, Hash: hash, Bytes: size}
	if m.ForModel() && m.APIError == "" {
		r.Tokens = x.counter.Blocks(m.Blocks)
	}
	return r
}

// systemRefs and toolRefs describe what is frozen with the session.
func (x *Tracer) systemRefs(blocks []msg.Block) []trace.Ref {
	refs, ok := x.fixed[trace.System]
	if ok && len(blocks) == len(x.system) && (len(blocks) == 0 || &blocks[0] == &x.system[0]) {
		return refs
	}
	refs = make([]trace.Ref, 0, len(blocks))
	for _, b := range blocks {
		x.buf = msg.AppendBlock(x.buf[:0], b, nil)
		refs = append(refs, trace.Ref{Kind: b.Type, Hash: x.rec.Blob(x.buf), Bytes: len(x.buf), Tokens: x.counter.Block(b)})
	}
	x.system, x.fixed[trace.System] = blocks, refs
	return refs
}

func (x *Tracer) toolRefs(defs []msg.ToolDef) []trace.Ref {
	refs, ok := x.fixed[trace.Tools]
	if ok && len(defs) == len(x.tools) && (len(defs) == 0 || &defs[0] == &x.tools[0]) {
		return refs
	}
	refs = make([]trace.Ref, 0, len(defs))
	for _, d := range defs {
		x.buf = wire.AppendTool(x.buf[:0], d, nil)
		refs = append(refs, trace.Ref{
			ID: d.Name, Kind: "tool", Hash: x.rec.Blob(x.buf), Bytes: len(x.buf), Tokens: x.counter.Tools([]msg.ToolDef{d}),
		})
	}
	x.tools, x.fixed[trace.Tools] = defs, refs
	return refs
}

// requestList is messages of a request, and the references to them.
type requestList struct {
	messages []provider.Message
	refs     []trace.Ref
}

func (x *Tracer) requestRefs(l *requestList, ms []provider.Message) []trace.Ref {
	if r := &x.request; len(ms) > 0 && len(ms) == len(r.messages) && &ms[0] == &r.messages[0] {
		refs := r.refs[:len(r.refs):len(r.refs)] // only one of the two may grow in place
		if l != r {
			*l = requestList{ms, refs} // what is sent is most often the request that normalize built
		}
		return refs
	}
	keep := provider.Shared(l.messages, ms)
	refs := l.refs[:keep]
	if keep < len(l.refs) {
		refs = slices.Clone(refs) // others hold what is cut off
	}
	for _, m := range ms[keep:] {
		if r, ok := x.recent(m); ok {
			refs = append(refs, r)
			continue
		}
		x.buf = msg.AppendBlocks(x.buf[:0], m.Content)
		refs = append(refs, trace.Ref{Kind: string(m.Role), Hash: x.rec.Blob(x.buf), Bytes: len(x.buf), Tokens: x.counter.Blocks(m.Content)})
	}
	l.messages, l.refs = ms, refs
	return refs[:len(refs):len(refs)]
}

// recent finds the message of the conversation that a message of a request is, among the last ones: results are large,
// and mostly alone in their message.
func (x *Tracer) recent(m provider.Message) (trace.Ref, bool) {
	const most = 16
	ms := x.messages.messages
	for i := len(ms) - 1; i >= max(0, len(ms)-most); i-- {
		if r := x.messages.refs[i]; r.Tokens > 0 && msg.SameBlocks(ms[i].Blocks, m.Content) {
			return trace.Ref{Kind: string(m.Role), Hash: r.Hash, Bytes: r.Bytes, Tokens: r.Tokens}, true
		}
	}
	return trace.Ref{}, false
}
