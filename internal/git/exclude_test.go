package git

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What is excluded is not seen by git, in the work tree and in a further one, and no file of the project is changed.
func TestExclude(t *testing.T) {
	t.Setenv("GIT_CONFIG_GLOBAL", os.DevNull)
	t.Setenv("GIT_CONFIG_SYSTEM", os.DevNull)
	root := t.TempDir()
	git := func(dir string, args ...string) string {
		t.Helper()
		out, err := Run(t.Context(), dir, append([]string{"-c", "user.name=a", "-c", "user.email=a@b"}, args...)...)
		if err != nil {
			t.Fatalf("git %q: %v", args, err)
		}
		return out
	}
	write := func(path, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	git(root, "init", "-q")
	write(filepath.Join(root, ".gitignore"), "*.log\n")
	git(root, "add", ".")
	git(root, "commit", "-qm", "one")
	other := filepath.Join(t.TempDir(), "other")
	git(root, "worktree", "add", "-q", other)
	exclude := filepath.Join(root, ".git", "info", "exclude")
	write(exclude, "mine") // without a line end
	for _, dir := range []string{root, other} {
		for _, name := range []string{".lathe/settings.local.json", "odd[1]*.json", "a.log"} {
			path := filepath.Join(dir, name)
			write(path, "{}")
			for range 2 {
				if err := Exclude(t.Context(), dir, path); err != nil {
					t.Fatalf("%s: %v", path, err)
				}
			}
		}
		if out := git(dir, "status", "--porcelain"); out != "" {
			t.Errorf("git sees %q", out)
		}
		if _, err := Run(t.Context(), dir, "check-ignore", "-q", "odd1x.json"); err == nil {
			t.Error("more than that file is excluded")
		}
	}
	text, err := os.ReadFile(exclude)
	if err != nil || string(text) != "mine\n/.lathe/settings.local.json\n/odd\\[1]\\*.json\n" {
		t.Errorf("%q, %v", text, err)
	}
	if err := Exclude(t.Context(), root, filepath.Join(root, "..", "x")); err == nil || !strings.Contains(err.Error(), "not in the work tree") {
		t.Errorf("outside: %v", err)
	}
}
