package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"lathe/internal/fakeapi"
)

// An agent file of a project: its tools, its model and its limit apply. It takes a name of the user's only when the
// project is trusted.
func TestAgentFile(t *testing.T) {
	t.Parallel()
	script := func() *fakeapi.Script {
		return &fakeapi.Script{Func: func(q fakeapi.Request) *fakeapi.Answer {
			var a fakeapi.Answer
			switch {
			case isWorker(q):
				a = answer(fakeapi.Block{Text: "so far"}, readFile("a.txt"))
			case first(q):
				a = answer(handOver("worker", "read"))
			default:
				a = fakeapi.Text("done")
			}
			return &a
		}}
	}
	r := newRig(t, script())
	r.file("a.txt", "content\n")
	r.file(".claude/agents/deep/w.md", "---\nname: worker\ndescription: works\ntools: Read, Grep, mcp__x\nmodel: haiku\nmaxTurns: 2\n---\nYou are the worker.\n")
	r.file(".claude/agents/README.md", "# Our agents\n")
	mine := filepath.Join(r.home, ".claude", "agents", "worker.md")
	if err := os.MkdirAll(filepath.Dir(mine), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(mine, []byte("---\nname: worker\ndescription: mine\nmaxTurns: 1\n---\nYou are the worker. Mine.\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	r.must("-p", "go")
	if !slices.ContainsFunc(r.api.Requests(), func(q fakeapi.Request) bool { return strings.Contains(q.SystemText(), "Mine.") }) {
		t.Error("an untrusted project took the name of the user's own agent")
	}
	r.serve(script())
	r.must("-p", "go", "--trust")
	calls := 0
	for _, q := range r.api.Requests() {
		if !isWorker(q) {
			continue
		}
		calls++
		if names := q.ToolNames(); !slices.Equal(names, []string{"Read", "Grep"}) || !strings.Contains(q.Model, "haiku") {
			t.Errorf("the sub-agent's tools %v, model %s", names, q.Model)
		}
	}
	if got := r.last().LastToolResult(); calls != 2 || !strings.Contains(got, "partial") || !strings.Contains(got, "so far") {
		t.Errorf("%d calls; the report: %s", calls, got)
	}
	r.legal()
}

// --agent makes the session itself work by an agent's prompt and tools.
func TestMainAgent(t *testing.T) {
	t.Parallel()
	r := newRig(t, fakeapi.Sequence(fakeapi.Text("done")))
	def := `{"worker":{"description":"does it","prompt":"You are the worker.","tools":["Read","Agent(Explore)"]}}`
	r.must("-p", "go", "--agents", def, "--agent", "worker", "--append-system-prompt", "And be brief.")
	q := r.last()
	if s := q.SystemText(); !strings.Contains(s, "You are the worker.") || strings.Contains(s, "You are Lathe") || !strings.Contains(s, "Working directory") || !strings.Contains(s, "And be brief.") {
		t.Errorf("system prompt: %s", s)
	}
	if names := q.ToolNames(); !slices.Equal(names, []string{"Read", "Agent"}) {
		t.Errorf("tools %v", names)
	}
	if body := string(q.Body); !strings.Contains(body, "- Explore: ") || strings.Contains(body, "- Plan: ") {
		t.Error("the types that it may start are those that it names")
	}
	if o := r.run("-p", "go", "--agent", "nobody"); o.code != 1 || !strings.Contains(o.err, `there is no agent "nobody"; there are: Explore`) {
		t.Errorf("exit code %d: %s", o.code, o.err)
	}
	r.legal()
}

// Whatever a definition wishes for, a sub-agent can do no more than the session could: mode by mode, and under a rule.
func TestAgentRights(t *testing.T) {
	t.Parallel()
	def := func(mode string) string {
		return fmt.Sprintf(`{"worker":{"description":"does it","prompt":"You are the worker.","permissionMode":%q}}`, mode)
	}
	for _, above := range []string{"default", "dontAsk", "plan", "acceptEdits", "bypassPermissions"} {
		for _, wish := range []string{"", "bypassPermissions", "acceptEdits", "plan"} {
			t.Run(above+" "+wish, func(t *testing.T) {
				t.Parallel()
				r := newRig(t, &fakeapi.Script{Func: func(q fakeapi.Request) *fakeapi.Answer {
					write := func(who string) fakeapi.Answer {
						return answer(fakeapi.Call("Write", map[string]any{"file_path": who, "content": "x"}), bash("touch "+who+".cmd"), fakeapi.Call("Write", map[string]any{"file_path": who + ".no", "content": "x"}))
					}
					a := fakeapi.Text("done")
					switch {
					case isWorker(q) && first(q):
						a = write("sub")
					case !isWorker(q) && first(q):
						a = write("own")
					case !isWorker(q) && !strings.Contains(string(q.Body), `"name":"Agent","input"`) && !strings.Contains(string(q.Body), "Report of a sub-agent"):
						a = answer(handOver("worker", "write"))
					}
					return &a
				}})
				r.must("-p", "go", "--agents", def(wish), "--permission-mode", above, "--disallowedTools", "Write(*.no)", "Edit(*.no)")
				for _, ext := range []string{"", ".cmd", ".no"} {
					_, own := os.Stat(filepath.Join(r.dir, "own"+ext))
					_, sub := os.Stat(filepath.Join(r.dir, "sub"+ext))
					if own != nil && sub == nil || ext == ".no" && sub == nil {
						t.Errorf("the sub-agent did what the session could not: sub%s", ext)
					}
					if wish == "" && own == nil && sub != nil {
						t.Errorf("the sub-agent could not do what the session did: sub%s", ext)
					}
				}
				if !slices.ContainsFunc(r.api.Requests(), isWorker) {
					t.Error("no sub-agent ran")
				}
			})
		}
	}
}
