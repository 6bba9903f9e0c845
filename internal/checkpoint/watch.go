package checkpoint

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"lathe/internal/file"
	"lathe/internal/git"
	"lathe/internal/search"
)

// Bounds of what is looked at and copied before a command.
const (
	treeMost  = 50_000    // entries of a tree; a larger one is not watched
	copyMost  = 8 << 20   // bytes of one file
	packMost  = 128 << 20 // bytes of all copies of a session
	blobsMost = 64 << 20  // bytes of one object that is read from git
	lookMost  = 10 * time.Second
)

// slack is by how much the clock of a file system may be behind ours.
const slack = 50 * time.Millisecond

// sig is what tells a changed file without reading it.
type sig struct {
	size, mtime, ctime int64
	ino, dev           uint64
	mode               fs.FileMode
}

// seen is what stood at a path before a command.
type seen struct {
	sig   sig
	state State // of a file that git has: without its hash
	repo  string
	oid   string // the object of git with the content, "" where there is a copy
}

// Watch is a command under way: what it changes is found when it ends.
type Watch struct {
	s       *Store
	turn    string
	by      string
	began   time.Time
	roots   []string
	before  map[string]seen
	pending *os.File // tells of the command after a crash
	pack    *pack
}

// copied is what a copy was made of.
type copied struct {
	sig  sig
	hash string
}

// Watch looks at the directories before a command runs in them; End must be called after it. Files that git has
// unchanged are left to git, all others are copied, within bounds. What git ignores is not watched. It never fails: a
// directory that is too large, or a file that cannot be copied, is told by a rewind. A nil Watch is a valid one that
// watches nothing.
func (s *Store) Watch(ctx context.Context, by string, dirs []string) *Watch {
	s.ready()
	s.mu.Lock()
	turn := s.turn
	s.mu.Unlock()
	s.watching.Lock()
	defer s.watching.Unlock()
	w := &Watch{s: s, turn: turn, by: by, began: s.opt.Now(), before: map[string]seen{}}
	repos := newRepos()
	for _, dir := range topmost(dirs) {
		if s.large[dir] {
			w.blind(dir, tooLarge)
			continue
		}
		list, err := entries(ctx, dir, treeMost)
		switch {
		case err == nil:
		case errors.Is(err, search.ErrTooMany), errors.Is(err, context.DeadlineExceeded):
			s.large[dir] = true
			w.blind(dir, tooLarge)
			continue
		default:
			continue
		}
		w.roots = append(w.roots, dir)
		if len(w.before) == 0 {
			w.before = make(map[string]seen, len(list))
		}
		for _, e := range list {
			if !s.excluded(e.Path) {
				w.before[e.Path] = s.see(e, repos)
			}
		}
	}
	if len(w.roots) == 0 {
		return nil
	}
	w.pack = s.pack
	w.save()
	s.mu.Lock()
	s.active[w] = true
	s.mu.Unlock()
	return w
}

var tooLarge = fmt.Sprintf("it holds more than %d files, or takes longer than %s to look through, so what commands change in it is not kept", treeMost, lookMost)

// entries lists a tree, in bounded time.
func entries(ctx context.Context, dir string, most int) ([]search.Entry, error) {
	ctx, cancel := context.WithTimeout(ctx, lookMost)
	defer cancel()
	return search.Entries(ctx, dir, most)
}

// topmost leaves out directories that lie below others.
func topmost(dirs []string) []string {
	var out []string
	for _, d := range dirs {
		below := func(o string) bool { return o != d && within(d, o) }
		if !slices.ContainsFunc(dirs, below) && !slices.Contains(out, d) {
			out = append(out, d)
		}
	}
	return out
}

func within(path, dir string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(rel)
}

// excluded reports whether a path is not watched: what the owner of the store names, and the unfinished files of edits
// that run beside the command.
func (s *Store) excluded(path string) bool {
	if strings.HasPrefix(filepath.Base(path), file.TempPrefix) {
		return true
	}
	return slices.ContainsFunc(s.opt.Exclude, func(dir string) bool { return path == dir || strings.HasPrefix(path, dir+string(filepath.Separator)) })
}

// blind records that a directory is not watched, once a turn.
func (w *Watch) blind(dir, why string) {
	_ = w.s.locked(func() error { // no more than a note
		for _, r := range slices.Backward(w.s.log.records) {
			if r.Turn != w.turn {
				break
			}
			if r.Type == typeBlind && r.Path == dir {
				return nil
			}
		}
		return w.s.log.append(false, record{Type: typeBlind, At: w.s.opt.Now(), Turn: w.turn, Path: dir, By: w.by, Was: State{Lost: why}})
	})
}

