package model

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"lathe/internal/event"
	"lathe/internal/msg"
	"lathe/internal/provider"
)

// attempt is one call of the provider and what came of it.
type attempt struct {
	p     *pass
	asm   assembler
	begin time.Time

	got     bool     // anything came from the server
	told    bool     // the first event was passed on
	waiting [][]byte // events that come after a block's stop and wait until the block is on disk

	kept    []msg.Message     // the blocks on disk, as they were appended
	blocks  []msg.Block       // the usable ones of them
	ids     map[string]string // of calls: those before with "", those of this answer with name and input
	calls   int               // usable calls among them
	broken  []brokenCall      // calls whose input did not come whole
	started bool              // a call was started early
	closed  bool              // the stop reason is on a kept message
	n       int               // its number, from 1, within the answer
	waited  time.Duration     // before it
	why     string            // it is not the first
	ttft    time.Duration
	lost    error // a message could not be written
	over    bool  // the answer is given up: no call may start
}

// brokenCall is a call that must not run.
type brokenCall struct {
	id, name string
	raw      string // what came of its input
	kept     string // uuid of its message
}

var errIdle = errors.New("idle")

// run calls the provider and takes in the answer. It returns nil when the answer is whole, the cause when ctx
// ended, a *provider.Error when the call failed.
func (a *attempt) run(ctx context.Context) (err error) {
	p := a.p
	defer func() { a.record(err) }()
	if err := p.requesting(); err != nil {
		return err
	}
	a.begin = time.Now()
	defer a.account()
	limit := p.conf.Idle
	if p.req.NoStream {
		limit = p.conf.NoStream
	}
	call, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	watchdog := time.AfterFunc(limit, func() { cancel(errIdle) })
	defer watchdog.Stop()
	stopped := false
	for c, err := range p.deps.Provider.Stream(call, p.req) {
		watchdog.Stop() // our own work is not the server's silence
		if err != nil {
			return a.failure(ctx, call, err, limit)
		}
		if err := a.take(ctx, c); err != nil {
			return err
		}
		stopped = stopped || c.Kind == provider.ChunkStop
		watchdog.Reset(limit)
	}
	switch {
	case !stopped:
		return a.failure(ctx, call, &provider.Error{Kind: provider.Truncated, Message: "the stream ended before its last event"}, limit)
	case !a.asm.started:
		return &provider.Error{Kind: provider.Malformed, Message: "the answer is empty"}
	}
	return nil
}

func (p *pass) requesting() error {
	ev := event.Requesting{Model: p.req.Model}
	if p.deps.Size != nil {
		ev.Tokens, ev.Bytes = p.deps.Size(p.req)
	}
	return p.t.Emit(ev)
}

// failure names the cause of a call that ended early. When the answer is whole all the same, nothing failed.
func (a *attempt) failure(ctx, call context.Context, err error, limit time.Duration) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if a.asm.whole() {
		a.p.t.Note("the stream broke after a whole answer: %v", err)
		return a.flush(ctx, true)
	}
	if errors.Is(context.Cause(call), errIdle) {
		return &provider.Error{Kind: provider.Idle, Message: fmt.Sprintf("no data came for %s", limit)}
	}
	if apiError(err) == nil {
		return &provider.Error{Kind: provider.Network, Message: err.Error(), Err: err}
	}
	return err
}

// account adds what the attempt took to the turn's sums.
func (a *attempt) account() {
	t := a.p.t
	t.APIDur += time.Since(a.begin)
	if a.asm.started {
		a.spend()
	}
}

func (a *attempt) spend() {
	t := a.p.t
	t.Usage = t.Usage.Add(a.asm.usage)
	if a.p.deps.Spent != nil {
		a.p.deps.Spent(t, a.p.req.Model, a.asm.usage)
	}
}

