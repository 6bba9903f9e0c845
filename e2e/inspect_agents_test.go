package e2e

import (
	"encoding/json"
	"math"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"lathe/internal/fakeapi"
)

// delegating is a session in which a sub-agent hands on a part of its work, and takes a message later.
func delegating(q fakeapi.Request) *fakeapi.Answer {
	a := fakeapi.Text("done")
	switch {
	case strings.Contains(q.LastUserText(), "write a summary"):
		a = fakeapi.Text("<summary>They handed out work.</summary>")
	case strings.Contains(q.LastUserText(), "and now?") || isReport(q):
	case isWorker(q) && strings.Contains(q.LastUserText(), "the inner part"):
		a = fakeapi.Text("inner done")
	case isWorker(q) && strings.Contains(q.LastUserText(), "and the rest"):
		a = fakeapi.Text("the rest is done")
	case isWorker(q) && first(q):
		a = answer(bash("echo by the worker"), handOver("worker", "the inner part", "run_in_background", false))
	case isWorker(q):
		a = fakeapi.Text("outer done")
	case strings.Contains(q.LastUserText(), "go on") && first(q):
		a = answer(sendTo("painter", "and the rest?"))
	case first(q):
		a = answer(handOver("worker", "the outer part", "name", "painter", "run_in_background", false))
	}
	return &a
}

// inspected is what lathe inspect --json says.
type inspected struct {
	Cost     float64      `json:"cost_usd"`
	Requests []inspectReq `json:"requests"`
	Side     []inspectReq `json:"side"`
	Agents   []struct {
		Type, Name, Task, Under string
		Depth                   int
		Cost                    float64 `json:"cost_usd"`
		Requests                []inspectReq
	} `json:"agents"`
	Parts []struct {
		Kind, Purpose string
		Calls         int
		Cost          float64 `json:"cost_usd"`
	} `json:"parts"`
}

type inspectReq struct {
	Label, Under, Purpose, Model string
	Cost                         float64 `json:"cost_usd"`
	Traced                       bool
}

func (r *rig) inspected(id string) (out inspected) {
	r.t.Helper()
	if err := json.Unmarshal([]byte(r.must("inspect", id, "--json").out), &out); err != nil {
		r.t.Fatal(err)
	}
	return out
}

// What a session cost is the same in its result, in /cost and in what inspect sums up, with a trace or without, however
// many sub-agents and side questions there were. Each request of a sub-agent stands under what set it to work.
func TestInspectShowsSubAgents(t *testing.T) {
	t.Parallel()
	for _, traced := range []bool{true, false} {
		t.Run(map[bool]string{true: "traced", false: "not traced"}[traced], func(t *testing.T) {
			t.Parallel()
			r := newRig(t, &fakeapi.Script{Func: delegating})
			more := []string{"--agents", worker, "--allowedTools", "Bash", "--output-format", "json"}
			if traced {
				more = append(more, "--trace")
			}
			id := resultOf(t, r.must(append([]string{"-p", "go"}, more...)...).out)["session_id"].(string)
			r.must(append([]string{"-p", "go on", "--resume", id}, more...)...)
			r.must(append([]string{"-p", "/compact", "--resume", id}, more...)...)
			res := resultOf(t, r.must(append([]string{"-p", "and now?", "--resume", id}, more...)...).out)
			got := r.inspected(id)
			total := res["total_cost_usd"].(float64)
			if math.Abs(got.Cost-total) > 1e-9 || total <= 0 {
				t.Errorf("inspect says $%v, the result $%v", got.Cost, total)
			}
			cost := r.must("-p", "/cost", "--resume", id).out
			if m := regexp.MustCompile(`Total cost: +\$([0-9.]+)`).FindStringSubmatch(cost); m == nil || !strings.HasPrefix(dollarsOf(got.Cost), m[1][:4]) {
				t.Errorf("inspect says $%v, /cost:\n%s", got.Cost, cost)
			}
			checkParts(t, got, traced)
			checkAgents(t, got, traced)
			text := r.must("inspect", id).out
			for _, want := range []string{`(?m)^  ↳ a1 worker painter: a task · 3 requests, \$`, `(?m)^    ↳ a2 worker: a task · 1 request, \$`, `(?m)^  ↳ a1 worker painter: a task \(goes on after a message\)`, `beside it: summary`, `2 sub-agents`} {
				if !regexp.MustCompile(want).MatchString(text) {
					t.Errorf("the list does not match %s:\n%s", want, text)
				}
			}
			r.oneOfAnAgent(id, traced)
			r.legal()
		})
	}
}

