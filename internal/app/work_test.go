package app

import (
	"context"
	"strings"
	"testing"

	"lathe/internal/agent"
	toolagent "lathe/internal/tool/agent"
	"lathe/internal/tool/bash"
)

// The end of a session waits for the turn that a report asks for which has just come.
func TestLingerForNews(t *testing.T) {
	r := testRun(t, Options{})
	b := &backAgent{back: true}
	b.Task = bash.Task{ID: "a1", State: bash.Completed}
	r.work.agents = append(r.work.agents, b)
	if r.work.Linger(0) == 0 {
		t.Error("the session would end with the report untold")
	}
	r.work.told.keys["a1 ended"] = true
	if r.work.Linger(0) != 0 {
		t.Error("nothing is waited for")
	}
}

// A sub-agent in the background that has ended holds no conversation any more, and its report can still be told.
func TestEndedAgentIsLetGo(t *testing.T) {
	r := testRun(t, Options{}) // without a key each call of a model fails
	_, err := r.startAgent(t.Context(), toolagent.Request{CallID: "c1", Def: agent.Def{Name: "worker"}, Task: "look", Prompt: "go", Background: true})
	if err != nil {
		t.Fatal(err)
	}
	b := r.work.agents[0]
	<-b.done
	if b.run != nil {
		t.Error("its conversation is kept in memory")
	}
	if p, ok := r.work.Next(); !ok || !strings.Contains(p.Text, "worker") || !strings.Contains(p.Text, "(look) ended: failed") {
		t.Errorf("told: %v %q", ok, p.Text)
	}
	if res, err := r.work.Output(t.Context(), b.ID, 0); err != nil || !strings.Contains(res.Output, "worker") {
		t.Errorf("%+v, %v", res, err)
	}
	if r.work.background("") {
		t.Error("nothing runs in the foreground")
	}
}

// What the end of a session stops is stopped by a person: no message sets it to work again.
func TestStopIsAPersonsWord(t *testing.T) {
	r := testRun(t, Options{})
	add := func(id string, back bool, state bash.State) (*addressee, context.Context) {
		b := &backAgent{back: back}
		b.Task = bash.Task{ID: id, State: state}
		ctx, cancel := context.WithCancel(t.Context())
		b.cancel = cancel
		a := &addressee{id: id}
		r.work.mu.Lock()
		defer r.work.mu.Unlock()
		if r.work.known == nil {
			r.work.known = map[string]*addressee{}
		}
		r.work.agents, r.work.known[id] = append(r.work.agents, b), a
		return a, ctx
	}
	runs, runsCtx := add("a1", true, bash.Running)
	front, frontCtx := add("a2", false, bash.Running)
	ended, _ := add("a3", true, bash.Completed)
	r.work.Stop()
	if !runs.user || runsCtx.Err() == nil {
		t.Errorf("what runs in the background: refused %v, %v", runs.user, runsCtx.Err())
	}
	if front.user || frontCtx.Err() != nil || ended.user {
		t.Errorf("what ends by itself is stopped: %v %v %v", front.user, frontCtx.Err(), ended.user)
	}
}
