package git_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"lathe/internal/git"
)

func TestChanges(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("SKIPPED: needs git")
	}
	root := t.TempDir()
	run := func(args ...string) {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"}, args...)...)
		cmd.Dir = root
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	changes := func(limit int) ([]git.Changed, string) {
		files, diff, err := git.Changes(t.Context(), root, limit)
		if err != nil {
			t.Fatal(err)
		}
		slices.SortFunc(files, func(a, b git.Changed) int { return strings.Compare(a.Path, b.Path) })
		return files, diff
	}
	run("init", "-q")
	write("staged.txt", "a\n")
	run("add", "staged.txt")
	if files, diff := changes(1 << 20); len(files) != 1 || files[0] != (git.Changed{Path: "staged.txt", Added: 1}) || !strings.Contains(diff, "+a") {
		t.Errorf("before the first commit: %+v\n%s", files, diff)
	}
	write("edited.txt", "1\n2\n3\n")
	write("gone.txt", "x\n")
	write("raw.bin", "a\x00b")
	run("add", ".")
	run("commit", "-qm", "one")
	if files, diff := changes(1 << 20); len(files) != 0 || diff != "" {
		t.Errorf("clean: %+v %s", files, diff)
	}
	write("edited.txt", "1\ntwo\n3\nfour\n")
	write("raw.bin", "a\x00c")
	write("with blank.txt", "new\n")
	if err := os.Remove(filepath.Join(root, "gone.txt")); err != nil {
		t.Fatal(err)
	}
	files, diff := changes(1 << 20)
	want := []git.Changed{
		{Path: "edited.txt", Added: 2, Removed: 1}, {Path: "gone.txt", Removed: 1}, {Path: "raw.bin", Added: -1, Removed: -1}, {Path: "with blank.txt", New: true},
	}
	if d := cmp.Diff(want, files); d != "" {
		t.Error(d)
	}
	if !strings.Contains(diff, "+two") {
		t.Error(diff)
	}
	if _, diff := changes(60); len(diff) > 120 || !strings.Contains(diff, "cut here") {
		t.Errorf("not cut: %q", diff)
	}

	// What the repository itself names is not run.
	marker := filepath.Join(root, "ran")
	run("config", "diff.external", "touch "+marker)
	run("config", "filter.evil.clean", "touch "+marker+"; cat")
	run("config", "diff.evil.textconv", "touch "+marker+"; cat")
	write(".gitattributes", "*.txt filter=evil diff=evil\n")
	write("edited.txt", "1\nthree\n")
	changes(1 << 20)
	if _, err := os.Stat(marker); err == nil {
		t.Error("a program of the repository's was run")
	}
}
