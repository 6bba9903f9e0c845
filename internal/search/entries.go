package search

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
)

// ErrTooMany says that a tree has more entries than were asked for.
var ErrTooMany = errors.New("too many files")

// Entry is something in a tree.
type Entry struct {
	Path string // absolute
	Info fs.FileInfo
}

// Entries lists what is below root and not ignored by git, directories and links too, in no order. No link is followed,
// and the folders of version control systems are left out. More than most entries are an error, ErrTooMany, as soon as
// that is known. What cannot be looked at is left out.
func Entries(ctx context.Context, root string, most int) ([]Entry, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var mu sync.Mutex
	var out []Entry
	var count atomic.Int64
	first := task{abs: root, scope: scopeFor(root)}
	err := walk(ctx, first, func(c *crew) (func(task), func()) {
		buf := make([]byte, 32<<10)
		var mine []Entry
		handle := func(t task) {
			d, err := openFolder(t.abs)
			if err != nil {
				return
			}
			entries, _ := d.list(buf) // what could be read counts
			d.close()
			var f found
			for _, e := range entries {
				f.see(e.name)
			}
			f.ignore = false // those files are about searching
			t.scope = t.scope.enter(t.abs, t.rel, f)
			if count.Add(int64(len(entries))) > int64(most) {
				cancel()
				return
			}
			var dirs []task
			for _, e := range entries {
				if vcsFolders[e.name] || t.scope.ignores(t.rel, e.name, e.kind == kindDir) {
					count.Add(-1)
					continue
				}
				path := filepath.Join(t.abs, e.name)
				info, err := os.Lstat(path)
				if err != nil {
					continue
				}
				mine = append(mine, Entry{path, info})
				if info.IsDir() {
					dirs = append(dirs, t.child(e.name))
				}
			}
			c.push(dirs...)
		}
		return handle, func() {
			mu.Lock()
			out = append(out, mine...)
			mu.Unlock()
		}
	})
	if count.Load() > int64(most) {
		return nil, ErrTooMany
	}
	return out, err
}
