//go:build !unix

package file

import (
	"os"
	"path/filepath"
)

// temp is a file that will take another one's place.
type temp struct {
	f    *os.File
	path string
}

func newTemp(path string) (temp, error) {
	f, err := os.CreateTemp(filepath.Dir(path), ".lathe-*")
	return temp{f, path}, err
}

func (t temp) file() *os.File { return t.f }

// commit renames over the old file, which the system does in one step on one volume.
func (t temp) commit() error {
	if err := t.f.Close(); err != nil {
		return err
	}
	return os.Rename(t.f.Name(), t.path)
}

// discard does nothing after a commit: the name is gone.
func (t temp) discard() {
	_ = t.f.Close()
	_ = os.Remove(t.f.Name())
}
