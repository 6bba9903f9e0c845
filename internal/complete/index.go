package complete

import (
	"context"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"lathe/internal/search"
)

// Limits of the index.
const (
	mostPaths  = 500_000
	firstWait  = 200 * time.Millisecond // for the first list, so that the first letters find something
	freshFor   = 3 * time.Second
	restFactor = 20 // a listing that took long is not made again for so many times as long
)

// Suggestion is a file or folder that fits.
type Suggestion struct {
	Path string `json:"path"` // relative to the folder, with slashes; a folder's ends with one
	Dir  bool   `json:"isDirectory"`
	Kind string `json:"kind,omitempty"` // of what is no file: "agent", "resource", "template" (a resource's name up to where the person goes on)
	Note string `json:"note,omitempty"` // what it is, for people; letters of it count, too
}

// Options say what is indexed.
type Options struct {
	Root string
	Git  bool // leave out what git ignores
	Now  func() time.Time
	// Hide keeps a path out of what is suggested. Nil: none.
	Hide func(path string) bool
}

// Index suggests paths below a folder. It lists the folder lazily and in the background. It is safe for concurrent use;
// Close must be called.
type Index struct {
	opt  Options
	ctx  context.Context
	stop context.CancelFunc
	wg   sync.WaitGroup

	mu       sync.Mutex
	table    *table // nil until it was listed once
	cut      bool
	at       time.Time     // when it was listed
	took     time.Duration // how long that took
	building chan struct{} // closed when the listing that runs has ended; nil: none runs
}

// New returns an index. Nothing is read yet.
func New(opt Options) *Index {
	x := &Index{opt: opt}
	x.ctx, x.stop = context.WithCancel(context.Background())
	return x
}

// Close ends a listing that runs.
func (x *Index) Close() {
	if x == nil {
		return
	}
	x.stop()
	x.wg.Wait()
}

// Answer is what an index knows of a query.
type Answer struct {
	Suggestions []Suggestion `json:"suggestions"`
	Building    bool         `json:"building,omitempty"` // something is still being listed for the first time
	Total       int          `json:"total"`              // paths that are known
	Cut         bool         `json:"cut,omitempty"`      // there are more than are known
}

// Suggest returns the paths, and those of the others, that fit what was typed, the best first, at most limit. Without
// letters it is what stands at the top of the folder, and behind that the others.
func (x *Index) Suggest(ctx context.Context, query string, limit int, others []Suggestion) Answer {
	t, cut := x.tableFor(ctx)
	out := Answer{Suggestions: []Suggestion{}, Building: t == nil, Cut: cut}
	if t == nil {
		t = newTable(nil)
	}
	out.Total = len(t.paths)
	query = strings.TrimPrefix(query, "./")
	if query == "" {
		room := limit - min(len(others), limit/4)
		for _, p := range t.top() {
			if len(out.Suggestions) < room && !x.hidden(p) {
				out.Suggestions = append(out.Suggestions, file(p))
			}
		}
		out.Suggestions = append(out.Suggestions, others[:min(len(others), limit-len(out.Suggestions))]...)
		return out
	}
	more := besides(others)
	fit := more.best(query, limit)
	for _, h := range t.best(query, 2*limit+20) { // some may be hidden
		for len(fit) > 0 && fit[0].score > h.score && len(out.Suggestions) < limit {
			out.Suggestions = append(out.Suggestions, others[fit[0].index])
			fit = fit[1:]
		}
		if p := t.paths[h.index]; len(out.Suggestions) < limit && !x.hidden(p) {
			out.Suggestions = append(out.Suggestions, file(p))
		}
	}
	for _, h := range fit[:min(len(fit), limit-len(out.Suggestions))] {
		out.Suggestions = append(out.Suggestions, others[h.index])
	}
	return out
}

func (x *Index) hidden(path string) bool { return x.opt.Hide != nil && x.opt.Hide(path) }

func file(path string) Suggestion { return Suggestion{Path: path, Dir: strings.HasSuffix(path, "/")} }

// besides makes what is no path searchable, by what it is called and by what is said of it.
func besides(others []Suggestion) *table {
	names := make([]string, len(others))
	for i, s := range others {
		names[i] = strings.TrimSpace(s.Path + " " + s.Note)
	}
	return newTable(names)
}

// top are the names at the top of the folder, folders first.
func (t *table) top() []string {
	var out []string
	for _, p := range t.paths {
		if !strings.Contains(strings.TrimSuffix(p, "/"), "/") {
			out = append(out, p)
		}
	}
	slices.SortFunc(out, func(a, b string) int {
		if da, db := strings.HasSuffix(a, "/"), strings.HasSuffix(b, "/"); da != db {
			if da {
				return -1
			}
			return 1
		}
		return strings.Compare(path.Clean(a), path.Clean(b))
	})
	return out
}

// tableFor returns the list, and has it made anew where it may be out of date. For the first one it waits shortly.
func (x *Index) tableFor(ctx context.Context) (*table, bool) {
	x.mu.Lock()
	old := x.opt.Now().Sub(x.at) > max(freshFor, restFactor*x.took)
	if x.building == nil && (x.table == nil || old) && x.ctx.Err() == nil {
		x.building = make(chan struct{})
		x.wg.Go(x.build)
	}
	t, cut, building := x.table, x.cut, x.building
	x.mu.Unlock()
	if t != nil || building == nil {
		return t, cut
	}
	timer := time.NewTimer(firstWait)
	defer timer.Stop()
	select {
	case <-building:
	case <-timer.C:
	case <-ctx.Done():
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.table, x.cut
}

func (x *Index) build() {
	start := time.Now()
	names, cut, err := search.Tree(x.ctx, search.TreeOptions{Root: x.opt.Root, Git: x.opt.Git, Most: mostPaths})
	var t *table
	if err == nil {
		slices.Sort(names)
		t = newTable(names)
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if t == nil && x.table == nil && x.ctx.Err() == nil {
		t = newTable(nil) // a folder that cannot be read has nothing, until it is looked at again
	}
	if t != nil {
		x.table, x.cut = t, cut
	}
	x.at, x.took = x.opt.Now(), time.Since(start)
	close(x.building)
	x.building = nil
}
