package file

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Replace gives the file at path (absolute, links resolved) the content data, all or nothing. was is the file that
// is replaced, whose mode and owner stay; nil makes a new file with mode 0644 less the umask, and the directories
// above it. check, when set, is called when everything is written and only the rename is left: its error stops
// the replacement. Whatever fails, the file is as it was and nothing is left beside it. No link is followed: one
// that was put on the path since it was resolved is an error that wraps ErrMoved.
func Replace(path string, data []byte, was fs.FileInfo, check func() error) error {
	if was == nil {
		return create(path, data, check)
	}
	p, err := At(path)
	if err != nil {
		return err
	}
	defer p.Close()
	return p.Replace(data, was, check)
}

// Replace gives the existing file the content data, all or nothing, as the function Replace does. Right before the
// rename it makes sure that the name is the file was still.
//
// Where the directory does not let a new file take the place of the old one, the file is written in place, with a
// copy kept until that is done.
func (p *Place) Replace(data []byte, was fs.FileInfo, check func() error) error {
	if was.Mode().Perm()&0o222 == 0 {
		return fmt.Errorf("%s is read-only (mode %04o): %w; change its mode first if it is meant to be changed",
			p.path, was.Mode().Perm(), fs.ErrPermission)
	}
	// A rename needs no right on the old file, but a person who took that right away means it.
	f, now, err := p.open(os.O_WRONLY)
	if err != nil {
		return err
	}
	_ = f.Close()
	if !os.SameFile(now, was) {
		return p.moved()
	}
	err = p.swap(data, was, check)
	if mustStay(err) {
		return p.inPlace(data, was, check)
	}
	return err
}

// swap writes a new file beside the old one and renames it.
func (p *Place) swap(data []byte, was fs.FileInfo, check func() error) error {
	mode := fs.FileMode(0o644)
	if was != nil {
		mode = 0o600 // until it has the mode of the old one
	}
	f, name, err := p.temp(mode)
	if err != nil {
		return fmt.Errorf("make a temporary file beside %s: %w", p.path, err)
	}
	defer func() { _ = p.dir.Remove(name) }() // after a rename there is none
	err = p.fill(f, data, was)
	if cerr := f.Close(); err == nil && cerr != nil {
		err = fmt.Errorf("write %s: %w", p.path, cerr)
	}
	if err == nil && check != nil {
		err = check()
	}
	if err == nil {
		err = p.still(was)
	}
	if err != nil {
		return err
	}
	if was == nil && p.dir.Link(name, p.base) == nil { // fails where a file was made meanwhile, unlike a rename
		return nil
	}
	if err := p.still(was); err != nil {
		return err
	}
	if err := p.dir.Rename(name, p.base); err != nil {
		return fmt.Errorf("replace %s: %w", p.path, err)
	}
	return nil
}

// TempPrefix begins the names of files that are not finished yet.
const TempPrefix = ".lathe-"

// temp makes a file of a new name in the directory.
func (p *Place) temp(mode fs.FileMode) (f *os.File, name string, err error) {
	for range 10 {
		name = TempPrefix + strings.ToLower(rand.Text())
		f, err = p.dir.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, mode)
		if !errors.Is(err, fs.ErrExist) {
			break
		}
	}
	return f, name, err
}

// fill gives the new file its content, and owner and mode of the old one.
func (p *Place) fill(f *os.File, data []byte, was fs.FileInfo) error {
	if _, err := f.Write(data); err != nil {
		return fmt.Errorf("write %s: %w", p.path, err)
	}
	if was != nil {
		keepOwner(f, was) // before the mode: a new owner clears the setuid bits
		if err := f.Chmod(was.Mode() & (fs.ModePerm | fs.ModeSetuid | fs.ModeSetgid | fs.ModeSticky)); err != nil {
			return fmt.Errorf("keep the mode of %s: %w", p.path, err)
		}
	}
	if err := f.Sync(); err != nil {
		return fmt.Errorf("write %s: %w", p.path, err)
	}
	return nil
}

