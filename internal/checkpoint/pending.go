package checkpoint

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// pendingHead is the first line of the file that tells of a command under way. After it comes what was seen, nine
// fields a path and one NUL behind each field.
type pendingHead struct {
	Turn  string    `json:"turn"`
	By    string    `json:"by"`
	Began time.Time `json:"began"`
	Roots []string  `json:"roots"`
	Pack  string    `json:"pack,omitempty"`
}

const pendingFields = 9

// save writes what was seen, so that the changes of a command are found even if this process is killed. Where that
// cannot be written, only that is lost.
func (w *Watch) save() {
	head := pendingHead{Turn: w.turn, By: w.by, Began: w.began, Roots: w.roots}
	if w.pack != nil {
		head.Pack = filepath.Base(w.pack.f.Name())
	}
	buf, err := json.Marshal(head)
	if err != nil {
		return
	}
	const each = 256 // bytes of a path, about
	buf = append(slices.Grow(buf, each*len(w.before)), '\n')
	num := func(n int64, end byte) { buf = append(strconv.AppendInt(buf, n, 36), end) }
	for path, b := range w.before {
		buf = append(append(buf, path...), 0)
		num(b.sig.size, ' ')
		num(b.sig.mtime, ' ')
		num(b.sig.ctime, ' ')
		num(int64(b.sig.ino), ' ')
		num(int64(b.sig.dev), ' ')
		num(int64(b.sig.mode), 0)
		span := span{-1, 0}
		if w.pack != nil && b.state.Hash != "" {
			if s, ok := w.pack.find(b.state.Hash); ok {
				span = s
			}
		}
		for _, s := range []string{string(b.state.Kind), b.state.Hash, b.state.Target, b.state.Lost, b.repo, b.oid} {
			buf = append(append(buf, s...), 0)
		}
		num(span.at, ' ')
		num(int64(b.state.Names), 0)
	}
	name := filepath.Join(w.s.opt.Dir, fmt.Sprintf("pending-%d-%x", os.Getpid(), time.Now().UnixNano()))
	f, err := createFile(name)
	if err != nil {
		return
	}
	tryLock(f)
	if _, err := f.Write(buf); err != nil {
		_ = f.Close()
		_ = os.Remove(name)
		return
	}
	w.pending = f
}

// ready finishes, once a process, what commands of killed processes have left, and removes their copies.
func (s *Store) ready() {
	s.once.Do(func() {
		files, _ := filepath.Glob(filepath.Join(escape(s.opt.Dir), "pending-*")) // the pattern is a good one
		for _, name := range files {
			s.finish(name)
		}
		packs, _ := filepath.Glob(filepath.Join(escape(s.opt.Dir), "pack-*"))
		for _, name := range packs {
			if f, err := os.OpenFile(name, os.O_RDWR, 0); err == nil {
				if tryLock(f) {
					_ = os.Remove(name)
				}
				_ = f.Close()
			}
		}
	})
}

func escape(dir string) string {
	return strings.NewReplacer("*", `\*`, "?", `\?`, "[", `\[`, `\`, `\\`).Replace(dir)
}

// finish compares for a command whose process is gone.
func (s *Store) finish(name string) {
	f, err := os.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		return
	}
	defer f.Close()
	if !tryLock(f) {
		return // it runs still
	}
	data, err := os.ReadFile(name)
	if err != nil {
		return
	}
	if w := s.parse(data); w != nil {
		if w.End(context.Background()) != nil {
			return // again with the next process
		}
		if w.pack != nil {
			_ = w.pack.f.Close()
		}
	}
	_ = os.Remove(name)
}

// parse reads what save wrote; nil where that is cut off, and then the command did not start.
func (s *Store) parse(data []byte) *Watch {
	line, rest, ok := bytes.Cut(data, []byte{'\n'})
	var head pendingHead
	if !ok || json.Unmarshal(line, &head) != nil {
		return nil
	}
	w := &Watch{s: s, turn: head.Turn, by: head.By, began: head.Began, roots: head.Roots, before: map[string]seen{}}
	if head.Pack != "" {
		if f, err := os.Open(filepath.Join(s.opt.Dir, filepath.Base(head.Pack))); err == nil {
			w.pack = &pack{f: f, where: map[string]span{}}
		}
	}
	fields := strings.Split(string(rest), "\x00")
	for i := 0; i+pendingFields < len(fields); i += pendingFields {
		p := fields[i : i+pendingFields]
		n, m := numbers(p[1]), numbers(p[8])
		if len(n) != 6 || len(m) != 2 {
			return nil
		}
		b := seen{sig: sig{n[0], n[1], n[2], uint64(n[3]), uint64(n[4]), fs.FileMode(n[5])}, repo: p[6], oid: p[7]}
		b.state = State{Kind: Kind(p[2]), Hash: p[3], Target: p[4], Lost: p[5], Names: uint64(m[1])}
		if b.state.Kind == File {
			b.state.Size = n[0]
		}
		if b.state.Kind == File || b.state.Kind == Dir {
			b.state.Mode = b.sig.mode & modeBits
		}
		if m[0] >= 0 && w.pack != nil {
			w.pack.where[p[3]] = span{m[0], n[0]}
		}
		w.before[p[0]] = b
	}
	return w
}

func numbers(s string) []int64 {
	var out []int64
	for _, f := range strings.Fields(s) {
		n, err := strconv.ParseInt(f, 36, 64)
		if err != nil {
			return nil
		}
		out = append(out, n)
	}
	return out
}

// pendingContents lists the contents that commands under way may need.
func (s *Store) pendingContents() []string {
	files, _ := filepath.Glob(filepath.Join(escape(s.opt.Dir), "pending-*"))
	var out []string
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			continue
		}
		if w := s.parse(data); w != nil {
			for _, b := range w.before {
				out = append(out, b.state.Hash)
			}
			if w.pack != nil {
				_ = w.pack.f.Close()
			}
		}
	}
	return out
}

// Close removes the copies that were made for commands: those of commands under way when they end.
func (s *Store) Close() {
	s.mu.Lock()
	s.closed = true
	busy := len(s.active) > 0
	s.mu.Unlock()
	if !busy {
		s.release()
	}
}

// release removes the copies. A command that begins while this happens makes its own.
func (s *Store) release() {
	s.watching.Lock()
	defer s.watching.Unlock()
	s.mu.Lock()
	busy := len(s.active) > 0
	s.mu.Unlock()
	if busy { // the last of them does it
		return
	}
	s.pack.close()
	s.pack = nil
	clear(s.known)
}
