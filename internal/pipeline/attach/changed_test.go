package attach_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lathe/internal/pipeline/attach"
	"lathe/internal/tool"
)

// A file that was read and became a link to somewhere else does not bring that file's content along.
func TestChangedFollowsNoLink(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	path, other := filepath.Join(dir, "a"), filepath.Join(dir, "other")
	for p, text := range map[string]string{path: "mine\n", other: "private words\n"} {
		if err := os.WriteFile(p, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	cache := tool.NewReadCache()
	cache.Put(path, tool.State([]byte("mine\n"), info))
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(other, path); err != nil {
		t.Skipf("SKIPPED: %v", err)
	}
	w := newWorld()
	if err := attach.New(attach.Changed(cache, filepath.Base, nil))(t.Context(), w.t); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(w.text(), "private") {
		t.Errorf("attached: %s", w.text())
	}
}
