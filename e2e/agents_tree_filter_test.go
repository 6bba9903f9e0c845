package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lathe/internal/fakeapi"
)

// What a folder that nobody trusts has git run in the branches of sub-agents alone is not run: neither when their work tree
// is made or taken away, nor by a git status there, which is asked about.
func TestAgentWorktreeConditions(t *testing.T) {
	t.Parallel()
	r := newRig(t, &fakeapi.Script{Func: func(q fakeapi.Request) *fakeapi.Answer {
		a := fakeapi.Text("done")
		switch {
		case isWorker(q) && first(q):
			a = answer(bash("git status"))
		case isWorker(q), !first(q):
		default:
			a = answer(handOver("worker", "look", "isolation", "worktree", "run_in_background", false))
		}
		return &a
	}})
	r.file("a.txt", "one\n")
	r.file(".gitattributes", "*.txt filter=f\n")
	r.repository()
	marker := filepath.Join(t.TempDir(), "ran")
	evil := "touch '" + marker + "'; cat"
	r.file(".git/more", "[filter \"f\"]\n\tsmudge = \""+evil+"\"\n\tclean = \""+evil+"\"\n\trequired\n[core]\n\tfsmonitor = \"touch '"+marker+"'\"\n")
	r.gitSays("config", "includeIf.onbranch:worktree-agent-*.path", "more")
	r.must("-p", "go", "--agents", worker)
	if _, err := os.Stat(marker); err == nil {
		t.Error("a program of the repository ran")
	}
	told := ""
	for _, q := range r.api.Requests() {
		told += string(q.Body)
	}
	if !strings.Contains(told, "not trusted") {
		t.Errorf("git status was not refused: %s", told)
	}
	if list := r.gitSays("worktree", "list"); strings.Contains(list, "agent-") {
		t.Errorf("a tree is left: %s", list)
	}
}
