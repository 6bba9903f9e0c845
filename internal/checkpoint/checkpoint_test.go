package checkpoint_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"lathe/internal/checkpoint"
	"lathe/internal/file"
)

// world is a working directory with a store beside it.
type world struct {
	t     testing.TB
	dir   string
	store *checkpoint.Store
	opt   checkpoint.Options
}

func newWorld(t testing.TB) *world {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, dir: filepath.Join(root, "work")}
	if err := os.Mkdir(w.dir, 0o755); err != nil {
		t.Fatal(err)
	}
	n := 0
	w.opt = checkpoint.Options{
		Dir: filepath.Join(root, "store"), Now: time.Now,
		NewID: func() string { n++; return fmt.Sprint("rewind-", n) },
	}
	w.store = checkpoint.Open(w.opt)
	return w
}

func (w *world) path(name string) string { return filepath.Join(w.dir, name) }

func (w *world) begin(id string) {
	w.t.Helper()
	if err := w.store.Begin(id); err != nil {
		w.t.Fatal(err)
	}
}

// edit writes a file as the tools do.
func (w *world) edit(name, text string) {
	w.t.Helper()
	path := w.path(name)
	old, err := file.Load(path, file.MaxSize)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		w.t.Fatal(err)
	}
	if err := w.store.Keep("Edit", path, old, []byte(text)); err != nil {
		w.t.Fatal(err)
	}
	var info fs.FileInfo
	if old != nil {
		info = old.Info
	}
	if err := file.Replace(path, []byte(text), info, nil); err != nil {
		w.t.Fatal(err)
	}
}

// outside writes a file as somebody else would.
func (w *world) outside(name, text string) {
	w.t.Helper()
	if err := os.MkdirAll(filepath.Dir(w.path(name)), 0o755); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(w.path(name), []byte(text), 0o644); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) rewind(to string, force bool) *checkpoint.Plan {
	w.t.Helper()
	p, err := w.store.Apply(context.Background(), to, force, nil)
	if err != nil {
		w.t.Fatal(err)
	}
	for _, c := range p.Failed {
		w.t.Errorf("%s: %s", c.Path, c.Why)
	}
	return p
}

