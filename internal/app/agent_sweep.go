package app

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"lathe/internal/file"
	"lathe/internal/git"
)

// The note of a work tree says what it began with. It is held as long as a sub-agent works there: once nobody holds it, the
// process of that one has ended, in whatever way, and the tree is swept where nothing has come of it.

// treeNote is where the note of a tree is.
func treeNote(path string) string {
	return filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+".lock")
}

// sweepTime is how long it may take to look at the trees that were left.
const sweepTime = 10 * time.Second

// hold notes a tree and holds it. Where the system cannot do that, the tree is not swept. One that is being swept at this
// moment is waited for.
func (t *agentTree) hold(ctx context.Context) {
	if t.note != nil || t.Branch == "" {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, sweepTime)
	defer cancel()
	f, err := file.Hold(treeNote(t.Path), true)
	for errors.Is(err, file.ErrHeld) && ctx.Err() == nil {
		select {
		case <-ctx.Done():
		case <-time.After(20 * time.Millisecond):
			f, err = file.Hold(treeNote(t.Path), true)
		}
	}
	if err != nil {
		return
	}
	text, err := json.Marshal(t)
	if err == nil {
		err = f.Truncate(0)
	}
	if err == nil {
		_, err = f.WriteAt(text, 0)
	}
	if err != nil {
		_ = os.Remove(f.Name())
		_ = f.Close()
		return
	}
	t.note = f
}

// letGo ends the hold. A tree that is kept is the user's from here on.
func (t *agentTree) letGo() {
	if t.note != nil {
		_ = os.Remove(t.note.Name())
		_ = t.note.Close()
		t.note = nil
	}
}

// sweep takes away the work trees that a run which was killed has left, where nothing has come of them.
func (w *work) sweep() {
	top := w.r.place.Root
	if top == "" {
		return
	}
	dir := filepath.Join(top, ".claude", "worktrees")
	notes, _ := filepath.Glob(filepath.Join(dir, ".agent-*.lock")) // the pattern is well formed
	if len(notes) == 0 || !staysBelow(top, dir) {
		return
	}
	w.wg.Go(func() {
		ctx, cancel := context.WithTimeout(context.Background(), sweepTime) // the end of a short run waits for it
		defer cancel()
		for _, note := range notes {
			if err := w.sweepOne(ctx, note); err != nil && ctx.Err() == nil {
				w.r.warn("a work tree that an earlier run has left is kept: " + err.Error())
			}
		}
	})
}

func (w *work) sweepOne(ctx context.Context, note string) error {
	unlock, err := w.lockTrees(ctx) // first, as who makes a tree does: else each would wait for what the other has
	if err != nil {
		return err
	}
	defer unlock()
	f, err := file.Hold(note, false)
	if err != nil {
		return nil // somebody works there, or there is no telling
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, 1<<16))
	if err != nil {
		return err
	}
	var t agentTree
	path := filepath.Join(filepath.Dir(note), strings.TrimSuffix(strings.TrimPrefix(filepath.Base(note), "."), ".lock"))
	if json.Unmarshal(text, &t) != nil || t.Path != path || t.Branch != "worktree-"+filepath.Base(path) || t.Base == "" || w.r.knowsTree(&t) != nil {
		return nil // it is none of ours
	}
	if !isDir(path) {
		return os.Remove(note)
	}
	trusted := w.r.place.Trusted
	untouched, err := git.Untouched(ctx, path, git.Begun{Base: t.Base, Branch: t.Branch}, trusted)
	if err != nil || !untouched {
		return err
	}
	if err := git.RemoveWorktree(ctx, t.Root, path, t.Branch, t.Base, trusted); err != nil {
		return err
	}
	if err := os.Remove(note); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}
