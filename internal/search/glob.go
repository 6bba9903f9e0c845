package search

import (
	"context"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// GlobOptions says which names to look for.
type GlobOptions struct {
	Root    string // the folder that the pattern starts from, absolute
	Pattern string // **, *, ?, [a-z], {a,b}; slashes between names; may be absolute or begin with ../
	Keep    int    // how many of the newest files are returned; 0 for all
	// RespectIgnore leaves out what git ignores; SkipHidden leaves out names with a dot in front, unless the
	// pattern spells the dot.
	RespectIgnore, SkipHidden bool
	// Hide keeps a file out of the result. It is asked for files that match, from many goroutines.
	Hide func(abs string) bool
}

// GlobFile is one file found.
type GlobFile struct {
	Path    string // absolute
	ModTime time.Time
}

// GlobReport is what was found, newest first.
type GlobReport struct {
	Files      []GlobFile
	Total      int // matching files, kept or not
	Unreadable int // folders that could not be read
}

// Glob finds files by name. A folder that is a link is entered where the pattern names it, never below **, so
// loops of links end. When ctx ends it returns what was found so far with ctx's error.
func Glob(ctx context.Context, opt GlobOptions) (GlobReport, error) {
	patterns, err := expandBraces(filepath.ToSlash(opt.Pattern))
	if err != nil {
		return GlobReport{}, err
	}
	byBase := map[string][]pathPattern{}
	var bases []string
	for _, p := range patterns {
		if err := checkPattern(p); err != nil {
			return GlobReport{}, err
		}
		base, rest := splitBase(opt.Root, p)
		if byBase[base] == nil {
			bases = append(bases, base)
		}
		byBase[base] = append(byBase[base], rest)
	}
	g := &glob{opt: opt, one: len(bases) == 1}
	g.cutoff.Store(math.MinInt64)
	for _, base := range bases {
		if err = g.run(ctx, base, byBase[base]); err != nil {
			break
		}
	}
	return g.report(), err
}

// CheckGlob explains a pattern that Glob would refuse.
func CheckGlob(pattern string) error {
	patterns, err := expandBraces(pattern)
	for _, p := range patterns {
		if err == nil {
			err = checkPattern(p)
		}
	}
	return err
}

// splitBase takes the names without special characters off a pattern's front.
func splitBase(root, pattern string) (base string, rest pathPattern) {
	base = root
	if vol := filepath.VolumeName(pattern); strings.HasPrefix(pattern[len(vol):], "/") {
		base, pattern = vol+string(filepath.Separator), strings.TrimLeft(pattern[len(vol):], "/")
	}
	rest = compilePattern(strings.TrimPrefix(pattern, "./"), true)
	for len(rest.segs) > 1 && rest.segs[0].literal {
		base = filepath.Join(base, rest.segs[0].text)
		rest.segs = rest.segs[1:]
	}
	return base, rest
}

type glob struct {
	opt  GlobOptions
	one  bool // one walk: no file can come twice
	segs []segment
	end  []bool // segs[i] is the last of its pattern
	pat  pathPattern

	mu         sync.Mutex
	files      []GlobFile
	total      int
	unreadable int
	cutoff     atomic.Int64 // files that were changed before this (Unix ns) are only counted
}

// run walks one base folder. The segments of all patterns stand in one list; a task's state holds the numbers of
// those that its entries must fit next.
func (g *glob) run(ctx context.Context, base string, patterns []pathPattern) error {
	fi, err := os.Stat(base)
	if err != nil || !fi.IsDir() {
		return ctx.Err() // what is not there has no files
	}
	g.segs, g.end = nil, nil
	first := task{abs: base, scope: &scope{}}
	for _, p := range patterns {
		first.state = append(first.state, len(g.segs))
		for i, s := range p.segs {
			g.segs = append(g.segs, s)
			g.end = append(g.end, i == len(p.segs)-1)
		}
	}
	g.pat = pathPattern{segs: g.segs, runes: true}
	if g.opt.RespectIgnore {
		first.scope = scopeFor(base)
	}
	return walk(ctx, first, g.worker)
}

// globHits collects what one worker finds.
type globHits struct {
	files []GlobFile
	total int
}

func (g *glob) worker(c *crew) (func(task), func()) {
	dirents := make([]byte, 32<<10)
	var hits globHits
	return func(t task) {
		d, err := openFolder(t.abs)
		if err == nil {
			defer d.close()
			var entries []entry
			entries, err = d.list(dirents)
			g.folder(c, t, d, entries, &hits)
		}
		if err != nil && !os.IsNotExist(err) {
			g.mu.Lock()
			g.unreadable++
			g.mu.Unlock()
		}
		if len(hits.files) > 500 {
			g.flush(&hits)
		}
	}, func() { g.flush(&hits) }
}

// flush hands a worker's files over. When only some are kept, the oldest go at once, and files older than those are
// not collected any more.
func (g *glob) flush(h *globHits) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.files = append(g.files, h.files...)
	g.total += h.total
	h.files, h.total = h.files[:0], 0
	if g.one && g.opt.Keep > 0 && len(g.files) > 4*g.opt.Keep {
		g.sort()
		g.files = g.files[:g.opt.Keep]
		g.cutoff.Store(g.files[g.opt.Keep-1].ModTime.UnixNano())
	}
}

