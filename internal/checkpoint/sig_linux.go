package checkpoint

import (
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// sign is what tells a changed file without reading it, and how many names it has.
func sign(info fs.FileInfo) (sig, uint64) {
	g := sig{size: info.Size(), mtime: info.ModTime().UnixNano(), mode: info.Mode()}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return g, 1
	}
	g.ctime, g.ino, g.dev = st.Ctim.Nano(), st.Ino, st.Dev
	return g, uint64(st.Nlink) //nolint:unconvert // of another size elsewhere
}

// tryLock locks an open file for this process, until it is closed. It reports whether it could.
func tryLock(f *os.File) bool {
	return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil
}

// born is when a file was made, in nanoseconds; 0 where the file system does not say.
func born(path string, _ fs.FileInfo) int64 {
	var st unix.Statx_t
	if err := unix.Statx(unix.AT_FDCWD, path, unix.AT_SYMLINK_NOFOLLOW, unix.STATX_BTIME, &st); err != nil || st.Mask&unix.STATX_BTIME == 0 {
		return 0
	}
	return st.Btime.Sec*1e9 + int64(st.Btime.Nsec)
}
