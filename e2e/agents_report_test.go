package e2e

import (
	"encoding/json"
	"strings"
	"testing"

	"lathe/internal/fakeapi"
)

// What a sub-agent that fails has said last is its report, marked as partial; where it has said nothing, the call has failed.
func TestAgentReportsOfFailures(t *testing.T) {
	t.Parallel()
	look := fakeapi.Call("Glob", map[string]any{"pattern": "*"})
	broken := fakeapi.Answer{Faults: []fakeapi.Fault{{Kind: "status", Status: 400, Type: "invalid_request_error", Message: "no such thing"}}}
	for name, c := range map[string]struct {
		steps   []fakeapi.Answer
		tools   string
		want    []string
		without string
	}{
		"midway": {
			[]fakeapi.Answer{answer(fakeapi.Block{Text: "FIRST words"}, look), answer(fakeapi.Block{Text: "THEN these"}, look), broken},
			`["Glob"]`,
			[]string{"false", "terminated early", "no such thing", "THEN these"},
			"FIRST words",
		},
		"at once":    {[]fakeapi.Answer{broken}, `["Glob"]`, []string{"true", "terminated early", "no such thing"}, "\x00"},
		"no tool":    {nil, `["Nothing"]`, []string{"true", "would have no tool: none of Nothing is offered here"}, "\x00"},
		"ended well": {[]fakeapi.Answer{answer(fakeapi.Block{Text: "FIRST words"}, look), fakeapi.Text("THEN these")}, `["Glob"]`, []string{"false", "THEN these"}, "FIRST words"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := 0
			r := newRig(t, &fakeapi.Script{Func: func(q fakeapi.Request) *fakeapi.Answer {
				a := fakeapi.Text("done")
				switch {
				case isWorker(q):
					a = c.steps[n]
					n++
				case first(q):
					a = answer(handOver("worker", "look", "run_in_background", false))
				}
				return &a
			}})
			r.must("-p", "go", "--agents", `{"worker":{"description":"does it","prompt":"You are the worker.","tools":`+c.tools+`}}`)
			results := r.last().ToolResults()
			if len(results) != 1 {
				t.Fatalf("%d results", len(results))
			}
			got, _ := json.Marshal(results[0])
			text := r.last().LastToolResult()
			for _, want := range c.want[1:] {
				if !strings.Contains(text, want) {
					t.Errorf("the report lacks %q: %s", want, text)
				}
			}
			if strings.Contains(text, c.without) || strings.Contains(string(got), `"is_error":true`) != (c.want[0] == "true") {
				t.Errorf("the report: %s", got)
			}
		})
	}
}

// The model of a sub-agent: that of its definition, the session's for "inherit", and the variable's before both where that is forced.
func TestAgentModel(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		def  string
		env  []string
		want string
	}{
		{"claude-haiku-4-5", nil, "claude-haiku-4-5"},
		{"inherit", nil, "claude-opus-5-5"},
		{"opus", nil, "claude-opus-5-5"},
		{"claude-haiku-4-5", []string{"CLAUDE_CODE_SUBAGENT_MODEL=claude-sonnet-5-5"}, "claude-haiku-4-5"},
		{"claude-haiku-4-5", []string{"CLAUDE_CODE_SUBAGENT_MODEL=claude-sonnet-5-5", "CLAUDE_CODE_SUBAGENT_MODEL_FORCE=1"}, "claude-sonnet-5-5"},
		{"", []string{"CLAUDE_CODE_SUBAGENT_MODEL=claude-sonnet-5-5"}, "claude-sonnet-5-5"},
		{"", []string{"CLAUDE_CODE_SUBAGENT_MODEL=inherit"}, "claude-opus-5-5"},
	} {
		r := newRig(t, &fakeapi.Script{Func: func(q fakeapi.Request) *fakeapi.Answer {
			a := fakeapi.Text("done")
			if !isWorker(q) && first(q) {
				a = answer(handOver("worker", "look", "run_in_background", false))
			}
			return &a
		}})
		r.env = append(r.env, c.env...)
		r.must("-p", "go", "--model", "claude-opus-5-5", "--agents", `{"worker":{"description":"does it","prompt":"You are the worker.","model":"`+c.def+`"}}`)
		for _, q := range r.api.Requests() {
			if isWorker(q) && q.Model != c.want {
				t.Errorf("%+v: %s", c, q.Model)
			}
		}
	}
}

// A report names the id of a sub-agent that takes messages afterwards; one that answers once has none.
func TestAgentReportsAndIDs(t *testing.T) {
	t.Parallel()
	for kind, want := range map[string]bool{"worker": true, "Explore": false} {
		r := newRig(t, &fakeapi.Script{Func: func(q fakeapi.Request) *fakeapi.Answer {
			a := fakeapi.Text("found")
			if !isWorker(q) && !strings.Contains(q.SystemText(), "You are a sub-agent of Lathe") && first(q) {
				a = answer(handOver(kind, "look", "run_in_background", false))
			}
			return &a
		}})
		r.must("-p", "go", "--agents", worker)
		text := r.last().LastToolResult()
		if !strings.Contains(text, "found") || strings.Contains(text, kind+", id a") != want {
			t.Errorf("%s: %s", kind, text)
		}
	}
}
