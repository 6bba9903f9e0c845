package turn

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"lathe/internal/event"
	"lathe/internal/msg"
	"lathe/internal/price"
	"lathe/internal/provider"
	"lathe/internal/provider/wire"
	"lathe/internal/token"
	"lathe/internal/trace"
)

func plain(messages []msg.Message) []provider.Message {
	var out []provider.Message
	for _, m := range messages {
		out = append(out, provider.Message{Role: m.Role(), Content: m.Blocks})
	}
	return out
}

// session returns a turn with a conversation of n messages of size bytes each.
func session(n, size int) *Turn {
	var ms []msg.Message
	for i := range n {
		m := msg.Message{ID: fmt.Sprint("m", i), Kind: msg.KindUser, Blocks: []msg.Block{msg.Text(fmt.Sprint(i) + strings.Repeat("some text <b>\n", size/14))}}
		if i%2 == 1 {
			m.Kind = msg.KindAssistant
		}
		ms = append(ms, m)
	}
	t := New("turn", "session", event.Prompt{}, ms, Services{Now: time.Now, Emit: func(event.Event) error { return nil }})
	t.Model, t.Static = "claude-opus-4-5", 1
	t.System = []msg.Block{msg.Text("You are <careful>."), msg.Text("Here.")}
	t.Tools = []msg.ToolDef{{Name: "Read", Description: "Reads & shows", InputSchema: []byte(`{"type":"object"}`)}, {Name: "None"}}
	t.View = t.Messages
	t.Request = requestOf(t)
	return t
}

func requestOf(t *Turn) *provider.Request {
	last := len(t.View) - 1
	return &provider.Request{
		Model: t.Model, MaxTokens: 100, System: t.System, Tools: t.Tools, Messages: plain(t.View), Effort: "high",
		Thinking: provider.Thinking{Type: "adaptive"},
		Breakpoints: []provider.Breakpoint{
			{At: provider.AtTool, Index: 1},
			{At: provider.AtSystem, Index: 1, OneHour: true},
			{At: provider.AtMessage, Index: last},
		},
	}
}

