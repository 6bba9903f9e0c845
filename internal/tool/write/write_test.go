package write

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"lathe/internal/diff"
	"lathe/internal/tool"
)

type bench struct {
	t     *testing.T
	dir   string
	files *tool.ReadCache
	tool  *Tool
}

func newBench(t *testing.T) *bench {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	files := tool.NewReadCache()
	return &bench{t, dir, files, New(Deps{tool.NewWorkspace(dir, ""), files})}
}

func (b *bench) write(input map[string]any) (tool.Result, error) {
	raw, _ := json.Marshal(input)
	raw, err := tool.Canonical(b.tool, raw)
	if err != nil {
		return tool.Result{}, err
	}
	plan, err := b.tool.Plan(context.Background(), tool.Call{ID: "toolu_1", Input: raw})
	if err != nil {
		return tool.Result{}, err
	}
	return plan.Run(context.Background(), nil)
}

// put makes a file, as seen by the conversation when seen is set.
func (b *bench) put(name, data string, seen bool) string {
	path := filepath.Join(b.dir, name)
	if err := os.WriteFile(path, []byte(data), 0o640); err != nil {
		b.t.Fatal(err)
	}
	if seen {
		b.files.Put(path, tool.State([]byte(data), nil))
	}
	return path
}

func TestCreate(t *testing.T) {
	b := newBench(t)
	path := filepath.Join(b.dir, "a/b.txt")
	got, err := b.write(map[string]any{"path": "a/b.txt", "file_text": "one\ntwo"})
	if err != nil {
		t.Fatal(err)
	}
	want := tool.TextResult("Created a/b.txt (2 lines).")
	want.Output = Output{Type: "create", FilePath: path, Content: "one\ntwo", StructuredPatch: []diff.Hunk{}}
	want.Touched, want.LinesAdded = []string{path}, 2
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if _, err := b.write(map[string]any{"file_path": "a/b.txt", "content": "three"}); err != nil {
		t.Errorf("what was written is known: %v", err)
	}
}

func TestUpdate(t *testing.T) {
	tests := []struct{ name, before, content, after, text string }{
		{"plain", "a\nb\n", "a\nc\n", "a\nc\n", "Updated f (1 line added, 1 removed)."},
		{"BOM stays", "\xef\xbb\xbfa\n", "b\n", "\xef\xbb\xbfb\n", "Updated f (1 line added, 1 removed)."},
		{"BOM not twice", "\xef\xbb\xbfa\n", "\ufeffb\n", "\xef\xbb\xbfb\n", "Updated f (1 line added, 1 removed)."},
		{"UTF-16 stays", "\xff\xfea\x00", "b€", "\xff\xfeb\x00\xac\x20", "Updated f (1 line added, 1 removed)."},
		{"line ends as given", "a\r\nb\r\n", "a\nc\n", "a\nc\n", "Updated f (1 line added, 1 removed). Its line ends are LF now and were CRLF."},
		{"empty file", "", "x", "x", "Updated f (1 line added, 0 removed)."},
	}
	for _, tc := range tests {
		b := newBench(t)
		path := b.put("f", tc.before, tc.before != "")
		res, err := b.write(map[string]any{"file_path": "f", "content": tc.content})
		if err != nil {
			t.Errorf("%s: %v", tc.name, err)
			continue
		}
		data, _ := os.ReadFile(path)
		info, _ := os.Stat(path)
		if d := cmp.Diff([]string{tc.after, tc.text, "-rw-r-----"}, []string{string(data), res.Blocks[0].Text, info.Mode().String()}); d != "" {
			t.Errorf("%s: %s", tc.name, d)
		}
	}
}

func TestRefused(t *testing.T) {
	b := newBench(t)
	b.put("unread", "x", false)
	b.put("latin", "caf\xe9", true)
	b.put("bin", "a\x00", true)
	b.put("changed", "x", true)
	b.put("changed", "y", false)
	part := b.put("part", "1\n2\n3\n", true)
	s, _ := b.files.Get(part)
	s.Partial, s.Offset, s.Limit = true, 1, 2
	b.files.Put(part, s)
	if err := os.Mkdir(filepath.Join(b.dir, "dir"), 0o755); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		"unread": "read it first", "latin": "not UTF-8", "bin": "binary", "changed": "+y", "part": "only lines 1-2",
		"dir": "is a directory", "new/": "names a directory", "unread/x": "not a directory",
	} {
		if _, err := b.write(map[string]any{"file_path": path, "content": "new"}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", path, err)
		}
	}
	if _, err := b.write(map[string]any{"path": "x"}); err == nil || !strings.Contains(err.Error(), "content is missing") {
		t.Error(err)
	}
}

func TestThroughLink(t *testing.T) {
	b := newBench(t)
	path := b.put("real", "old", true)
	link := filepath.Join(b.dir, "link")
	if err := os.Symlink("real", link); err != nil {
		t.Skipf("SKIPPED: %v", err)
	}
	if err := os.Symlink("sub/made", filepath.Join(b.dir, "dangling")); err != nil {
		t.Fatal(err)
	}
	res, err := b.write(map[string]any{"file_path": "link", "content": "new"})
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]string{path}, res.Touched); d != "" {
		t.Error(d)
	}
	if _, err = b.write(map[string]any{"file_path": "dangling", "content": "made"}); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"real": "new", "sub/made": "made"} {
		if data, _ := os.ReadFile(filepath.Join(b.dir, name)); string(data) != want {
			t.Errorf("%s holds %q", name, data)
		}
	}
	if info, err := os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Error("the link is gone")
	}
}

func TestDefinition(t *testing.T) {
	raw, _ := json.Marshal(newBench(t).tool.Def())
	if len(raw) > 600 {
		t.Errorf("%d bytes", len(raw))
	}
}