func create(path string, data []byte, check func() error) error {
	p, made, err := makeDirs(path)
	if err == nil {
		err = p.swap(data, nil, check)
	}
	for _, m := range made {
		if err != nil {
			_ = m.in.Remove(m.name) // only empty ones go
		}
		_ = m.in.Close()
	}
	if p != nil {
		p.Close()
	}
	return err
}

// madeDir is a directory that was made in another one, held open.
type madeDir struct {
	in   *os.Root
	name string
}

// makeDirs opens the place of path and makes the directories that are missing on the way to it. It tells which, the
// deepest first.
func makeDirs(path string) (*Place, []madeDir, error) {
	dir := filepath.Dir(path)
	var missing []string
	root, err := openDir(dir)
	for errors.Is(err, fs.ErrNotExist) && dir != filepath.Dir(dir) {
		missing = append(missing, filepath.Base(dir))
		dir = filepath.Dir(dir)
		root, err = openDir(dir)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("make directory %s: %w", filepath.Dir(path), explain(dir, err))
	}
	var made []madeDir
	for i := len(missing) - 1; i >= 0; i-- {
		if err = root.Mkdir(missing[i], 0o755); errors.Is(err, fs.ErrExist) {
			err = nil
		}
		var next *os.Root
		if err == nil {
			next, err = step(root, missing[i])
		}
		made = append([]madeDir{{root, missing[i]}}, made...)
		if err != nil {
			return nil, made, fmt.Errorf("make directory %s: %w", filepath.Dir(path), err)
		}
		root = next
	}
	return &Place{path: path, base: filepath.Base(path), dir: root}, made, nil
}

// inPlace overwrites the file's bytes. A crash or a full disk in the middle would lose data, so a copy of the old
// content is on disk elsewhere until all is written; when writing fails, the old content is put back, and when even
// that fails, the error says where the copy is.
func (p *Place) inPlace(data []byte, was fs.FileInfo, check func() error) (err error) {
	path := p.path
	f, info, err := p.open(os.O_RDWR)
	if err != nil {
		return err
	}
	defer func() {
		if cerr := f.Close(); err == nil {
			err = cerr
		}
	}()
	if !os.SameFile(info, was) {
		return p.moved()
	}
	old, err := readAll(f, info.Size(), MaxSize)
	if err != nil {
		return explain(path, err)
	}
	keep, err := backup(path, old)
	if err != nil {
		return fmt.Errorf("the directory of %s takes no new files, and a copy for writing in place failed: %w", path, err)
	}
	if check != nil {
		if err := check(); err != nil {
			_ = os.Remove(keep)
			return err
		}
	}
	if werr := overwrite(f, data); werr != nil {
		if overwrite(f, old) != nil {
			return fmt.Errorf("write %s: %w; its old content is in %s", path, werr, keep)
		}
		_ = os.Remove(keep)
		return fmt.Errorf("write %s: %w; its old content was put back", path, werr)
	}
	return os.Remove(keep)
}

func overwrite(f *os.File, data []byte) error {
	if _, err := f.WriteAt(data, 0); err != nil {
		return err
	}
	if err := f.Truncate(int64(len(data))); err != nil {
		return err
	}
	return f.Sync()
}

func backup(path string, old []byte) (string, error) {
	t, err := os.CreateTemp("", "lathe-*-"+shortBase(path))
	if err != nil {
		return "", err
	}
	_, err = t.Write(old)
	if err == nil {
		err = t.Sync()
	}
	if cerr := t.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		_ = os.Remove(t.Name())
		return "", err
	}
	return t.Name(), nil
}

// shortBase is the file's name, short enough to be part of another name.
func shortBase(path string) string {
	base := filepath.Base(path)
	return base[max(0, len(base)-100):]
}
