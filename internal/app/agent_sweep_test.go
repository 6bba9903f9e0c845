package app

import (
	"context"
	"encoding/json"
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

// Only a note of a tree that sub-agents make, under the name and with the branch that they give it, is taken away.
func TestSweepKnowsItsOwn(t *testing.T) {
	r := testRun(t, Options{})
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	r.place.Root = top
	dir := filepath.Join(top, ".claude", "worktrees")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		tree *agentTree
		goes bool
	}{
		"agent-1": {&agentTree{Root: top, Path: filepath.Join(dir, "agent-1"), Branch: "worktree-agent-1", Base: "abc"}, true},
		"agent-2": {&agentTree{Root: top, Path: filepath.Join(dir, "agent-2"), Branch: "worktree-agent-9", Base: "abc"}, false},
		"agent-3": {&agentTree{Root: top, Path: filepath.Join(dir, "agent-1"), Branch: "worktree-agent-3", Base: "abc"}, false},
		"agent-4": {&agentTree{Root: top, Path: filepath.Join(dir, "agent-4"), Branch: "worktree-agent-4"}, false},
	} {
		text, err := json.Marshal(c.tree)
		if err != nil {
			t.Fatal(err)
		}
		note := filepath.Join(dir, "."+name+".lock")
		if err := os.WriteFile(note, text, 0o600); err != nil {
			t.Fatal(err)
		}
		f, err := file.Hold(note, false)
		if errors.Is(err, errors.ErrUnsupported) {
			t.Skip("SKIPPED: this system holds no files")
		}
		if err != nil {
			t.Fatal(err)
		}
		_ = f.Close()
		if err := r.work.sweepOne(t.Context(), note); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := os.Stat(note); (err != nil) != c.goes {
			t.Errorf("%s is gone: %v", name, err != nil)
		}
	}
}
