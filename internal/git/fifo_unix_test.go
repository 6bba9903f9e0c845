//go:build unix

package git

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// A FIFO in the place of a file of git's does not keep the program waiting.
func TestBranchOfOddRepository(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, ".git"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(filepath.Join(dir, ".git", "HEAD"), 0o600); err != nil {
		t.Skipf("SKIPPED: no FIFO can be made here: %v", err)
	}
	if b := Branch(dir); b != "" {
		t.Errorf("branch %q", b)
	}
}
