package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"lathe/internal/fakeapi"
)

const apartWorker = `{"worker":{"description":"does it","prompt":"You are the worker.","isolation":"worktree"}}`

// trees are the work trees that are there.
func (r *rig) trees() []string {
	found, _ := filepath.Glob(filepath.Join(r.dir, ".claude", "worktrees", "agent-*"))
	return found
}

// oneCall is a script in which a sub-agent with a work tree makes one call.
func oneCall(call fakeapi.Block) *fakeapi.Script {
	return &fakeapi.Script{Func: func(q fakeapi.Request) *fakeapi.Answer {
		a := fakeapi.Text("done")
		switch {
		case isWorker(q) && first(q):
			a = answer(call)
		case !isWorker(q) && first(q):
			a = answer(handOver("worker", "do it", "run_in_background", false))
		}
		return &a
	}}
}

// Nothing that a sub-agent leaves in its tree, or on its branch, goes with it.
func TestAgentWorktreeKept(t *testing.T) {
	t.Parallel()
	for name, command := range map[string]string{
		"untracked files that git does not show": "git config status.showUntrackedFiles no; echo x > new.txt",
		"an ignored file":                        "echo x > a.out",
		"a commit, and a checkout of the base":   "git -c user.name=a -c user.email=a@b.c commit -q --allow-empty -m work && git checkout -q --detach HEAD~",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, oneCall(bash(command)))
			r.file("a.txt", "one\n")
			r.file(".gitignore", "*.out\n")
			r.repository()
			r.must("-p", "go", "--agents", apartWorker, "--permission-mode", "bypassPermissions")
			if n := strings.Count(r.gitSays("branch"), "worktree-agent-"); len(r.trees()) != 1 || n != 1 || !strings.Contains(r.last().LastToolResult(), "which is kept") {
				t.Errorf("trees %v, %d branches; the model was told: %s", r.trees(), n, r.last().LastToolResult())
			}
		})
	}
}

// With the sandbox on a sub-agent gets no tree: the limits of commands would be those of the session's folders.
func TestAgentWorktreeSandbox(t *testing.T) {
	t.Parallel()
	r := newRig(t, oneCall(bash("echo x > new.txt")))
	r.file("a.txt", "one\n")
	r.repository()
	r.must("-p", "go", "--agents", apartWorker, "--permission-mode", "bypassPermissions", "--settings", `{"sandbox":{"enabled":true}}`)
	if got := r.last().LastToolResult(); len(r.trees()) != 0 || !strings.Contains(got, "while the sandbox is on") {
		t.Errorf("trees %v; %s", r.trees(), got)
	}
	for _, q := range r.api.Requests() {
		if strings.Contains(string(q.Body), "it works in a git work tree of its own") || isWorker(q) {
			t.Error("isolation is offered, or the sub-agent ran")
		}
	}
}

// A tree that is gone is made again when a message reaches its sub-agent: by git, which knows of the old one still, or by
// the hook that made it.
func TestAgentWorktreeAgain(t *testing.T) {
	t.Parallel()
	hooks := `{"hooks":{"WorktreeCreate":[{"hooks":[{"type":"command","command":"echo x >> creates; mkdir made; echo \"$PWD/made\""}]}]}}`
	for name, settings := range map[string]string{"git": "{}", "hook": hooks} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var r *rig
			r = newRig(t, &fakeapi.Script{Func: func(q fakeapi.Request) *fakeapi.Answer {
				a := fakeapi.Text("done")
				switch {
				case isWorker(q) && strings.Contains(q.LastUserText(), "now write"):
					a = answer(bash("echo new > made.txt"))
				case isWorker(q) && first(q):
					a = answer(bash("echo old > old.txt"))
				case isWorker(q), isReport(q), strings.Contains(q.LastToolResult(), "goes on with your message"):
				case first(q):
					a = answer(handOver("worker", "look", "name", "helper", "run_in_background", false))
				case strings.Contains(q.LastToolResult(), "Sub-agent") || strings.Contains(q.LastToolResult(), "which is kept"):
					for _, dir := range append(r.trees(), filepath.Join(r.dir, "made")) {
						_ = os.RemoveAll(dir)
					}
					a = answer(sendTo("helper", "now write"))
				}
				return &a
			}})
			r.file("a.txt", "one\n")
			r.repository()
			r.must("-p", "go", "--agents", apartWorker, "--permission-mode", "bypassPermissions", "--settings", settings)
			dirs := r.trees()
			if name == "hook" {
				dirs = []string{filepath.Join(r.dir, "made")}
			}
			if len(dirs) != 1 {
				t.Fatalf("trees %v; %s", dirs, r.last().LastToolResult())
			}
			if _, err := os.Stat(filepath.Join(dirs[0], "old.txt")); err == nil {
				t.Error("the old tree was not taken away")
			}
			if got := r.read(filepath.Join(dirs[0], "made.txt")); got != "new\n" {
				t.Errorf("made.txt: %q", got)
			}
		})
	}
}

// Shell lines of skills are no way round what the rules say of the checkout.
func TestAgentWorktreeSkillLine(t *testing.T) {
	t.Parallel()
	r := newRig(t, oneCall(fakeapi.Call("Skill", map[string]any{"skill": "peek"})))
	r.file("secret.txt", "hidden words\n")
	r.repository()
	dir := filepath.Join(r.home, ".claude", "skills", "peek")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	text := fmt.Sprintf("---\nname: peek\ndescription: peeks\nallowed-tools: Bash(cat *)\n---\nIt says !`cat %s`\n", filepath.Join(r.dir, "secret.txt"))
	if err := os.WriteFile(filepath.Join(dir, "SKILL.md"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	r.must("-p", "go", "--agents", apartWorker, "--permission-mode", "bypassPermissions", "--disallowedTools", "Read(./secret.txt)")
	refused := false
	for _, q := range r.api.Requests() {
		if strings.Contains(string(q.Body), "hidden words") {
			t.Error("the line ran")
		}
		refused = refused || strings.Contains(q.LastToolResult(), "permission check failed")
	}
	if !refused {
		t.Error("nothing was refused")
	}
}

// An interrupt tells where the tree of a sub-agent is kept that had begun to work.
func TestAgentWorktreeInterrupted(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("SKIPPED: there is no interrupt to send")
	}
	r := newRig(t, oneCall(bash("echo x > new.txt; sleep 600")))
	r.file("a.txt", "one\n")
	r.repository()
	p := r.start("-p", "go", "--agents", apartWorker, "--permission-mode", "bypassPermissions")
	limit := time.Now().Add(patience)
	for {
		if found, _ := filepath.Glob(filepath.Join(r.dir, ".claude", "worktrees", "agent-*", "new.txt")); len(found) == 1 {
			break
		}
		if time.Now().After(limit) {
			t.Fatal("the command does not run")
		}
		time.Sleep(5 * time.Millisecond)
	}
	_ = p.cmd.Process.Signal(os.Interrupt)
	if o := p.wait(); len(r.trees()) != 1 || !strings.Contains(o.err, "which is kept: "+r.trees()[0]) {
		t.Errorf("trees %v; %s", r.trees(), o.err)
	}
}
