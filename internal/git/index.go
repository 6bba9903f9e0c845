package git

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"lathe/internal/proc"
)

// IndexEntry is a tracked file as git last saw it.
type IndexEntry struct {
	Path     string // relative to the root, slashes
	OID      string // of the blob, hexadecimal
	Mode     uint32 // 100644, 100755, 120000 …, octal
	Size     uint32 // of the file in the work tree, modulo 2^32
	Inode    uint32
	MSec     uint32 // change time of the content
	MNano    uint32
	CSec     uint32 // change time of the file
	CNano    uint32
	Conflict bool // it has several versions
}

// Index is a repository's list of tracked files.
type Index struct {
	Entries []IndexEntry
	ModTime time.Time // of the index file: what was changed since may look unchanged
}

// errIndex says that an index has a form that is not read here.
var errIndex = errors.New("the form of the git index is not known")

// IndexFile is the file of a work tree's index. It runs nothing.
func IndexFile(root string) string {
	dotgit := filepath.Join(root, ".git")
	if link, err := readRegular(dotgit); err == nil { // a worktree or submodule
		dir := strings.TrimSpace(strings.TrimPrefix(string(link), "gitdir:"))
		if !filepath.IsAbs(dir) {
			dir = filepath.Join(root, dir)
		}
		dotgit = dir
	}
	return filepath.Join(dotgit, "index")
}

// ReadIndex reads an index file, versions 2 to 4 with SHA-1 names. Split and sparse indexes are an error.
func ReadIndex(path string) (*Index, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	data, err := readRegular(path)
	if err != nil {
		return nil, err
	}
	x, err := parseIndex(data)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	x.ModTime = info.ModTime()
	return x, nil
}

// The parts of an index file, in bytes: before the entries, the fixed part of an entry, after all.
const (
	indexHead  = 12
	indexFixed = 62
	indexSum   = 20
)

func parseIndex(b []byte) (*Index, error) {
	if len(b) < indexHead+indexSum || string(b[:4]) != "DIRC" {
		return nil, errIndex
	}
	version, n := binary.BigEndian.Uint32(b[4:]), int(binary.BigEndian.Uint32(b[8:]))
	if version < 2 || version > 4 || n < 0 || n > len(b)/indexFixed {
		return nil, errIndex
	}
	x := &Index{Entries: make([]IndexEntry, 0, n)}
	rest := b[indexHead : len(b)-indexSum]
	previous := ""
	for range n {
		entry, size, err := parseEntry(rest, version, previous)
		if err != nil || size > len(rest) {
			return nil, errIndex
		}
		rest, previous = rest[size:], entry.Path
		x.Entries = append(x.Entries, entry)
	}
	for len(rest) >= 8 { // extensions: those that begin with a small letter change what the rest means
		size := int(binary.BigEndian.Uint32(rest[4:]))
		if rest[0] >= 'a' || size < 0 || size > len(rest)-8 {
			return nil, errIndex
		}
		rest = rest[8+size:]
	}
	return x, nil
}

// parseEntry reads the entry that e begins with, and returns how many bytes it takes, padding included. previous is the
// path before it, of which version 4 writes only the difference.
func parseEntry(e []byte, version uint32, previous string) (entry IndexEntry, size int, err error) {
	if len(e) < indexFixed {
		return entry, 0, errIndex
	}
	u := func(i int) uint32 { return binary.BigEndian.Uint32(e[i:]) }
	entry = IndexEntry{
		CSec: u(0), CNano: u(4), MSec: u(8), MNano: u(12), Inode: u(20), Mode: u(24), Size: u(36), OID: hex.EncodeToString(e[40:60]),
	}
	flags := binary.BigEndian.Uint16(e[60:])
	entry.Conflict = flags>>12&3 != 0
	name := indexFixed
	if flags&0x4000 != 0 {
		name += 2
	}
	if entry.Mode == 0o040000 || name > len(e) {
		return entry, 0, errIndex // a directory of a sparse index
	}
	kept := 0 // of the previous path
	if version == 4 {
		left, used := offset(e[name:])
		if used == 0 || left > len(previous) {
			return entry, 0, errIndex
		}
		kept, name = len(previous)-left, name+used
	}
	end := bytes.IndexByte(e[name:], 0)
	if end < 0 {
		return entry, 0, errIndex
	}
	entry.Path = previous[:kept] + string(e[name:name+end])
	if version == 4 {
		return entry, name + end + 1, nil
	}
	return entry, (name + end + 8) &^ 7, nil
}

