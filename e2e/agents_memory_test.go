package e2e

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"lathe/internal/fakeapi"
)

// An agent with a memory is given the head of its index, and writes there without a question; the tools that it has for
// that only work nowhere else. What an untrusted project defines keeps nothing.
func TestAgentMemory(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		scope, dir string
		trust      bool
		works      bool
	}{
		{"user", "home/.lathe/agent-memory/worker", true, true},
		{"project", "dir/.claude/agent-memory/worker", true, true},
		{"local", "dir/.claude/agent-memory-local/worker", true, true},
		{"project", "dir/.claude/agent-memory/worker", false, false},
		{"user", "home/.lathe/agent-memory/worker", false, false},
	} {
		t.Run(c.scope, func(t *testing.T) {
			t.Parallel()
			var notes string
			r := newRig(t, &fakeapi.Script{Func: func(q fakeapi.Request) *fakeapi.Answer {
				var a fakeapi.Answer
				switch {
				case isWorker(q) && first(q):
					write := func(path string) fakeapi.Block {
						return fakeapi.Call("Write", map[string]any{"file_path": path, "content": "x\n"})
					}
					a = answer(write(filepath.Join(notes, "new.md")), write("elsewhere.txt"))
				case isWorker(q):
					a = fakeapi.Text("fine")
				case first(q):
					a = answer(handOver("worker", "look"))
				default:
					a = fakeapi.Text("done")
				}
				return &a
			}})
			base := r.dir
			if rest, ok := strings.CutPrefix(c.dir, "home/"); ok {
				base, notes = r.home, rest
			} else {
				notes = strings.TrimPrefix(c.dir, "dir/")
			}
			notes = filepath.Join(base, notes)
			if err := os.MkdirAll(notes, 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(notes, "MEMORY.md"), []byte("- [Tabs](tabs.md): before you format\n"), 0o644); err != nil {
				t.Fatal(err)
			}
			r.file(".claude/agents/worker.md", "---\nname: worker\ndescription: works\ntools: Grep\nmemory: "+c.scope+"\n---\nYou are the worker.\n")
			args := []string{"-p", "go", "--permission-mode", "acceptEdits"}
			if c.trust {
				args = append(args, "--trust")
			}
			r.must(args...)
			told, tools := false, []string(nil)
			for _, q := range r.api.Requests() {
				if isWorker(q) {
					told = told || strings.Contains(string(q.Body), "before you format")
					tools = q.ToolNames()
				}
			}
			_, err := os.Stat(filepath.Join(notes, "new.md"))
			if told != c.works || (err == nil) != c.works || slices.Contains(tools, "Write") != c.works {
				t.Errorf("told %v, written %v, tools %v; want %v", told, err == nil, tools, c.works)
			}
			if _, err := os.Stat(filepath.Join(r.dir, "elsewhere.txt")); err == nil {
				t.Error("the tool that it has for its memory wrote elsewhere")
			}
			r.legal()
		})
	}
}

// A memory of the project that a link leads out of it is not used.
func TestAgentMemoryStaysInTheProject(t *testing.T) {
	t.Parallel()
	r := newRig(t, &fakeapi.Script{Func: func(q fakeapi.Request) *fakeapi.Answer {
		a := fakeapi.Text("done")
		if !isWorker(q) && first(q) {
			a = answer(handOver("worker", "look"))
		}
		return &a
	}})
	out := t.TempDir()
	if err := os.WriteFile(filepath.Join(out, "MEMORY.md"), []byte("quokka\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	r.file(".claude/agents/worker.md", "---\nname: worker\ndescription: works\nmemory: project\n---\nYou are the worker.\n")
	r.file(".claude/agent-memory/x", "")
	if err := os.Symlink(out, filepath.Join(r.dir, ".claude/agent-memory/worker")); err != nil {
		t.Fatal(err)
	}
	if o := r.run("-p", "go", "--trust"); !strings.Contains(o.err, "a link leads out of the project") {
		t.Errorf("told: %s", o.err)
	}
	for _, q := range r.api.Requests() {
		if strings.Contains(string(q.Body), "quokka") {
			t.Error("a file outside the project was sent")
		}
	}
}