// tree is everything below the working directory: kind, mode and content by name.
func (w *world) tree() map[string]string {
	w.t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(w.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(w.dir, path)
		if rel == ".git" {
			return filepath.SkipDir
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		switch {
		case d.Type()&fs.ModeSymlink != 0:
			target, _ := os.Readlink(path)
			out[rel] = "-> " + target
		case d.IsDir():
			out[rel] = "dir " + info.Mode().String()
		default:
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			out[rel] = info.Mode().String() + " " + string(data)
		}
		return nil
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return out
}

func TestRewindEdits(t *testing.T) {
	w := newWorld(t)
	w.outside("a.txt", "one\r\n\xff\x00")
	if err := os.Chmod(w.path("a.txt"), 0o640); err != nil {
		t.Fatal(err)
	}
	before := w.tree()
	w.begin("p1")
	w.edit("a.txt", "two\n")
	w.edit("deep/er/b.txt", "new\n")
	w.begin("p2")
	middle := w.tree()
	w.edit("a.txt", "three\n")

	plan, err := w.store.Plan("p2", false)
	if err != nil {
		t.Fatal(err)
	}
	if a, d := plan.Lines(); a != 1 || d != 1 || !slices.Equal(plan.Files(), []string{w.path("a.txt")}) {
		t.Errorf("plan: %v +%d -%d", plan.Files(), a, d)
	}
	w.rewind("p2", false)
	if diff := cmp.Diff(middle, w.tree()); diff != "" {
		t.Error(diff)
	}
	p := w.rewind("p1", false)
	if diff := cmp.Diff(before, w.tree()); diff != "" {
		t.Error(diff)
	}
	w.rewind(p.Undo, false)
	if diff := cmp.Diff(middle, w.tree()); diff != "" {
		t.Error("undo of a rewind:", diff)
	}
	if _, err := w.store.Plan("unknown", false); !errors.Is(err, checkpoint.ErrUnknown) {
		t.Errorf("unknown prompt: %v", err)
	}
}

func TestSomebodyElse(t *testing.T) {
	w := newWorld(t)
	w.outside("late", "0")
	w.outside("between", "0")
	w.outside("mine", "0")
	w.begin("p1")
	for _, name := range []string{"late", "between", "mine", "gone"} {
		w.edit(name, "1")
	}
	w.outside("between", "theirs")
	w.edit("between", "2")
	w.outside("late", "theirs")
	if err := os.Remove(w.path("gone")); err != nil {
		t.Fatal(err)
	}
	p := w.rewind("p1", false)
	var names []string
	for _, c := range p.Conflicts {
		names = append(names, filepath.Base(c.Path))
	}
	if !slices.Equal(names, []string{"late", "between"}) || len(p.Files()) != 1 {
		t.Errorf("conflicts %v, changed %v", names, p.Files())
	}
	got := w.tree()
	if !strings.HasSuffix(got["late"], "theirs") || !strings.HasSuffix(got["between"], "2") || !strings.HasSuffix(got["mine"], "0") {
		t.Errorf("%v", got)
	}
	forced := w.rewind("p1", true)
	if got = w.tree(); !strings.HasSuffix(got["late"], "0") || !strings.HasSuffix(got["between"], "0") {
		t.Errorf("forced: %v", got)
	}
	w.rewind(forced.Undo, false)
	if got = w.tree(); !strings.HasSuffix(got["late"], "theirs") {
		t.Errorf("what somebody else wrote is lost: %v", got)
	}
}

func TestLinksAreLeftAlone(t *testing.T) {
	w := newWorld(t)
	other := t.TempDir()
	w.outside("dir/a", "0")
	w.outside("b", "0")
	w.outside("c", "0")
	w.begin("p1")
	for _, name := range []string{"dir/a", "b", "c"} {
		w.edit(name, "1")
	}
	if err := os.WriteFile(filepath.Join(other, "a"), []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, step := range []error{
		os.RemoveAll(w.path("dir")), os.Symlink(other, w.path("dir")), os.Link(w.path("c"), filepath.Join(other, "c")),
		os.Remove(w.path("b")), os.Symlink(filepath.Join(other, "a"), w.path("b")),
	} {
		if step != nil {
			t.Fatal(step)
		}
	}
	p := w.rewind("p1", true)
	if data, _ := os.ReadFile(filepath.Join(other, "a")); string(data) != "secret" {
		t.Errorf("a link was followed: %q", data)
	}
	if data, _ := os.ReadFile(filepath.Join(other, "c")); string(data) != "1" || len(p.Skipped) != 2 {
		t.Errorf("%q, skipped %+v", data, p.Skipped)
	}
	if info, err := os.Lstat(w.path("b")); err != nil || !info.Mode().IsRegular() {
		t.Error("a link that took a file's place is replaced when that is forced")
	}
}

func TestBounds(t *testing.T) {
	w := newWorld(t)
	w.opt.Turns, w.opt.Bytes = 5, 40_000
	w.store = checkpoint.Open(w.opt)
	trees := map[string]map[string]string{}
	for i := range 20 {
		id := fmt.Sprint("p", i)
		w.begin(id)
		trees[id] = w.tree()
		w.edit("f", fmt.Sprint(i, strings.Repeat("x", 10_000)))
	}
	points, err := w.store.Points()
	if err != nil || len(points) > 5 || points[len(points)-1].ID != "p19" {
		t.Fatalf("%v %+v", err, points)
	}
	var size int64
	entries, _ := os.ReadDir(filepath.Join(w.opt.Dir, "blobs"))
	for _, e := range entries {
		info, err := e.Info()
		if err != nil {
			t.Fatal(err)
		}
		if size += info.Size(); info.Mode().Perm() != 0o600 {
			t.Errorf("%s has mode %v", e.Name(), info.Mode())
		}
	}
	if size > 60_000 {
		t.Errorf("%d bytes are kept", size)
	}
	for _, p := range slices.Backward(points) {
		w.rewind(p.ID, false)
		if diff := cmp.Diff(trees[p.ID], w.tree()); diff != "" {
			t.Errorf("%s: %s", p.ID, diff)
		}
	}
}

// TestRandomHistories: after going back to a prompt the tree is what it was when the prompt came, whatever happened.
func TestRandomHistories(t *testing.T) {
	for seed := range uint64(12) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(seed, 1))
			w := newWorld(t)
			names := []string{"a", "b", "d/a", "d/e/b", "x/y/z"}
			trees := map[string]map[string]string{}
			for i := range 20 {
				id := fmt.Sprint("p", i)
				w.begin(id)
				trees[id] = w.tree()
				for range rng.IntN(4) {
					w.edit(names[rng.IntN(len(names))], strings.Repeat(fmt.Sprintln("line", rng.IntN(5)), rng.IntN(4)))
				}
				if rng.IntN(3) > 0 {
					continue
				}
				to := slices.Sorted(maps.Keys(trees))[rng.IntN(len(trees))]
				if rng.IntN(2) == 0 {
					w.store = checkpoint.Open(w.opt) // another process
				}
				if p := w.rewind(to, false); len(p.Conflicts)+len(p.Skipped)+len(p.Lost) > 0 {
					t.Fatalf("rewind to %s: %+v", to, p)
				}
				if diff := cmp.Diff(trees[to], w.tree()); diff != "" {
					t.Fatalf("rewind to %s: %s", to, diff)
				}
			}
		})
	}
}
