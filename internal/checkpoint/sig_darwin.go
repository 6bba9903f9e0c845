package checkpoint

import (
	"io/fs"
	"os"
	"syscall"
)

// sign is what tells a changed file without reading it, and how many names it has.
func sign(info fs.FileInfo) (sig, uint64) {
	g := sig{size: info.Size(), mtime: info.ModTime().UnixNano(), mode: info.Mode()}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return g, 1
	}
	g.ctime, g.ino, g.dev = st.Ctimespec.Nano(), st.Ino, uint64(uint32(st.Dev))
	return g, uint64(st.Nlink)
}

// tryLock locks an open file for this process, until it is closed. It reports whether it could.
func tryLock(f *os.File) bool {
	return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil
}

// born is when a file was made, in nanoseconds; 0 where the file system does not say.
func born(_ string, info fs.FileInfo) int64 {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return st.Birthtimespec.Nano()
	}
	return 0
}
