package app

import (
	"encoding/json"
	"strings"
	"testing"

	"lathe/internal/agent"
	"lathe/internal/event"
	"lathe/internal/msg"
	"lathe/internal/pipeline/attach"
	toolagent "lathe/internal/tool/agent"
	"lathe/internal/tool/bash"
)

// endedAgent is a sub-agent in the background whose end was not told.
func endedAgent(r *run, id, call string) {
	b := &backAgent{back: true}
	b.Task = bash.Task{ID: id, CallID: call, State: bash.Completed}
	r.work.agents = append(r.work.agents, b)
}

// A report is told when the message with it is on disk. A turn that ends before leaves it for the next one, and asks
// for no turn of its own again: it would end in the same way.
func TestReportIsToldWhenItIsKept(t *testing.T) {
	r := testRun(t, Options{})
	endedAgent(r, "a1", "c1")
	first, ok := r.work.Next()
	if !ok || first.ID == "" {
		t.Fatalf("%+v", first)
	}
	if _, again := r.work.Next(); again {
		t.Error("it asks for one turn after the other")
	}
	if got := r.work.news(false); len(got) != 1 {
		t.Fatalf("the turn was interrupted, and the report is lost: %v", got)
	}
	r.work.kept([]msg.Message{{ID: "other", Kind: msg.KindUser}})
	if len(r.work.news(false)) != 1 {
		t.Error("another prompt tells of it")
	}
	endedAgent(r, "a2", "c2")
	second, ok := r.work.Next()
	if !ok || !strings.Contains(second.Text, "a1") || !strings.Contains(second.Text, "a2") {
		t.Errorf("the next turn tells %q", second.Text)
	}
	r.work.kept([]msg.Message{{ID: second.ID, Kind: msg.KindUser}})
	if got := r.work.news(false); len(got) != 0 {
		t.Errorf("told, and still new: %v", got)
	}
	endedAgent(r, "a3", "c3")
	r.work.kept([]msg.Message{{Kind: msg.KindAttachment, Source: attach.TaskSource, Key: r.work.news(false)[0].Key}})
	if _, ok := r.work.Next(); ok {
		t.Error("what was attached asks for a turn")
	}
}

// What an earlier run has left is told once. A task of this process is not among it, also when the session is taken up
// again within it.
func TestLeftTasksAreTold(t *testing.T) {
	r := testRun(t, Options{})
	endedAgent(r, "a1", "c1")
	state, err := json.Marshal(append(r.work.open(), openTask{Key: "bash_1 c0 ended", What: "background command bash_1 (make)", File: "/out"}))
	if err != nil {
		t.Fatal(err)
	}
	r.work.agents[0].Known = true
	r.work.takeUp(state)
	got := r.work.news(false)
	if len(got) != 1 || !strings.Contains(got[0].Text, "bash_1 (make)") || !strings.Contains(got[0].Text, "/out") {
		t.Fatalf("%+v", got)
	}
	if _, ok := r.work.Next(); ok {
		t.Error("it asks for a turn")
	}
	if open := r.work.open(); len(open) != 1 || open[0].Key != "bash_1 c0 ended" {
		t.Errorf("the record would be %+v", open)
	}
	r.work.kept([]msg.Message{{Kind: msg.KindAttachment, Source: attach.TaskSource, Key: got[0].Key}})
	if n := len(r.work.news(false)) + len(r.work.open()); n != 0 {
		t.Errorf("%d left", n)
	}
}

// The start of a sub-agent in the background is told before its end, also where it ends at once or is moved there while
// it ends; and one that has ended is not moved.
func TestStartIsToldBeforeTheEnd(t *testing.T) {
	r := testRun(t, Options{}) // without a key each call of a model fails
	conn := r.session.Connect(t.Context())
	const rounds = 20
	moved := make([]bool, rounds)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for i := range rounds {
			id := string(rune('a' + i))
			q := toolagent.Request{CallID: id, Def: agent.Def{Name: "worker"}, Task: "look", Prompt: "go", Background: i%2 == 0}
			mover := make(chan struct{})
			go func() {
				defer close(mover)
				for range 50 {
					if r.work.background(id) {
						moved[i] = true
						return
					}
				}
			}()
			_, _ = r.startAgent(t.Context(), q)
			<-mover
			if i%2 == 0 {
				moved[i] = true
			}
			if r.work.background(id) {
				t.Errorf("round %d: what is over was moved", i)
			}
		}
		r.work.wg.Wait()
		_ = conn.Send(t.Context(), event.Close{})
	}()
	started, done := map[string]bool{}, map[string]bool{}
	for env, err := range conn.Events(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		switch e := env.Event.(type) {
		case event.TaskStarted:
			started[e.CallID] = true
		case event.TaskDone:
			if done[e.CallID] = true; !started[e.CallID] {
				t.Errorf("%s: its end was told before its start", e.CallID)
			}
		}
	}
	<-ended
	conn.Wait()
	for i, m := range moved {
		if id := string(rune('a' + i)); m != done[id] {
			t.Errorf("round %d: moved %v, told of its end %v", i, m, done[id])
		}
	}
}

// A sub-agent that is still being made can be moved to the background.
func TestMoveWhatIsBeingMade(t *testing.T) {
	r := testRun(t, Options{})
	r.work.begin("c1")
	if r.work.background("c2") {
		t.Error("another call was moved")
	}
	if !r.work.background("c1") {
		t.Fatal("it is not moved")
	}
	child, err := r.newAgent(t.Context(), toolagent.Request{CallID: "c1", Def: agent.Def{Name: "worker"}, Prompt: "go"})
	if err != nil {
		t.Fatal(err)
	}
	res, err := r.work.start(t.Context(), child, toolagent.Request{CallID: "c1", Prompt: "go"}, func() {})
	if _, ok := res.Output.(toolagent.Launched); !ok || err != nil {
		t.Errorf("%+v, %v", res, err)
	}
	r.work.wg.Wait()
	if r.work.background("c1") {
		t.Error("it is still being made")
	}
}
