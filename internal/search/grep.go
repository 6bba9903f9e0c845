package search

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// Mode says what is asked of a search.
type Mode int

// The modes.
const (
	ModeFiles   Mode = iota // which files match; newest first
	ModeContent             // the matching lines
	ModeCount               // how many lines match in each file
)

// GrepOptions says where and how to search.
type GrepOptions struct {
	Root         string  // a folder or a regular file, absolute
	Filter       *Filter // which names; nil for all
	NoIgnore     bool    // search ignored files too
	Mode         Mode
	Before       int // lines of context before each match
	After        int
	OnlyMatching bool // the matching parts of lines, not the lines
	KeepLines    int  // so many lines of one file are kept, the others counted
	KeepBytes    int  // when more text than this is kept in all, files far down the order lose theirs; 0: 32 MiB
	MaxLine      int  // longer lines are clipped around the match; 0: 500 bytes
	// Hide keeps a file out of the result. It is asked for files that match only, from many goroutines.
	Hide func(abs string) bool
}

func (o *GrepOptions) lineLimit() int {
	if o.MaxLine > 0 {
		return o.MaxLine
	}
	return 500
}

// Line is one line of content.
type Line struct {
	Num   int
	Text  string
	Match bool // else context
	Gap   bool // lines are missing between this one and the one before
}

// FileHit is a file that matches.
type FileHit struct {
	Path     string // absolute
	ModTime  time.Time
	Matches  int // matching lines (matches, for multiline); in ModeFiles only that there is one
	NumLines int // lines to show, context included, kept or not
	Lines    []Line
	Binary   bool // a binary file that was named by itself
}

// Report is what a search found. In ModeFiles the newest file is first, else files are in order of their path.
type Report struct {
	Files      []FileHit
	Unreadable int      // files and folders that could not be read
	TooLarge   []string // files too large for a multiline search
}

// maxBatch is how many files of one folder a worker takes at once.
const maxBatch = 256

// Grep searches. When ctx ends it returns at once with what was found so far and ctx's error.
func Grep(ctx context.Context, m *Matcher, opt GrepOptions) (Report, error) {
	g := &grep{m: m, opt: opt}
	if g.opt.KeepBytes == 0 {
		g.opt.KeepBytes = 32 << 20
	}
	fi, err := os.Stat(opt.Root)
	if err != nil {
		return Report{}, err
	}
	if !fi.IsDir() {
		if !fi.Mode().IsRegular() {
			return Report{}, errors.New("not a regular file")
		}
		err = g.single(ctx)
	} else {
		root := task{abs: opt.Root, scope: &scope{}}
		if !opt.NoIgnore {
			root.scope = scopeFor(opt.Root)
		}
		err = walk(ctx, root, g.worker)
	}
	g.sort()
	return g.report, err
}

type grep struct {
	m   *Matcher
	opt GrepOptions

	mu     sync.Mutex
	report Report
	bytes  int // text kept
}

// single searches a file that was named by itself, whatever it is called.
func (g *grep) single(ctx context.Context) error {
	s := newScanner(g.m, &g.opt, func() bool { return ctx.Err() != nil })
	defer s.p.close()
	f, err := openFile(g.opt.Root)
	if err != nil {
		return err
	}
	defer f.close()
	hit, err := s.scan(f, true)
	g.take(g.opt.Root, hit, err, s.modTimeOf(f))
	if err != nil && !errors.Is(err, errTooLarge) {
		return err
	}
	return ctx.Err()
}

func (g *grep) worker(c *crew) (func(task), func()) {
	s := newScanner(g.m, &g.opt, c.stopped.Load)
	dirents := make([]byte, 32<<10)
	return func(t task) {
		d, err := openFolder(t.abs)
		if err != nil {
			g.failed(err)
			return
		}
		defer d.close()
		if t.files == nil {
			entries, err := d.list(dirents)
			if err != nil {
				g.failed(err)
			}
			t.files = g.choose(c, t, entries)
		}
		for _, e := range t.files {
			if c.stopped.Load() {
				return
			}
			g.file(s, d, e.name)
		}
	}, s.p.close
}

// choose pushes what must be searched besides the files that it returns.
func (g *grep) choose(c *crew, t task, entries []entry) []entry {
	if !g.opt.NoIgnore {
		var f found
		for i := range entries {
			if n := entries[i].name; n[0] == '.' {
				f.see(n)
			}
		}
		t.scope = t.scope.enter(t.abs, t.rel, f)
	}
	files, dirs := entries[:0], []task(nil)
	for _, e := range entries {
		if e.kind != kindDir && e.kind != kindFile || vcsFolders[e.name] || g.skip(&t, e) {
			continue
		}
		if e.kind == kindDir {
			dirs = append(dirs, t.child(e.name))
			continue
		}
		files = append(files, e)
	}
	for len(files) > maxBatch {
		part := t
		part.files = files[len(files)-maxBatch:]
		files = files[:len(files)-maxBatch]
		dirs = append(dirs, part)
	}
	c.push(dirs...)
	return files
}

func (g *grep) skip(t *task, e entry) bool {
	switch g.opt.Filter.judge(t.rel, e.name, e.kind == kindDir) {
	case ignored:
		return true
	case included:
		return false
	}
	return !g.opt.NoIgnore && t.scope.ignores(t.rel, e.name, e.kind == kindDir)
}

func (g *grep) file(s *scanner, d *folder, name string) {
	f, err := d.open(name)
	if err != nil {
		g.failed(err)
		return
	}
	defer f.close()
	hit, err := s.scan(f, false)
	if hit == nil && err == nil {
		return
	}
	g.take(filepath.Join(d.abs, name), hit, err, s.modTimeOf(f))
}

func (g *grep) failed(err error) {
	if errors.Is(err, fs.ErrNotExist) {
		return // it went away while we looked
	}
	g.mu.Lock()
	g.report.Unreadable++
	g.mu.Unlock()
}

// take adds one file's result to the report.
func (g *grep) take(abs string, hit *FileHit, err error, mod time.Time) {
	if g.opt.Hide != nil && g.opt.Hide(abs) {
		return
	}
	switch {
	case errors.Is(err, errTooLarge):
		g.mu.Lock()
		g.report.TooLarge = append(g.report.TooLarge, abs)
		g.mu.Unlock()
	case err != nil:
		g.failed(err)
	case hit != nil:
		hit.Path, hit.ModTime = abs, mod
		g.mu.Lock()
		g.report.Files = append(g.report.Files, *hit)
		for i := range hit.Lines {
			g.bytes += len(hit.Lines[i].Text) + 48
		}
		if g.bytes > g.opt.KeepBytes {
			g.prune()
		}
		g.mu.Unlock()
	}
}

// prune drops the text of files that stand too far down to be shown.
func (g *grep) prune() {
	g.sort()
	lines, size := 0, 0
	for i := range g.report.Files {
		f := &g.report.Files[i]
		if lines >= g.opt.KeepLines || size > g.opt.KeepBytes/2 {
			f.Lines = nil
		}
		lines += len(f.Lines)
		for k := range f.Lines {
			size += len(f.Lines[k].Text) + 48
		}
	}
	g.bytes = size
}

func (g *grep) sort() {
	slices.SortFunc(g.report.Files, func(a, b FileHit) int {
		if g.opt.Mode == ModeFiles {
			if c := b.ModTime.Compare(a.ModTime); c != 0 {
				return c
			}
		}
		return strings.Compare(a.Path, b.Path)
	})
	slices.Sort(g.report.TooLarge)
}
