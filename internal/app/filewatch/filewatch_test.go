package filewatch

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestFileChanges(t *testing.T) {
	for name, c := range map[string]struct {
		was, now map[string]string
		want     []Change
	}{
		"nothing":                 {map[string]string{"/a": "1", "/b": ""}, map[string]string{"/a": "1", "/b": ""}, nil},
		"each kind, by path":      {map[string]string{"/c": "1", "/b": "", "/a": "1"}, map[string]string{"/c": "2", "/b": "1", "/a": ""}, []Change{{"/a", "unlink"}, {"/b", "add"}, {"/c", "change"}}},
		"another directory":       {map[string]string{"/a/.env": "1"}, map[string]string{"/b/.env": "1"}, nil},
		"in a folder":             {map[string]string{"/d": folder, "/d/a": "1"}, map[string]string{"/d": folder, "/d/b": "1"}, []Change{{"/d/a", "unlink"}, {"/d/b", "add"}}},
		"a folder is new":         {map[string]string{}, map[string]string{"/d": folder, "/d/b": "1"}, nil},
		"a file becomes a folder": {map[string]string{"/d": "1"}, map[string]string{"/d": folder, "/d/b": "1"}, nil},
		"a folder is cut":         {map[string]string{"/d": folder, "/d/a": "1", "/d/b": "1"}, map[string]string{"/d": partFolder, "/d/a": "2"}, []Change{{"/d/a", "change"}}},
		"a cut folder is whole":   {map[string]string{"/d": partFolder}, map[string]string{"/d": folder, "/d/a": "1"}, nil},
		"a folder is gone":        {map[string]string{"/d": folder, "/d/a": "1"}, map[string]string{"/d": ""}, nil},
	} {
		if diff := cmp.Diff(c.want, compare(c.was, c.now)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// What is no file has no state, so that a folder in its place says that it is gone.
func TestFileState(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	if s := fileState(path); s != "" {
		t.Errorf("of nothing: %q", s)
	}
	if s := fileState(dir); s != "" {
		t.Errorf("of a folder: %q", s)
	}
	if err := os.WriteFile(path, []byte("a"), 0o600); err != nil {
		t.Fatal(err)
	}
	before := fileState(path)
	if err := os.WriteFile(path, []byte("ab"), 0o600); err != nil {
		t.Fatal(err)
	}
	if after := fileState(path); before == "" || after == before {
		t.Errorf("%q, then %q", before, after)
	}
}
