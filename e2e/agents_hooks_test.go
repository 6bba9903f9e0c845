package e2e

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"lathe/internal/fakeapi"
)

// Hooks of a definition are active while its agent runs, Stop as SubagentStop; those of an untrusted project never run.
func TestAgentOwnHooks(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name     string
		args     []string
		settings string
		runs     bool
	}{
		{name: "trusted", args: []string{"--trust"}, runs: true},
		{name: "beside those of the session", args: []string{"--trust", "--settings", `{"hooks":{"PreToolUse":[{"hooks":[{"type":"command","command":"true"}]}]}}`}, runs: true},
		{name: "not trusted"},
		{name: "switched off", args: []string{"--trust", "--settings", `{"disableAllHooks":true}`}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, &fakeapi.Script{Func: func(q fakeapi.Request) *fakeapi.Answer {
				var a fakeapi.Answer
				switch {
				case isWorker(q) && first(q):
					a = answer(readFile("a.txt"), readFile("secret.txt"))
				case isWorker(q):
					a = fakeapi.Text("fine")
				case first(q):
					a = answer(readFile("secret.txt"))
				case !strings.Contains(string(q.Body), "Report of a sub-agent"):
					a = answer(handOver("worker", "read"))
				default:
					a = fakeapi.Text("done")
				}
				return &a
			}})
			r.file("a.txt", "content\n")
			r.file("secret.txt", "kangaroo\n")
			r.file(".claude/agents/worker.md", `---
name: worker
description: works
hooks:
  PreToolUse:
    - matcher: Read
      hooks:
        - type: command
          command: "if grep -q secret.txt; then echo not that one >&2; exit 2; fi"
  Stop:
    - hooks:
        - type: command
          command: "cat >> stop.log; echo >> stop.log"
---
You are the worker.
`)
			r.must(append([]string{"-p", "go"}, c.args...)...)
			seen, own := false, false
			for _, q := range r.api.Requests() {
				if isWorker(q) {
					seen = seen || strings.Contains(string(q.Body), "kangaroo")
				} else {
					own = own || strings.Contains(string(q.Body), "kangaroo")
				}
			}
			if !own {
				t.Error("a hook of the agent ran for the session itself")
			}
			log, _ := filepath.Glob(filepath.Join(r.dir, "stop.log"))
			if seen == c.runs || (len(log) == 1) != c.runs {
				t.Errorf("read %v, stop hook ran %v", seen, len(log) == 1)
			}
			if c.runs {
				if text := r.read(log[0]); strings.Count(text, `"hook_event_name":"SubagentStop"`) != 1 || !strings.Contains(text, `"agent_type":"worker"`) {
					t.Errorf("the stop hook: %s", text)
				}
			}
			r.legal()
		})
	}
}

// The initial prompt of the agent that a session works by stands before its first prompt, and only that.
func TestInitialPrompt(t *testing.T) {
	t.Parallel()
	r := newRig(t, fakeapi.Sequence(fakeapi.Text("one"), fakeapi.Text("two"), fakeapi.Text("three")))
	def := `{"worker":{"description":"does it","prompt":"You are the worker.","initialPrompt":"Look around first."}}`
	r.must("-p", "then go", "--agents", def, "--agent", "worker")
	if got := r.last().LastUserText(); !strings.Contains(got, "\nLook around first.\n\nthen go\n") {
		t.Errorf("the first prompt: %q", got)
	}
	r.must("-p", "go on", "-c", "--agents", def, "--agent", "worker")
	if got := r.last().LastUserText(); !strings.Contains(got, "go on") || strings.Contains(got, "Look around") {
		t.Errorf("the second prompt: %q", got)
	}
	r.must("-p", "--agents", def, "--agent", "worker")
	if got := r.last().LastUserText(); !strings.Contains(got, "\nLook around first.\n") {
		t.Errorf("no prompt: %q", got)
	}
}

// Hooks see which sub-agent a call belongs to, its start and its end; what the start's hook says is told to it.
func TestAgentHooks(t *testing.T) {
	t.Parallel()
	r := newRig(t, &fakeapi.Script{Func: func(q fakeapi.Request) *fakeapi.Answer {
		var a fakeapi.Answer
		switch {
		case isWorker(q) && first(q):
			a = answer(readFile("a.txt"))
		case isWorker(q):
			a = fakeapi.Text("fine")
		case first(q):
			a = answer(handOver("worker", "read"))
		default:
			a = fakeapi.Text("done")
		}
		return &a
	}})
	r.file("a.txt", "content\n")
	hook := func(event, say string) string {
		return fmt.Sprintf(`%q:[{"hooks":[{"type":"command","command":"cat >> %s.log; echo >> %s.log; %s"}]}]`, event, event, event, say)
	}
	settings := "{\"hooks\":{" + strings.Join([]string{
		hook("SubagentStart", `echo '{\"hookSpecificOutput\":{\"hookEventName\":\"SubagentStart\",\"additionalContext\":\"mind the gap\"}}'`),
		hook("SubagentStop", "true"), hook("PreToolUse", "true"), hook("Stop", "true"), hook("UserPromptSubmit", "true"),
	}, ",") + "}}"
	r.must("-p", "go", "--agents", worker, "--settings", settings)
	for event, want := range map[string]int{"SubagentStart": 1, "SubagentStop": 1, "PreToolUse": 2, "Stop": 1, "UserPromptSubmit": 1} {
		if n := strings.Count(r.read(filepath.Join(r.dir, event+".log")), `"hook_event_name"`); n != want {
			t.Errorf("%s was fired %d times, want %d", event, n, want)
		}
	}
	for event, want := range map[string]string{"SubagentStart": `"agent_type":"worker"`, "SubagentStop": `"last_assistant_message":"fine"`, "PreToolUse": `"agent_id":"a`} {
		if text := r.read(filepath.Join(r.dir, event+".log")); !strings.Contains(text, want) {
			t.Errorf("%s: %s", event, text)
		}
	}
	told := false
	for _, q := range r.api.Requests() {
		told = told || isWorker(q) && strings.Contains(string(q.Body), "mind the gap")
	}
	if !told {
		t.Error("the sub-agent was not told what the hook of its start said")
	}
	r.legal()
}