// take takes in one chunk: into the assembler, onto the disk when a block is finished, and on to the front ends.
func (a *attempt) take(ctx context.Context, c provider.Chunk) error {
	a.got = true
	if !a.asm.started && c.Kind != provider.ChunkStart {
		return nil // an answer that never began: nothing of it may be kept, run or shown
	}
	switch c.Kind {
	case provider.ChunkPing:
		return nil
	case provider.ChunkStart:
		if err := a.restart(c); err != nil {
			return err
		}
	case provider.ChunkBlockStart:
		if err := a.flush(ctx, false); err != nil {
			return err
		}
		a.asm.open(c)
	case provider.ChunkBlockDelta:
		if len(a.waiting) > 0 {
			if err := a.flush(ctx, false); err != nil {
				return err
			}
		}
		a.asm.add(c)
	case provider.ChunkBlockEnd:
		a.asm.end(c.Index)
		a.waiting = append(a.waiting, bytes.Clone(c.Raw))
		return nil
	case provider.ChunkDelta:
		a.asm.delta(c)
		if !a.asm.whole() && len(a.waiting) > 0 {
			a.waiting = append(a.waiting, bytes.Clone(c.Raw))
			return nil
		}
		if err := a.flush(ctx, false); err != nil {
			return err
		}
	case provider.ChunkStop:
		if err := a.flush(ctx, true); err != nil {
			return err
		}
	}
	return a.pass(c)
}

// restart begins the answer. One that was begun before on the same stream is void, unless a call of it runs already.
func (a *attempt) restart(c provider.Chunk) error {
	if a.started {
		return &provider.Error{Kind: provider.Malformed, Message: "the server began its answer anew"}
	}
	if a.asm.started {
		a.spend()
		if err := a.p.withdraw(a, "the server began its answer anew"); err != nil {
			return err
		}
		*a = attempt{p: a.p, begin: a.begin, got: true, told: a.told, n: a.n, waited: a.waited, why: a.why, ttft: a.ttft}
	}
	a.asm.start(c)
	a.asm.meta.ID = ownID(a.p.t.Messages, a.asm.meta.ID)
	if a.asm.meta.Model == "" {
		a.asm.meta.Model = a.p.req.Model
	}
	return nil
}

// ownID makes the id of an answer one that no other answer of the conversation has: some gateways give all the same, and
// blocks are put together by it.
func ownID(messages []msg.Message, id string) string {
	if id == "" {
		return ""
	}
	withdrawn := map[string]bool{}
	for _, m := range messages {
		for _, gone := range m.Withdraws {
			withdrawn[gone] = true
		}
	}
	has := func(id string) bool {
		return slices.ContainsFunc(messages, func(m msg.Message) bool { return m.Kind == msg.KindAssistant && m.APIID == id && !withdrawn[m.ID] })
	}
	own := id
	for n := 2; has(own); n++ {
		own = fmt.Sprintf("%s-%d", id, n)
	}
	return own
}

// pass hands an event to the front ends.
func (a *attempt) pass(c provider.Chunk) error {
	if len(c.Raw) == 0 {
		return nil
	}
	ev := event.Stream{Raw: bytes.Clone(c.Raw)}
	if !a.told {
		a.told = true
		ev.TTFT = time.Since(a.begin)
		a.ttft = ev.TTFT
		if a.p.t.TTFT == 0 {
			a.p.t.TTFT = ev.TTFT
		}
	}
	if c.Kind == provider.ChunkBlockDelta && (c.Delta == provider.DeltaText || c.Delta == provider.DeltaThinking) {
		ev.Text, ev.Think = c.Text, c.Delta == provider.DeltaThinking
	}
	return a.p.t.Emit(ev)
}

// flush puts the finished blocks on disk and then passes on the events that waited for them. At the end of the
// answer unfinished blocks count as finished, and the stop reason must be on the last message.
func (a *attempt) flush(ctx context.Context, end bool) error {
	final := end || a.asm.whole()
	parts := a.asm.release(end)
	for i, p := range parts {
		if err := a.keep(ctx, p, final && i == len(parts)-1); err != nil {
			return err
		}
	}
	if end && !a.closed && (a.asm.stop != "" || len(a.kept) == 0) {
		if err := a.appendMessage(a.message(nil, true)); err != nil {
			return err
		}
	}
	for _, raw := range a.waiting {
		if err := a.p.t.Emit(event.Stream{Raw: raw}); err != nil {
			return err
		}
	}
	a.waiting = a.waiting[:0]
	return nil
}

