package tools_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"lathe/internal/event"
	"lathe/internal/msg"
	"lathe/internal/perm"
	"lathe/internal/pipeline/tools"
	"lathe/internal/tool"
	"lathe/internal/turn"
)

// scripted is a tool whose behaviour is a function.
type scripted struct {
	name     string
	parallel bool
	run      func(ctx context.Context) (tool.Result, error)
}

func (s scripted) Def() msg.ToolDef {
	return msg.ToolDef{Name: s.name, InputSchema: json.RawMessage(`{"type":"object","properties":{"x":{"type":"string"}}}`)}
}

func (s scripted) Plan(context.Context, tool.Call) (tool.Plan, error) {
	return tool.Plan{Summary: s.name, Parallel: s.parallel, Run: func(ctx context.Context, _ tool.Progress) (tool.Result, error) { return s.run(ctx) }}, nil
}

func says(text string) func(context.Context) (tool.Result, error) {
	return func(context.Context) (tool.Result, error) { return tool.TextResult(text), nil }
}

// world is a turn whose reply asks for the calls, and what came of it.
type world struct {
	t      *turn.Turn
	mu     sync.Mutex
	events []event.Event
	answer func(a event.Ask) (event.Answer, error)
}

func newWorld(calls ...string) *world {
	w := &world{answer: func(event.Ask) (event.Answer, error) { return event.Answer{}, turn.ErrNobody }}
	n := 0
	w.t = turn.New("turn", "session", event.Prompt{}, nil, turn.Services{
		Emit: func(e event.Event) error { w.mu.Lock(); w.events = append(w.events, e); w.mu.Unlock(); return nil },
		Persist: func(m ...msg.Message) ([]msg.Message, error) {
			for i := range m {
				n++
				m[i].ID = fmt.Sprint("m", n)
			}
			return m, nil
		},
		Ask: func(_ context.Context, a event.Ask) (event.Answer, error) { return w.answer(a) },
		Now: time.Now,
	})
	reply := msg.Message{Kind: msg.KindAssistant}
	for i, c := range calls {
		name, input, _ := strings.Cut(c, " ")
		if input == "" {
			input = "{}"
		}
		reply.Blocks = append(reply.Blocks, msg.ToolUse(fmt.Sprint("call", i), name, json.RawMessage(input)))
	}
	_ = w.t.Append(reply)
	w.t.Reply = &turn.Reply{Message: reply, StopReason: "tool_use"}
	return w
}

// results are the tool results in the conversation, as "id text" with ! before an error.
func (w *world) results() []string {
	var out []string
	for _, m := range w.t.Messages {
		for _, b := range m.Blocks {
			if b.Type == msg.TypeToolResult {
				bad := ""
				if b.IsError {
					bad = "!"
				}
				out = append(out, bad+b.ToolUseID+" "+msg.JoinText(b.Content))
			}
		}
	}
	return out
}

func stage(d tools.Deps, ts ...tool.Tool) *tools.Stage {
	d.Registry = tool.NewRegistry(ts...)
	if d.Decide == nil {
		d.Decide = func(perm.Request) perm.Decision { return perm.Decision{Verdict: perm.Allow} }
	}
	return tools.New(d)
}

func TestEveryCallIsAnsweredOnceInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := scripted{"Slow", true, func(context.Context) (tool.Result, error) { time.Sleep(time.Hour); return tool.TextResult("slow"), nil }}
		fast := scripted{"Fast", true, says("fast")}
		alone := scripted{"Alone", false, says("alone")}
		silent := scripted{"Silent", false, says("  \n")}
		fails := scripted{"Fails", false, func(context.Context) (tool.Result, error) { return tool.Result{}, errors.New("it broke") }}
		panics := scripted{"Panics", false, func(context.Context) (tool.Result, error) { panic("inside") }}
		w := newWorld("Slow", "Fast", "Alone", "Nowhere", "Silent", "Fails", `Fast {"x":7}`, "Panics")
		if err := stage(tools.Deps{}, slow, fast, alone, silent, fails, panics).Run(t.Context(), w.t); err != nil {
			t.Fatal(err)
		}
		got := w.results()
		got[7] = got[7][:strings.Index(got[7], "\n")] // the stack
		want := []string{
			"call0 slow", "call1 fast", "call2 alone",
			"!call3 there is no tool named Nowhere; the tools are Slow, Fast, Alone, Silent, Fails, Panics",
			"call4 (no output)", "!call5 it broke", "!call6 wrong input for Fast: x must be a string", "!call7 the tool failed inside: inside",
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
		if w.t.Done {
			t.Error("the turn is over although results must go to the model")
		}
	})
}

// Neighbours that change nothing run beside each other; a call that changes something runs alone.
func TestBatches(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		var log []string
		var mu sync.Mutex
		mk := func(name string, parallel bool) tool.Tool {
			return scripted{name, parallel, func(context.Context) (tool.Result, error) {
				time.Sleep(time.Second)
				mu.Lock()
				log = append(log, fmt.Sprintf("%s at %s", name, time.Since(start)))
				mu.Unlock()
				return tool.TextResult(name), nil
			}}
		}
		w := newWorld("R", "R", "W", "W", "R")
		if err := stage(tools.Deps{}, mk("R", true), mk("W", false)).Run(t.Context(), w.t); err != nil {
			t.Fatal(err)
		}
		want := []string{"R at 1s", "R at 1s", "W at 2s", "W at 3s", "R at 4s"}
		if diff := cmp.Diff(want, log); diff != "" {
			t.Error(diff)
		}
	})
}

