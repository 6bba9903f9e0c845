package checkpoint

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"lathe/internal/file"
)

// Kind is what stands at a path.
type Kind string

// The kinds. Other is what is never touched: devices, pipes, sockets.
const (
	Nothing Kind = ""
	File    Kind = "file"
	Link    Kind = "link"
	Dir     Kind = "dir"
	Other   Kind = "other"
)

// State is what stands at a path at one moment.
type State struct {
	Kind   Kind        `json:"kind,omitempty"`
	Hash   string      `json:"hash,omitempty"` // of a file's content: SHA-256, hexadecimal
	Size   int64       `json:"size,omitempty"`
	Mode   fs.FileMode `json:"mode,omitempty"`   // 0: not known
	Target string      `json:"target,omitempty"` // of a link
	Names  uint64      `json:"names,omitempty"`  // of a file with more than one name (hard links): how many
	// Lost says why the content was not kept; such a state can be told and not put back.
	Lost string `json:"lost,omitempty"`
}

// same reports whether two states are known to have the same content. Modes do not count.
func (s State) same(o State) bool {
	return s.Kind == o.Kind && s.Hash == o.Hash && s.Target == o.Target && s.Lost == "" && o.Lost == ""
}

// equal reports whether there is nothing to do to make s of o.
func (s State) equal(o State) bool {
	return s.same(o) && (s.Mode == 0 || o.Mode == 0 || s.Mode == o.Mode || s.Kind == Link)
}

// modeBits are the bits of a mode that are put back.
const modeBits = fs.ModePerm | fs.ModeSetuid | fs.ModeSetgid | fs.ModeSticky

func hash(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// fileState is the state of a regular file with this content.
func fileState(data []byte, info fs.FileInfo) State {
	s := State{Kind: File, Hash: hash(data), Size: int64(len(data))}
	if info != nil {
		s.Mode = info.Mode() & modeBits
		if _, n := sign(info); n > 1 {
			s.Names = n
		}
	}
	return s
}

// look is what stands at a path now, and its content if it is a file. No link is followed: one in the way of the path
// is an error that wraps file.ErrMoved.
func look(path string) (s State, data []byte, info fs.FileInfo, err error) {
	p, err := file.At(path)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) || !errors.Is(err, file.ErrMoved) && behindFile(path) {
			err = nil
		}
		return s, nil, nil, err
	}
	defer p.Close()
	info, err = p.Lstat()
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return s, nil, nil, nil
	case err != nil:
		return s, nil, nil, err
	}
	switch m := info.Mode(); {
	case m.IsDir():
		return State{Kind: Dir, Mode: m & modeBits}, nil, info, nil
	case m&fs.ModeSymlink != 0:
		target, err := p.Readlink()
		return State{Kind: Link, Target: target}, nil, info, err
	case !m.IsRegular():
		return State{Kind: Other}, nil, info, nil
	}
	f, err := p.Load(file.MaxSize)
	if err != nil {
		return State{Kind: File, Lost: err.Error(), Size: info.Size(), Mode: info.Mode() & modeBits}, nil, info, nil
	}
	return fileState(f.Data, f.Info), f.Data, f.Info, nil
}

// behindFile reports whether something that is no directory stands where a directory above the path should be.
func behindFile(path string) bool {
	for dir := filepath.Dir(path); ; dir = filepath.Dir(dir) {
		info, err := os.Lstat(dir)
		if err == nil {
			return !info.IsDir() && info.Mode()&fs.ModeSymlink == 0
		}
		if dir == filepath.Dir(dir) {
			return false
		}
	}
}