// folder judges the entries of one folder.
func (g *glob) folder(c *crew, t task, d *folder, entries []entry, hits *globHits) {
	if g.opt.RespectIgnore {
		var f found
		for _, e := range entries {
			f.see(e.name)
		}
		t.scope = t.scope.enter(t.abs, t.rel, f)
	}
	var dirs []task
	var next []int
	for _, e := range entries {
		if c.stopped.Load() {
			return
		}
		var hit, follow bool
		next, hit, follow = g.advance(next[:0], t.state, e.name)
		if !hit && len(next) == 0 || e.kind == kindOther {
			continue
		}
		if g.opt.RespectIgnore && t.scope.ignores(t.rel, e.name, e.kind == kindDir) {
			continue
		}
		var mod time.Time
		k := e.kind
		if k == kindLink || k == kindFile && hit {
			var err error
			if k, mod, err = d.stat(e.name); err != nil {
				continue
			}
		}
		switch {
		case k == kindDir && len(next) > 0 && (e.kind != kindLink || follow):
			sub := t.child(e.name)
			sub.state = next
			if e.kind == kindLink {
				sub.state = g.named(next, e.name)
			}
			next = nil
			dirs = append(dirs, sub)
		case k == kindFile && hit:
			old := mod.UnixNano() < g.cutoff.Load()
			if old && g.opt.Hide == nil {
				hits.total++
				continue
			}
			abs := filepath.Join(t.abs, e.name)
			if g.opt.Hide != nil && g.opt.Hide(abs) {
				continue
			}
			hits.total++
			if !old {
				hits.files = append(hits.files, GlobFile{abs, mod})
			}
		}
	}
	c.push(dirs...)
}

// advance takes one name through all states: the states below it, whether the name itself completes a pattern,
// and whether a segment other than ** took it.
func (g *glob) advance(next, state []int, name string) (out []int, hit, named bool) {
	add := func(i int) {
		if !slices.Contains(next, i) {
			next = append(next, i)
		}
	}
	for _, i := range state {
		for {
			s := &g.segs[i]
			if s.deep && !g.hides(i, name) {
				add(i)
				hit = hit || g.end[i]
			}
			if !s.deep && !g.hides(i, name) && g.pat.matchSegment(i, name) {
				if g.end[i] {
					hit = true
				} else {
					add(i + 1)
					named = true
				}
			}
			if !s.deep || g.end[i] {
				break
			}
			i++ // ** may also stand for nothing
		}
	}
	return next, hit, named
}

// named keeps the states that a segment other than ** leads to.
func (g *glob) named(next []int, name string) []int {
	var out []int
	for _, i := range next {
		if i > 0 && !g.end[i-1] && !g.segs[i-1].deep && !g.hides(i-1, name) && g.pat.matchSegment(i-1, name) {
			out = append(out, i)
		}
	}
	return out
}

// hides keeps a version control folder from segments that do not spell its name, and dotted names where asked.
func (g *glob) hides(i int, name string) bool {
	if name[0] != '.' || g.segs[i].literal || strings.HasPrefix(g.segs[i].text, ".") && !vcsFolders[name] {
		return false
	}
	return vcsFolders[name] || g.opt.SkipHidden
}

func (g *glob) sort() {
	slices.SortFunc(g.files, func(a, b GlobFile) int {
		if c := b.ModTime.Compare(a.ModTime); c != 0 {
			return c
		}
		return strings.Compare(a.Path, b.Path)
	})
}

func (g *glob) report() GlobReport {
	g.sort()
	if !g.one {
		g.files = slices.CompactFunc(g.files, func(a, b GlobFile) bool { return a.Path == b.Path })
		g.total = len(g.files)
	}
	if g.opt.Keep > 0 && len(g.files) > g.opt.Keep {
		g.files = g.files[:g.opt.Keep]
	}
	return GlobReport{Files: g.files, Total: g.total, Unreadable: g.unreadable}
}