func TestDenials(t *testing.T) {
	ran := false
	x := scripted{"X", false, func(context.Context) (tool.Result, error) { ran = true; return tool.TextResult("ran"), nil }}
	for name, tc := range map[string]struct {
		verdict perm.Verdict
		answer  event.Answer
		err     error
		want    string
		ran     bool
		stops   bool
	}{
		"a rule":              {verdict: perm.Deny, want: "!call0 because"},
		"no opinion":          {verdict: perm.Abstain, err: turn.ErrNobody, want: "!call0 because; nobody is there to ask, so it was denied. Allowed by: --allowedTools \"X(a)\""},
		"nobody to ask":       {verdict: perm.Ask, err: turn.ErrNobody, want: "!call0 because; nobody is there to ask, so it was denied. Allowed by: --allowedTools \"X(a)\""},
		"a person says no":    {verdict: perm.Ask, answer: event.Answer{Message: "not that"}, want: "!call0 the user refused this call: not that"},
		"no, and stop":        {verdict: perm.Ask, answer: event.Answer{Stop: true}, want: "!call0 the user refused this call", stops: true},
		"a person says yes":   {verdict: perm.Ask, answer: event.Answer{Allow: true}, want: "call0 ran", ran: true},
		"yes, with a change":  {verdict: perm.Ask, answer: event.Answer{Allow: true, Input: json.RawMessage(`{"x":"other"}`)}, want: "call0 ran", ran: true},
		"yes, with a mistake": {verdict: perm.Ask, answer: event.Answer{Allow: true, Input: json.RawMessage(`{"x":1}`)}, want: "!call0 wrong input for X: x must be a string"},
	} {
		t.Run(name, func(t *testing.T) {
			ran = false
			w := newWorld("X")
			w.answer = func(event.Ask) (event.Answer, error) { return tc.answer, tc.err }
			err := stage(tools.Deps{Decide: func(perm.Request) perm.Decision {
				return perm.Decision{Verdict: tc.verdict, Reason: "because", Suggest: []perm.Rule{{Text: "X(a)"}}}
			}}, x).Run(t.Context(), w.t)
			var stop *turn.Stop
			if errors.As(err, &stop) != tc.stops || err != nil && !tc.stops {
				t.Errorf("error %v", err)
			}
			if diff := cmp.Diff([]string{tc.want}, w.results()); diff != "" {
				t.Error(diff)
			}
			if ran != tc.ran {
				t.Errorf("ran = %v", ran)
			}
			if denied := strings.HasPrefix(tc.want, "!call0 because") || strings.Contains(tc.want, "refused"); denied != (len(w.t.Denials) == 1) {
				t.Errorf("denials: %+v", w.t.Denials)
			}
		})
	}
}

// A changed input is judged again: a deny rule holds for what a person or host rewrote too.
func TestChangedInputIsJudgedAgain(t *testing.T) {
	x := scripted{"X", false, says("ran")}
	w := newWorld("X")
	w.answer = func(event.Ask) (event.Answer, error) {
		return event.Answer{Allow: true, Input: json.RawMessage(`{"x":"forbidden"}`)}, nil
	}
	_ = stage(tools.Deps{Decide: func(r perm.Request) perm.Decision {
		if strings.Contains(string(r.Input), "forbidden") {
			return perm.Decision{Verdict: perm.Deny, Reason: "no"}
		}
		return perm.Decision{Verdict: perm.Ask}
	}}, x).Run(t.Context(), w.t)
	if diff := cmp.Diff([]string{"!call0 no"}, w.results()); diff != "" {
		t.Error(diff)
	}
}

func TestInterrupt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		waits := scripted{"Waits", false, func(ctx context.Context) (tool.Result, error) {
			<-ctx.Done()
			return tool.Result{}, ctx.Err()
		}}
		never := scripted{"Never", false, func(context.Context) (tool.Result, error) { t.Error("it ran"); return tool.Result{}, nil }}
		w := newWorld("Waits", "Never", "Never")
		go func() { time.Sleep(time.Second); cancel(turn.ErrInterrupted) }()
		err := stage(tools.Deps{}, waits, never).Run(ctx, w.t)
		if !errors.Is(err, turn.ErrInterrupted) {
			t.Errorf("error %v", err)
		}
		want := []string{"!call0 stopped: the user interrupted; what it did until then stands", "!call1 not run: the user interrupted", "!call2 not run: the user interrupted"}
		if diff := cmp.Diff(want, w.results()); diff != "" {
			t.Error(diff)
		}
	})
}

