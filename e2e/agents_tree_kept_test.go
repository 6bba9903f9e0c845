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

// With the sandbox on, commands of a sub-agent with a tree reach the tree, and what git needs of the repository: not the
// checkout, what is checked out elsewhere, settings or hooks, and no file that may not be read.
func TestAgentWorktreeSandbox(t *testing.T) {
	t.Parallel()
	var r *rig
	commands := func() []string {
		bad := func(path string) string { return fmt.Sprintf("echo bad > '%s/%s'", r.dir, path) }
		return []string{
			"echo x > made && git add made && git -c user.name=a -c user.email=a@b.c commit -qm work && git status --short && echo COMMITTED",
			bad("out"), bad("a.txt"), bad(".git/HEAD"), bad(".git/index"), bad(".git/config"), bad(".git/hooks/pre-commit"), bad(".git/worktrees/other/HEAD"),
			"rm -rf .git; git config core.editor evil", "cat secret.txt && echo SHOWN", fmt.Sprintf("cat '%s/secret.txt' && echo SHOWN", r.dir),
		}
	}
	r = newRig(t, &fakeapi.Script{Func: func(q fakeapi.Request) *fakeapi.Answer {
		a := fakeapi.Text("done")
		switch {
		case isWorker(q) && first(q):
			var calls []fakeapi.Block
			for _, c := range commands() {
				calls = append(calls, bash(c))
			}
			a = answer(calls...)
		case !isWorker(q) && first(q):
			a = answer(handOver("worker", "do it", "run_in_background", false))
		}
		return &a
	}})
	r.file("a.txt", "one\n")
	r.file("secret.txt", "x\n")
	r.repository()
	r.gitSays("worktree", "add", "-q", filepath.Join(r.home, "other"))
	kept := map[string]string{}
	for _, f := range []string{"a.txt", ".git/HEAD", ".git/index", ".git/config", ".git/worktrees/other/HEAD"} {
		kept[f] = r.read(filepath.Join(r.dir, f))
	}
	o := r.run("-p", "go", "--agents", apartWorker, "--permission-mode", "bypassPermissions", "--settings",
		`{"sandbox":{"enabled":true,"failIfUnavailable":true},"permissions":{"deny":["Read(./secret.txt)"]}}`)
	if strings.Contains(o.err, "the sandbox is required and not available") {
		t.Skip("SKIPPED: there is no sandbox here: " + o.err)
	}
	if o.code != 0 || len(r.trees()) != 1 {
		t.Fatalf("exit code %d, trees %v\n%s", o.code, r.trees(), o.err)
	}
	var said []string
	for _, q := range r.api.Requests() {
		if isWorker(q) {
			said = nil
			for _, m := range q.Messages() {
				for _, b := range m.Blocks {
					if b.Type == "tool_result" {
						said = append(said, b.Text)
					}
				}
			}
		}
	}
	if len(said) != len(commands()) || !strings.Contains(said[0], "COMMITTED") || strings.Contains(strings.Join(said, "\n"), "SHOWN\n") {
		t.Errorf("the sub-agent was told %q", said)
	}
	if log := r.gitSays("log", "--format=%s", "--all"); !strings.Contains(log, "work") {
		t.Errorf("its commit is not there: %s", log)
	}
	for f, was := range kept {
		if now := r.read(filepath.Join(r.dir, f)); now != was {
			t.Errorf("%s was changed to %q", f, now)
		}
	}
	for _, f := range []string{"out", ".git/hooks/pre-commit"} {
		if _, err := os.Stat(filepath.Join(r.dir, f)); err == nil {
			t.Errorf("%s was made", f)
		}
	}
	if _, err := os.Stat(filepath.Join(r.trees()[0], ".git")); err != nil {
		t.Error(err)
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
