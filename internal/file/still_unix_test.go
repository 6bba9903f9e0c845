//go:build unix

package file

import (
	"os"
	"path/filepath"
	"testing"
)

func TestStill(t *testing.T) {
	dir := t.TempDir()
	open := func(name string) *os.File {
		t.Helper()
		f, err := os.Create(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = f.Close() })
		return f
	}
	f := open("a")
	open("b")
	closed := open("c")
	_ = closed.Close()
	for _, c := range []struct {
		f            *os.File
		name         string
		there, fails bool
	}{
		{f, "a", true, false}, {f, "b", false, false}, {f, "none", false, false}, {f, "b/x", false, true}, {closed, "c", false, true},
	} {
		if there, err := still(c.f, filepath.Join(dir, c.name)); there != c.there || (err != nil) != c.fails {
			t.Errorf("%s at %s: %v, %v", c.f.Name(), c.name, there, err)
		}
	}
}
