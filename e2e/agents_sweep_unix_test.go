//go:build unix

package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lathe/internal/fakeapi"
)

// The work tree of a sub-agent whose program was killed is swept at a later start: not while the program runs, and never
// when something has come of it.
func TestAgentWorktreeSwept(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		command string
		left    int
	}{
		"clean":           {"true", 0},
		"a new file":      {"echo x > new.txt", 1},
		"an ignored file": {"echo x > a.out", 1},
		"a changed file":  {"echo x > a.txt", 1},
		"a commit":        {"git -c user.name=a -c user.email=a@b.c commit -q --allow-empty -m work", 1},
		"a commit alone":  {"git -c user.name=a -c user.email=a@b.c commit -q --allow-empty -m work && git checkout -q --detach HEAD~", 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var r *rig
			r = newRig(t, &fakeapi.Script{Func: func(q fakeapi.Request) *fakeapi.Answer {
				a := fakeapi.Text("done")
				switch {
				case isWorker(q) && first(q):
					a = answer(bash(c.command + " && touch '" + r.home + "/began' && until [ -e '" + r.home + "/stop' ]; do sleep 0.02; done"))
				case !isWorker(q) && first(q) && strings.Contains(q.LastUserText(), "hand it over"):
					a = answer(handOver("worker", "do it", "run_in_background", false))
				}
				return &a
			}})
			r.file("a.txt", "one\n")
			r.file(".gitignore", "*.out\n")
			r.repository()
			r.file("loose.txt", "not committed\n")
			args := []string{"--agents", apartWorker, "--permission-mode", "bypassPermissions"}
			p := r.start(append([]string{"-p", "hand it over"}, args...)...)
			r.appears("../home/began")
			r.must(append([]string{"-p", "look"}, args...)...)
			if len(r.trees()) != 1 {
				t.Fatalf("while it runs there are %v", r.trees())
			}
			if err := p.cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			p.wait()
			if err := os.WriteFile(filepath.Join(r.home, "stop"), nil, 0o600); err != nil {
				t.Fatal(err)
			}
			for range 2 {
				r.must(append([]string{"-p", "look"}, args...)...)
				if n := strings.Count(r.gitSays("branch"), "worktree-agent-"); len(r.trees()) != c.left || n != c.left {
					t.Errorf("trees %v, %d branches; want %d", r.trees(), n, c.left)
				}
			}
			if notes, _ := filepath.Glob(filepath.Join(r.dir, ".claude", "worktrees", ".agent-*")); len(notes) != c.left {
				t.Errorf("notes %v", notes)
			}
			if r.read(filepath.Join(r.dir, "loose.txt")) == "" {
				t.Error("a file of the checkout went")
			}
		})
	}
}
