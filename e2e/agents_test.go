package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"lathe/internal/fakeapi"
)

// handOver is a call of the tool Agent.
func handOver(kind, prompt string, more ...any) fakeapi.Block {
	in := map[string]any{"description": "a task", "prompt": prompt, "subagent_type": kind}
	for i := 0; i+1 < len(more); i += 2 {
		in[more[i].(string)] = more[i+1]
	}
	return fakeapi.Call("Agent", in)
}

// worker defines an agent whose requests a script knows by its system prompt.
const worker = `{"worker":{"description":"does it","prompt":"You are the worker."}}`

func isWorker(r fakeapi.Request) bool { return strings.Contains(r.SystemText(), "You are the worker.") }

// first reports whether a request is the first of its conversation.
func first(r fakeapi.Request) bool { return r.LastToolResult() == "" }

// Questions of a sub-agent reach the host with its id; its calls are shown below the Agent call, and denials are its own.
func TestAgentAsksTheHost(t *testing.T) {
	t.Parallel()
	r := newRig(t, &fakeapi.Script{Func: func(q fakeapi.Request) *fakeapi.Answer {
		var a fakeapi.Answer
		switch {
		case isWorker(q) && first(q):
			a = answer(bash("touch made"))
		case isWorker(q):
			a = fakeapi.Text("made it")
		case first(q):
			a = answer(handOver("worker", "make it", "run_in_background", false))
		default:
			a = fakeapi.Text("all done")
		}
		return &a
	}})
	h := r.host(t, "--permission-prompt-tool=stdio", "--agents", worker)
	h.user("go")
	id, q := h.asked()
	if q["agent_id"] == nil || q["tool_name"] != "Bash" {
		t.Errorf("the question: %v", q)
	}
	h.reply(id, `{"behavior":"allow"}`)
	if res := h.typed("result"); res["result"] != "all done" {
		t.Errorf("result %v", res)
	}
	if code := h.end(); code != 0 {
		t.Errorf("exit code %d\n%s", code, h.errs)
	}
	if _, err := os.Stat(filepath.Join(r.dir, "made")); err != nil {
		t.Error(err)
	}
	call, inside := "", 0
	for _, m := range h.all {
		if m["type"] == "assistant" && m["parent_tool_use_id"] == nil {
			for _, b := range at(m, "message.content").([]any) {
				if b.(map[string]any)["name"] == "Agent" {
					call = b.(map[string]any)["id"].(string)
				}
			}
		}
		if p := m["parent_tool_use_id"]; p != nil {
			if inside++; p != call || m["agent_id"] != q["agent_id"] || m["subagent_type"] != "worker" {
				t.Errorf("a line of the sub-agent: %v", m)
			}
		}
	}
	if inside != 2 {
		t.Errorf("%d lines of the sub-agent, want its call and the result", inside)
	}
	r.legal()
}

// Several sub-agents of one answer run at the same time: each request is held until all have come. Their cost counts
// with the session's, by the model that each used.
func TestAgentsSideBySide(t *testing.T) {
	t.Parallel()
	var all sync.WaitGroup
	all.Add(3)
	r := newRig(t, &fakeapi.Script{Func: func(q fakeapi.Request) *fakeapi.Answer {
		var a fakeapi.Answer
		switch {
		case isWorker(q):
			all.Done()
			all.Wait()
			_, task, _ := strings.Cut(q.LastUserText(), "task ")
			a = fakeapi.Text("report of task " + task)
		case first(q):
			a = answer(handOver("worker", "task one"), handOver("worker", "task two", "model", "haiku"), handOver("worker", "task three"))
		default:
			a = fakeapi.Text("done")
		}
		return &a
	}})
	o := r.must("-p", "go", "--agents", worker, "--output-format", "json")
	res := resultOf(t, o.out)
	usage := res["modelUsage"].(map[string]any)
	sum, input := 0.0, 0.0
	for _, u := range usage {
		sum += u.(map[string]any)["costUSD"].(float64)
		input += u.(map[string]any)["inputTokens"].(float64) + u.(map[string]any)["cacheCreationInputTokens"].(float64) + u.(map[string]any)["cacheReadInputTokens"].(float64)
	}
	if total := res["total_cost_usd"].(float64); len(usage) != 2 || sum < total-1e-9 || sum > total+1e-9 || total <= 0 {
		t.Errorf("cost %v, by model %v", total, usage)
	}
	sent := 0
	for _, q := range r.api.Requests() {
		sent += q.Usage.Prompt()
	}
	if int(input) != sent {
		t.Errorf("%v input tokens are counted, %d were used", input, sent)
	}
	last := r.last()
	for _, want := range []string{"report of task one", "report of task two", "report of task three"} {
		if !strings.Contains(string(last.Body), want) {
			t.Errorf("the last request does not hold %q", want)
		}
	}
	r.legal()
}

