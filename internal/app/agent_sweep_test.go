package app

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"lathe/internal/file"
)

// Who sweeps waits for its turn with git before it takes the note of a tree, as who makes one does: in another order each would
// wait for what the other has.
func TestSweepWaitsBeforeItHolds(t *testing.T) {
	r := testRun(t, Options{})
	note := filepath.Join(t.TempDir(), ".agent-1.lock")
	if err := os.WriteFile(note, []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	unlock, err := r.work.lockTrees(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	f, err := file.Hold(note, false)
	if errors.Is(err, errors.ErrUnsupported) {
		t.Skip("SKIPPED: this system holds no files")
	}
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := r.work.sweepOne(ctx, note); !errors.Is(err, context.Canceled) {
		t.Errorf("while a tree is made: %v", err)
	}
	unlock()
	if err := r.work.sweepOne(t.Context(), note); err != nil {
		t.Errorf("a note that is held: %v", err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if err := r.work.sweepOne(t.Context(), note); err != nil {
		t.Errorf("a note of nothing: %v", err)
	}
	if _, err := os.Stat(note); err != nil {
		t.Errorf("what is none of ours was taken away: %v", err)
	}
	if len(r.work.trees) != 0 {
		t.Error("the turn was not given back")
	}
}
