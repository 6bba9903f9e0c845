package checkpoint

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"lathe/internal/file"
)

func newStore(t *testing.T) (s *Store, work string) {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	work = filepath.Join(root, "work")
	if err := os.Mkdir(work, 0o755); err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	n := 0
	return Open(Options{Dir: filepath.Join(root, "store"), Now: time.Now, NewID: func() string {
		mu.Lock()
		defer mu.Unlock()
		n++
		return fmt.Sprint("r", n)
	}}), work
}

func write(t *testing.T, path, text string) *file.File {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	f, err := file.Load(path, file.MaxSize)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func read(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestFullDisk(t *testing.T) {
	s, work := newStore(t)
	if err := s.Begin("p1"); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(work, "a")
	old := write(t, path, "old")
	whole := s.log.write
	for _, c := range []struct {
		name string
		fail func()
	}{
		{"content", func() { s.blobs.create = func(string) (*os.File, error) { return nil, syscall.ENOSPC } }},
		{"list", func() { s.log.write = func(*os.File, []byte) (int, error) { return 0, syscall.ENOSPC } }},
		{"half a row", func() {
			s.log.write = func(f *os.File, b []byte) (int, error) {
				n, _ := f.Write(b[:len(b)/2])
				return n, syscall.ENOSPC
			}
		}},
	} {
		c.fail()
		if err := s.Keep("Edit", path, old, []byte("new")); !errors.Is(err, syscall.ENOSPC) || !strings.Contains(err.Error(), "nothing was written") {
			t.Errorf("%s: %v", c.name, err)
		}
		s.blobs.create, s.log.write = createFile, whole
	}
	if err := s.Keep("Edit", path, old, []byte("new")); err != nil {
		t.Fatal(err)
	}
	write(t, path, "new")
	again := Open(s.opt)
	if p, err := again.Apply(context.Background(), "p1", false, nil); err != nil || len(p.Changes) != 1 || read(t, path) != "old" {
		t.Errorf("%v %+v", err, p)
	}

	// A rewind that cannot keep what is there now changes nothing.
	write(t, path, "other")
	again.blobs.create = func(string) (*os.File, error) { return nil, syscall.ENOSPC }
	if p, err := again.Apply(context.Background(), "p1", true, nil); err != nil || len(p.Failed) != 1 || read(t, path) != "other" {
		t.Errorf("%v %+v", err, p)
	}
}

// TestKilledBeforeTheWrite: the checkpoint is there, the write never happened.
func TestKilledBeforeTheWrite(t *testing.T) {
	s, work := newStore(t)
	path := filepath.Join(work, "a")
	old := write(t, path, "old")
	if err := errors.Join(s.Begin("p1"), s.Keep("Edit", path, old, []byte("never"))); err != nil {
		t.Fatal(err)
	}
	s = Open(s.opt)
	if err := errors.Join(s.Begin("p2"), s.Keep("Edit", path, old, []byte("new"))); err != nil {
		t.Fatal(err)
	}
	write(t, path, "new")
	p, err := s.Apply(context.Background(), "p1", false, nil)
	if err != nil || len(p.Conflicts) != 0 || read(t, path) != "old" {
		t.Errorf("%v %+v", err, p)
	}
}

// edited is a store with one prompt, p1, and the file that an edit of it changed from old to new.
func edited(t *testing.T) (s *Store, path string) {
	s, work := newStore(t)
	path = filepath.Join(work, "a")
	old := write(t, path, "old")
	if err := errors.Join(s.Begin("p1"), s.Keep("Edit", path, old, []byte("new"))); err != nil {
		t.Fatal(err)
	}
	write(t, path, "new")
	return s, path
}

// TestTornList: a line that was cut off costs itself only.
func TestTornList(t *testing.T) {
	s, path := edited(t)
	f, err := os.OpenFile(s.log.path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString(`{"type":"change","turn":"p1","pa`); err != nil {
		t.Fatal(err)
	}
	_ = f.Close()
	s = Open(s.opt)
	if err := s.Begin("p2"); err != nil {
		t.Fatal(err)
	}
	s = Open(s.opt) // what was written behind it is on a line of its own
	if points, err := s.Points(); err != nil || len(points) != 2 {
		t.Errorf("%v %+v", err, points)
	}
	if _, err := s.Apply(context.Background(), "p1", false, nil); err != nil || read(t, path) != "old" {
		t.Errorf("%v %q", err, read(t, path))
	}
}

// TestCutOffRewind: a rewind that ends in the middle is done by another one.
func TestCutOffRewind(t *testing.T) {
	s, work := newStore(t)
	if err := s.Begin("p1"); err != nil {
		t.Fatal(err)
	}
	for i := range 20 {
		path := filepath.Join(work, fmt.Sprint("f", i))
		if err := s.Keep("Edit", path, write(t, path, "old"), []byte("new")); err != nil {
			t.Fatal(err)
		}
		write(t, path, "new")
	}
	ctx, cancel := context.WithCancel(context.Background())
	n := 0
	p, err := s.Apply(ctx, "p1", false, func(string) func() {
		if n++; n == 7 {
			cancel()
		}
		return func() {}
	})
	if err == nil || len(p.Changes) != 7 {
		t.Fatalf("%v, %d changed", err, len(p.Changes))
	}
	p, err = Open(s.opt).Apply(context.Background(), "p1", false, nil)
	if err != nil || len(p.Changes) != 13 {
		t.Fatalf("%v, %d changed", err, len(p.Changes))
	}
	for i := range 20 {
		if got := read(t, filepath.Join(work, fmt.Sprint("f", i))); got != "old" {
			t.Errorf("f%d: %s", i, got)
		}
	}
}

// TestDamagedCopy: a copy that is not what it should be is never put back.
func TestDamagedCopy(t *testing.T) {
	s, path := edited(t)
	if err := os.WriteFile(s.blobs.path(hash([]byte("old"))), []byte("bad"), 0o600); err != nil {
		t.Fatal(err)
	}
	p, err := s.Apply(context.Background(), "p1", false, nil)
	if err != nil || len(p.Failed) != 1 || read(t, path) != "new" {
		t.Errorf("%v %+v", err, p)
	}
}

// TestManyAtOnce: edits and commands of several sub-agents, in two processes.
func TestManyAtOnce(t *testing.T) {
	s, work := newStore(t)
	other := Open(s.opt)
	if err := errors.Join(s.Begin("p1"), other.Begin("p1")); err != nil {
		t.Fatal(err)
	}
	const agents, rounds = 6, 5
	for i := range agents {
		write(t, filepath.Join(work, fmt.Sprint("e", i)), "old")
		write(t, filepath.Join(work, fmt.Sprint("c", i)), "old")
	}
	var wg sync.WaitGroup
	for i := range agents {
		store := []*Store{s, other}[i%2]
		wg.Go(func() {
			for n := range rounds {
				path := filepath.Join(work, fmt.Sprint("e", i))
				f, err := file.Load(path, file.MaxSize)
				next := []byte(fmt.Sprint("new", n))
				if err == nil {
					err = store.Keep("Edit", path, f, next)
				}
				if err == nil {
					err = file.Replace(path, next, f.Info, nil)
				}
				if err != nil {
					t.Error(err)
				}
			}
		})
		wg.Go(func() {
			for n := range rounds {
				w := store.Watch(context.Background(), "Bash", []string{work})
				err := os.WriteFile(filepath.Join(work, fmt.Sprint("c", i)), []byte(fmt.Sprint("cmd", n)), 0o644)
				if err := errors.Join(err, w.End(context.Background())); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	p, err := s.Apply(context.Background(), "p1", false, nil)
	if err != nil || len(p.Conflicts)+len(p.Lost)+len(p.Failed) > 0 {
		t.Fatalf("%v %+v %+v %+v", err, p.Conflicts, p.Lost, p.Failed)
	}
	for i := range agents {
		for _, kind := range []string{"e", "c"} {
			if got := read(t, filepath.Join(work, fmt.Sprint(kind, i))); got != "old" {
				t.Errorf("%s%d: %q", kind, i, got)
			}
		}
	}
}
