package app

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"time"

	"lathe/internal/hook"
)

// watchEvery is how often the files that FileChanged hooks wait for are looked at; watchMost how many there may be.
const (
	watchEvery = 500 * time.Millisecond
	watchMost  = 1000
)

// fileWatch looks at the files that FileChanged hooks wait for: those that their matchers name, where the session works,
// and those that hooks have named with watchPaths. Nothing runs where there is no such hook.
type fileWatch struct {
	mu    sync.Mutex
	extra []string // absolute; of a folder, what is in it
	now   map[string]string
	stop  context.CancelFunc // nil: it does not run
	done  chan struct{}
}

// watchFiles begins to watch, or watches further paths.
func (h *hooks) watchFiles(paths []string) {
	if h.top != nil {
		return // a sub-agent
	}
	w := &h.files
	if _, ok := h.bus.Files(); !ok {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, p := range paths {
		if p = h.r.tools.workspace.Abs(p); len(w.extra) < watchMost && !slices.Contains(w.extra, p) {
			w.extra = append(w.extra, p)
		}
	}
	if w.stop != nil {
		w.add(h.watched()) // a new one is no change
		return
	}
	ctx, stop := context.WithCancel(h.ctx)
	w.stop, w.done, w.now = stop, make(chan struct{}), h.watched()
	go func() {
		defer close(w.done)
		tick := time.NewTicker(watchEvery)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				h.lookAtFiles(ctx)
			}
		}
	}()
}

// add takes up files that were not watched before. The caller holds the lock.
func (w *fileWatch) add(seen map[string]string) {
	for path, state := range seen {
		if _, ok := w.now[path]; !ok {
			w.now[path] = state
		}
	}
}

// close ends the watch.
func (w *fileWatch) close() {
	w.mu.Lock()
	stop, done := w.stop, w.done
	w.mu.Unlock()
	if stop != nil {
		stop()
		<-done
	}
}

// toldOf reports whether the watch has told of a file as it is now. Else whoever asks tells of it, and the watch does not.
func (h *hooks) toldOf(path string) bool {
	w := &h.files
	if h.top != nil {
		w = &h.top.files
	}
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

// watched is the state of each file that is watched; "" of one that is not there. The caller holds the lock.
func (h *hooks) watched() map[string]string {
	out := map[string]string{}
	names, _ := h.bus.Files()
	cwd := h.r.tools.workspace.Cwd()
	for _, n := range names {
		if filepath.IsLocal(n) {
			out[filepath.Join(cwd, n)] = fileState(filepath.Join(cwd, n))
		}
	}
	for _, p := range h.files.extra {
		if !isDir(p) {
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

// fileChange is what became of a file: change, add or unlink.
type fileChange struct{ path, what string }

// fileChanges compares two looks, by path. What only one of them looked at has not changed, but for the files of a folder.
func fileChanges(was, now map[string]string) []fileChange {
	var out []fileChange
	for path, state := range now {
		before, known := was[path]
		switch {
		case state == before, isFolder(state), isFolder(before), !known && was[filepath.Dir(path)] != folder:
		case before == "":
			out = append(out, fileChange{path, "add"})
		case state == "":
			out = append(out, fileChange{path, "unlink"})
		default:
			out = append(out, fileChange{path, "change"})
		}
	}
	for path, state := range was { // of a folder: it is not listed any more
		if _, listed := now[path]; !listed && state != "" && !isFolder(state) && isFolder(was[filepath.Dir(path)]) && now[filepath.Dir(path)] == folder {
			out = append(out, fileChange{path, "unlink"})
		}
	}
	slices.SortFunc(out, func(a, b fileChange) int {
		if a.path < b.path {
			return -1
		}
		return 1
	})
	return out
}

// lookAtFiles tells hooks of what changed since the last look.
func (h *hooks) lookAtFiles(ctx context.Context) {
	w := &h.files
	w.mu.Lock()
	now := h.watched()
	changes := fileChanges(w.now, now)
	w.now = now
	w.mu.Unlock()
	for _, c := range changes {
		name := filepath.Base(c.path)
		if !h.bus.Has(hook.FileChanged, name) {
			continue
		}
		h.r.prepareEnvFile()
		o := h.bus.Fire(ctx, hook.Payload{Event: hook.FileChanged, Match: name, Fields: map[string]any{"file_path": c.path, "event": c.what}})
		h.tell(o)
		if len(o.Watch) > 0 {
			h.watchFiles(o.Watch)
		}
	}
}
