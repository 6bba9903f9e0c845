//go:build !linux

package search

import (
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// folder is a folder, read through package os.
type folder struct{ abs string }

func openFolder(abs string) (*folder, error) { return &folder{abs: abs}, nil }

func (f *folder) close() {}

// list returns the entries; the scratch space is not needed here.
func (f *folder) list([]byte) ([]entry, error) {
	d, err := os.Open(f.abs)
	if err != nil {
		return nil, err
	}
	defer d.Close()
	names, err := d.ReadDir(-1)
	out := make([]entry, len(names))
	for i, n := range names {
		out[i] = entry{name: n.Name(), kind: kindOfMode(n.Type())}
	}
	return out, err
}

func kindOfMode(m fs.FileMode) kind {
	switch {
	case m.IsRegular():
		return kindFile
	case m.IsDir():
		return kindDir
	case m&fs.ModeSymlink != 0:
		return kindLink
	}
	return kindOther
}

// stat returns what an entry is, links followed, with its change time.
func (f *folder) stat(name string) (kind, time.Time, error) {
	fi, err := os.Stat(filepath.Join(f.abs, name))
	if err != nil {
		return kindOther, time.Time{}, err
	}
	return kindOfMode(fi.Mode()), fi.ModTime(), nil
}

func (f *folder) open(name string) (file, error) { return openFile(filepath.Join(f.abs, name)) }

type file struct{ f *os.File }

func openFile(abs string) (file, error) {
	f, err := os.Open(abs)
	return file{f}, err
}

func (f file) close() { _ = f.f.Close() }

// read fills b as far as the file goes; io.EOF comes with the last bytes.
func (f file) read(b []byte) (int, error) {
	n, err := io.ReadFull(f.f, b)
	if err == io.ErrUnexpectedEOF {
		err = io.EOF
	}
	return n, err
}

func (f file) modTime() time.Time {
	fi, err := f.f.Stat()
	if err != nil {
		return time.Time{}
	}
	return fi.ModTime()
}