// Two processes that do the same send the same requests, sub-agents included.
func TestAgentRequestsAreTheSame(t *testing.T) {
	t.Parallel()
	var bodies [2][]string
	dir, home := "", ""
	for i := range bodies {
		r := newRig(t, &fakeapi.Script{Func: func(q fakeapi.Request) *fakeapi.Answer {
			var a fakeapi.Answer
			switch {
			case isWorker(q) && first(q):
				a = answer(fakeapi.Block{Tool: "Read", ID: "toolu_read", Input: json.RawMessage(`{"file_path":"a.txt"}`)})
			case isWorker(q):
				a = fakeapi.Text("it says so")
			case first(q):
				call := handOver("worker", "read a.txt")
				call.ID = "toolu_agent"
				a = answer(call)
			default:
				a = fakeapi.Text("done")
			}
			return &a
		}})
		if dir == "" {
			dir, home = r.dir, r.home
		}
		r.dir, r.home = dir, home
		r.file("a.txt", "content\n")
		r.must("-p", "go", "--agents", worker)
		for _, q := range r.api.Requests() {
			var body map[string]json.RawMessage
			if err := json.Unmarshal(q.Body, &body); err != nil {
				t.Fatal(err)
			}
			delete(body, "metadata") // names the session
			b, err := json.Marshal(body)
			if err != nil {
				t.Fatal(err)
			}
			bodies[i] = append(bodies[i], string(b))
		}
		r.legal()
	}
	if !slices.Equal(bodies[0], bodies[1]) {
		for i := range bodies[0] {
			if i < len(bodies[1]) && bodies[0][i] != bodies[1][i] {
				t.Errorf("request %d differs: %s", i+1, cmp.Diff(bodies[0][i], bodies[1][i]))
			}
		}
		t.Errorf("%d and %d requests", len(bodies[0]), len(bodies[1]))
	}
}

// A process that is killed while a sub-agent works leaves a session that goes on.
func TestKilledDuringAgent(t *testing.T) {
	t.Parallel()
	hang := make(chan struct{})
	r := newRig(t, &fakeapi.Script{Func: func(q fakeapi.Request) *fakeapi.Answer {
		var a fakeapi.Answer
		switch {
		case isWorker(q) && first(q):
			a = fakeapi.Answer{Blocks: []fakeapi.Block{readFile("a.txt")}, Usage: map[string]int{"output_tokens": 7000}}
		case isWorker(q):
			<-hang
		default:
			a = answer(handOver("worker", "read a.txt"))
		}
		return &a
	}})
	t.Cleanup(func() { close(hang) }) // before the fake waits for its answers
	r.file("a.txt", "content\n")
	p := r.start("-p", "go", "--agents", worker)
	r.until("the sub-agent's second request", func(all []fakeapi.Request) bool { return len(all) == 3 })
	_ = p.cmd.Process.Kill()
	p.wait()
	sub, err := filepath.Glob(filepath.Join(r.home, ".lathe", "projects", "*", "*", "subagents", "agent-*.jsonl"))
	if err != nil || len(sub) != 1 {
		t.Fatalf("transcripts of sub-agents: %v, %v", sub, err)
	}
	for _, want := range []string{`"isSidechain":true`, `"agentId":"a`, `content`} {
		if !strings.Contains(r.read(sub[0]), want) {
			t.Errorf("its transcript does not hold %s", want)
		}
	}
	for range 2 { // what it had cost is counted, and counted once
		r.goesOn("go", "read a.txt")
		o := r.must("-p", "how much", "-c", "--output-format", "json")
		var res struct {
			ModelUsage map[string]struct{ OutputTokens int } `json:"modelUsage"`
		}
		if err := json.Unmarshal([]byte(o.out), &res); err != nil {
			t.Fatal(err)
		}
		n := 0
		for _, m := range res.ModelUsage {
			n += m.OutputTokens
		}
		if n < 7000 || n >= 14000 {
			t.Errorf("%d output tokens are counted; the sub-agent's answer had 7000", n)
		}
	}
}
