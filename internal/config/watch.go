package config

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// Watcher notices that settings files changed. It looks when it is asked and not more often than every second:
// a handful of stat calls, which costs less than a thread of its own and misses nothing that matters.
type Watcher struct {
	places Places

	mu     sync.Mutex
	looked time.Time
	stamps map[string]stamp
	files  []Change // that changed last
	now    func() time.Time
}

// Change is a settings file that came, went or changed.
type Change struct {
	Scope Scope
	File  string
}

// Files are those that made Changed load the settings again the last time.
func (w *Watcher) Files() []Change { w.mu.Lock(); defer w.mu.Unlock(); return w.files }

type stamp struct {
	size int64
	mod  time.Time
}

// NewWatcher remembers how the files are now.
func NewWatcher(p Places, now func() time.Time) *Watcher {
	w := &Watcher{places: p, now: now, looked: now()}
	w.stamps = w.take()
	return w
}

// Changed loads the settings again if a file changed since the last time, and returns nil if none did. When the
// changed settings cannot be loaded the error says why; the caller goes on with those it has.
func (w *Watcher) Changed() (*Settings, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.now().Sub(w.looked) < time.Second {
		return nil, nil
	}
	w.looked = w.now()
	fresh := w.take()
	if w.files = w.differ(fresh); len(w.files) == 0 {
		return nil, nil
	}
	w.stamps = fresh
	return Load(w.places)
}

// differ lists the files whose stamps are other than before.
func (w *Watcher) differ(fresh map[string]stamp) []Change {
	scopes := map[string]Scope{}
	for _, f := range w.places.files() {
		scopes[f.path] = f.scope
	}
	var out []Change
	for path, scope := range scopes {
		was, had := w.stamps[path]
		is, has := fresh[path]
		if had != has || was.size != is.size || !was.mod.Equal(is.mod) {
			out = append(out, Change{scope, path})
		}
	}
	for path := range w.stamps { // a managed file that is no longer looked for
		if _, ok := scopes[path]; !ok {
			out = append(out, Change{Managed, path})
		}
	}
	slices.SortFunc(out, func(a, b Change) int { return strings.Compare(a.File, b.File) })
	return out
}

func (w *Watcher) take() map[string]stamp {
	out := map[string]stamp{}
	for _, f := range w.places.files() {
		if info, err := os.Stat(f.path); err == nil {
			out[f.path] = stamp{info.Size(), info.ModTime()}
		}
	}
	return out
}

// source is one file that may hold settings.
type source struct {
	scope        Scope
	path, anchor string
	trusted      bool
}

// files lists where settings may be, the highest scope first.
func (p Places) files() []source {
	var out []source
	add := func(name string, scope Scope, dir, file, anchor string, trusted bool) {
		if dir != "" && p.wants(name) {
			out = append(out, source{scope, filepath.Join(dir, file), anchor, trusted})
		}
	}
	root := p.Root
	if root == "" {
		root = p.Work
	}
	for _, f := range managedFiles(p.Managed) {
		out = append(out, source{Managed, f, filepath.Dir(f), true})
	}
	add("local", Local, root, ".lathe/settings.local.json", p.Work, p.Trusted)
	add("local", Local, root, ".claude/settings.local.json", p.Work, p.Trusted)
	add("project", Project, p.Work, ".lathe/settings.json", p.Work, p.Trusted)
	add("project", Project, p.Work, ".claude/settings.json", p.Work, p.Trusted)
	add("user", User, p.State, "settings.json", p.State, true)
	add("user", User, p.Config, "settings.json", p.Config, true)
	return out
}
