package jsonl

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// Locks are mandatory here, so the locked byte lies far behind any content and readers are never in the way.
const lockAt = 1 << 30 // high word of the offset

func tryLock(f *os.File) (bool, error) {
	at := &windows.Overlapped{OffsetHigh: lockAt}
	err := windows.LockFileEx(windows.Handle(f.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, at)
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
		return false, nil
	}
	return err == nil, err
}

func unlock(f *os.File) {
	_ = windows.UnlockFileEx(windows.Handle(f.Fd()), 0, 1, 0, &windows.Overlapped{OffsetHigh: lockAt})
}
