package tools_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"lathe/internal/msg"
	"lathe/internal/perm"
	"lathe/internal/pipeline/tools"
	"lathe/internal/tool"
	"lathe/internal/turn"
)

// crowd is a tool that counts how many of its calls run at once.
type crowd struct {
	mu        sync.Mutex
	now, most int
	ran       int
}

func (c *crowd) run(context.Context) (tool.Result, error) {
	c.mu.Lock()
	c.now, c.ran = c.now+1, c.ran+1
	c.most = max(c.most, c.now)
	c.mu.Unlock()
	time.Sleep(time.Minute)
	c.mu.Lock()
	c.now--
	c.mu.Unlock()
	return tool.TextResult("ok"), nil
}

// At most ten calls run at once, those that were started early too.
func TestAtMostTenAtOnce(t *testing.T) {
	for _, early := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			c := &crowd{}
			w := newWorld(slices.Repeat([]string{"C"}, 25)...)
			s := stage(tools.Deps{}, scripted{"C", true, c.run})
			if early {
				started := 0
				for _, b := range w.t.Reply.Message.Blocks {
					if s.Start(t.Context(), w.t, b) {
						started++
					}
				}
				synctest.Wait()
				if started != 10 || c.most != 10 {
					t.Errorf("%d were started early, %d at once", started, c.most)
				}
			}
			if err := s.Run(t.Context(), w.t); err != nil {
				t.Fatal(err)
			}
			if c.most != 10 || c.ran != 25 || len(w.results()) != 25 {
				t.Errorf("early %v: %d at once, %d ran, %d results", early, c.most, c.ran, len(w.results()))
			}
		})
	}
}

// A call that waits for its place when the user interrupts does not run.
func TestInterruptWhileCallsWait(t *testing.T) {
	for most, want := range map[int]int32{0: 10, 3: 3} {
		interruptWhileCallsWait(t, most, want)
	}
}

func interruptWhileCallsWait(t *testing.T, most int, want int32) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		ran := atomic.Int32{}
		waits := scripted{"W", true, func(ctx context.Context) (tool.Result, error) {
			ran.Add(1)
			<-ctx.Done()
			return tool.Result{}, ctx.Err()
		}}
		w := newWorld(slices.Repeat([]string{"W"}, 12)...)
		time.AfterFunc(time.Second, func() { cancel(turn.ErrInterrupted) })
		if err := stage(tools.Deps{Most: most}, waits).Run(ctx, w.t); !errors.Is(err, turn.ErrInterrupted) {
			t.Errorf("error %v", err)
		}
		if n := ran.Load(); n != want || len(w.results()) != 12 {
			t.Errorf("%d ran; %q", n, w.results())
		}
	})
}

// The classifier judges calls one after the other, also those that could run beside each other: it makes calls of the model.
func TestTheClassifierIsAskedOneByOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, judge := &crowd{}, &crowd{}
		w := newWorld("C", "C", "C")
		s := stage(tools.Deps{
			Decide: func(perm.Request) perm.Decision {
				return perm.Decision{Verdict: perm.Ask, Source: perm.Source{Kind: "classifier"}}
			},
			Classify: func(ctx context.Context, _ *turn.Turn, _ perm.Request, d perm.Decision) (perm.Decision, error) {
				_, err := judge.run(ctx)
				d.Verdict = perm.Allow
				return d, err
			},
		}, scripted{"C", true, c.run})
		if err := s.Run(t.Context(), w.t); err != nil {
			t.Fatal(err)
		}
		if judge.most != 1 || judge.ran != 3 || c.ran != 3 {
			t.Errorf("%d judged at once, %d judged, %d ran", judge.most, judge.ran, c.ran)
		}
	})
}

// What comes after a call that may change something is not started early: it must see the change. Neither is a call
// whose id was started already.
func TestWhatIsNotStartedEarly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &crowd{}
		w := newWorld("C", "C", "Edit", "C")
		s := stage(tools.Deps{}, scripted{"C", true, c.run}, scripted{"Edit", false, says("done")})
		blocks := w.t.Reply.Message.Blocks
		blocks[1].ID = blocks[0].ID
		var got []bool
		for _, b := range blocks {
			got = append(got, s.Start(t.Context(), w.t, b))
		}
		if want := []bool{true, false, false, false}; !slices.Equal(got, want) {
			t.Errorf("started %v, not %v", got, want)
		}
		s.Wait()
	})
}

