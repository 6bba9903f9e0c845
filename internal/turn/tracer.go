package turn

import (
	"fmt"
	"slices"
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
//
// While a turn runs, a timer's goroutine does the describing, from copies of the turn's fields (what they point to is
// never changed in place): the turn goes on meanwhile, and most of the work falls into the wait for the model.
type Tracer struct {
	rec trace.Recorder

	mu      sync.Mutex
	running bool     // a turn
	jobs    []func() // that have gathered
	timer   *time.Timer

	doing    sync.Mutex // held while jobs are done; guards what follows
	model    string     // whose counter it is
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
	lost     int    // as the recorder told last
	buf      []byte
}

// NewTracer returns a tracer that writes to rec.
func NewTracer(rec trace.Recorder) *Tracer {
	return &Tracer{rec: rec, fixed: map[string][]trace.Ref{}}
}

// Blob stores content of a sub-record, which is JSON, and returns its hash.
func (x *Tracer) Blob(b []byte) string { return x.rec.Blob(b) }

// gather is how long descriptions wait for each other, so that they do not wake a thread each; waiting is how many may.
const (
	gather  = 25 * time.Millisecond
	waiting = 256
)

// begin has descriptions gather while the turn runs; end waits until all of them are on disk.
func (x *Tracer) begin() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.running = true
	x.timer = time.AfterFunc(time.Hour, x.work)
	x.timer.Stop()
}

func (x *Tracer) end() {
	x.mu.Lock()
	x.running = false
	x.timer.Stop()
	x.mu.Unlock()
	x.work()
	if f, ok := x.rec.(interface{ Flush() }); ok {
		f.Flush()
	}
}

// do runs a description in its turn: soon, or now where no turn runs.
func (x *Tracer) do(job func()) {
	x.mu.Lock()
	x.jobs = append(x.jobs, job)
	n, now := len(x.jobs), !x.running
	if n == 1 && !now {
		x.timer.Reset(gather)
	}
	x.mu.Unlock()
	if now || n >= waiting {
		x.work()
	}
}

// work does what has gathered, in order.
func (x *Tracer) work() {
	x.doing.Lock()
	defer x.doing.Unlock()
	x.mu.Lock()
	jobs := x.jobs
	x.jobs = nil
	x.mu.Unlock()
	for _, job := range jobs {
		x.anew()
		job()
	}
}

// anew forgets what was described when the recorder has lost something: the next records show everything again.
func (x *Tracer) anew() {
	r, ok := x.rec.(interface{ Lost() int })
	if !ok {
		return
	}
	if n := r.Lost(); n != x.lost {
		x.lost, x.turn = n, ""
		x.forget()
	}
}

func (x *Tracer) forget() {
	x.messages, x.view, x.request, x.sent = list{}, list{}, requestList{}, requestList{}
	clear(x.fixed)
}

// Sub writes a sub-record of the stage that is named as its parent.
func (x *Tracer) Sub(t *Turn, r trace.Record) {
	r.Session, r.Turn, r.Step = t.Session, t.ID, t.Step
	x.do(func() { x.rec.Record(r) })
}

// Call writes the sub-record of one attempt to get an answer. c has what the stage knows of it; the request itself
// is described here, its body too where the provider did not say what it sent.
func (x *Tracer) Call(t *Turn, req *provider.Request, start time.Time, dur time.Duration, c trace.Call) {
	r := trace.Record{
		Session: t.Session, Turn: t.ID, Step: t.Step, Stage: "call", Parent: "model", Start: start, Dur: dur, Call: &c,
	}
	sent := *req
	sent.Breakpoints = slices.Clone(req.Breakpoints)
	x.do(func() {
		x.describeCall(&sent, &c)
		r.After = trace.View{Items: map[string][]trace.Ref{trace.Sent: x.requestRefs(&x.sent, sent.Messages)}}
		if x.turn != t.ID { // the record that showed them is lost
			r.After.Items[trace.System], r.After.Items[trace.Tools] = x.systemRefs(sent.System), x.toolRefs(sent.Tools)
		}
		x.rec.Record(r)
	})
}

func (x *Tracer) describeCall(req *provider.Request, c *trace.Call) {
	c.Model = req.Model
	if c.Body == "" {
		x.body.Encode(req)
		c.Body, c.Bytes = fmt.Sprintf("%08x", x.body.Sum()), x.body.Len()
	}
	head := *req
	head.System, head.Tools, head.Messages = nil, nil, nil
	x.buf = wire.AppendRequest(x.buf[:0], &head)
	c.Head = x.rec.Blob(x.buf)
	for _, b := range req.Breakpoints {
		at := map[provider.Place]string{provider.AtTool: "tools", provider.AtSystem: "system", provider.AtMessage: "messages"}[b.At]
		c.Marks = append(c.Marks, trace.Mark{At: at, Index: b.Index, Block: b.Block, Hour: b.OneHour})
	}
}

// stage writes the record of a stage. before and after are copies of the turn; what was before is described for the
// first stage of a turn only: later ones begin where the one before them ended.
func (x *Tracer) stage(r trace.Record, before, after *Turn, writes []string) {
	x.do(func() {
		r.Before = x.before(before)
		r.After = x.snapshot(after, writes)
		x.rec.Record(r)
	})
}

// copyOf is the turn as it is now, with the parts that a later stage may change in place.
func copyOf(t *Turn) *Turn {
	c := *t
	if t.Request != nil {
		req := *t.Request
		c.Request = &req
	}
	if t.Reply != nil {
		reply := *t.Reply
		c.Reply = &reply
	}
	return &c
}

func (x *Tracer) before(t *Turn) trace.View {
	if x.turn == t.ID {
		return trace.View{}
	}
	x.turn = t.ID
	return x.snapshot(t, []string{"Messages", "View", "System", "Tools", "Request"})
}

// snapshot describes fields of a turn.
func (x *Tracer) snapshot(t *Turn, names []string) trace.View {
	v := trace.View{Fields: fields(t), Items: map[string][]trace.Ref{}}
	for _, f := range names {
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
	if t.Model != x.model {
		x.model = t.Model
		if c := (token.Counter{New: price.Default().Info(t.Model).NewTokenizer}); c != x.counter {
			x.counter = c // and counts differ
			x.forget()
		}
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