// see notes one entry of a tree, and copies its content where git does not have it.
func (s *Store) see(e search.Entry, repos *repos) seen {
	g, n := sign(e.Info)
	out := seen{sig: g}
	switch m := e.Info.Mode(); {
	case m.IsDir():
		out.state = State{Kind: Dir, Mode: m & modeBits}
		return out
	case m&fs.ModeSymlink != 0:
		target, _ := os.Readlink(e.Path)
		out.state = State{Kind: Link, Target: target}
		return out
	case !m.IsRegular():
		out.state = State{Kind: Other}
		return out
	default:
		out.state = State{Kind: File, Size: g.size, Mode: m & modeBits}
	}
	if n > 1 {
		out.state.Names = n
	}
	if k, ok := s.known[e.Path]; ok && k.sig == g {
		out.state.Hash = k.hash
		return out
	}
	if repo, oid := repos.clean(e.Path, g); oid != "" {
		out.repo, out.oid = repo, oid
		return out
	}
	out.state.Hash, out.state.Lost = s.copy(e.Path, g)
	return out
}

// copy copies a file to the pack.
func (s *Store) copy(path string, g sig) (sum, lost string) {
	if g.size > copyMost {
		return "", fmt.Sprintf("it was larger than %s and not in git, so it was not copied before the command", file.Size(copyMost))
	}
	if s.pack == nil {
		var err error
		if s.pack, err = newPack(s.opt.Dir); err != nil {
			return "", "it could not be copied before the command: " + err.Error()
		}
	}
	if s.pack.full(g.size) {
		return "", fmt.Sprintf("more than %s would have had to be copied before the command", file.Size(packMost))
	}
	f, err := file.Load(path, copyMost)
	if err != nil {
		return "", "it could not be copied before the command: " + err.Error()
	}
	sum = hash(f.Data)
	if err := s.pack.add(sum, f.Data); err != nil {
		return "", "it could not be copied before the command: " + err.Error()
	}
	if now, _ := sign(f.Info); now == g {
		s.known[path] = copied{g, sum}
	}
	return sum, ""
}

// End finds what the command has changed and keeps what it was.
func (w *Watch) End(ctx context.Context) error {
	if w == nil {
		return nil
	}
	ctx = context.WithoutCancel(ctx) // an interrupted command has changed things too
	changed := w.compare(ctx)
	if len(changed) > 0 {
		if err := w.keep(ctx, changed); err != nil {
			return fmt.Errorf("what the command changed could not be recorded, so /rewind does not know of it: %w", err)
		}
	}
	w.Drop()
	return nil
}

// Drop forgets a command that did not run.
func (w *Watch) Drop() {
	if w == nil {
		return
	}
	w.s.mu.Lock()
	delete(w.s.active, w)
	last := w.s.closed && len(w.s.active) == 0
	w.s.mu.Unlock()
	if last {
		w.s.release()
	}
	if w.pending != nil {
		_ = os.Remove(w.pending.Name())
		_ = w.pending.Close()
		w.pending = nil
	}
}

// delta is one path that differs.
type delta struct {
	path     string
	was, now State
	seen     seen
}

// compare finds what differs from before.
func (w *Watch) compare(ctx context.Context) []*delta {
	after := make(map[string]sig, len(w.before))
	var fresh []search.Entry
	inodes := make(map[[2]uint64]bool, len(w.before))
	for _, b := range w.before {
		inodes[[2]uint64{b.sig.dev, b.sig.ino}] = true
	}
	for _, dir := range w.roots {
		list, err := entries(ctx, dir, 2*treeMost)
		if err != nil {
			w.blind(dir, "the command made too many files to look at")
		}
		for _, e := range list {
			g, _ := sign(e.Info)
			after[e.Path] = g
			if _, was := w.before[e.Path]; !was && !w.s.excluded(e.Path) {
				fresh = append(fresh, e)
			}
		}
	}
	var out []*delta
	for path, b := range w.before {
		if g, ok := after[path]; ok && (g == b.sig || g.mode.IsDir() && g.mode == b.sig.mode) {
			continue
		}
		now, _, info, err := look(path)
		if err != nil {
			now = State{Kind: Nothing} // behind a link, or in a directory that cannot be entered: it is not there any more
		}
		if info != nil {
			if g, _ := sign(info); g == b.sig || info.IsDir() && g.mode == b.sig.mode {
				continue // it is only ignored now
			}
		}
		out = append(out, &delta{path: path, was: b.state, now: now, seen: b})
	}
	old := w.began.Add(-slack).UnixNano()
	for _, e := range fresh {
		d := &delta{path: e.Path}
		g, _ := sign(e.Info)
		if !inodes[[2]uint64{g.dev, g.ino}] { // else it was moved here
			// What was ignored before and is not any more is not new.
			if g.ctime != 0 && g.ctime < old {
				continue
			}
			if at := born(e.Path, e.Info); at != 0 && at < old {
				d.was = State{Kind: File, Lost: "git ignored it before the command, so it was not copied"}
			}
		}
		var err error
		if d.now, _, _, err = look(e.Path); err == nil && d.now.Kind != Nothing && !(d.now.Kind == Dir && d.was.Kind != Nothing) {
			out = append(out, d)
		}
	}
	slices.SortFunc(out, func(a, b *delta) int { return strings.Compare(a.path, b.path) })
	return out
}

