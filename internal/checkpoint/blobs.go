package checkpoint

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// blobs is the folder of contents, each in a file that is named by its hash and never changed.
type blobs struct {
	dir    string
	create func(path string) (*os.File, error) // a test makes it fail
}

func (b *blobs) path(hash string) string { return filepath.Join(b.dir, hash) }

// put keeps a content and returns how many bytes that added. sync puts it on the medium before it returns.
func (b *blobs) put(hash string, data []byte, sync bool) (added int64, err error) {
	if info, err := os.Lstat(b.path(hash)); err == nil && info.Size() == int64(len(data)) {
		return 0, nil
	}
	if err := os.MkdirAll(b.dir, 0o700); err != nil {
		return 0, err
	}
	name := filepath.Join(b.dir, "new-"+rand.Text())
	f, err := b.create(name)
	if err != nil {
		return 0, err
	}
	if _, err = f.Write(data); err == nil && sync {
		err = f.Sync()
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = os.Rename(name, b.path(hash))
	}
	if err != nil {
		_ = os.Remove(name)
		return 0, err
	}
	return int64(len(data)), nil
}

// get returns a content. One that is not what its name says is an error.
func (b *blobs) get(sum string) ([]byte, error) {
	data, err := os.ReadFile(b.path(sum))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, errors.New("its content is not among the checkpoints any more")
	case err != nil:
		return nil, err
	case hash(data) != sum:
		return nil, fmt.Errorf("the copy %s is damaged", b.path(sum))
	}
	return data, nil
}

func (b *blobs) has(sum string) bool { _, err := os.Lstat(b.path(sum)); return err == nil }

// size is what the contents take together.
func (b *blobs) size() int64 {
	entries, _ := os.ReadDir(b.dir) // none: nothing was kept
	var n int64
	for _, e := range entries {
		if info, err := e.Info(); err == nil {
			n += info.Size()
		}
	}
	return n
}

// sweep removes the contents that nobody needs.
func (b *blobs) sweep(needed map[string]bool) {
	entries, _ := os.ReadDir(b.dir)
	for _, e := range entries {
		if !needed[e.Name()] {
			_ = os.Remove(filepath.Join(b.dir, e.Name()))
		}
	}
}

func createFile(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
}
