package git_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"lathe/internal/git"
)

// nest is a repository that holds others, with a program that leaves a mark when it is run.
type nest struct {
	t            *testing.T
	root         string
	marker, evil string
}

func newNest(t *testing.T) *nest {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("SKIPPED: needs git")
	}
	for _, k := range []string{"GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM"} {
		t.Setenv(k, os.DevNull)
	}
	away := t.TempDir()
	n := &nest{t: t, root: filepath.Join(t.TempDir(), "proj"), marker: filepath.Join(away, "ran"), evil: filepath.Join(away, "evil")}
	if err := os.MkdirAll(n.root, 0o755); err != nil {
		t.Fatal(err)
	}
	n.write(n.evil, "#!/bin/sh\ntouch '"+n.marker+"'\ncat\n")
	n.git("", "init", "-q", "-b", "main")
	n.write(filepath.Join(n.root, "top.txt"), "top\n")
	n.commit("")
	return n
}

// git runs git as a user's command would, without our options.
func (n *nest) git(dir string, args ...string) string {
	n.t.Helper()
	cmd := exec.Command("git", append([]string{"-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"}, args...)...)
	cmd.Dir = filepath.Join(n.root, dir)
	out, err := cmd.CombinedOutput()
	if err != nil {
		n.t.Fatalf("git %v in %q: %v\n%s", args, dir, err, out)
	}
	return string(out)
}

func (n *nest) write(name, text string) {
	n.t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		n.t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o755); err != nil {
		n.t.Fatal(err)
	}
}

func (n *nest) commit(dir string) {
	n.t.Helper()
	n.git(dir, "-c", "advice.addEmbeddedRepo=false", "add", "-A")
	n.git(dir, "commit", "-qm", "a commit")
}

// sub makes a repository below another, with a filter on its text files and one of them changed.
func (n *nest) sub(above, name string) {
	n.t.Helper()
	dir := filepath.Join(above, name)
	n.git(above, "init", "-q", "-b", "main", name)
	n.write(filepath.Join(n.root, dir, "a.txt"), "one\n")
	n.write(filepath.Join(n.root, dir, ".gitattributes"), "*.txt filter=f\n")
	n.commit(dir)
}

func (n *nest) ran() bool {
	_, err := os.Stat(n.marker)
	return err == nil && os.Remove(n.marker) == nil
}

// What a repository inside another names is found, wherever its folder lies; each of the cases has git run the program.
func TestRunsOfNested(t *testing.T) {
	for _, c := range []struct {
		name string
		arm  func(n *nest)
		want string
	}{
		{"harmless", func(n *nest) { n.commit("") }, ""},
		{"fsmonitor", func(n *nest) {
			n.commit("")
			n.git("sub", "config", "core.fsmonitor", n.evil)
		}, "core.fsmonitor of a submodule"},
		{"filter", func(n *nest) {
			n.commit("")
			n.git("sub", "config", "filter.f.clean", n.evil)
			n.write(filepath.Join(n.root, "sub", "a.txt"), "two\n")
		}, "filter.f.clean of a submodule"},
		{"a file that names the folder", func(n *nest) {
			away := filepath.Join(n.root, "elsewhere")
			if err := os.Rename(filepath.Join(n.root, "sub", ".git"), away); err != nil {
				n.t.Fatal(err)
			}
			n.write(filepath.Join(n.root, "sub", ".git"), "gitdir: ../elsewhere\n")
			n.write(filepath.Join(n.root, ".gitignore"), "elsewhere\n")
			n.commit("")
			n.git("sub", "config", "core.fsmonitor", n.evil)
		}, "core.fsmonitor of a submodule"},
		{"two levels down", func(n *nest) {
			n.sub("sub", "deep")
			n.commit("sub")
			n.commit("")
			n.git("sub/deep", "config", "core.fsmonitor", n.evil)
		}, "core.fsmonitor of a submodule"},
		{"a condition", func(n *nest) {
			n.commit("")
			n.write(filepath.Join(n.root, "sub", ".git", "more"), "[core]\n\tfsmonitor = "+n.evil+"\n")
			n.git("sub", "config", "includeIf.onbranch:main.path", "more")
		}, "of a submodule"},
		{"a work tree that is elsewhere", func(n *nest) {
			n.commit("")
			if err := os.Rename(filepath.Join(n.root, "sub"), filepath.Join(n.root, "..", "sub")); err != nil {
				n.t.Fatal(err)
			}
			n.git("", "config", "core.worktree", filepath.Dir(n.root))
			n.write(filepath.Join(n.root, "..", "top.txt"), "top\n")
			n.git("../sub", "config", "core.fsmonitor", n.evil)
		}, "core.fsmonitor of a submodule"},
	} {
		t.Run(c.name, func(t *testing.T) {
			n := newNest(t)
			n.sub("", "sub")
			c.arm(n)
			n.ran()
			if got := git.Runs(t.Context(), n.root); !strings.Contains(got, c.want) || (got == "") != (c.want == "") {
				t.Errorf("got %q, want %q", got, c.want)
			}
			if n.ran() {
				t.Error("the look itself ran the program")
			}
			n.git("", "status")
			if ran := n.ran(); ran != (c.want != "") {
				t.Errorf("the case is no case: git status ran it: %v", ran)
			}
		})
	}
}