// keep appends one finished block to the conversation, unless it may never be sent back.
func (a *attempt) keep(ctx context.Context, p *part, last bool) error {
	b, ok := p.finish()
	if !a.useful(p, b) {
		return nil
	}
	call := b.Type == msg.TypeToolUse
	if call && !a.nameCall(&b) {
		return nil
	}
	// An empty input is whole for a tool without parameters, but not where the output limit cut the call.
	if last && a.asm.stop == "max_tokens" && len(bytes.TrimSpace(p.input)) == 0 && string(b.Input) == "{}" {
		ok = false
	}
	if err := a.appendMessage(a.message([]msg.Block{b}, last)); err != nil {
		return err
	}
	switch {
	case !call:
		a.blocks = append(a.blocks, b)
	case !ok:
		a.broken = append(a.broken, brokenCall{id: b.ID, name: b.Name, raw: string(p.input), kept: a.kept[len(a.kept)-1].ID})
	default:
		a.calls++
		a.blocks = append(a.blocks, b)
		if a.p.deps.StartTool != nil && !a.over && a.p.deps.StartTool(ctx, a.p.t, b) {
			a.started = true
		}
	}
	return nil
}

// useful says whether a block is worth keeping: the API takes no empty text back, and no thinking that was cut
// before its signature.
func (a *attempt) useful(p *part, b msg.Block) bool {
	switch b.Type {
	case msg.TypeText:
		return strings.TrimSpace(b.Text) != ""
	case msg.TypeThinking:
		cut := !p.ended || a.asm.stop == "max_tokens"
		return b.Signature != "" || !cut && b.Text != ""
	}
	return true
}

func (a *attempt) message(blocks []msg.Block, last bool) msg.Message {
	usage := a.asm.usage
	m := msg.Message{
		Kind: msg.KindAssistant, Blocks: blocks, APIID: a.asm.meta.ID, Model: a.asm.meta.Model,
		RequestID: a.asm.meta.RequestID, Usage: &usage, Partial: !last,
	}
	if last {
		m.StopReason = a.asm.stop
	}
	return m
}

// appendMessage puts a message on disk. It is in kept as soon as it is in the conversation, even when telling of
// it fails.
func (a *attempt) appendMessage(m msg.Message) error {
	before := len(a.p.t.Messages)
	err := a.p.t.Append(m)
	a.kept = append(a.kept, a.p.t.Messages[before:]...)
	if err != nil && len(a.p.t.Messages) == before {
		a.lost = err
	}
	if m.StopReason != "" && len(a.p.t.Messages) > before {
		a.closed = true
	}
	return err
}

// keepPartial keeps what a person has seen of an answer that will not be tried again: finished blocks as they
// are, unfinished text marked as cut. Unfinished thinking and calls are dropped, and no call is started.
func (a *attempt) keepPartial() error {
	if a == nil || !a.asm.started || a.closed {
		return nil
	}
	a.over = true
	var err error
	for _, p := range a.asm.release(true) {
		if p.ended {
			err = errors.Join(err, a.keep(context.Background(), p, false))
			continue
		}
		b, _ := p.finish()
		if b.Type != msg.TypeText || strings.TrimSpace(b.Text) == "" {
			continue
		}
		m := a.message([]msg.Block{b}, false)
		m.Aborted, m.Partial = true, false
		err = errors.Join(err, a.appendMessage(m))
	}
	return err
}

// nameCall gives a call an id that no other call of the conversation has: two results for one id are refused by
// the API, and one result for two calls hides that one of them never ran. It returns false for a call that is the
// same as an earlier one of this answer, id and input and all: a stutter of the server, not a second wish.
func (a *attempt) nameCall(b *msg.Block) bool {
	if a.ids == nil {
		a.ids = map[string]string{}
		for _, m := range a.p.req.Messages {
			for _, h := range m.Content {
				if h.Type == msg.TypeToolUse {
					a.ids[h.ID] = ""
				}
			}
		}
	}
	content := b.Name + " " + string(b.Input)
	if b.ID != "" && a.ids[b.ID] == content {
		a.p.t.Note("call %q of %s came twice: the second is dropped", b.ID, b.Name)
		return false
	}
	base := b.ID
	if base == "" {
		base = "toolu"
	}
	id := b.ID
	for n := 2; id == "" || a.taken(id); n++ {
		id = fmt.Sprintf("%s_%d", base, n)
	}
	a.ids[id] = content
	if id == b.ID {
		return true
	}
	a.p.t.Note("call %q of %s had an id that another call has: it is %q now", b.ID, b.Name, id)
	b.ID = id
	if b.Raw != nil {
		b.Raw = merge(*b, map[string]json.RawMessage{"id": quote(id)})
	}
	return true
}

func (a *attempt) taken(id string) bool {
	_, ok := a.ids[id]
	return ok
}
