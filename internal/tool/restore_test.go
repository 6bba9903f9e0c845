package tool

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lathe/internal/file"
	"lathe/internal/msg"
)

// A resumed conversation knows what it has seen: what is still so counts as read, what changed does not.
func TestRestore(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	read := func(path, content string, start, num, total int) string {
		return jsonText(t, map[string]any{"type": "text", "file": map[string]any{"filePath": path, "content": content, "startLine": start, "numLines": num, "totalLines": total}})
	}
	edited := func(path, original, from, to string) string {
		return jsonText(t, map[string]any{"filePath": path, "oldString": from, "newString": to, "originalFile": original})
	}
	path := filepath.Join(dir, "f")
	for name, c := range map[string]struct {
		disk    string
		outputs []string
		want    string // fresh, part, changed, none
	}{
		"read whole":          {"a\nb\n", []string{read(path, "a\nb\n", 1, 2, 2)}, "fresh"},
		"read whole, CRLF":    {"a\r\nb\r\n", []string{read(path, "a\r\nb\r\n", 1, 2, 2)}, "fresh"},
		"read whole, BOM":     {"\ufeffa\n", []string{read(path, "a\n", 1, 1, 1)}, "fresh"},
		"changed since":       {"a\nc\n", []string{read(path, "a\nb\n", 1, 2, 2)}, "changed"},
		"read a part":         {"a\nb\nc\n", []string{read(path, "b\n", 2, 1, 3)}, "part"},
		"the part changed":    {"a\nX\nc\n", []string{read(path, "b\n", 2, 1, 3)}, "none"},
		"edited after":        {"a\nB\n", []string{read(path, "a\nb\n", 1, 2, 2), edited(path, "a\nb\n", "b", "B")}, "fresh"},
		"edit, changed since": {"a\nC\n", []string{edited(path, "a\nb\n", "b", "B")}, "changed"},
		"edit of a large one": {"a\nB\n", []string{read(path, "a\nb\n", 1, 2, 2), jsonText(t, map[string]any{"filePath": path, "oldString": "b", "newString": "B", "originalFile": nil})}, "none"},
		"written":             {"new\n", []string{jsonText(t, map[string]any{"type": "create", "filePath": path, "content": "new\n"})}, "fresh"},
		"of another tool":     {"a\n", []string{`{"stdout":"a\n"}`, `"Error: x"`, `[]`}, "none"},
		"relative":            {"a\n", []string{read("f", "a\n", 1, 1, 1)}, "none"},
		"a cut line":          {strings.Repeat("x", 5000) + "\n", []string{read(path, strings.Repeat("x", 2000)+"… (3000 more characters)\n", 1, 1, 1)}, "none"},
		"forbidden":           {"secret\n", []string{read(path, "secret\n", 1, 1, 1)}, "none"},
	} {
		t.Run(name, func(t *testing.T) {
			if err := os.WriteFile(path, []byte(c.disk), 0o644); err != nil {
				t.Fatal(err)
			}
			var list []msg.Message
			for _, o := range c.outputs {
				list = append(list, msg.Message{Kind: msg.KindUser, ToolOutput: json.RawMessage(o)})
			}
			cache := NewReadCache()
			cache.Restore(list, func(string) bool { return !strings.Contains(c.disk, "secret") })
			f, err := file.Load(path, file.MaxSize)
			if err != nil {
				t.Fatal(err)
			}
			state, ok := cache.Get(path)
			got := "none"
			switch _, err := cache.Fresh(f, "f"); {
			case ok && err != nil:
				got = "changed"
			case ok && state.Partial:
				got = "part"
			case ok:
				got = "fresh"
			}
			if got != c.want {
				t.Errorf("%s, want %s: %+v", got, c.want, state)
			}
		})
	}
}

func jsonText(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
