package search

import (
	"context"
	"sync"
)

// TreeOptions says what Tree lists.
type TreeOptions struct {
	Root string // absolute
	Git  bool   // leave out what git ignores; .ignore files count always
	Most int    // names at most; 0: no limit
}

// Tree lists the files and folders below a folder, relative to it, with slashes; a folder's name ends with one. Version
// control folders are left out, and links are listed and not followed. The order is none. cut reports that there are
// more than Most. When ctx ends it returns what was found so far with ctx's error.
func Tree(ctx context.Context, opt TreeOptions) (names []string, cut bool, err error) {
	t := &tree{opt: opt}
	first := task{abs: opt.Root, scope: &scope{}}
	if opt.Git {
		first.scope = scopeFor(opt.Root)
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	t.stop = stop
	err = walk(ctx, first, t.worker)
	if t.cut {
		err = nil
	}
	return t.names, t.cut, err
}

type tree struct {
	opt  TreeOptions
	stop func()

	mu    sync.Mutex
	names []string
	cut   bool
}

func (t *tree) worker(c *crew) (func(task), func()) {
	dirents := make([]byte, 32<<10)
	var mine []string
	flush := func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.names = append(t.names, mine...)
		mine = mine[:0]
		if t.opt.Most > 0 && len(t.names) >= t.opt.Most {
			t.names, t.cut = t.names[:t.opt.Most], true
			t.stop()
		}
	}
	return func(k task) {
		d, err := openFolder(k.abs)
		if err != nil {
			return // gone, or not to be read
		}
		defer d.close()
		entries, _ := d.list(dirents) // what was read counts
		mine = append(mine, t.folder(c, k, entries)...)
		if len(mine) > 4096 {
			flush()
		}
	}, flush
}

// folder lists one folder and passes on those in it.
func (t *tree) folder(c *crew, k task, entries []entry) (names []string) {
	var f found
	for _, e := range entries {
		f.see(e.name)
	}
	if !t.opt.Git {
		f.git, f.gitignore = false, false
	}
	k.scope = k.scope.enter(k.abs, k.rel, f)
	var dirs []task
	for _, e := range entries {
		isDir := e.kind == kindDir
		if e.kind == kindOther || vcsFolders[e.name] || k.scope.ignores(k.rel, e.name, isDir) {
			continue
		}
		name := joinPath(k.rel, e.name)
		if isDir {
			name += "/"
			sub := k.child(e.name)
			dirs = append(dirs, sub)
		}
		names = append(names, name)
	}
	c.push(dirs...)
	return names
}