// recover finds what the changed files held before, among the copies or in git, and keeps it. The lock is held.
func (w *Watch) recover(ctx context.Context, list []*delta) {
	byRepo := map[string][]*delta{}
	for _, d := range list {
		if d.seen.oid != "" {
			d.was = d.seen.state
			byRepo[d.seen.repo] = append(byRepo[d.seen.repo], d)
		}
	}
	for repo, ds := range byRepo {
		var oids, names []string
		for _, d := range ds {
			oids = append(oids, d.seen.oid)
			rel, _ := filepath.Rel(repo, d.path) // repo is above it
			names = append(names, filepath.ToSlash(rel))
		}
		data, err := git.Blobs(ctx, repo, oids, blobsMost)
		filtered, err2 := git.Filtered(ctx, repo, names)
		for i, d := range ds {
			switch {
			case err != nil || err2 != nil || i >= len(data) || data[i] == nil:
				d.was.Lost = "git does not have its content any more"
			case int64(len(data[i])) != d.seen.sig.size || filtered[names[i]]:
				d.was.Lost = "git keeps it in another form than the work tree"
			default:
				d.was.Hash = hash(data[i])
				if err := w.s.store(d.was.Hash, data[i], false); err != nil {
					d.was.Lost = "its content could not be kept: " + err.Error()
				}
			}
		}
	}
	for _, d := range list {
		if d.seen.oid != "" || d.was.Kind != File || d.was.Lost != "" || w.s.blobs.has(d.was.Hash) {
			continue
		}
		data, err := w.pack.get(d.was.Hash)
		if err == nil {
			err = w.s.store(d.was.Hash, data, false)
		}
		if err != nil {
			d.was.Lost = "its content could not be kept: " + err.Error()
		}
	}
}

// keep records the changes. What another call has recorded meanwhile is not recorded twice.
func (w *Watch) keep(ctx context.Context, list []*delta) error {
	return w.s.locked(func() error {
		first := w.earliest()
		since := map[string]record{}
		for _, r := range w.s.log.records {
			if r.Type == typeChange && !r.At.Before(first.began) {
				since[r.Path] = r
			}
		}
		for _, d := range list {
			w.beside(d, first, since)
		}
		w.recover(ctx, list)
		var out []record
		for _, d := range list {
			if last, ok := since[d.path]; ok {
				d.was = last.Now
			}
			if d.was.Lost == "" && d.was.equal(d.now) && d.was.Kind != Other {
				continue // touched, or written again with the same content
			}
			out = append(out, record{Type: typeChange, At: w.s.opt.Now(), Turn: w.turn, Path: d.path, By: w.by, Was: d.was, Now: d.now})
		}
		if len(out) == 0 {
			return nil
		}
		return w.s.log.append(false, out...)
	})
}

// earliest is the command of the same prompt that began first among those under way: what stood there before a command
// that ran beside others is what stood there before the first of them. The lock is held.
func (w *Watch) earliest() *Watch {
	first := w
	for o := range w.s.active {
		if o.turn == w.turn && o.began.Before(first.began) && slices.Equal(o.roots, w.roots) {
			first = o
		}
	}
	return first
}

// beside corrects a change for what happened beside the command.
func (w *Watch) beside(d *delta, first *Watch, since map[string]record) {
	if _, ok := since[d.path]; ok {
		d.seen = seen{}
		if now, _, _, err := look(d.path); err == nil {
			d.now = now // it may be newer than when it was compared
		}
		return
	}
	if first == w {
		return
	}
	b, ok := first.before[d.path]
	if !ok && d.was.Kind != Nothing {
		d.seen, d.was = seen{}, State{} // made by the other command
	} else if ok {
		d.seen, d.was = b, b.state
	}
}
