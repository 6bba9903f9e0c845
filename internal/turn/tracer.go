package turn

import (
	"encoding/hex"
	"sync"
	"time"

	"lathe/internal/msg"
	"lathe/internal/price"
	"lathe/internal/provider"
	"lathe/internal/provider/wire"
	"lathe/internal/token"
	"lathe/internal/trace"
)

// Tracer describes the turns of one session for its trace: small fields by value, content by hash. It keeps what it
// found out of content that it has seen, so that a pass costs what it adds and not what the session has grown to.
type Tracer struct {
	rec trace.Recorder

	mu       sync.Mutex
	counter  token.Counter
	messages list
	view     list
	system   []msg.Block
	tools    []msg.ToolDef
	fixed    map[string][]trace.Ref // of system and tools
	request  requestList
	sent     requestList
	body     wire.Body
	turn     string // whose turn was seen last
	buf      []byte
}

// NewTracer returns a tracer that writes to rec.
func NewTracer(rec trace.Recorder) *Tracer {
	return &Tracer{rec: rec, fixed: map[string][]trace.Ref{}}
}

// Blob stores content of a sub-record, which is JSON, and returns its hash.
func (x *Tracer) Blob(b []byte) string { return x.rec.Blob(b) }

// Sub writes a sub-record of the stage that is named as its parent.
func (x *Tracer) Sub(t *Turn, r trace.Record) {
	r.Session, r.Turn, r.Step = t.Session, t.ID, t.Step
	x.rec.Record(r)
}

// Call writes the sub-record of one attempt to get an answer. c has what the stage knows of it; the request itself
// is described here, its body too where the provider did not say what it sent.
func (x *Tracer) Call(t *Turn, req *provider.Request, start time.Time, dur time.Duration, c trace.Call) {
	x.mu.Lock()
	defer x.mu.Unlock()
	c.Model = req.Model
	if c.Body == "" {
		x.body.Encode(req)
		sum := x.body.Sum()
		c.Body, c.Bytes = hex.EncodeToString(sum[:]), x.body.Len()
	}
	head := *req
	head.System, head.Tools, head.Messages = nil, nil, nil
	x.buf = wire.AppendRequest(x.buf[:0], &head)
	c.Head = x.rec.Blob(x.buf)
	for _, b := range req.Breakpoints {
		at := map[provider.Place]string{provider.AtTool: "tools", provider.AtSystem: "system", provider.AtMessage: "messages"}[b.At]
		c.Marks = append(c.Marks, trace.Mark{At: at, Index: b.Index, Block: b.Block, Hour: b.OneHour})
	}
	x.Sub(t, trace.Record{
		Stage: "call", Parent: "model", Start: start, Dur: dur, Call: &c,
		After: trace.View{Items: map[string][]trace.Ref{trace.Sent: x.requestRefs(&x.sent, req.Messages)}},
	})
}

// end puts what was recorded of a turn on disk.
func (x *Tracer) end() {
	if f, ok := x.rec.(interface{ Flush() }); ok {
		f.Flush()
	}
}

// before describes the turn at the start of a stage: whole for the first of a turn; later ones begin where the one
// before them ended.
func (x *Tracer) before(t *Turn) trace.View {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.turn == t.ID {
		return trace.View{}
	}
	x.turn = t.ID
	v := trace.View{Fields: fields(t), Items: map[string][]trace.Ref{}}
	for _, f := range []string{"Messages", "View", "System", "Tools", "Request"} {
		x.describe(t, f, v.Items)
	}
	return v
}

// after describes what a stage may have changed.
func (x *Tracer) after(t *Turn, writes []string) trace.View {
	x.mu.Lock()
	defer x.mu.Unlock()
	v := trace.View{Fields: fields(t), Items: map[string][]trace.Ref{}}
	for _, f := range writes {
		x.describe(t, f, v.Items)
	}
	return v
}

func fields(t *Turn) map[string]any {
	f := map[string]any{"model": t.Model, "effort": t.Effort, "done": t.Done, "usage": t.Usage, "static": t.Static}
	if t.Stop != nil {
		f["stop"] = t.Stop.Error()
	}
	if t.Reply != nil {
		f["stop_reason"] = t.Reply.StopReason
	}
	return f
}

// describe adds the list of one field of the turn.
func (x *Tracer) describe(t *Turn, field string, to map[string][]trace.Ref) {
	if c := (token.Counter{New: price.Default().Info(t.Model).NewTokenizer}); c != x.counter {
		x.counter = c // and counts differ
		x.messages, x.view, x.request, x.sent = list{}, list{}, requestList{}, requestList{}
		clear(x.fixed)
	}
	switch field {
	case "Messages":
		to[trace.Messages] = x.conversation(t.Messages)
	case "View":
		to[trace.Seen] = x.seen(t)
	case "System":
		to[trace.System] = x.systemRefs(t.System)
	case "Tools":
		to[trace.Tools] = x.toolRefs(t.Tools)
	case "Request":
		if t.Request != nil {
			to[trace.Request] = x.requestRefs(&x.request, t.Request.Messages)
		}
	}
}
