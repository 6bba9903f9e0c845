package e2e

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"lathe/internal/fakeapi"
)

// A server that a definition brings along is there for its agent only, under the rules and with trust.
func TestAgentOwnServers(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		args  []string
		works bool
	}{
		{"trusted", []string{"--trust"}, true},
		{"not trusted", nil, false},
		{"only those of the command line", []string{"--trust", "--strict-mcp-config"}, false},
		{"a rule forbids it", []string{"--trust", "--disallowedTools", "mcp__notes"}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, &fakeapi.Script{Func: func(q fakeapi.Request) *fakeapi.Answer {
				var a fakeapi.Answer
				switch {
				case isWorker(q) && first(q):
					a = answer(useTool("mcp__notes__echo", map[string]any{"text": "hi"}))
				case isWorker(q):
					a = fakeapi.Text("fine")
				case first(q):
					a = answer(handOver("worker", "look"))
				default:
					a = fakeapi.Text("done")
				}
				return &a
			}})
			r.file(".claude/agents/worker.md", fmt.Sprintf("---\nname: worker\ndescription: works\nmcpServers:\n  - notes:\n      command: %q\n---\nYou are the worker.\n", serverPath(t)))
			r.must(append([]string{"-p", "go", "--allowedTools", "mcp__notes"}, c.args...)...)
			has, echoed := false, false
			for _, q := range r.api.Requests() {
				if !isWorker(q) {
					if slices.Contains(toolNames(t, q), "mcp__notes__echo") {
						t.Error("the session itself has the tools of the agent's server")
					}
					continue
				}
				has = has || slices.Contains(toolNames(t, q), "mcp__notes__echo")
				echoed = echoed || strings.Contains(q.LastToolResult(), "echo: hi")
			}
			if has != c.works || echoed != c.works {
				t.Errorf("it has the tool: %v, and called it: %v", has, echoed)
			}
			r.legal()
		})
	}
}

// A server of a definition takes no name by which a rule, or the session, means another one.
func TestAgentOwnServersTakeNoNames(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"notes__more", "notes_", "my notes"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, &fakeapi.Script{Func: func(q fakeapi.Request) *fakeapi.Answer {
				a := fakeapi.Text("done")
				if !isWorker(q) && first(q) {
					a = answer(handOver("worker", "look"))
				}
				return &a
			}})
			r.file(".claude/agents/worker.md", fmt.Sprintf("---\nname: worker\ndescription: works\nmcpServers:\n  - %q:\n      command: %q\n---\nYou are the worker.\n", name, serverPath(t)))
			r.must("-p", "go", "--trust", "--mcp-config", fmt.Sprintf(`{"mcpServers":{"my_notes":{"command":%q}}}`, serverPath(t)))
			for _, q := range r.api.Requests() {
				for _, tool := range toolNames(t, q) {
					if isWorker(q) && strings.HasPrefix(tool, "mcp__") && !strings.HasPrefix(tool, "mcp__my_notes__") {
						t.Errorf("the worker has %s", tool)
					}
				}
			}
		})
	}
}
