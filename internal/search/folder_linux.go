package search

import (
	"encoding/binary"
	"io"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// folder is an open folder. Files are opened relative to it, which saves the walk down the path and keeps links
// that are swapped in above it from mattering.
type folder struct {
	fd  int
	abs string
}

func openFolder(abs string) (*folder, error) {
	for {
		fd, err := unix.Open(abs, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return nil, err
		}
		return &folder{fd: fd, abs: abs}, nil
	}
}

func (f *folder) close() { _ = unix.Close(f.fd) }

// list returns the entries in the folder's own order. buf is scratch space.
func (f *folder) list(buf []byte) ([]entry, error) {
	var out []entry
	for {
		n, err := unix.ReadDirent(f.fd, buf)
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return out, err
		}
		if n <= 0 {
			return out, nil
		}
		out = f.parse(out, string(buf[:n]), buf[:n])
	}
}

// parse reads records of: inode 8, offset 8, length 2, type 1, name with a NUL behind it. One string holds all names.
func (f *folder) parse(out []entry, text string, b []byte) []entry {
	for at := 0; at+19 <= len(b); {
		size := int(binary.NativeEndian.Uint16(b[at+16:]))
		if size < 19 || at+size > len(b) {
			break
		}
		inode, typ := binary.NativeEndian.Uint64(b[at:]), b[at+18]
		name := text[at+19 : at+size]
		at += size
		if i := strings.IndexByte(name, 0); i >= 0 {
			name = name[:i]
		}
		if inode == 0 || name == "." || name == ".." {
			continue
		}
		out = append(out, entry{name: name, kind: f.kindOf(name, typ)})
	}
	return out
}

func (f *folder) kindOf(name string, typ byte) kind {
	switch typ {
	case unix.DT_REG:
		return kindFile
	case unix.DT_DIR:
		return kindDir
	case unix.DT_LNK:
		return kindLink
	case unix.DT_UNKNOWN:
		var st unix.Stat_t
		if unix.Fstatat(f.fd, name, &st, unix.AT_SYMLINK_NOFOLLOW) == nil {
			return kindOfMode(st.Mode)
		}
	}
	return kindOther
}

func kindOfMode(mode uint32) kind {
	switch mode & unix.S_IFMT {
	case unix.S_IFREG:
		return kindFile
	case unix.S_IFDIR:
		return kindDir
	case unix.S_IFLNK:
		return kindLink
	}
	return kindOther
}

// stat returns what an entry is, links followed, with its change time.
func (f *folder) stat(name string) (kind, time.Time, error) {
	var st unix.Stat_t
	if err := unix.Fstatat(f.fd, name, &st, 0); err != nil {
		return kindOther, time.Time{}, err
	}
	return kindOfMode(st.Mode), time.Unix(st.Mtim.Unix()), nil
}

// open opens a file of the folder without following a link and without waiting for a pipe's other end.
func (f *folder) open(name string) (file, error) {
	for {
		fd, err := unix.Openat(f.fd, name, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC|unix.O_NOCTTY, 0)
		if err != unix.EINTR {
			return file{fd}, err
		}
	}
}

// file is an open file, without what os.File adds (a finaliser, a try at the poller).
type file struct{ fd int }

// openFile opens a path, links followed.
func openFile(abs string) (file, error) {
	for {
		fd, err := unix.Open(abs, unix.O_RDONLY|unix.O_NONBLOCK|unix.O_CLOEXEC|unix.O_NOCTTY, 0)
		if err != unix.EINTR {
			return file{fd}, err
		}
	}
}

func (f file) close() { _ = unix.Close(f.fd) }

// read fills b as far as the file goes; io.EOF comes with the last bytes.
func (f file) read(b []byte) (int, error) {
	n := 0
	for n < len(b) {
		k, err := syscall.Read(f.fd, b[n:])
		if err == syscall.EINTR {
			continue
		}
		if err != nil {
			return n, err
		}
		if k == 0 {
			return n, io.EOF
		}
		n += k
	}
	return n, nil
}

func (f file) modTime() time.Time {
	var st unix.Stat_t
	if unix.Fstat(f.fd, &st) != nil {
		return time.Time{}
	}
	return time.Unix(st.Mtim.Unix())
}
