package model

import (
	"encoding/json"
	"slices"
	"strings"

	"lathe/internal/msg"
	"lathe/internal/provider"
)

// assembler builds the blocks of one answer from its chunks. Pieces are only ever appended, so its cost is linear
// and its memory that of the answer.
type assembler struct {
	started bool
	meta    provider.Meta
	usage   msg.Usage
	stop    string // stop reason, once it came
	seq     string
	details json.RawMessage

	parts []*part // in the order of their indexes; those before next were released
	next  int
}

// part is one block in the making.
type part struct {
	index int
	block msg.Block // as it began
	text  []byte
	sig   []byte
	input []byte
	cites []json.RawMessage
	comp  []byte // the last compaction delta
	ended bool   // its stop event came
}

func (a *assembler) start(c provider.Chunk) {
	*a = assembler{started: true}
	if c.Meta != nil {
		a.meta = *c.Meta
	}
	overlay(&a.usage, c)
}

func (a *assembler) delta(c provider.Chunk) {
	if c.StopReason != "" {
		a.stop, a.seq, a.details = c.StopReason, c.StopSeq, c.StopDetails
	}
	overlay(&a.usage, c)
}

// open begins a block. A second start of an index that is still open is ignored: nothing of the first may be lost.
func (a *assembler) open(c provider.Chunk) {
	if c.Block == nil {
		return
	}
	at := len(a.parts)
	for i := len(a.parts) - 1; i >= a.next; i-- {
		p := a.parts[i]
		if p.index == c.Index && !p.ended {
			return
		}
		if p.index > c.Index {
			at = i
		}
	}
	a.parts = slices.Insert(a.parts, at, &part{index: c.Index, block: *c.Block})
}

// part finds the open block of an index. Deltas for a block that never began, or has ended, find none.
func (a *assembler) part(index int) *part {
	for i := len(a.parts) - 1; i >= a.next; i-- {
		if p := a.parts[i]; p.index == index && !p.ended {
			return p
		}
	}
	return nil
}

func (a *assembler) add(c provider.Chunk) {
	p := a.part(c.Index)
	if p == nil {
		return
	}
	switch c.Delta {
	case provider.DeltaText, provider.DeltaThinking:
		p.text = append(p.text, c.Text...)
	case provider.DeltaSignature:
		p.sig = append(p.sig, c.Text...)
	case provider.DeltaInput:
		p.input = append(p.input, c.Text...)
	case provider.DeltaOther:
		p.other(c.Raw)
	}
}

// other takes in the deltas that have no kind of their own but change what must be sent back.
func (p *part) other(raw []byte) {
	var ev struct {
		Delta json.RawMessage `json:"delta"`
	}
	var d struct {
		Type     string          `json:"type"`
		Citation json.RawMessage `json:"citation"`
	}
	if json.Unmarshal(raw, &ev) != nil || json.Unmarshal(ev.Delta, &d) != nil {
		return
	}
	switch d.Type {
	case "citations_delta":
		if d.Citation != nil {
			p.cites = append(p.cites, d.Citation)
		}
	case "compaction_delta":
		p.comp = slices.Clone(ev.Delta)
	}
}

func (a *assembler) end(index int) {
	if p := a.part(index); p != nil {
		p.ended = true
	}
}

// whole reports whether every block has ended and the stop reason is known: nothing of the answer is missing
// then, whether or not the stream said goodbye.
func (a *assembler) whole() bool {
	for _, p := range a.parts[a.next:] {
		if !p.ended {
			return false
		}
	}
	return a.started && a.stop != ""
}

// release returns the blocks that are finished and have no unfinished one before them, in order. With all, the
// unfinished ones too.
func (a *assembler) release(all bool) []*part {
	first := a.next
	for a.next < len(a.parts) && (all || a.parts[a.next].ended) {
		a.next++
	}
	return a.parts[first:a.next]
}

// finish returns the block as it must be kept to be sent back. ok is false when it is a call of one of our tools
// whose input is no JSON object: its Input is {} then.
func (p *part) finish() (b msg.Block, ok bool) {
	b, ok = p.block, true
	set := map[string]json.RawMessage{}
	switch b.Type {
	case msg.TypeText:
		b.Text += string(p.text)
		set["text"] = quote(b.Text)
		if len(p.cites) > 0 {
			set["citations"] = appendCites(b.Raw, p.cites)
		}
	case msg.TypeThinking:
		b.Text += string(p.text)
		b.Signature += string(p.sig)
		set["thinking"], set["signature"] = quote(b.Text), quote(b.Signature)
	case msg.TypeToolUse:
		b.Input, ok = p.callInput(b.Input)
		set["input"] = b.Input
	default:
		if input := msg.Compact(p.input); input != nil {
			set["input"] = input
		}
		for _, f := range fields(p.comp) {
			if f.key != "type" {
				set[f.key] = f.value
			}
		}
	}
	if b.Raw != nil || set["citations"] != nil {
		b.Raw = merge(b, set)
	}
	return b, ok
}

// callInput is the input of a call: what the deltas brought, else what the block began with, else {}.
func (p *part) callInput(began json.RawMessage) (json.RawMessage, bool) {
	empty := json.RawMessage("{}")
	if len(strings.TrimSpace(string(p.input))) == 0 {
		if began = msg.Compact(began); len(began) > 0 && began[0] == '{' {
			return began, true
		}
		return empty, len(began) == 0
	}
	if in := msg.Compact(p.input); len(in) > 0 && in[0] == '{' {
		return in, true
	}
	return empty, false
}

// overlay writes the counts that a chunk carries over those that are there. A count of a strange type is passed
// over: none is worth an answer.
func overlay(u *msg.Usage, c provider.Chunk) {
	raw := c.UsageRaw
	if raw == nil && c.Usage != nil {
		raw, _ = json.Marshal(c.Usage)
	}
	if raw == nil {
		return
	}
	next := *u
	next.CacheCreation, next.ServerTools = nil, nil // not written into: others may hold them
	_ = json.Unmarshal(raw, &next)
	if next.CacheCreation == nil {
		next.CacheCreation = u.CacheCreation
	}
	if next.ServerTools == nil {
		next.ServerTools = u.ServerTools
	}
	*u = next
}
