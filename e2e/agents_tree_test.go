package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"lathe/internal/fakeapi"
)

// repository makes the rig's directory a repository with its files committed.
func (r *rig) repository() {
	r.t.Helper()
	for _, args := range [][]string{{"init", "-q", "-b", "main"}, {"add", "-A"}, {"-c", "user.name=a", "-c", "user.email=a@b.c", "commit", "-q", "-m", "first"}} {
		if out, err := exec.Command("git", append([]string{"-C", r.dir}, args...)...).CombinedOutput(); err != nil {
			r.t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
}

// gitSays is what git prints in the rig's directory.
func (r *rig) gitSays(args ...string) string {
	r.t.Helper()
	out, err := exec.Command("git", append([]string{"-C", r.dir}, args...)...).CombinedOutput()
	if err != nil {
		r.t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// A sub-agent with a work tree changes files there, whatever paths it writes; the checkout stays as it was, what rules
// forbid there is forbidden in the copy. The tree is kept and named; one in which nothing changed is gone.
func TestAgentWorktree(t *testing.T) {
	t.Parallel()
	var idle atomic.Bool
	var dir atomic.Value
	r := newRig(t, &fakeapi.Script{Func: func(q fakeapi.Request) *fakeapi.Answer {
		a := fakeapi.Text("done")
		switch {
		case isWorker(q) && idle.Load():
		case isWorker(q) && first(q):
			a = answer(fakeapi.Call("Read", map[string]any{"file_path": "a.txt"}), fakeapi.Call("Read", map[string]any{"file_path": "secret.txt"}))
		case isWorker(q) && len(q.ToolResults()) == 2 && !strings.Contains(string(q.Body), "fourth"):
			a = answer(
				fakeapi.Call("Edit", map[string]any{"file_path": "a.txt", "old_string": "one", "new_string": "two"}),
				fakeapi.Call("Write", map[string]any{"file_path": filepath.Join(dir.Load().(string), "out.txt"), "content": "x"}),
				bash("echo fourth > new.txt; pwd"),
			)
		case isWorker(q), !first(q):
		default:
			a = answer(handOver("worker", "change it", "isolation", "worktree", "run_in_background", false))
		}
		return &a
	}})
	dir.Store(r.dir)
	r.file("a.txt", "one\n")
	r.file("secret.txt", "hidden words\n")
	r.repository()
	flags := []string{"-p", "go", "--agents", worker, "--output-format", "stream-json", "--verbose", "--permission-mode", "bypassPermissions", "--disallowedTools", "Read(./secret.txt)"}
	out := r.must(flags...).out
	if r.read(r.dir+"/a.txt") != "one\n" || r.gitSays("status", "--porcelain") != "" {
		t.Errorf("the checkout changed: %s", r.gitSays("status", "--porcelain"))
	}
	trees, _ := filepath.Glob(filepath.Join(r.dir, ".claude", "worktrees", "agent-*"))
	if len(trees) != 1 || r.read(filepath.Join(trees[0], "a.txt")) != "two\n" || r.read(filepath.Join(trees[0], "new.txt")) != "fourth\n" {
		t.Fatalf("trees %v", trees)
	}
	if branch := r.gitSays("-C", trees[0], "branch", "--show-current"); branch != "worktree-"+filepath.Base(trees[0]) || !strings.Contains(out, `"worktreeBranch":"`+branch+`"`) {
		t.Errorf("the branch %q", branch)
	}
	all := ""
	for _, q := range r.api.Requests() {
		all += string(q.Body)
	}
	if strings.Contains(all, "hidden words") || !strings.Contains(all, "works in a work tree of its own") || !strings.Contains(string(r.last().Body), trees[0]) {
		t.Errorf("what was sent: hidden %v, refused %v", strings.Contains(all, "hidden words"), strings.Contains(all, "works in a work tree of its own"))
	}
	if _, err := os.Stat(filepath.Join(r.dir, "out.txt")); err == nil {
		t.Error("it wrote in the checkout")
	}
	idle.Store(true)
	out = r.must(flags...).out
	left, _ := filepath.Glob(filepath.Join(r.dir, ".claude", "worktrees", "agent-*"))
	if len(left) != 1 || strings.Contains(out, "worktreePath") || strings.Contains(r.gitSays("branch"), "agent-") != true {
		t.Errorf("left: %v", left)
	}
	if n := strings.Count(r.gitSays("branch"), "worktree-agent-"); n != 1 {
		t.Errorf("%d branches are left", n)
	}
}

// Outside a repository there is no tree, and the call fails; hooks of the session can make one, and take it away.
func TestAgentWorktreeHooks(t *testing.T) {
	t.Parallel()
	defs := `{"worker":{"description":"does it","prompt":"You are the worker.","isolation":"worktree"}}`
	script := &fakeapi.Script{Func: func(q fakeapi.Request) *fakeapi.Answer {
		a := fakeapi.Text("done")
		switch {
		case isWorker(q) && first(q):
			a = answer(bash("pwd > where.txt; cat where.txt"))
		case isWorker(q), !first(q):
		default:
			a = answer(handOver("worker", "change it", "run_in_background", false))
		}
		return &a
	}}
	r := newRig(t, script)
	r.must("-p", "go", "--agents", defs, "--permission-mode", "bypassPermissions")
	if got := r.last().LastToolResult(); !strings.Contains(got, "in no git repository") {
		t.Errorf("without a repository: %q", got)
	}
	r.file("made/keep", "")
	settings := `{"hooks":{"WorktreeCreate":[{"hooks":[{"type":"command","command":"cat > create.json; echo making; echo \"$PWD/made\""}]}]}}`
	r.must("-p", "go", "--agents", defs, "--permission-mode", "bypassPermissions", "--settings", settings)
	if !strings.Contains(r.read(r.dir+"/create.json"), `"name":"agent-a`) || strings.TrimSpace(r.read(r.dir+"/made/where.txt")) != filepath.Join(r.dir, "made") {
		t.Errorf("the hook was told %s", r.read(r.dir+"/create.json"))
	}
	r.must("-p", "go", "--agents", defs, "--permission-mode", "bypassPermissions", "--settings", `{"hooks":{"WorktreeCreate":[{"hooks":[{"type":"command","command":"echo no >&2; exit 3"}]}]}}`)
	if got := r.last().LastToolResult(); !strings.Contains(got, "WorktreeCreate") {
		t.Errorf("a hook that fails: %q", got)
	}
}

// A sub-agent that goes on works in the tree that it had: one that is gone is made anew where it was.
func TestAgentWorktreeGoesOn(t *testing.T) {
	t.Parallel()
	r := newRig(t, &fakeapi.Script{Func: func(q fakeapi.Request) *fakeapi.Answer {
		a := fakeapi.Text("done")
		switch {
		case isWorker(q) && strings.Contains(q.LastUserText(), "now write"):
			a = answer(bash("echo new > made.txt; pwd"))
		case isWorker(q), isReport(q), strings.Contains(q.LastToolResult(), "goes on with your message"):
		case first(q):
			a = answer(handOver("worker", "look", "isolation", "worktree", "name", "helper", "run_in_background", false))
		default:
			a = answer(sendTo("helper", "now write"))
		}
		return &a
	}})
	r.file("a.txt", "one\n")
	r.repository()
	r.must("-p", "go", "--agents", worker, "--permission-mode", "bypassPermissions")
	trees, _ := filepath.Glob(filepath.Join(r.dir, ".claude", "worktrees", "agent-*"))
	if len(trees) != 1 || r.read(filepath.Join(trees[0], "made.txt")) != "new\n" || r.gitSays("status", "--porcelain") != "" {
		t.Fatalf("trees %v", trees)
	}
	if body := string(r.last().Body); !strings.Contains(body, "which is kept: "+trees[0]) {
		t.Errorf("the model was not told: %s", body)
	}
	r.legal()
}
