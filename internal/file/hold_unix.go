//go:build unix

package file

import (
	"errors"
	"os"
	"syscall"
)

// ErrHeld says that another process, or another part of this one, holds the file.
var ErrHeld = errors.New("it is held")

// Hold opens a file, which it makes where there is none, and keeps others from holding it until it is closed or this
// process has ended, in whatever way. It follows no link. errors.ErrUnsupported where the system has no such thing.
func Hold(path string, make bool) (*os.File, error) {
	flags := os.O_RDWR | syscall.O_NOFOLLOW | syscall.O_NONBLOCK
	if make {
		flags |= os.O_CREATE
	}
	for {
		f, err := os.OpenFile(path, flags, 0o600)
		if err != nil {
			return nil, err
		}
		err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			there, err := still(f, path)
			if there {
				return f, nil
			}
			_ = f.Close()
			if err != nil {
				return nil, err
			}
			continue // who held it before has taken it away
		}
		_ = f.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			err = ErrHeld
		}
		return nil, err
	}
}

// still reports whether a path is the file that was opened by it. That it leads to nothing now is no error.
func still(f *os.File, path string) (bool, error) {
	is, err := f.Stat()
	if err != nil {
		return false, err
	}
	now, err := os.Lstat(path)
	if errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	return err == nil && os.SameFile(is, now), err
}
