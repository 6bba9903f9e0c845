package tools_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
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

// fakeHooks answers before and when asked, and takes the names of what it saw.
type fakeHooks struct {
	before, asked, batch turn.Hooked
	seen                 []string
}

func (f *fakeHooks) Guards(string) bool { return true }

func (f *fakeHooks) Answers(string) bool { return true }

func (f *fakeHooks) Before(context.Context, *turn.Turn, tools.HookCall) turn.Hooked { return f.before }

func (f *fakeHooks) Asked(context.Context, *turn.Turn, tools.HookCall, perm.Decision) turn.Hooked {
	f.seen = append(f.seen, "asked")
	return f.asked
}

func (f *fakeHooks) After(_ context.Context, _ *turn.Turn, c tools.HookCall, _ tool.Result, _ time.Duration) turn.Hooked {
	f.seen = append(f.seen, "after "+string(c.Input))
	return turn.Hooked{Output: json.RawMessage(`"seen"`)}
}

func (f *fakeHooks) Batch(_ context.Context, _ *turn.Turn, calls []tools.HookCall) turn.Hooked {
	f.seen = append(f.seen, "batch "+msg.JoinText(calls[0].Result))
	return f.batch
}

func (f *fakeHooks) Refused(_ context.Context, _ *turn.Turn, c tools.HookCall, d perm.Decision) turn.Hooked {
	f.seen = append(f.seen, "refused "+c.Tool+": "+d.Reason)
	return turn.Hooked{}
}

func hooked(v perm.Verdict) turn.Hooked {
	return turn.Hooked{Decision: &perm.Decision{Verdict: v, Reason: "hook", Source: perm.Source{Kind: "hook"}}}
}

// What hooks say against what the rules say: a deny wins, an allow never lifts what a rule or a person must decide.
func TestHookDecisions(t *testing.T) {
	ask := perm.Decision{Verdict: perm.Ask, Reason: "rules"}
	critical := perm.Decision{Verdict: perm.Ask, Reason: "rules", Source: perm.Source{Kind: "critical"}}
	deny, allow := perm.Decision{Verdict: perm.Deny, Reason: "rules"}, perm.Decision{Verdict: perm.Allow, Reason: "rules"}
	input := turn.Hooked{Input: json.RawMessage(`{"x":"new"}`)}
	for _, tt := range []struct {
		name          string
		rules         perm.Decision
		covered       perm.Verdict
		before, asked turn.Hooked
		want          string // the model is told
		seen          []string
	}{
		{"no opinion", allow, perm.Allow, turn.Hooked{}, turn.Hooked{}, "seen", []string{`after {"x":"old"}`, "batch seen"}},
		{"deny", allow, perm.Allow, hooked(perm.Deny), turn.Hooked{}, "hook", []string{"batch hook"}},
		{"ask", allow, perm.Allow, hooked(perm.Ask), turn.Hooked{}, "hook; nobody is there to ask, so it was denied", []string{"asked", "batch hook; nobody is there to ask, so it was denied"}},
		{"ask over deny", deny, perm.Deny, hooked(perm.Ask), turn.Hooked{}, "rules", []string{"batch rules"}},
		{"allow", ask, perm.Allow, hooked(perm.Allow), turn.Hooked{}, "seen", []string{`after {"x":"old"}`, "batch seen"}},
		{"allow over ask rule", ask, perm.Ask, hooked(perm.Allow), turn.Hooked{}, "rules; nobody is there to ask, so it was denied", []string{"asked", "batch rules; nobody is there to ask, so it was denied"}},
		{"allow over deny", deny, perm.Deny, hooked(perm.Allow), turn.Hooked{}, "rules", []string{"batch rules"}},
		{"input", allow, perm.Allow, input, turn.Hooked{}, "seen", []string{`after {"x":"new"}`, "batch seen"}},
		{"input that is denied", deny, perm.Deny, turn.Hooked{Input: input.Input, Decision: hooked(perm.Allow).Decision}, turn.Hooked{}, "rules", []string{"batch rules"}},
		{"answered", ask, perm.Ask, turn.Hooked{}, hooked(perm.Allow), "seen", []string{"asked", `after {"x":"old"}`, "batch seen"}},
		{"answered no", ask, perm.Ask, turn.Hooked{}, hooked(perm.Deny), "hook", []string{"asked", "batch hook"}},
		{"critical", critical, perm.Ask, turn.Hooked{}, hooked(perm.Allow), "rules; nobody is there to ask, so it was denied", []string{"asked", "batch rules; nobody is there to ask, so it was denied"}},
		{"halt before a question", ask, perm.Ask, turn.Hooked{Stop: turn.StoppedByHook("enough")}, turn.Hooked{}, "not run: a hook ended the turn: enough", nil},
		{"halt", allow, perm.Allow, turn.Hooked{Stop: turn.StoppedByHook("enough")}, turn.Hooked{}, "not run: a hook ended the turn: enough", nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			h := &fakeHooks{before: tt.before, asked: tt.asked}
			w := newWorld(`A {"x":"old"}`)
			s := tools.New(tools.Deps{
				Registry: tool.NewRegistry(scripted{name: "A", parallel: true, run: says("ran")}), Hooks: h,
				Decide:  func(perm.Request) perm.Decision { return tt.rules },
				Covered: func(perm.Request) perm.Decision { return perm.Decision{Verdict: tt.covered} },
			})
			if s.Start(t.Context(), w.t, w.t.Reply.Message.Blocks[0]) {
				t.Error("a guarded call was started early")
			}
			err := s.Run(t.Context(), w.t)
			if (err != nil) != strings.HasPrefix(tt.name, "halt") {
				t.Errorf("error %v", err)
			}
			last := w.t.Messages[len(w.t.Messages)-1]
			if diff := cmp.Diff(tt.want, msg.JoinText(last.Blocks[0].Content)); diff != "" {
				t.Errorf("result (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.seen, h.seen); diff != "" {
				t.Errorf("seen (-want +got):\n%s", diff)
			}
		})
	}
}