// A hook of a nested repository, a name alone that stands for yes, and what cannot be read are reasons to ask.
func TestRunsAsksInDoubt(t *testing.T) {
	for name, arm := range map[string]func(n *nest){
		"hook":          func(n *nest) { n.write(filepath.Join(n.root, "sub/.git/hooks/post-index-change"), "#!/bin/sh\n") },
		"included hook": func(n *nest) { n.hooksByInclude("sub") },
		"hook by include": func(n *nest) {
			n.hooksByInclude("")
		},
		"index":           func(n *nest) { n.write(filepath.Join(n.root, ".git/index"), "DIRC nothing") },
		"index of sub":    func(n *nest) { n.write(filepath.Join(n.root, "sub/.git/index"), "DIRC nothing") },
		"config of sub":   func(n *nest) { n.write(filepath.Join(n.root, "sub/.git/config"), "[core\n") },
		"signature":       func(n *nest) { n.append(".git/config", "[log]\n\tshowSignature\n") },
		"history":         func(n *nest) { n.git("", "config", "diff.submodule", "diff") },
		"summary":         func(n *nest) { n.git("", "config", "status.submoduleSummary", "true") },
		"other condition": func(n *nest) { n.git("", "config", "includeIf.onbranch:other.path", "more") },
	} {
		t.Run(name, func(t *testing.T) {
			n := newNest(t)
			n.sub("", "sub")
			n.commit("")
			if got := git.Runs(t.Context(), n.root); got != "" {
				t.Fatalf("before: %q", got)
			}
			arm(n)
			if git.Runs(t.Context(), n.root) == "" {
				t.Error("nobody is asked")
			}
		})
	}
}

func (n *nest) append(name, text string) {
	n.t.Helper()
	path := filepath.Join(n.root, name)
	b, err := os.ReadFile(path)
	if err != nil {
		n.t.Fatal(err)
	}
	n.write(path, string(b)+text)
}

func (n *nest) hooksByInclude(dir string) {
	n.t.Helper()
	n.write(filepath.Join(n.root, dir, ".git", "more"), "[core]\n\thooksPath = mine\n")
	n.write(filepath.Join(n.root, dir, "mine", "post-index-change"), "#!/bin/sh\n")
	n.git(dir, "config", "include.path", "more")
}

// Our own questions do not enter nested repositories.
func TestOwnCallsStayOut(t *testing.T) {
	n := newNest(t)
	n.sub("", "sub")
	n.commit("")
	n.git("sub", "config", "core.fsmonitor", n.evil)
	n.git("sub", "config", "filter.f.clean", n.evil)
	n.git("", "config", "diff.submodule", "diff")
	n.git("", "config", "diff.ignoreSubmodules", "none")
	n.git("", "config", "submodule.sub.ignore", "none")
	n.git("", "config", "status.submoduleSummary", "true")
	n.write(filepath.Join(n.root, ".gitmodules"), "[submodule \"sub\"]\n\tpath = sub\n\turl = ./x\n\tignore = none\n")
	n.write(filepath.Join(n.root, "sub", "a.txt"), "two\n")
	n.write(filepath.Join(n.root, "top.txt"), "changed\n")
	n.git("", "diff")
	if !n.ran() {
		t.Fatal("the case is no case: git diff does not run it")
	}
	if _, diff, err := git.Changes(t.Context(), n.root, 1<<20); err != nil || !strings.Contains(diff, "+changed") {
		t.Errorf("changes: %v %q", err, diff)
	}
	if n.ran() {
		t.Error("Changes ran it")
	}
	if git.Take(t.Context(), n.root, 1<<40) == nil {
		t.Error("no snapshot")
	}
	if n.ran() {
		t.Error("Take ran it")
	}
	if ok, err := git.Untouched(t.Context(), n.root, git.Begun{Base: git.Commit(t.Context(), n.root, "HEAD")}, false); err != nil || ok {
		t.Errorf("untouched: %v %v", ok, err)
	}
	if n.ran() {
		t.Error("Untouched ran it")
	}
}

// What holds in the new tree alone is not run when the tree is made, looked at or taken away.
func TestWorktreeConditions(t *testing.T) {
	n := newNest(t)
	n.write(filepath.Join(n.root, "a.txt"), "one\n")
	n.write(filepath.Join(n.root, ".gitattributes"), "*.txt filter=f\n")
	n.write(filepath.Join(n.root, ".gitignore"), "trees\n")
	n.commit("")
	n.write(filepath.Join(n.root, ".git", "more"), "[filter \"f\"]\n\tsmudge = "+n.evil+"\n\tclean = "+n.evil+"\n\trequired\n[core]\n\tfsmonitor = "+n.evil+"\n")
	n.git("", "config", "includeIf.onbranch:side-*.path", "more")
	n.ran()
	base := git.Commit(t.Context(), n.root, "HEAD")
	n.git("", "worktree", "add", "-q", "-b", "side-0", "trees/zero")
	if !n.ran() {
		t.Fatal("the case is no case: git worktree add does not run it")
	}
	tree := filepath.Join(n.root, "trees", "one")
	for range 2 { // the second time the branch is there
		if err := git.AddWorktree(t.Context(), n.root, tree, "side-1", base, false); err != nil {
			t.Fatal(err)
		}
		if b, err := os.ReadFile(filepath.Join(tree, "a.txt")); err != nil || string(b) != "one\n" {
			t.Errorf("the copy: %q %v", b, err)
		}
		n.write(filepath.Join(tree, "a.txt"), "one\n") // as it was, but git must read it to know
		if ok, err := git.Untouched(t.Context(), tree, git.Begun{Base: base}, false); err != nil || !ok {
			t.Errorf("untouched: %v %v", ok, err)
		}
		n.write(filepath.Join(tree, "a.txt"), "one\n")
		if err := git.RemoveWorktree(t.Context(), n.root, tree, "side-1", base, false); err != nil {
			t.Error(err)
		}
		if n.ran() {
			t.Error("a program of the repository ran")
		}
		n.git("", "branch", "side-1")
		n.ran()
	}
}
