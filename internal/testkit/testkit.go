package testkit

import (
	"os"
	"path/filepath"
	"testing"
)

// Tree writes files, by their path with slashes, below a new directory and returns that by its real path.
func Tree(t testing.TB, files map[string]string) string {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		path := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

// Shared is a folder of the recorded material: below what LATHE_SHARED names (from the repository's root when it is no
// absolute path), else below ../shared. Where it is missing the test is skipped.
func Shared(t testing.TB, name string) string {
	t.Helper()
	root, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(root, "go.mod")); err == nil {
			break
		}
		if root == filepath.Dir(root) {
			t.Fatal("no go.mod above the test")
		}
		root = filepath.Dir(root)
	}
	base := os.Getenv("LATHE_SHARED")
	if base == "" {
		base = "../shared"
	}
	if !filepath.IsAbs(base) {
		base = filepath.Join(root, base)
	}
	dir := filepath.Join(base, filepath.FromSlash(name))
	if _, err := os.Stat(dir); err != nil {
		t.Skipf("SKIPPED: there is no recorded material (set LATHE_SHARED): %v", err)
	}
	return dir
}