// answered is a tool whose answer a person gives.
type answered struct{ scripted }

func (a answered) PlanAnswer(ctx context.Context, _, answer tool.Call) (tool.Plan, error) {
	p, err := a.Plan(ctx, answer)
	p.Run = func(context.Context, tool.Progress) (tool.Result, error) {
		return tool.TextResult("answer " + string(answer.Input)), nil
	}
	return p, err
}

// A hook that allows a question to a person does not answer it; one that gives the input does.
func TestHooksAndQuestionsToThePerson(t *testing.T) {
	with := hooked(perm.Allow)
	with.Input = json.RawMessage(`{"x":"hook"}`)
	for want, asked := range map[string]turn.Hooked{`{"x":"person"}`: hooked(perm.Allow), `{"x":"hook"}`: with} {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld("A")
			w.answer = func(event.Ask) (event.Answer, error) {
				time.Sleep(time.Second)
				return event.Answer{Allow: true, Input: json.RawMessage(`{"x":"person"}`)}, nil
			}
			h := &fakeHooks{asked: asked}
			s := tools.New(tools.Deps{
				Registry: tool.NewRegistry(answered{scripted{name: "A", run: says("without an answer")}}), Hooks: h,
				Decide: func(perm.Request) perm.Decision { return perm.Decision{Verdict: perm.Ask} },
			})
			if err := s.Run(t.Context(), w.t); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff([]string{"asked", "after " + want, "batch seen"}, h.seen); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// A hook that sees all calls of an answer may end the turn.
func TestHookBatchEndsTheTurn(t *testing.T) {
	w := newWorld("A", "A")
	s := tools.New(tools.Deps{
		Registry: tool.NewRegistry(scripted{name: "A", run: says("ran")}), Hooks: &fakeHooks{batch: hooked(perm.Deny)},
		Decide: func(perm.Request) perm.Decision { return perm.Decision{Verdict: perm.Allow} },
	})
	err := s.Run(t.Context(), w.t)
	if diff := cmp.Diff(turn.StoppedByHook("hook"), err); diff != "" {
		t.Error(diff)
	}
	if turn.StoppedByHook("").Subtype != event.Success {
		t.Error("a hook's stop is no success")
	}
}

// In mode auto the classifier answers before hooks and people; hooks are told of what it refused.
func TestClassifierAndHooks(t *testing.T) {
	for _, tt := range []struct {
		name string
		says perm.Verdict
		err  error
		want string
		seen []string
	}{
		{"allows", perm.Allow, nil, "seen", []string{`after {"x":"old"}`, "batch seen"}},
		{"refuses", perm.Deny, nil, "reviewed", []string{"refused A: reviewed", "batch reviewed"}},
		{"is not sure", perm.Ask, nil, "reviewed; nobody is there to ask, so it was denied", []string{"asked", "batch reviewed; nobody is there to ask, so it was denied"}},
		{"fails", perm.Allow, errors.New("down"), "rules; nobody is there to ask, so it was denied", []string{"asked", "batch rules; nobody is there to ask, so it was denied"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			h := &fakeHooks{}
			w := newWorld(`A {"x":"old"}`)
			s := tools.New(tools.Deps{
				Registry: tool.NewRegistry(scripted{name: "A", run: says("ran")}), Hooks: h,
				Decide: func(perm.Request) perm.Decision {
					return perm.Decision{Verdict: perm.Ask, Reason: "rules", Source: perm.Source{Kind: "classifier"}}
				},
				Classify: func(context.Context, *turn.Turn, perm.Request, perm.Decision) (perm.Decision, error) {
					return perm.Decision{Verdict: tt.says, Reason: "reviewed", Source: perm.Source{Kind: "classifier"}}, tt.err
				},
			})
			if err := s.Run(t.Context(), w.t); err != nil {
				t.Fatal(err)
			}
			if got := w.results()[0]; got != "call0 "+tt.want && got != "!call0 "+tt.want {
				t.Errorf("result %q, want %q", got, tt.want)
			}
			if diff := cmp.Diff(tt.seen, h.seen); diff != "" {
				t.Error(diff)
			}
		})
	}
}