// What an interrupt leaves is told to nobody: hooks do not see a call that it broke off, and a question that it withdrew
// is no denial.
func TestInterruptAndHooks(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	breaks := scripted{"Breaks", false, func(ctx context.Context) (tool.Result, error) {
		cancel(turn.ErrInterrupted)
		return tool.TextResult("half"), nil
	}}
	never := scripted{"Never", false, func(context.Context) (tool.Result, error) { t.Error("it ran"); return tool.Result{}, nil }}
	w, h := newWorld("Breaks", "Never"), &fakeHooks{}
	if err := stage(tools.Deps{Hooks: h}, breaks, never).Run(ctx, w.t); !errors.Is(err, turn.ErrInterrupted) {
		t.Errorf("error %v", err)
	}
	if diff := cmp.Diff([]string{"call0 half", "!call1 not run: the user interrupted"}, w.results()); diff != "" || len(h.seen) > 0 {
		t.Errorf("hooks saw %v; results %s", h.seen, diff)
	}

	ctx, cancel = context.WithCancelCause(t.Context())
	w = newWorld("Never")
	w.answer = func(event.Ask) (event.Answer, error) {
		cancel(turn.ErrInterrupted)
		return event.Answer{}, turn.ErrInterrupted
	}
	_ = stage(tools.Deps{Decide: func(perm.Request) perm.Decision { return perm.Decision{Verdict: perm.Ask} }}, never).Run(ctx, w.t)
	for _, e := range w.events {
		if d, ok := e.(event.Denied); ok {
			t.Errorf("told of %+v", d)
		}
	}
}

// The budget for results is not for those that keep to one of their own.
func TestBudgetedResults(t *testing.T) {
	own := scripted{"Own", false, func(context.Context) (tool.Result, error) {
		r := tool.TextResult("own")
		r.Budgeted = true
		return r, nil
	}}
	w := newWorld("Own", "Other")
	d := tools.Deps{Budget: func(_, _ string, r *tool.Result) { r.Blocks = []msg.Block{msg.Text("cut")} }}
	if err := stage(d, own, scripted{"Other", false, says("long")}).Run(t.Context(), w.t); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"call0 own", "call1 cut"}, w.results()); diff != "" {
		t.Error(diff)
	}
}

// A call that was started while the answer streamed runs once, and its result takes its place.
func TestEarlyStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		runs := 0
		r := scripted{"R", true, func(context.Context) (tool.Result, error) {
			runs++
			time.Sleep(time.Second)
			return tool.TextResult("read"), nil
		}}
		wr := scripted{"W", false, says("written")}
		s := stage(tools.Deps{Decide: func(q perm.Request) perm.Decision {
			if strings.Contains(string(q.Input), "ask") {
				return perm.Decision{Verdict: perm.Ask}
			}
			return perm.Decision{Verdict: perm.Allow}
		}}, r, wr)
		w := newWorld("R", "W", `R {"x":"ask"}`)
		calls := w.t.Reply.Message.ToolUses()
		for i, want := range []bool{true, false, false} {
			if got := s.Start(t.Context(), w.t, calls[i]); got != want {
				t.Errorf("Start(%s) = %v", calls[i].Name, got)
			}
		}
		if s.Start(t.Context(), w.t, calls[0]) {
			t.Error("a call was started twice")
		}
		if err := s.Run(t.Context(), w.t); err != nil {
			t.Fatal(err)
		}
		want := []string{"call0 read", "call1 written", "!call2 no rule covers this call; nobody is there to ask, so it was denied"}
		if diff := cmp.Diff(want, w.results()); diff != "" {
			t.Error(diff)
		}
		if runs != 1 {
			t.Errorf("ran %d times", runs)
		}
	})
}

func TestNoCallEndsTheTurn(t *testing.T) {
	w := newWorld()
	if err := stage(tools.Deps{}).Run(t.Context(), w.t); err != nil || !w.t.Done {
		t.Errorf("done %v, %v", w.t.Done, err)
	}
}

// A model that only ever gives answers that do not fit is stopped as well.
func TestStructuredAnswerThatNeverFits(t *testing.T) {
	w := newWorld("StructuredOutput")
	s := stage(tools.Deps{Structured: func() []byte { return nil }, StructuredRetries: 2}, scripted{"StructuredOutput", false, func(context.Context) (tool.Result, error) {
		return tool.Result{}, errors.New("it does not fit")
	}})
	for i := range 3 {
		err := s.Run(t.Context(), w.t)
		var stop *turn.Stop
		if i < 2 && err != nil || i == 2 && (!errors.As(err, &stop) || stop.Subtype != event.ErrStructured) {
			t.Errorf("%d: %v", i, err)
		}
	}
}

// A structured answer is asked for a few times, then the turn fails by name.
func TestStructuredAnswerIsOwed(t *testing.T) {
	w := newWorld()
	s := stage(tools.Deps{Structured: func() []byte { return nil }, StructuredRetries: 2})
	for range 2 {
		if err := s.Run(t.Context(), w.t); err != nil || w.t.Done {
			t.Fatalf("done %v, %v", w.t.Done, err)
		}
	}
	var stop *turn.Stop
	if err := s.Run(t.Context(), w.t); !errors.As(err, &stop) || stop.Subtype != event.ErrStructured {
		t.Errorf("error %v", err)
	}
}
