package checkpoint

import (
	"path/filepath"
	"time"

	"lathe/internal/git"
)

// repos knows which files git has as they are in the work tree.
type repos struct {
	roots map[string]string // by directory
	index map[string]*index // by root
}

type index struct {
	entries map[string]*git.IndexEntry // by absolute path
	at      time.Time
}

func newRepos() *repos { return &repos{roots: map[string]string{}, index: map[string]*index{}} }

// clean returns the repository and the object that holds the content of a file with this signature; "" where git does
// not have it, or might not.
func (r *repos) clean(path string, g sig) (root, oid string) {
	dir := filepath.Dir(path)
	root, ok := r.roots[dir]
	if !ok {
		root = git.Root(dir)
		r.roots[dir] = root
	}
	if root == "" {
		return "", ""
	}
	x := r.index[root]
	if x == nil {
		x = readIndex(root)
		r.index[root] = x
	}
	e := x.entries[path]
	if e == nil || e.Conflict || e.Mode>>12 != 0o10 || e.Size != uint32(g.size) || g.mode&0o111 != 0 != (e.Mode&0o111 != 0) {
		return "", ""
	}
	at := time.Unix(0, g.mtime)
	if uint32(at.Unix()) != e.MSec {
		return "", ""
	}
	// Without parts of a second, or when it was written after git looked at it, it may differ all the same.
	if uint32(at.Nanosecond()) != e.MNano || !at.Before(x.at) {
		return "", ""
	}
	if g.ctime != 0 && (e.CSec != uint32(time.Unix(0, g.ctime).Unix()) || e.CNano != uint32(time.Unix(0, g.ctime).Nanosecond())) {
		return "", ""
	}
	if e.Inode != 0 && g.ino != 0 && e.Inode != uint32(g.ino) {
		return "", ""
	}
	return root, e.OID
}

// readIndex reads what a repository tracks; nothing where that cannot be read.
func readIndex(root string) *index {
	x, err := git.ReadIndex(git.IndexFile(root))
	if err != nil {
		return &index{}
	}
	out := &index{entries: make(map[string]*git.IndexEntry, len(x.Entries)), at: x.ModTime}
	for i := range x.Entries {
		out.entries[filepath.Join(root, filepath.FromSlash(x.Entries[i].Path))] = &x.Entries[i]
	}
	return out
}
