package tool

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lathe/internal/file"
)

// A mark stands for a secret: one that comes with new text would destroy it, one that stood there may stay.
func TestMarksAreNotWritten(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "f")
	for _, tc := range []struct {
		old, text string
		refused   bool
	}{
		{"KEY=abc\n", "KEY=[redacted: KEY]\n", true},
		{"", "KEY=[redacted: KEY]\n", true},
		{"about [redacted: KEY]\n", "all about [redacted: KEY]\n", false},
	} {
		_ = os.Remove(path)
		if tc.old != "" {
			if err := os.WriteFile(path, []byte(tc.old), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		_, err := NewReadCache().Change(context.Background(), path, func(*file.File) ([]byte, error) { return []byte(tc.text), nil })
		now, _ := os.ReadFile(path)
		if refused := err != nil && strings.Contains(err.Error(), "would destroy the secret"); refused != tc.refused || refused == (string(now) == tc.text) {
			t.Errorf("%q over %q: %v, the file has %q", tc.text, tc.old, err, now)
		}
	}
}
