package file

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// ErrMoved is wrapped by errors for a path that no longer leads where it led when it was resolved: a link was put
// in its way. Nothing was read or written.
var ErrMoved = errors.New("a link was put in its way")

// Place is where a file stands: its directory, held open, and its name in there. What is done through a Place is
// done in that very directory, wherever its path may lead by then, and never follows a link.
type Place struct {
	path, base string
	dir        *os.Root
}

// At opens the place of path, which is absolute and has its links resolved (see Resolve). If a directory on the way
// is a link by now, or becomes one while it is opened, that is an error that wraps ErrMoved. A directory that does
// not exist is an error that wraps fs.ErrNotExist.
func At(path string) (*Place, error) {
	dir, err := openDir(filepath.Dir(path))
	if err != nil {
		return nil, explain(path, err)
	}
	return &Place{path: path, base: filepath.Base(path), dir: dir}, nil
}

// Close lets the directory go.
func (p *Place) Close() { _ = p.dir.Close() }

// openDir opens a directory by its resolved path and makes sure that it is the one that the path names.
func openDir(dir string) (*os.Root, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	if pathOf(root) == filepath.Clean(dir) {
		return root, nil
	}
	_ = root.Close()
	return walk(dir)
}

// walk opens a directory step by step from the top, for systems that cannot tell the path of what is open.
func walk(dir string) (*os.Root, error) {
	top := filepath.VolumeName(dir) + string(filepath.Separator)
	root, err := os.OpenRoot(top)
	if err != nil {
		return nil, err
	}
	for _, name := range strings.FieldsFunc(dir[len(filepath.VolumeName(dir)):], func(r rune) bool { return os.IsPathSeparator(uint8(r)) }) {
		next, err := step(root, name)
		_ = root.Close()
		if err != nil {
			return nil, err
		}
		root = next
	}
	return root, nil
}

// step opens a directory in another one. It is the directory of that name itself: what was looked at without
// following a link and what was opened are the same.
func step(root *os.Root, name string) (*os.Root, error) {
	want, err := root.Lstat(name)
	if err != nil {
		return nil, err
	}
	if want.Mode()&fs.ModeSymlink != 0 {
		return nil, fmt.Errorf("%s: %w", name, ErrMoved)
	}
	next, err := root.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	got, err := next.Stat(".")
	if err == nil && !os.SameFile(want, got) {
		err = fmt.Errorf("%s: %w", name, ErrMoved)
	}
	if err != nil {
		_ = next.Close()
		return nil, err
	}
	return next, nil
}

// open opens the file itself and tells what it is. Anything that is not a regular file is refused before it is
// opened, since opening a FIFO or a device can hang or do something.
func (p *Place) open(flag int) (*os.File, fs.FileInfo, error) {
	want, err := p.dir.Lstat(p.base)
	if err != nil {
		return nil, nil, explain(p.path, err)
	}
	if err := regular(p.path, want); err != nil {
		return nil, nil, err
	}
	// The name may have come to mean something else since; without blocking, that does no harm.
	f, err := p.dir.OpenFile(p.base, flag|nonblock, 0)
	if err != nil {
		return nil, nil, explain(p.path, err)
	}
	got, err := f.Stat()
	switch {
	case err != nil:
		err = explain(p.path, err)
	case !os.SameFile(want, got):
		err = p.moved()
	default:
		err = regular(p.path, got)
	}
	if err != nil {
		_ = f.Close()
		return nil, nil, err
	}
	return f, got, nil
}

func (p *Place) moved() error {
	return fmt.Errorf("%s is another file than a moment ago, so it was left alone; call again: %w", p.path, ErrMoved)
}

// still checks that the name in the directory is the file that was, or that there is none when was is nil.
func (p *Place) still(was fs.FileInfo) error {
	now, err := p.dir.Lstat(p.base)
	switch {
	case was == nil && err == nil:
		return fmt.Errorf("%s was made by someone else in the meantime: %w", p.path, fs.ErrExist)
	case was == nil:
		return nil
	case err != nil:
		return explain(p.path, err)
	case !os.SameFile(was, now):
		return p.moved()
	}
	return nil
}
