package app

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"lathe/internal/mcp"
	"lathe/internal/msg"
	toolagent "lathe/internal/tool/agent"
	"lathe/internal/tool/bash"
)

// slowServer is an MCP server whose calls end when the test says so.
type slowServer struct {
	began chan mcp.Call
	end   chan mcp.Result
}

func (s slowServer) Call(ctx context.Context, call mcp.Call) (mcp.Result, error) {
	s.began <- call
	select {
	case res := <-s.end:
		return res, nil
	case <-ctx.Done():
		return mcp.Result{}, context.Cause(ctx)
	}
}

func newSlowServer() slowServer {
	return slowServer{began: make(chan mcp.Call, 1), end: make(chan mcp.Result, 1)}
}

type called struct {
	res mcp.Result
	err error
}

// call calls a tool of the server, and returns how the call ends.
func (s slowServer) call(ctx context.Context, r *run, id string, wait time.Duration, progress func(string)) chan called {
	out := make(chan called, 1)
	p := patient{r.work, s, wait}
	go func() {
		res, err := p.Call(ctx, mcp.Call{Tool: mcp.Tool{Server: "slow", Name: "dig", FullName: "mcp__slow__dig"}, ID: id, Input: json.RawMessage("{}"), Progress: progress})
		out <- called{res, err}
	}()
	return out
}

func words(text string) mcp.Result { return mcp.Result{Blocks: []msg.Block{msg.Text(text)}} }

// A call that goes on in the background has a result at once, outlives its turn, and what comes of it is told, and written
// down without secrets.
func TestCallInBackground(t *testing.T) {
	t.Setenv("DEPLOY_TOKEN", "pelican-harbour-4711")
	r := testRun(t, Options{})
	s := newSlowServer()
	turn, stop := context.WithCancel(t.Context())
	got := s.call(turn, r, "toolu_1", 0, func(string) {})
	made := <-s.began
	if !r.work.background("toolu_1") {
		t.Fatal("the call was not moved")
	}
	if c := <-got; c.err != nil || !strings.Contains(msg.JoinText(c.res.Blocks), "goes on in the background as task m") {
		t.Fatalf("%+v", c)
	}
	stop() // the turn ends
	b := r.work.agents[0]
	made.Progress("half of it: pelican-harbour-4711")
	s.end <- words("found pelican-harbour-4711")
	<-b.done
	file, err := os.ReadFile(b.OutputFile)
	if err != nil || string(file) != "half of it: [redacted: DEPLOY_TOKEN]\nfound [redacted: DEPLOY_TOKEN]\n" {
		t.Errorf("%v %q", err, file)
	}
	if p, ok := r.work.Next(); !ok || !strings.Contains(p.Text, "Background MCP call "+b.ID+" (slow: dig) ended: completed") || !strings.Contains(p.Text, "what the server says, not the user") {
		t.Errorf("%v %q", ok, p.Text)
	}
	if res, err := r.work.Output(t.Context(), b.ID, 0); err != nil || res.Type != callTask || !strings.Contains(res.Output, "found") {
		t.Errorf("%+v, %v", res, err)
	}
}

// Where nobody moves it a call ends with its turn, and nothing is left of it.
func TestCallEndsWithItsTurn(t *testing.T) {
	r := testRun(t, Options{})
	s := newSlowServer()
	turn, stop := context.WithCancel(t.Context())
	var said []string
	got := s.call(turn, r, "toolu_1", 0, func(text string) { said = append(said, text) })
	made := <-s.began
	made.Progress("a sign of life")
	stop()
	if c := <-got; !errors.Is(c.err, context.Canceled) {
		t.Errorf("%+v", c)
	}
	if len(r.work.agents) != 0 || len(said) != 1 {
		t.Errorf("left: %d, said %q", len(r.work.agents), said)
	}
	again := s.call(t.Context(), r, "toolu_2", 0, nil)
	<-s.began
	s.end <- words("whole")
	if c := <-again; c.err != nil || msg.JoinText(c.res.Blocks) != "whole" {
		t.Errorf("%+v", c)
	}
	if p, ok := r.work.Next(); ok {
		t.Errorf("told of %q", p.Text)
	}
}

// After its time a call moves by itself; stopped there, it says so and asks for no turn.
func TestCallMovesByItself(t *testing.T) {
	r := testRun(t, Options{})
	s := newSlowServer()
	got := s.call(t.Context(), r, "toolu_1", time.Nanosecond, nil)
	<-s.began
	if c := <-got; c.err != nil || !strings.Contains(msg.JoinText(c.res.Blocks), "in the background") {
		t.Fatalf("%+v", c)
	}
	b := r.work.agents[0]
	if !r.work.Busy() {
		t.Error("nothing runs")
	}
	if res, err := r.work.StopTask(b.ID); err != nil || res.TaskType != callTask {
		t.Errorf("%+v, %v", res, err)
	}
	if b.State != bash.Stopped || r.work.Busy() {
		t.Errorf("state %s", b.State)
	}
	if p, ok := r.work.Next(); ok {
		t.Errorf("told of %q", p.Text)
	}
	if left := r.work.open(); len(left) != 1 || !strings.Contains(left[0].What, "background MCP call") {
		t.Errorf("kept for a resume: %+v", left)
	}
}

// A host's own call, and one of a run whose tools are called from outside, ask for no turn of the model.
func TestCallsOutsideTurns(t *testing.T) {
	r := testRun(t, Options{})
	s := newSlowServer()
	s.end <- words("for the host")
	if c := <-s.call(t.Context(), r, hostCall+"1", time.Nanosecond, nil); c.err != nil || msg.JoinText(c.res.Blocks) != "for the host" {
		t.Errorf("%+v", c)
	}
	served := testRun(t, Options{NoPrompts: true})
	if _, err := served.query(t.Context(), "client_call", json.RawMessage(`{"id":"1","tool":"Agent","input":{"description":"d","prompt":"p"}}`)); err == nil {
		t.Error("a tool that is not offered was called")
	}
	b := &backAgent{back: true, server: "slow"}
	b.Task = bash.Task{ID: "m1", State: bash.Completed}
	served.work.agents = append(served.work.agents, b)
	if p, ok := served.work.Next(); ok || served.work.Linger(0) != 0 {
		t.Errorf("a turn is asked for: %q", p.Text)
	}
}

// Of a large result only the head stays in memory, and says where the rest is.
func TestOutcomeHead(t *testing.T) {
	small := agentOutcome{completed: toolagent.Completed{Content: []toolagent.Content{{Text: "a"}, {Text: "b"}}}}
	if got := small.head("f"); len(got.completed.Content) != 2 || got.completed.Content[1].Text != "b" {
		t.Errorf("small: %+v", got)
	}
	large := agentOutcome{completed: toolagent.Completed{Content: []toolagent.Content{{Text: "a"}, {Text: strings.Repeat("ä", headBytes)}, {Text: "gone"}}}}
	got := large.head("the-file").completed.Content
	if len(got) != 2 || len(got[1].Text) > headBytes+100 || !strings.HasSuffix(got[1].Text, "ä\n… (cut here; the whole is in the-file)") {
		t.Errorf("large: %d parts", len(got))
	}
	if len(large.completed.Content[1].Text) != 2*headBytes {
		t.Error("the whole, which is written to the file, was changed")
	}
}