// offset reads a number as git writes how much of the last name is left out.
func offset(b []byte) (v, used int) {
	for i, c := range b {
		if i > 4 {
			return 0, 0
		}
		if i > 0 {
			v++
		}
		v = v<<7 | int(c&0x7f)
		if c&0x80 == 0 {
			return v, i + 1
		}
	}
	return 0, 0
}

// Blobs reads objects, in their order. One that is not there, or larger than limit bytes, is nil. Nothing of the
// repository's configuration runs, and nothing is fetched.
func Blobs(ctx context.Context, root string, oids []string, limit int64) ([][]byte, error) {
	cmd := exec.CommandContext(ctx, "git", append(append([]string{}, safe...), "cat-file", "--batch")...)
	cmd.Dir = root
	cmd.Env = proc.Env(os.Environ(), "GIT_OPTIONAL_LOCKS=0", "LC_ALL=C", "GIT_NO_LAZY_FETCH=1", "GIT_ALLOW_PROTOCOL=none", "GIT_NO_REPLACE_OBJECTS=1")
	cmd.Stdin = strings.NewReader(strings.Join(oids, "\n") + "\n")
	cmd.WaitDelay = lateOutput
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	list, err := readBatch(bufio.NewReaderSize(out, 64<<10), oids, limit)
	_, _ = io.Copy(io.Discard, out)
	if werr := cmd.Wait(); err == nil {
		err = werr
	}
	return list, err
}

func readBatch(in *bufio.Reader, oids []string, limit int64) ([][]byte, error) {
	out := make([][]byte, len(oids))
	for i := range oids {
		line, err := in.ReadString('\n')
		if err != nil {
			return out, err
		}
		fields := strings.Fields(line)
		if len(fields) != 3 {
			continue // "… missing"
		}
		size, err := strconv.ParseInt(fields[2], 10, 64)
		if err != nil || size < 0 {
			return out, fmt.Errorf("git cat-file said %q", line)
		}
		if size > limit || fields[1] != "blob" {
			if _, err := io.CopyN(io.Discard, in, size+1); err != nil {
				return out, err
			}
			continue
		}
		data := make([]byte, size+1)
		if _, err := io.ReadFull(in, data); err != nil {
			return out, err
		}
		out[i] = data[:size:size]
	}
	return out, nil
}

// Filtered tells which of the files, named relative to the root, git changes by a program on their way to the work tree.
func Filtered(ctx context.Context, root string, paths []string) (map[string]bool, error) {
	cmd := exec.CommandContext(ctx, "git", append(append([]string{}, safe...), "check-attr", "-z", "--stdin", "filter")...)
	cmd.Dir = root
	cmd.Env = proc.Env(os.Environ(), "GIT_OPTIONAL_LOCKS=0", "LC_ALL=C", "GIT_NO_LAZY_FETCH=1", "GIT_ALLOW_PROTOCOL=none")
	cmd.Stdin = strings.NewReader(strings.Join(paths, "\x00") + "\x00")
	cmd.WaitDelay = lateOutput
	text, err := cmd.Output()
	if err != nil {
		return nil, err
	}
	out := map[string]bool{}
	fields := strings.Split(string(text), "\x00")
	for i := 0; i+2 < len(fields); i += 3 {
		if v := fields[i+2]; v != "unspecified" && v != "unset" {
			out[fields[i]] = true
		}
	}
	return out, nil
}
