package filewatch

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"time"
)

// watchEvery is how often files are looked at; watchMost how many there may be.
const (
	watchEvery = 500 * time.Millisecond
	watchMost  = 1000
)

// Watch looks at files by name, where the session works, and at paths that were added: files, and folders with what is
// in them. Its fields are set before the first Add.
type Watch struct {
	Names   func() (names []string, dir string) // what is looked for, and where
	Changed func(ctx context.Context, c Change)

	mu    sync.Mutex
	extra []string // absolute; of a folder, what is in it
	now   map[string]string
	stop  context.CancelFunc // nil: it does not run
	done  chan struct{}
}

// Add begins to watch, until ctx ends or Close, or watches further paths. They are absolute.
func (w *Watch) Add(ctx context.Context, paths []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, p := range paths {
		if len(w.extra) < watchMost && !slices.Contains(w.extra, p) {
			w.extra = append(w.extra, p)
		}
	}
	if w.stop != nil {
		w.add(w.look()) // a new one is no change
		return
	}
	ctx, stop := context.WithCancel(ctx)
	w.stop, w.done, w.now = stop, make(chan struct{}), w.look()
	go func() {
		defer close(w.done)
		tick := time.NewTicker(watchEvery)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				for _, c := range w.changes() {
					w.Changed(ctx, c)
				}
			}
		}
	}()
}

// add takes up files that were not watched before. The caller holds the lock.
func (w *Watch) add(seen map[string]string) {
	for path, state := range seen {
		if _, ok := w.now[path]; !ok {
			w.now[path] = state
		}
	}
}

// changes are those since the last look.
func (w *Watch) changes() []Change {
	w.mu.Lock()
	defer w.mu.Unlock()
	was := w.now
	w.now = w.look()
	return compare(was, w.now)
}

// Close ends the watch. A nil one watches nothing.
func (w *Watch) Close() {
	if w == nil {
		return
	}
	w.mu.Lock()
	stop, done := w.stop, w.done
	w.mu.Unlock()
	if stop != nil {
		stop()
		<-done
	}
}

// Told reports whether the watch has told of a file as it is now. Else whoever asks tells of it, and the watch does not.
func (w *Watch) Told(path string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	state, watched := w.now[path]
	now := fileState(path)
	if !watched || state == now {
		return watched
	}
	w.now[path] = now
	return false
}

// folder is the state of a folder whose files are watched.
// Of partFolder not all files are known: a file that is not among them may be there.
const (
	folder     = "folder"
	partFolder = "part of a folder"
)

func isFolder(state string) bool { return state == folder || state == partFolder }

// look is the state of each file that is watched; "" of one that is not there. The caller holds the lock.
func (w *Watch) look() map[string]string {
	out := map[string]string{}
	names, cwd := w.Names()
	for _, n := range names {
		if filepath.IsLocal(n) {
			out[filepath.Join(cwd, n)] = fileState(filepath.Join(cwd, n))
		}
	}
	for _, p := range w.extra {
		if info, err := os.Stat(p); err != nil || !info.IsDir() {
			out[p] = fileState(p)
			continue
		}
		out[p] = folder
		entries, err := os.ReadDir(p)
		if err != nil {
			out[p] = partFolder
		}
		for _, e := range entries {
			switch path := filepath.Join(p, e.Name()); {
			case e.IsDir():
			case len(out) < watchMost:
				out[path] = fileState(path)
			default:
				out[p] = partFolder
			}
		}
	}
	return out
}

// fileState changes when a file does.
func fileState(path string) string {
	info, err := os.Stat(path)
	if err != nil || info.IsDir() {
		return ""
	}
	return strconv.FormatInt(info.ModTime().UnixNano(), 36) + " " + strconv.FormatInt(info.Size(), 36)
}

// Change is what became of a file: change, add or unlink.
type Change struct{ Path, What string }

// compare compares two looks, by path. What only one of them looked at has not changed, but for the files of a folder.
func compare(was, now map[string]string) []Change {
	var out []Change
	for path, state := range now {
		before, known := was[path]
		switch {
		case state == before, isFolder(state), isFolder(before), !known && was[filepath.Dir(path)] != folder:
		case before == "":
			out = append(out, Change{path, "add"})
		case state == "":
			out = append(out, Change{path, "unlink"})
		default:
			out = append(out, Change{path, "change"})
		}
	}
	for path, state := range was { // of a folder: it is not listed any more
		if _, listed := now[path]; !listed && state != "" && !isFolder(state) && isFolder(was[filepath.Dir(path)]) && now[filepath.Dir(path)] == folder {
			out = append(out, Change{path, "unlink"})
		}
	}
	slices.SortFunc(out, func(a, b Change) int { return cmp.Compare(a.Path, b.Path) })
	return out
}