// The body that a call sent can be put together from its record, to the byte, while the conversation grows.
func TestBodyFromTheTrace(t *testing.T) {
	dir := t.TempDir()
	f, err := trace.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	x := NewTracer(f)
	turn := session(5, 100)
	var want []string
	for step := range 4 {
		turn.Step = step + 1
		f.Record(trace.Record{
			Turn: turn.ID, Stage: "normalize", Before: x.before(turn),
			After: x.snapshot(turn, []string{"System", "Tools", "Messages", "View", "Request"}),
		})
		req := turn.Request
		if step == 2 { // a retry without the last answer
			c := *req
			c.Messages, c.NoStream = req.Messages[:3], true
			c.Breakpoints = nil
			req = &c
		}
		x.Call(turn, req, time.Now(), time.Second, trace.Call{Attempt: 1, Usage: &msg.Usage{Input: 3}})
		want = append(want, string(wire.AppendRequest(nil, req)))
		for _, m := range session(2, 50).Messages {
			m.ID = fmt.Sprint(step, m.ID)
			turn.Messages = append(turn.Messages, m)
		}
		turn.View = turn.Messages
		turn.Request = requestOf(turn)
	}
	f.Close()
	tr, err := trace.Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer tr.Close()
	tr.Content = func(id string) json.RawMessage { // the transcript
		for _, m := range turn.Messages {
			if m.ID == id {
				return msg.AppendBlocks(nil, m.Blocks)
			}
		}
		return nil
	}
	var got []string
	for _, r := range tr.Records {
		if r.Call == nil {
			continue
		}
		body, exact, err := tr.Body(r)
		if !exact || err != nil {
			t.Errorf("step %d: exact %v, %v", r.Step, exact, err)
		}
		got = append(got, string(body))
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// counting counts what a pass writes.
type counting struct{ blobs, bytes, records int }

func (c *counting) Blob(b []byte) string { c.blobs++; c.bytes += len(b); return "h" }

func (c *counting) Record(trace.Record) { c.records++ }

// A pass describes what it adds, not what the session has grown to; a view that a step shortened is described anew
// only where it differs.
func TestPassCostsWhatItAdds(t *testing.T) {
	rec := &counting{}
	x := NewTracer(rec)
	turn := session(200, 1000)
	describe := func() {
		for _, f := range []string{"Messages", "View", "System", "Tools", "Request"} {
			x.snapshot(turn, []string{f})
		}
		x.Call(turn, turn.Request, time.Now(), 0, trace.Call{})
	}
	describe()
	*rec = counting{}
	turn.Messages = append(turn.Messages, session(2, 1000).Messages...)
	turn.View = append([]msg.Message(nil), turn.Messages...) // a step has made a copy
	turn.View[7].Blocks = []msg.Block{msg.Text("short")}
	turn.Request = requestOf(turn)
	describe()
	if rec.blobs > 2+1+205+1 { // two messages, the short one, the request from there on, the head
		t.Errorf("%d contents were hashed", rec.blobs)
	}
	*rec = counting{}
	turn.Messages = append(turn.Messages, session(2, 1000).Messages...)
	turn.View = append(turn.View[:202:202], turn.Messages[202:]...)
	turn.Request = requestOf(turn)
	describe()
	if rec.blobs > 6 {
		t.Errorf("%d contents were hashed", rec.blobs)
	}
}

// losing is a recorder that keeps what it gets until it loses all of it.
type losing struct {
	blobs   map[string]string
	records []trace.Record
	lost    int
}

func (l *losing) Blob(b []byte) string {
	hash := fmt.Sprint(len(b), string(b[:min(len(b), 20)]))
	l.blobs[hash] = string(b)
	return hash
}

func (l *losing) Record(r trace.Record) { l.records = append(l.records, r) }
func (l *losing) Lost() int             { return l.lost }

func (l *losing) lose() {
	l.blobs, l.records = map[string]string{}, nil
	l.lost++
}

// What a recorder has lost is described again: the next call says what it was sent with, the next stage what there is.
func TestDescribedAgain(t *testing.T) {
	rec := &losing{blobs: map[string]string{}}
	x := NewTracer(rec)
	tn := session(40, 100)
	stage := func(writes ...string) {
		x.stage(trace.Record{Turn: tn.ID, Stage: "normalize"}, copyOf(tn), copyOf(tn), writes)
	}
	all := []string{"Messages", "View", "System", "Tools", "Request"}
	stage(all...)
	whole := rec.records[0].After.Items
	rec.lose()
	x.Call(tn, tn.Request, time.Now(), 0, trace.Call{})
	stage("Messages")
	stage("Messages")
	if len(rec.records) != 3 {
		t.Fatalf("%d records", len(rec.records))
	}
	call, first, second := rec.records[0].After.Items, rec.records[1].Before.Items, rec.records[2].Before.Items
	for _, name := range []string{trace.System, trace.Tools} {
		if d := cmp.Diff(whole[name], call[name]); d != "" {
			t.Errorf("of the call: %s", d)
		}
	}
	if d := cmp.Diff(whole, first); d != "" {
		t.Errorf("of the stage: %s", d)
	}
	if len(second) > 0 {
		t.Errorf("described once more: %v", second)
	}
	for _, refs := range []map[string][]trace.Ref{call, first} {
		for name, list := range refs {
			for _, r := range list {
				if _, ok := rec.blobs[r.Hash]; !ok && !strings.HasPrefix(r.Hash, "@") {
					t.Errorf("%s: the content of %+v is not given", name, r)
				}
			}
		}
	}
}

// Descriptions gather while a turn runs, but not without end.
func TestDescriptionsDoNotPileUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rec := &counting{}
		x := NewTracer(rec)
		tn := session(2, 10)
		x.begin()
		for i := range 2*waiting + 3 {
			if want := i / waiting * waiting; rec.records != want {
				t.Fatalf("%d of %d are written, not %d", rec.records, i, want)
			}
			x.Sub(tn, trace.Record{Stage: "call", Parent: "tools"})
		}
		x.end()
		if rec.records != 2*waiting+3 {
			t.Errorf("%d are written", rec.records)
		}
	})
}

// Another model counts otherwise: what there is is described anew.
func TestAnotherModelCounts(t *testing.T) {
	rec := &losing{blobs: map[string]string{}}
	x := NewTracer(rec)
	tn := session(4, 400)
	for _, model := range []string{"claude-opus-4-5", "claude-opus-5-5"} {
		tn.Model = model
		x.stage(trace.Record{Turn: tn.ID, Stage: "attach"}, copyOf(tn), copyOf(tn), []string{"Messages"})
		c := token.Counter{New: price.Default().Info(model).NewTokenizer}
		for i, r := range rec.records[len(rec.records)-1].After.Items[trace.Messages] {
			if want := c.Blocks(tn.Messages[i].Blocks); r.Tokens != want {
				t.Errorf("%s: message %d has %d tokens, not %d", model, i, r.Tokens, want)
			}
		}
	}
	if old, now := price.Default().Info("claude-opus-4-5").NewTokenizer, price.Default().Info("claude-opus-5-5").NewTokenizer; old == now {
		t.Error("both models count alike")
	}
}
