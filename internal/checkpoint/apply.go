package checkpoint

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"

	"lathe/internal/file"
)

// Turn is a beginning in the log.
type Turn struct {
	ID       string
	At       time.Time
	RewindTo string // set: the beginning of a rewind, to this prompt
}

// Apply goes back to the state before the prompt. Each path is changed all or nothing, what it was is kept first, and
// one that cannot be changed does not stop the others. Cut off in the middle, it is done by another call. lock, when
// set, is called for each path and returns what unlocks it. The plan that comes back says what was done.
func (s *Store) Apply(ctx context.Context, to string, force bool, lock func(path string) (unlock func())) (*Plan, error) {
	s.ready()
	var p *Plan
	err := s.locked(func() (err error) {
		if p, err = s.plan(to, force); err != nil || len(p.Changes) == 0 {
			return err
		}
		undo := record{Type: typeRewind, At: s.opt.Now(), Turn: s.opt.NewID(), To: to}
		if err := s.log.append(false, undo); err != nil {
			return fmt.Errorf("nothing was put back: %w", err)
		}
		p.Undo = undo.Turn
		return nil
	})
	if err != nil || p.Undo == "" {
		return p, err
	}
	return p, s.applyAll(ctx, p, lock)
}

// steps orders changes so that each finds its directory: what goes, the deepest first, then directories that come,
// then files.
func steps(changes []Change) []Change {
	rank := func(c Change) int {
		switch {
		case c.To.Kind == Nothing && c.From.Kind != Dir:
			return 0
		case c.From.Kind == Dir && c.To.Kind != Dir, c.To.Kind == Dir && c.From.Kind != Dir && c.From.Kind != Nothing:
			return 1
		case c.To.Kind == Dir:
			return 2
		}
		return 3
	}
	depth := func(c Change) int { return strings.Count(c.Path, "/") + strings.Count(c.Path, "\\") }
	out := slices.Clone(changes)
	slices.SortStableFunc(out, func(a, b Change) int {
		if r := cmp.Compare(rank(a), rank(b)); r != 0 {
			return r
		}
		if rank(a) < 2 {
			return cmp.Or(cmp.Compare(depth(b), depth(a)), cmp.Compare(a.Path, b.Path))
		}
		return cmp.Or(cmp.Compare(depth(a), depth(b)), cmp.Compare(a.Path, b.Path))
	})
	return out
}

func (s *Store) applyAll(ctx context.Context, p *Plan, lock func(string) func()) error {
	done := make([]Change, 0, len(p.Changes))
	for _, c := range steps(p.Changes) {
		if err := ctx.Err(); err != nil {
			p.Changes = done
			return fmt.Errorf("stopped before all files were put back: %w", err)
		}
		switch err := s.applyOne(ctx, p.Undo, c, lock); {
		case err == nil:
			done = append(done, c)
		case errors.Is(err, errInUse): // a directory that somebody put something into
		case errors.Is(err, errChanged):
			c.Why = err.Error()
			p.Conflicts = append(p.Conflicts, c)
		default:
			c.Why = err.Error()
			p.Failed = append(p.Failed, c)
		}
	}
	slices.SortFunc(done, func(a, b Change) int { return cmp.Compare(a.Path, b.Path) })
	p.Changes = done
	return nil
}

var (
	errChanged = errors.New("it was changed while files were put back")
	errInUse   = errors.New("the directory is not empty")
)

// applyOne changes one path. What it is now is kept and recorded before. The lock of the path is taken before that of
// the list, as by an edit, which holds the first when it calls Keep.
func (s *Store) applyOne(ctx context.Context, turn string, c Change, lock func(string) func()) error {
	if lock != nil {
		defer lock(c.Path)()
	}
	defer file.Lock(ctx, c.Path)()
	return s.locked(func() error { return s.replace(turn, c) })
}

// replace is applyOne under the locks.
func (s *Store) replace(turn string, c Change) error {
	now, data, info, err := look(c.Path)
	if err != nil {
		return err
	}
	if !now.equal(c.From) {
		return errChanged
	}
	var next []byte
	if c.To.Kind == File {
		if next, err = s.blobs.get(c.To.Hash); err != nil && !now.same(c.To) {
			return err
		}
	}
	if now.Kind == File {
		if err := s.store(now.Hash, data, false); err != nil {
			return fmt.Errorf("keep what it is now: %w", err)
		}
	}
	rec := record{Type: typeChange, At: s.opt.Now(), Turn: turn, Path: c.Path, By: "rewind", Was: now, Now: c.To}
	if err := s.log.append(false, rec); err != nil {
		return err
	}
	return change(c, info, next)
}

// change makes of a path what it shall be.
func change(c Change, info fs.FileInfo, next []byte) error {
	p, err := file.Make(c.Path)
	if err != nil {
		return err
	}
	defer p.Close()
	if c.To.Kind == File && c.From.Kind == File && c.From.same(c.To) {
		return p.SetMode(c.To.Mode, info)
	}
	replaced := c.From.Kind == File || c.From.Kind == Link
	if c.From.Kind == Dir && c.To.Kind != Dir || replaced && (c.To.Kind == Nothing || c.To.Kind == Dir) {
		if err := p.Remove(info); err != nil {
			if c.From.Kind == Dir && c.To.Kind == Nothing {
				return errInUse
			}
			return err
		}
		info = nil
	}
	switch c.To.Kind {
	case Dir:
		return p.PutDir(cmp.Or(c.To.Mode, 0o755))
	case Link:
		return p.PutLink(c.To.Target, info)
	case File:
		return p.Put(next, cmp.Or(c.To.Mode, 0o644), info)
	}
	return nil
}
