package tool

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lathe/internal/file"
)

// buffers is an editor: the text of each file that it holds, and of those that it was told to save.
type buffers struct {
	text  map[string]string
	saved map[string]string
	fail  error
}

func (b *buffers) Text(_ context.Context, path string) (string, bool) {
	t, ok := b.text[path]
	return t, ok
}

func (b *buffers) Save(_ context.Context, path, text string) error {
	if b.fail == nil {
		b.text[path], b.saved[path] = text, text
	}
	return b.fail
}

// What the editor holds is what tools see and change, with the same checks; the rest is on disk as ever.
func TestEditorHoldsFiles(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		name, disk, buffer string
		held               bool
		fail               error
		loads              string // what Load gives
		saved, left, err   string // what the editor was told, what is on disk in the end, the error
	}{
		{name: "not held", disk: "a\n", loads: "a\n", left: "a\nnew\n"},
		{name: "clean", disk: "a\n", buffer: "a\n", held: true, loads: "a\n", saved: "a\nnew\n", left: "a\n"},
		{name: "dirty", disk: "a\n", buffer: "b\n", held: true, loads: "b\n", saved: "b\nnew\n", left: "a\n"},
		{name: "line ends", disk: "a\r\nb\r\n", buffer: "a\nb\n", held: true, loads: "a\r\nb\r\n", saved: "a\r\nb\r\nnew\n", left: "a\r\nb\r\n"},
		{name: "dirty line ends", disk: "a\r\nb\r\n", buffer: "a\nc\n", held: true, loads: "a\r\nc\r\n", saved: "a\r\nc\r\nnew\n", left: "a\r\nb\r\n"},
		{name: "clean with BOM", disk: "\ufeffa\n", buffer: "a\n", held: true, loads: "\ufeffa\n", left: "\ufeffa\nnew\n"},
		{name: "dirty with BOM", disk: "\ufeffa\n", buffer: "b\n", held: true, loads: "\ufeffb\n", left: "\ufeffa\n", err: "not saved"},
		{name: "refused", disk: "a\n", buffer: "b\n", held: true, fail: errors.New("no"), loads: "b\n", left: "a\n", err: "did not take"},
		{name: "clean, takes none", disk: "a\n", buffer: "a\n", held: true, fail: errors.ErrUnsupported, loads: "a\n", left: "a\nnew\n"},
		{name: "dirty, takes none", disk: "a\n", buffer: "b\n", held: true, fail: errors.ErrUnsupported, loads: "b\n", left: "a\n", err: "not saved"},
		{name: "binary", disk: "\x00\x01", buffer: "b\n", held: true, loads: "\x00\x01", left: "\x00\x01new\n"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			path := filepath.Join(dir, strings.ReplaceAll(tc.name, " ", "-"))
			if err := os.WriteFile(path, []byte(tc.disk), 0o600); err != nil {
				t.Fatal(err)
			}
			ed := &buffers{text: map[string]string{}, saved: map[string]string{}, fail: tc.fail}
			if tc.held {
				ed.text[path] = tc.buffer
			}
			c := NewReadCache()
			c.Editor = ed
			f, err := c.Load(t.Context(), path)
			if err != nil || string(f.Data) != tc.loads {
				t.Errorf("Load: %q, %v", f.Data, err)
			}
			_, err = c.Change(t.Context(), path, func(old *file.File) ([]byte, error) { return append(bytes.Clone(old.Data), "new\n"...), nil })
			if (err == nil) != (tc.err == "") || err != nil && !strings.Contains(err.Error(), tc.err) {
				t.Errorf("Change: %v", err)
			}
			now, _ := os.ReadFile(path)
			if string(now) != tc.left || ed.saved[path] != tc.saved {
				t.Errorf("on disk %q, the editor was told %q", now, ed.saved[path])
			}
		})
	}
	// A new file is made by the editor, and by us where it does not want to.
	for _, fail := range []error{nil, errors.New("outside the project")} {
		ed := &buffers{text: map[string]string{}, saved: map[string]string{}, fail: fail}
		c := NewReadCache()
		c.Editor = ed
		path := filepath.Join(dir, "fresh")
		if _, err := c.Change(t.Context(), path, func(*file.File) ([]byte, error) { return []byte("x\n"), nil }); err != nil {
			t.Errorf("a new file: %v", err)
		}
		if now, _ := os.ReadFile(path); (string(now) == "x\n") != (fail != nil) || (ed.saved[path] == "x\n") != (fail == nil) {
			t.Errorf("a new file: on disk %q, the editor was told %q", now, ed.saved[path])
		}
	}
}
