package sdk_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"strings"
	"sync"
	"testing"
	"time"

	"lathe/internal/event"
	"lathe/internal/front/sdk"
)

// conn plays a session: it gives the events, and notes the ops.
type conn struct {
	events chan event.Envelope
	mu     sync.Mutex
	ops    []event.Op
	got    chan event.Op
}

func (c *conn) Send(_ context.Context, op event.Op) error {
	c.mu.Lock()
	c.ops = append(c.ops, op)
	c.mu.Unlock()
	c.got <- op
	return nil
}

func (c *conn) Events(context.Context) iter.Seq2[event.Envelope, error] {
	return func(yield func(event.Envelope, error) bool) {
		for e := range c.events {
			if !yield(e, nil) {
				return
			}
		}
	}
}

// A call of the engine is passed on with its fields; its answer, its error and the end of input come back.
func TestCalls(t *testing.T) {
	c := &conn{events: make(chan event.Envelope, 16), got: make(chan event.Op, 64)}
	in, write := io.Pipe()
	out, lines := io.Pipe()
	done := make(chan error, 1)
	go func() {
		_, err := sdk.Run(context.Background(), c, sdk.NewReader(in), lines, sdk.Options{
			Encoder: event.Encoder{NewID: func() string { return "u" }}, Warn: func(string) {},
		})
		lines.Close()
		done <- err
	}()
	dec := json.NewDecoder(out)
	call := func(id string) map[string]any {
		t.Helper()
		c.events <- event.Envelope{Session: "s", Event: event.Call{ID: id, Kind: "hook_callback", Payload: json.RawMessage(`{"callback_id":"hook_0"}`), CallID: "t1"}}
		var m map[string]any
		if err := dec.Decode(&m); err != nil {
			t.Fatal(err)
		}
		return m
	}
	m := call("a")
	req := m["request"].(map[string]any)
	if m["request_id"] != "a" || req["subtype"] != "hook_callback" || req["callback_id"] != "hook_0" || req["tool_use_id"] != "t1" {
		t.Errorf("the request: %v", m)
	}
	say := func(text string) {
		if _, err := io.WriteString(write, text+"\n"); err != nil {
			t.Fatal(err)
		}
	}
	say(`{"type":"control_response","response":{"subtype":"success","request_id":"other","response":{}}}`)
	say(`{"type":"control_response","response":{"subtype":"success","request_id":"a","response":{"x":1}}}`)
	if r := (<-c.got).(event.Return); r.ID != "a" || string(r.Value) != `{"x":1}` || r.Err != "" {
		t.Errorf("the answer: %+v", r)
	}
	call("b")
	say(`{"type":"control_response","response":{"subtype":"error","request_id":"b","error":"it threw"}}`)
	if r := (<-c.got).(event.Return); r.Err != "it threw" {
		t.Errorf("the error: %+v", r)
	}
	say(`{"type":"control_cancel_request","request_id":"q"}`)
	if w := (<-c.got).(event.Withdraw); w.ID != "q" {
		t.Errorf("withdrawn: %+v", w)
	}
	call("c")
	write.Close()
	if r := (<-c.got).(event.Return); r.ID != "c" || r.Err != event.HostGone {
		t.Errorf("at the end of input: %+v", r)
	}
	if _, ok := (<-c.got).(event.Close); !ok {
		t.Error("the session is not closed")
	}
	c.events <- event.Envelope{Session: "s", Event: event.Call{ID: "d", Kind: "mcp_message"}}
	if r := (<-c.got).(event.Return); r.ID != "d" || r.Err != event.HostGone {
		t.Errorf("after the end of input: %+v", r)
	}
	close(c.events)
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// A host that reads nothing for a while is heard all the same: what it asks for reaches the session, and is told of in
// order once it reads again.
func TestSlowHost(t *testing.T) {
	c := &conn{events: make(chan event.Envelope, 1), got: make(chan event.Op, 64)}
	out, lines := io.Pipe()
	done := make(chan error, 1)
	in, write := io.Pipe()
	go func() {
		_, err := sdk.Run(context.Background(), c, sdk.NewReader(in), lines, sdk.Options{
			Encoder: event.Encoder{NewID: func() string { return "u" }}, Warn: func(string) {},
		})
		lines.Close()
		done <- err
	}()
	c.events <- event.Envelope{Session: "s", Event: event.Notice{Text: "x"}}
	if _, err := out.Read(make([]byte, 1)); err != nil { // the rest of the line waits
		t.Fatal(err)
	}
	said := make(chan error, 1)
	go func() {
		_, err := io.WriteString(write, `{"type":"user","uuid":"p","message":{"role":"user","content":"hello"}}
{"type":"control_request","request_id":"nothing","request":{}}
{"type":"control_request","request_id":"i","request":{"subtype":"interrupt"}}
`)
		said <- err
	}()
	if p, ok := c.next(t).(event.Prompt); !ok || p.Text != "hello" {
		t.Errorf("the message: %+v", p)
	}
	if op, ok := c.next(t).(event.Interrupt); !ok {
		t.Errorf("the interrupt: %+v", op)
	}
	if err := <-said; err != nil {
		t.Fatal(err)
	}
	write.Close()
	c.next(t) // Close
	close(c.events)
	all, err := io.ReadAll(out)
	if err != nil {
		t.Fatal(err)
	}
	var order []string
	for line := range strings.Lines("{" + string(all)) {
		var m struct {
			Type     string
			Response struct {
				ID string `json:"request_id"`
			}
		}
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		order = append(order, m.Type+" "+m.Response.ID)
	}
	if got := strings.Join(order, ","); got != "system ,command_lifecycle ,control_response nothing,control_response i" {
		t.Errorf("the lines: %s", got)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// next is the next op of the host.
func (c *conn) next(t *testing.T) event.Op {
	t.Helper()
	select {
	case op := <-c.got:
		return op
	case <-time.After(time.Minute):
		t.Fatal("an op does not come")
		return nil
	}
}

// broken is a host that reads nothing any more.
type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

func TestDeadHost(t *testing.T) {
	c := &conn{events: make(chan event.Envelope, 1), got: make(chan event.Op, 64)}
	c.events <- event.Envelope{Session: "s", Event: event.Notice{Text: "x"}}
	_, err := sdk.Run(context.Background(), c, sdk.NewReader(strings.NewReader("")), broken{}, sdk.Options{
		Encoder: event.Encoder{NewID: func() string { return "u" }}, Warn: func(string) {},
	})
	if !errors.Is(err, sdk.ErrOutput) {
		t.Errorf("%v", err)
	}
}

// FuzzReader: whatever comes, each line is a frame or is passed over, and the reader gets to the end.
func FuzzReader(f *testing.F) {
	for _, s := range []string{"", "{}", `{"type":"user","message":{"role":"user","content":"x"}}`, "\n\n{\n", `{"type":7}`, "null\r\n", `{"type":"x"}` + "\n[1]"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		r := sdk.NewReader(bytes.NewReader(data))
		n := 0
		for {
			fr, err := r.Next()
			if err != nil {
				if !errors.Is(err, io.EOF) {
					t.Fatal(err)
				}
				break
			}
			n++
			_ = fr.Subtype()
		}
		if lines := bytes.Count(data, []byte("\n")) + 1; n+r.Skipped > lines {
			t.Errorf("%d frames and %d others of %d lines", n, r.Skipped, lines)
		}
	})
}
