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
			is, statErr := f.Stat()
			now, pathErr := os.Lstat(path)
			if statErr == nil && pathErr == nil && os.SameFile(is, now) {
				return f, nil
			}
			_ = f.Close() // who held it before has taken it away
			if statErr != nil || pathErr != nil && !errors.Is(pathErr, os.ErrNotExist) {
				return nil, errors.Join(statErr, pathErr)
			}
			continue
		}
		_ = f.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			err = ErrHeld
		}
		return nil, err
	}
}
