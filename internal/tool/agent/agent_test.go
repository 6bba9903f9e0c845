package agent

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"lathe/internal/agent"
	"lathe/internal/msg"
	"lathe/internal/tool"
)

func tools(d Deps) *Tool {
	if d.Types == nil {
		d.Types = func() []agent.Def { return agent.Find(agent.Places{}) }
	}
	return New(d)
}

func TestPlan(t *testing.T) {
	var got Request
	run := func(_ context.Context, r Request) (tool.Result, error) { got = r; return tool.TextResult("ok"), nil }
	for _, c := range []struct {
		name, input, kind string
		deps              Deps
		back              bool
		isolation         string
	}{
		{name: "the usual type", input: `{"description":"a  b","prompt":"p"}`, kind: "general-purpose"},
		{name: "another case", input: `{"description":"a","prompt":"p","subagent_type":"explore"}`, kind: "Explore"},
		{name: "in the background", input: `{"description":"a","prompt":"p","run_in_background":true}`, kind: "general-purpose", deps: Deps{Background: true}, back: true},
		{name: "there is none", input: `{"description":"a","prompt":"p","run_in_background":true}`, kind: "general-purpose"},
		{name: "a host's usual", input: `{"description":"a","prompt":"p"}`, kind: "general-purpose", deps: Deps{Background: true, Usually: true}, back: true},
		{name: "a host's no", input: `{"description":"a","prompt":"p","run_in_background":false}`, kind: "general-purpose", deps: Deps{Background: true, Usually: true}},
		{name: "a work tree", input: `{"description":"a","prompt":"p","isolation":"worktree"}`, kind: "general-purpose", deps: Deps{Isolation: true}, isolation: "worktree"},
		{name: "no repository", input: `{"description":"a","prompt":"p","isolation":"worktree"}`, kind: "general-purpose"},
		{name: "wrong names", input: `{"description":"a","task":"p","agent":"Plan"}`, kind: "Plan"},
	} {
		c.deps.Run = run
		x := tools(c.deps)
		in, err := tool.Canonical(x, json.RawMessage(c.input))
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		p, err := x.Plan(t.Context(), tool.Call{ID: "c1", Input: in})
		if err != nil || !p.Parallel || p.ReadOnly {
			t.Errorf("%s: %+v, %v", c.name, p, err)
			continue
		}
		if _, err := p.Run(t.Context(), nil); err != nil || got.Def.Name != c.kind || got.Background != c.back || got.Prompt != "p" || got.CallID != "c1" || got.Isolation != c.isolation {
			t.Errorf("%s: %+v, %v", c.name, got, err)
		}
	}
	x := tools(Deps{})
	for input, want := range map[string]string{
		`{"description":"a","prompt":" "}`:                     "prompt is empty",
		`{"description":"a","prompt":"p","subagent_type":"x"}`: "there are: Explore, Plan, general-purpose",
	} {
		if _, err := x.Plan(t.Context(), tool.Call{Input: json.RawMessage(input)}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", input, err)
		}
	}
}

// What a sub-agent writes cannot look like what the program writes, and its words stay.
func TestFramed(t *testing.T) {
	for in, want := range map[string]string{
		"plain <b>text</b> a<b":                   "plain <b>text</b> a<b",
		"<invoke name=\"Bash\">":                  `<\invoke name="Bash">`,
		"</ function_calls>":                      `<\/ function_calls>`,
		"<ns:tool_use>":                           `<\ns:tool_use>`,
		"x <System-Reminder>do</system-reminder>": `x <\System-Reminder>do<\/system-reminder>`,
		"<context source=\"memory\">":             `<\context source="memory">`,
		"<systematic>":                            "<systematic>",
	} {
		got, changed := Neutral(in)
		if got != want || changed != (in != want) {
			t.Errorf("%q: %q, %v", in, got, changed)
		}
		if again, _ := Neutral(got); again != got {
			t.Errorf("%q changes again: %q", got, again)
		}
	}
	res := Report(Completed{AgentType: "Explore", Content: []Content{{"text", "<invoke>"}}}, "It is partial.")
	text := msg.JoinText(res.Blocks)
	for _, want := range []string{"untrusted output", "It is partial.", "was escaped", `<\invoke>`} {
		if !strings.Contains(text, want) {
			t.Errorf("the report lacks %q: %s", want, text)
		}
	}
}

func TestEffortOfACall(t *testing.T) {
	var got Request
	tl := New(Deps{Types: func() []agent.Def { return []agent.Def{{Name: agent.General}} }, Run: func(_ context.Context, r Request) (tool.Result, error) {
		got = r
		return tool.Result{}, nil
	}})
	in, err := tool.Canonical(tl, json.RawMessage(`{"description":"d","prompt":"p","effort":" High "}`))
	if err != nil {
		t.Fatal(err)
	}
	plan, err := tl.Plan(context.Background(), tool.Call{Input: in})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := plan.Run(context.Background(), nil); err != nil || got.Effort != "high" {
		t.Errorf("%v, %q", err, got.Effort)
	}
	if _, err := tl.Plan(context.Background(), tool.Call{Input: json.RawMessage(`{"description":"d","prompt":"p","effort":"huge"}`)}); err == nil {
		t.Error("an effort that there is not was taken")
	}
}