func dollarsOf(v float64) string { return strings.TrimSpace(string(mustJSON(v))) }

func mustJSON(v any) []byte { b, _ := json.Marshal(v); return b }

// checkParts asserts that the parts are the whole, and that nothing is left that nobody knows of.
func checkParts(t *testing.T, got inspected, traced bool) {
	t.Helper()
	sum, kinds := 0.0, []string{}
	for _, p := range got.Parts {
		sum += p.Cost
		kinds = append(kinds, strings.TrimSpace(p.Kind+" "+p.Purpose))
	}
	if math.Abs(sum-got.Cost) > 1e-9 {
		t.Errorf("the parts come to $%v of $%v", sum, got.Cost)
	}
	if d := cmp.Diff([]string{"conversation", "sub-agents", "side summary"}, kinds); d != "" {
		t.Error(d)
	}
	if n := len(got.Side); traced && n != 1 || !traced && n != 0 {
		t.Errorf("%d calls beside the conversation", n)
	}
}

func checkAgents(t *testing.T, got inspected, traced bool) {
	t.Helper()
	if len(got.Agents) != 2 {
		t.Fatalf("%d sub-agents, want 2", len(got.Agents))
	}
	type row struct {
		Name, Under string
		Depth       int
		Labels      []string
	}
	var rows []row
	sum := 0.0
	for _, a := range got.Agents {
		w := row{a.Name, a.Under, a.Depth, nil}
		for _, q := range a.Requests {
			w.Labels = append(w.Labels, q.Label+" under "+q.Under)
			sum += q.Cost
			if q.Traced != traced || q.Cost <= 0 || q.Model == "" {
				t.Errorf("request %+v", q)
			}
		}
		rows = append(rows, w)
	}
	want := []row{
		{"painter", "1", 1, []string{"a1.1 under 1", "a1.2 under 1", "a1.3 under 3"}},
		{"", "a1.1", 2, []string{"a2.1 under a1.1"}},
	}
	if d := cmp.Diff(want, rows); d != "" {
		t.Error(d)
	}
	if p := got.Parts[1]; math.Abs(p.Cost-sum) > 1e-9 || p.Calls != 4 {
		t.Errorf("sub-agents: %+v, their requests cost $%v", p, sum)
	}
}

// oneOfAnAgent asks for single requests of sub-agents and of calls beside the conversation.
func (r *rig) oneOfAnAgent(id string, traced bool) {
	r.t.Helper()
	has := func(text string, wants ...string) {
		r.t.Helper()
		for _, want := range wants {
			if !strings.Contains(text, want) {
				r.t.Errorf("there is no %q in:\n%s", want, text)
			}
		}
	}
	one := r.must("inspect", id, "--request", "a1.1").out
	has(one, "request a1.1", "sub-agent 1, set to work by request 1")
	if o := r.run("inspect", id, "--request", "a3.1"); o.code == 0 || !strings.Contains(o.err, "a1.1 to a1.3, a2.1") {
		r.t.Errorf("a request that is not there: %d %s", o.code, o.err)
	}
	if !traced {
		if o := r.run("inspect", id, "--request", "a2.1", "--body"); o.code == 0 || !strings.Contains(o.err, "request a2.1 was made without a trace") {
			r.t.Errorf("a body that nobody has: %d %s", o.code, o.err)
		}
		return
	}
	has(one, "Stages", "Tool Bash", "Tool Agent")
	sent := map[string]bool{}
	for _, q := range r.api.Requests() {
		sent[string(q.Body)] = true
	}
	for _, label := range []string{"1", "a1.2", "a2.1", "s1"} {
		o := r.must("inspect", id, "--request", label, "--body")
		if body := strings.TrimSuffix(o.out, "\n"); !sent[body] || o.err != "" {
			r.t.Errorf("the body of %s was never sent so: %s\n%.300s", label, o.err, body)
		}
	}
	has(r.must("inspect", id, "--request", "s1").out, "outside the conversation, for: summary", "Call, attempt 1")
	if files, _ := filepath.Glob(filepath.Join(strings.TrimSuffix(r.transcript(), ".jsonl"), "subagents", "*", "trace")); len(files) != 2 {
		r.t.Errorf("traces of sub-agents: %q", files)
	}
}
