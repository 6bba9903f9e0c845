//go:build unix

package file_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"lathe/internal/file"
)

func TestHold(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x")
	if _, err := file.Hold(path, false); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
	f, err := file.Hold(path, true)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := file.Hold(path, true); !errors.Is(err, file.ErrHeld) {
		t.Errorf("held: %v", err)
	}
	_ = f.Close()
	if f, err = file.Hold(path, false); err != nil {
		t.Fatal(err)
	}
	_ = f.Close()
	link := path + ".link"
	if err := os.Symlink(path, link); err != nil {
		t.Fatal(err)
	}
	if _, err := file.Hold(link, true); err == nil {
		t.Error("a link was followed")
	}
}
