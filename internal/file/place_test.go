package file

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// A link that stands on the way, or in the place of the file, is never followed once the path was resolved.
func TestLinksAreNotFollowed(t *testing.T) {
	dir := tempDir(t)
	inside, outside := filepath.Join(dir, "in"), filepath.Join(dir, "out")
	for _, d := range []string{inside, outside} {
		if err := os.Mkdir(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	put(t, filepath.Join(outside, "f"), "theirs", 0o644)
	was, err := os.Stat(filepath.Join(outside, "f"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("../out", filepath.Join(inside, "d")); err != nil {
		t.Skipf("SKIPPED: %v", err)
	}
	if err := os.Symlink("../out/f", filepath.Join(inside, "l")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("../out/new", filepath.Join(inside, "gone")); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"d/f", "l", "gone"} {
		path := filepath.Join(inside, name)
		if _, err := Load(path, MaxSize); !errors.Is(err, ErrMoved) {
			t.Errorf("load %s: %v", name, err)
		}
		if err := Replace(path, []byte("x"), was, nil); !errors.Is(err, ErrMoved) {
			t.Errorf("replace %s: %v", name, err)
		}
		if err := Replace(path, []byte("x"), nil, nil); !errors.Is(err, ErrMoved) && !errors.Is(err, fs.ErrExist) {
			t.Errorf("create %s: %v", name, err)
		}
	}
	if err := Replace(filepath.Join(inside, "d/a/b"), []byte("x"), nil, nil); !errors.Is(err, ErrMoved) {
		t.Errorf("create below a link: %v", err)
	}
	if got := names(t, outside); len(got) != 1 {
		t.Errorf("outside: %v", got)
	}
	if data, _ := os.ReadFile(filepath.Join(outside, "f")); string(data) != "theirs" {
		t.Errorf("outside holds %q", data)
	}
}

// Where the system cannot tell the path of an open directory, it is opened step by step.
func TestWalk(t *testing.T) {
	dir := tempDir(t)
	deep := filepath.Join(dir, "a", "b")
	if err := os.MkdirAll(deep, 0o755); err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Join(deep, "f"), "x", 0o644)
	root, err := walk(deep)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	if _, err := root.Lstat("f"); err != nil {
		t.Error(err)
	}
	if err := os.Symlink("a", filepath.Join(dir, "link")); err != nil {
		t.Skipf("SKIPPED: %v", err)
	}
	if _, err := walk(filepath.Join(dir, "link", "b")); !errors.Is(err, ErrMoved) {
		t.Errorf("through a link: %v", err)
	}
}

// A secret's new content must not be readable for others before it has the mode of the old file.
func TestTemporaryFileIsPrivate(t *testing.T) {
	dir := tempDir(t)
	path := filepath.Join(dir, "f")
	put(t, path, "old", 0o600)
	was, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	err = Replace(path, []byte("new"), was, func() error {
		entries, err := os.ReadDir(dir)
		for _, e := range entries {
			if info, err := e.Info(); err == nil && info.Mode().Perm() != 0o600 {
				t.Errorf("%s has mode %v", e.Name(), info.Mode())
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
