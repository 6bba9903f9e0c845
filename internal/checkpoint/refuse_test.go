package checkpoint_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lathe/internal/checkpoint"
)

// rooted refuses what lies outside of the working directory, softly what is named guarded.
func (w *world) rooted() {
	w.opt.Refuse = func(path, link string) (string, bool) {
		switch {
		case !strings.HasPrefix(path, w.dir+string(filepath.Separator)):
			return "outside", false
		case filepath.IsAbs(link):
			return "leads out", false
		case filepath.Base(path) == "guarded":
			return "guarded", true
		}
		return "", false
	}
	w.store = checkpoint.Open(w.opt)
}

// forge adds a record to the list on disk, as somebody who can write there would.
func (w *world) forge(path string, was map[string]any) {
	w.t.Helper()
	line, err := json.Marshal(map[string]any{"type": "change", "turn": "p1", "path": path, "was": was, "now": map[string]any{}})
	if err != nil {
		w.t.Fatal(err)
	}
	f, err := os.OpenFile(filepath.Join(w.opt.Dir, "log.jsonl"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		w.t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.Write(append(line, '\n')); err != nil {
		w.t.Fatal(err)
	}
}

// A list that somebody has tampered with puts nothing outside of where the session works, forced or not.
func TestForgedListWritesNothingOutside(t *testing.T) {
	w := newWorld(t)
	w.rooted()
	w.begin("p1")
	w.edit("a.txt", "one")
	w.edit("a.txt", "two") // its copy is the content of "one"
	out := filepath.Join(filepath.Dir(w.dir), "outside")
	if err := os.Mkdir(out, 0o755); err != nil {
		t.Fatal(err)
	}
	content := func() map[string]any {
		files, err := os.ReadDir(filepath.Join(w.opt.Dir, "blobs"))
		if err != nil || len(files) == 0 {
			t.Fatal(err)
		}
		return map[string]any{"kind": "file", "hash": files[0].Name(), "size": 3}
	}()
	link := func(to string) map[string]any { return map[string]any{"kind": "link", "target": to} }
	for path, was := range map[string]map[string]any{
		filepath.Join(out, "planted"):           content,
		w.dir + "/../outside/dotted":            content,
		"relative":                              content,
		filepath.Join(out, "dir"):               {"kind": "dir"},
		filepath.Join(w.dir, "link"):            link(out),
		filepath.Join(w.dir, "link", "through"): content,
	} {
		w.forge(path, was)
	}
	for _, force := range []bool{false, true} {
		p, err := w.store.Apply(context.Background(), "p1", force, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range p.Changes {
			if c.Path != w.path("a.txt") && c.Path != w.path("link/through") {
				t.Errorf("force %v: %s was put back", force, c.Path)
			}
		}
	}
	left, err := os.ReadDir(out)
	if err != nil || len(left) > 0 {
		t.Errorf("outside there is %v, %v", left, err)
	}
	if _, err := os.Lstat("relative"); err == nil {
		t.Error("a relative path was written")
	}
}

// A soft reason leaves a path alone unless that is forced; the rest is put back either way.
func TestSoftRefusal(t *testing.T) {
	w := newWorld(t)
	w.rooted()
	w.begin("p1")
	w.edit("guarded", "new")
	w.edit("plain", "new")
	p, err := w.store.Apply(context.Background(), "p1", false, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Changes) != 1 || len(p.Conflicts) != 1 || p.Conflicts[0].Path != w.path("guarded") || p.Conflicts[0].Why != "guarded" {
		t.Errorf("%+v", p)
	}
	if p, err = w.store.Apply(context.Background(), "p1", true, nil); err != nil || len(p.Changes) != 1 || p.Changes[0].Path != w.path("guarded") {
		t.Errorf("%+v, %v", p, err)
	}
}

// A session is left while its command runs on: what the command changes can still be put back, and the copies go when it
// ends.
func TestCloseWhileACommandRuns(t *testing.T) {
	w := newWorld(t)
	w.outside("a.txt", "before")
	w.begin("p1")
	watch := w.store.Watch(context.Background(), "Bash", []string{w.dir})
	w.store.Close()
	w.outside("a.txt", "after, and longer")
	if err := watch.End(context.Background()); err != nil {
		t.Fatal(err)
	}
	packs := func() []string {
		list, err := filepath.Glob(filepath.Join(w.opt.Dir, "pack-*"))
		if err != nil {
			t.Fatal(err)
		}
		return list
	}
	if left := packs(); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
	w.shell("printf more >> a.txt") // by a sub-agent that goes on
	if left := packs(); len(left) > 0 {
		t.Errorf("left by the next one: %v", left)
	}
	p, err := w.store.Apply(context.Background(), "p1", false, nil)
	if err != nil || len(p.Lost) > 0 {
		t.Fatalf("lost: %+v, %v", p, err)
	}
	if data, err := os.ReadFile(w.path("a.txt")); err != nil || string(data) != "before" {
		t.Errorf("%q, %v", data, err)
	}
}
