//go:build unix

package file

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

const nonblock = syscall.O_NONBLOCK

// lockWait is how long Lock waits for another process; a lock is held for milliseconds.
const lockWait = 3 * time.Second

// Lock keeps other Lathe processes from changing files in path's directory until the returned function is called.
// It locks the directory itself, so nothing is left behind. It is a courtesy and never an obstacle: where the file
// system cannot lock, or somebody holds the lock for long, it goes on without; Replace looks again before it acts.
func Lock(ctx context.Context, path string) (unlock func()) {
	dir, err := os.Open(filepath.Dir(path))
	if err != nil {
		return func() {}
	}
	deadline := time.Now().Add(lockWait)
	for wait := time.Millisecond; ; wait = min(2*wait, 20*time.Millisecond) {
		err := syscall.Flock(int(dir.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil || !errors.Is(err, syscall.EWOULDBLOCK) && !errors.Is(err, syscall.EINTR) || time.Now().After(deadline) {
			return func() { _ = dir.Close() } // closing ends the lock
		}
		select {
		case <-ctx.Done():
			return func() { _ = dir.Close() }
		case <-time.After(wait):
		}
	}
}

// keepOwner gives f the owner of the file that it will replace, as far as the system lets us.
func keepOwner(f *os.File, was fs.FileInfo) {
	old, ok := was.Sys().(*syscall.Stat_t)
	if !ok {
		return
	}
	now, err := f.Stat()
	if err != nil {
		return
	}
	if st, ok := now.Sys().(*syscall.Stat_t); ok && st.Uid == old.Uid && st.Gid == old.Gid {
		return
	}
	if f.Chown(int(old.Uid), int(old.Gid)) != nil {
		_ = f.Chown(-1, int(old.Gid))
	}
}

// mustStay reports whether err means that a file beside the target cannot take its place, while the target itself
// may be writable: the directory refuses, or the target is a mount point.
func mustStay(err error) bool {
	for _, e := range []error{fs.ErrPermission, syscall.EBUSY, syscall.EXDEV, syscall.ENAMETOOLONG, syscall.EROFS} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}
