//go:build unix

package sandbox

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// placeholder is an empty directory under a name that must not come to be: a mount point, for as long as a command
// runs. Git takes no notice of empty directories. Several commands and sessions may hold the same one; a lock on
// the directory itself tells the last of them.
type placeholder struct {
	path string
	dir  *os.File
}

// hold makes sure that a directory of that name is there. Where something else has come to be since the policy was
// made, that is fine too: it gets mounted read-only itself.
func hold(path string) (*placeholder, error) {
	for range 10 {
		err := os.Mkdir(path, 0o700)
		if err != nil && !errors.Is(err, fs.ErrExist) {
			return nil, fmt.Errorf("keep %s from being made: %w", path, err)
		}
		dir, err := os.OpenFile(path, os.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW, 0)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue // another command has just let go of it
		case err != nil:
			return nil, fmt.Errorf("keep %s from being made: %w", path, err)
		}
		if unix.Flock(int(dir.Fd()), unix.LOCK_SH|unix.LOCK_NB) == nil && sameDir(path, dir) {
			return &placeholder{path, dir}, nil
		}
		_ = dir.Close()
	}
	return nil, fmt.Errorf("keep %s from being made: other programs keep changing it", path)
}

func sameDir(path string, dir *os.File) bool {
	now, err := os.Lstat(path)
	if err != nil {
		return false
	}
	held, err := dir.Stat()
	return err == nil && os.SameFile(now, held)
}

// release removes the directory when nobody else holds it. It is empty, or it stays.
func (p *placeholder) release() {
	if unix.Flock(int(p.dir.Fd()), unix.LOCK_EX|unix.LOCK_NB) == nil && sameDir(p.path, p.dir) {
		_ = unix.Rmdir(p.path)
	}
	_ = p.dir.Close()
}
