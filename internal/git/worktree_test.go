package git

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
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
	check := func(want bool) {
		t.Helper()
		if ok, err := Untouched(t.Context(), tree, Begun{Base: base, Branch: "side"}, false); err != nil || ok != want {
			t.Errorf("untouched: %v, %v", ok, err)
		}
	}
	check(true)
	write(filepath.Join(tree, "built"), "ignored")
	check(false)
	ignored, err := Ignored(t.Context(), tree, false)
	if ok, err2 := Untouched(t.Context(), tree, Begun{Base: base, Branch: "side", Ignored: ignored}, false); err != nil || err2 != nil || ignored == "" || !ok {
		t.Errorf("ignored files that were there: %q, %v, %v, %v", ignored, ok, err, err2)
	}
	if err := os.Remove(filepath.Join(tree, "built")); err != nil {
		t.Fatal(err)
	}
	run("config", "status.showUntrackedFiles", "no")
	write(filepath.Join(tree, "new.txt"), "x")
	check(false)
	if err := RemoveWorktree(t.Context(), root, tree, "side", base, false); err == nil {
		t.Error("work was thrown away")
	}
	if err := os.Remove(filepath.Join(tree, "new.txt")); err != nil {
		t.Fatal(err)
	}
	if err := RemoveWorktree(t.Context(), root, tree, "side", base, false); err != nil {
		t.Error(err)
	}
	if _, err := os.Lstat(tree); err == nil || Commit(t.Context(), root, "refs/heads/side") != "" {
		t.Error("something is left")
	}
	run("branch", "side")
	add() // a branch that is there
	check(true)
	if err := os.RemoveAll(tree); err != nil {
		t.Fatal(err)
	}
	add() // git knows of the one that is gone
	check(true)
	// Work that is committed on the branch is work, also where the tree has gone back to where it began.
	run("-C", tree, "commit", "-q", "--allow-empty", "-m", "work")
	work := Commit(t.Context(), root, "refs/heads/side")
	run("-C", tree, "checkout", "-q", "--detach", base)
	check(false)
	if err := RemoveWorktree(t.Context(), root, tree, "side", base, false); err == nil || Commit(t.Context(), root, "refs/heads/side") != work {
		t.Errorf("the branch was dropped: %v", err)
	}
	if _, err := os.Lstat(ran); err == nil {
		t.Error("a program of the repository ran")
	}
}

// What fails or is ended midway leaves neither a folder nor a branch nor an entry; what was there before stays.
func TestWorktreeUndone(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("SKIPPED: the filter is a shell command")
	}
	root := t.TempDir()
	run := func(args ...string) string {
		t.Helper()
		out, err := Run(t.Context(), root, append([]string{"-c", "user.name=a", "-c", "user.email=a@b.c"}, args...)...)
		if err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
		return out
	}
	run("init", "-q", "-b", "main")
	for name, text := range map[string]string{"a.txt": "one\n", ".gitattributes": "*.txt filter=slow\n"} {
		if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	run("add", "-A")
	run("commit", "-q", "-m", "first")
	base := Commit(t.Context(), root, "HEAD")
	begun := filepath.Join(root, "begun")
	run("config", "filter.slow.smudge", "echo > '"+begun+"'; while kill -0 $PPID; do sleep 0.01; done 2> /dev/null") // as long as git lives
	tree := filepath.Join(root, "trees", "one")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	failed := make(chan error)
	go func() { failed <- AddWorktree(ctx, root, tree, "side", base, true) }()
	for { // until git is in the middle of it
		if _, err := os.Lstat(begun); err == nil {
			break
		}
		select {
		case err := <-failed:
			t.Fatalf("it ended: %v", err)
		case <-time.After(time.Millisecond):
		}
	}
	cancel()
	if err := <-failed; err == nil {
		t.Error("it was not ended")
	}
	left := func() {
		t.Helper()
		if _, err := os.Lstat(tree); err == nil || Commit(t.Context(), root, "refs/heads/side") != "" || strings.Contains(run("worktree", "list"), "trees") {
			t.Errorf("left: %s, %s", run("worktree", "list"), run("branch"))
		}
	}
	left()
	if err := AddWorktree(t.Context(), root, tree, "side", "no-such-commit", true); err == nil {
		t.Error("there is no such commit")
	}
	left()
	if err := os.MkdirAll(tree, 0o755); err != nil {
		t.Fatal(err)
	}
	mine := filepath.Join(tree, "mine")
	if err := os.WriteFile(mine, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := AddWorktree(t.Context(), root, tree, "side", base, true); err == nil {
		t.Error("a folder was taken")
	}
	if _, err := os.Lstat(mine); err != nil {
		t.Error(err)
	}
}
