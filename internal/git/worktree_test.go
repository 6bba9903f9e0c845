package git

import (
	"os"
	"path/filepath"
	"testing"
)

// A work tree is made on a branch of its own, found untouched or not, and taken away only when it is. Neither the
// repository's hooks nor the filters of its own configuration run.
func TestWorktree(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	ran := filepath.Join(root, "ran")
	run := func(args ...string) {
		t.Helper()
		if out, err := Run(t.Context(), root, append([]string{"-c", "user.name=a", "-c", "user.email=a@b.c"}, args...)...); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(name, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	run("init", "-q", "-b", "main")
	write(filepath.Join(root, "a.txt"), "one\n")
	write(filepath.Join(root, ".gitattributes"), "*.txt filter=evil\n")
	write(filepath.Join(root, ".gitignore"), "ran\ntrees\nbuilt\n")
	run("add", "-A")
	run("commit", "-q", "-m", "first")
	run("config", "filter.evil.smudge", "touch '"+ran+"'; cat")
	write(filepath.Join(root, ".git", "hooks", "post-checkout"), "#!/bin/sh\ntouch '"+ran+"'\n")

	base := Commit(t.Context(), root, "HEAD")
	tree := filepath.Join(root, "trees", "one")
	add := func() {
		t.Helper()
		if err := AddWorktree(t.Context(), root, tree, "side", base, false); err != nil {
			t.Fatal(err)
		}
	}
	add()
	if b, err := os.ReadFile(filepath.Join(tree, "a.txt")); err != nil || string(b) != "one\n" {
		t.Errorf("the copy: %q, %v", b, err)
	}
	if err := AddWorktree(t.Context(), root, tree, "other", base, false); err == nil {
		t.Error("a folder was taken twice")
	}
	write(filepath.Join(tree, "built"), "ignored")
	check := func(want bool) {
		t.Helper()
		if ok, err := Untouched(t.Context(), tree, base, false); err != nil || ok != want {
			t.Errorf("untouched: %v, %v", ok, err)
		}
	}
	check(true)
	write(filepath.Join(tree, "new.txt"), "x")
	check(false)
	if err := RemoveWorktree(t.Context(), root, tree, "side", false); err == nil {
		t.Error("work was thrown away")
	}
	if err := os.Remove(filepath.Join(tree, "new.txt")); err != nil {
		t.Fatal(err)
	}
	if err := RemoveWorktree(t.Context(), root, tree, "side", false); err != nil {
		t.Error(err)
	}
	if _, err := os.Lstat(tree); err == nil || Commit(t.Context(), root, "refs/heads/side") != "" {
		t.Error("something is left")
	}
	run("branch", "side")
	add() // a branch that is there
	check(true)
	if _, err := os.Lstat(ran); err == nil {
		t.Error("a program of the repository ran")
	}
}