// A call that could not be understood is the model's mistake, and no denial, whatever the rules say of its tool.
func TestMistakesAreNoDenials(t *testing.T) {
	w := newWorld(`A {"x":7}`, "Nowhere")
	s := stage(tools.Deps{Decide: func(perm.Request) perm.Decision { return perm.Decision{Verdict: perm.Deny, Reason: "no"} }}, scripted{"A", false, says("ran")})
	if err := s.Run(t.Context(), w.t); err != nil {
		t.Fatal(err)
	}
	if len(w.t.Denials) != 0 {
		t.Errorf("denials: %+v", w.t.Denials)
	}
}

// No hook answers what the organisation's own rules want a person to be asked about, in whatever part of the call.
func TestManagedQuestionsAreForPeople(t *testing.T) {
	managed := perm.Source{Kind: "rule", Scope: "managed"}
	for name, d := range map[string]perm.Decision{
		"whole":  {Verdict: perm.Ask, Reason: "rules", Source: managed},
		"a part": {Verdict: perm.Ask, Reason: "rules", Parts: []perm.Part{{Verdict: perm.Ask, Source: managed}}},
	} {
		w := newWorld(`A {"x":"old"}`)
		s := stage(tools.Deps{Hooks: &fakeHooks{asked: hooked(perm.Allow)}, Decide: func(perm.Request) perm.Decision { return d }}, scripted{"A", false, says("ran")})
		if err := s.Run(t.Context(), w.t); err != nil {
			t.Fatal(err)
		}
		if got := w.results(); len(got) != 1 || got[0] == "call0 seen" {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// A host's own call runs where only the mode would ask, and not where a rule, a hook or the tool wants somebody asked.
func TestCallsOfTheHost(t *testing.T) {
	ask := func(kind string) perm.Decision {
		return perm.Decision{Verdict: perm.Ask, Reason: "ask", Source: perm.Source{Kind: kind}}
	}
	byHook := turn.Hooked{Decision: &perm.Decision{Verdict: perm.Ask, Reason: "hook", Source: perm.Source{Kind: "hook"}}}
	for name, c := range map[string]struct {
		rules  perm.Decision
		before turn.Hooked
		ran    bool
	}{
		"allowed":           {perm.Decision{Verdict: perm.Allow}, turn.Hooked{}, true},
		"the mode asks":     {ask("default"), turn.Hooked{}, true},
		"a rule asks":       {ask("rule"), turn.Hooked{}, false},
		"a hook asks":       {perm.Decision{Verdict: perm.Allow}, byHook, false},
		"denied":            {perm.Decision{Verdict: perm.Deny, Reason: "no"}, turn.Hooked{}, false},
		"a hook defers":     {perm.Decision{Verdict: perm.Allow}, turn.Hooked{Deferred: true, Decision: byHook.Decision}, false},
		"a hook ends it":    {perm.Decision{Verdict: perm.Allow}, turn.Hooked{Stop: turn.StoppedByHook("enough")}, false},
		"a hook denies it":  {ask("default"), hooked(perm.Deny), false},
		"a hook changes it": {perm.Decision{Verdict: perm.Allow}, turn.Hooked{Input: []byte(`{"x":"new"}`)}, true},
	} {
		w := newWorld()
		s := stage(tools.Deps{Hooks: &fakeHooks{before: c.before}, Decide: func(perm.Request) perm.Decision { return c.rules }}, scripted{"A", false, says("ran")})
		res, err := s.Host(t.Context(), w.t, msg.ToolUse("h1", "A", []byte(`{"x":"old"}`)))
		if ran := err == nil && msg.JoinText(res.Blocks) == "seen"; ran != c.ran {
			t.Errorf("%s: ran %v, %v", name, ran, err)
		}
	}
}
