package edit_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"lathe/internal/diff"
	"lathe/internal/tool"
	"lathe/internal/tool/edit"
	"lathe/internal/tool/read"
)

// bench is a workspace with the tools in it.
type bench struct {
	t     testing.TB
	dir   string
	files *tool.ReadCache
	reads *read.Tool
	edits *edit.Tool
}

func newBench(t testing.TB) *bench {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	ws, files := tool.NewWorkspace(dir, ""), tool.NewReadCache()
	return &bench{t, dir, files, read.New(read.Deps{Workspace: ws, Files: files}), edit.New(edit.Deps{Workspace: ws, Files: files})}
}

func (b *bench) write(name string, data []byte, mode fs.FileMode) string {
	path := filepath.Join(b.dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(path, data, 0o644); err != nil {
		b.t.Fatal(err)
	}
	if err := os.Chmod(path, mode); err != nil {
		b.t.Fatal(err)
	}
	return path
}

func (b *bench) content(path string) []byte {
	data, err := os.ReadFile(path)
	if err != nil {
		b.t.Fatal(err)
	}
	return data
}

// snapshot is everything that can be seen of the workspace: names, modes, times, content.
func (b *bench) snapshot() string {
	var s strings.Builder
	err := filepath.WalkDir(b.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil || d.IsDir() {
			fmt.Fprintln(&s, path)
			return err
		}
		data, _ := os.ReadFile(path)
		fmt.Fprintf(&s, "%s %v %v %q\n", path, info.Mode(), info.ModTime().UnixNano(), data)
		return nil
	})
	if err != nil {
		b.t.Fatal(err)
	}
	return s.String()
}

func call(t tool.Tool, input any) (tool.Result, error) {
	raw, err := json.Marshal(input)
	if err != nil {
		return tool.Result{}, err
	}
	if raw, err = tool.Canonical(t, raw); err != nil {
		return tool.Result{}, err
	}
	plan, err := t.Plan(context.Background(), tool.Call{ID: "toolu_1", Input: raw})
	if err != nil {
		return tool.Result{}, err
	}
	return plan.Run(context.Background(), func(string) {})
}

func (b *bench) read(path string) (tool.Result, error) {
	return call(b.reads, map[string]any{"file_path": path})
}

func (b *bench) edit(path, old, new string, all bool) (tool.Result, error) {
	return call(b.edits, map[string]any{"file_path": path, "old_string": old, "new_string": new, "replace_all": all})
}

func TestEditInMemory(t *testing.T) {
	tests := []struct {
		name, before, old, new string
		all                    bool
		want, err              string
	}{
		{name: "LF strings match CRLF with tabs", before: "\tif (x) {\r\n\t\ty();\r\n\t}\r\n", old: "\tif (x) {\n\t\ty();", new: "\tif (z) {\n\t\ty();", want: "\tif (z) {\r\n\t\ty();\r\n\t}\r\n"},
		{name: "dollars are letters", before: "a x b", old: "x", new: "'^[sv]d[a-z]$') + \"$$\" + \"$&\"", want: "a '^[sv]d[a-z]$') + \"$$\" + \"$&\" b"},
		{name: "mixed ends stay with their lines", before: "a\r\nb\nc\r\nd\n", old: "a\nb\nc\nd\n", new: "a\nB\nc\nnew\nd\n", want: "a\r\nB\nc\r\nnew\r\nd\n"},
		{name: "a line put in gets the end above", before: "a\r\nb\n", old: "b", new: "b1\nb2", want: "a\r\nb1\r\nb2\n"},
		{name: "CRLF strings, LF file", before: "a\nb\n", old: "a\r\nb", new: "a\r\nx\r\nb", want: "a\nx\nb\n"},
		{name: "no line end in the file", before: "a", old: "a", new: "a\r\nb", want: "a\r\nb"},
		{name: "lone CR is a letter", before: "a\rb\r\nc", old: "a\rb", new: "x", want: "x\r\nc"},
		{name: "overlap is ambiguous", before: "aaa", old: "aa", new: "b", err: "found 2 times"},
		{name: "several with lines", before: "x\ny\nx\n", old: "x", new: "z", err: "lines 1, 3"},
		{name: "only line ends differ", before: "a\n", old: "a\n", new: "a\r\n", err: "keeps those of the file"},
		{name: "tabs", before: "\ta\n\tb\n", old: "  a\n  b", new: "  c", err: "the file indents with tabs"},
		{name: "first lines match", before: "f() {\n  one\n  two\n}\n", old: "f() {\n  one\n  three\n", new: "", err: "line 3 differs"},
		{name: "closest line", before: "alpha\nfunc handleRequest(w, r) {\n", old: "func handleRequests(w, r) {", new: "", err: "2\tfunc handleRequest(w, r) {"},
		{name: "line numbers", before: "package a\n\treturn 1\n", old: "1\tpackage a\n2\t\treturn 1", new: "x", err: "line numbers"},
		{name: "curly quotes stay", before: "say(“hello”) # it’s\r\n", old: "say(\"hello\") # it's", new: "say(\"bye\") # it's", want: "say(“bye”) # it’s\r\n"},
		{name: "curly or not is unclear", before: "a(“x”)", old: "a(\"x\")", new: "a(\"x\", \"y\")", err: "which quotes"},
		{name: "NBSP", before: "f(\"a\u00a0b\")", old: "f(\"a b\")", new: "f(\"c\")", want: "f(\"c\")"},
		{name: "NFD", before: "n = \"cafe\u0301\"\n", old: "n = \"café\"", new: "n = \"tea\"", want: "n = \"tea\"\n"},
		{name: "trailing blanks", before: "a  \nb \nc\n", old: "a\nb\nc", new: "a\nX\nc", want: "a  \nX\nc\n"},
		{name: "odd match twice", before: "“a”\n“a”\n", old: "\"a\"", new: "b", err: "so do others"},
		{name: "empty old", before: "a", old: "", new: "b", err: "old_string is empty"},
		{name: "all", before: "a.a\r\na", old: "a", new: "b\nc", all: true, want: "b\r\nc.b\r\nc\r\nb\r\nc"},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			b := newBench(t)
			path := b.write("f", []byte(tc.before), 0o640)
			if _, err := b.read(path); err != nil {
				t.Fatal(err)
			}
			was := b.snapshot()
			_, err := b.edit(path, tc.old, tc.new, tc.all)
			if tc.err != "" {
				if err == nil || !strings.Contains(err.Error(), tc.err) {
					t.Fatalf("error %v, want %q", err, tc.err)
				}
				if now := b.snapshot(); now != was {
					t.Fatalf("changed:\n%s\n%s", was, now)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(tc.want, string(b.content(path))); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestResult(t *testing.T) {
	b := newBench(t)
	path := b.write("f.go", []byte("a\nb\nc\nd\n"), 0o644)
	if _, err := b.read(path); err != nil {
		t.Fatal(err)
	}
	got, err := call(b.edits, map[string]any{"path": path, "old_str": "b\nc\n", "new_str": "x\n"})
	if err != nil {
		t.Fatal(err)
	}
	original := "a\nb\nc\nd\n"
	want := tool.TextResult("Edited f.go:\n2\tx")
	want.Output = edit.Output{
		FilePath: path, OldString: "b\nc\n", NewString: "x\n", OriginalFile: &original,
		StructuredPatch: []diff.Hunk{{OldStart: 1, OldLines: 4, NewStart: 1, NewLines: 3, Lines: []string{" a", "-b", "-c", "+x", " d"}}},
	}
	want.Touched, want.LinesAdded, want.LinesRemoved = []string{path}, 1, 2
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func TestReadFirst(t *testing.T) {
	b := newBench(t)
	path := b.write("f", []byte("a\nb\n"), 0o644)
	if _, err := b.edit(path, "a", "x", false); err == nil || !strings.Contains(err.Error(), "read it first") {
		t.Fatalf("unread: %v", err)
	}
	if _, err := b.read(path); err != nil {
		t.Fatal(err)
	}
	b.write("f", []byte("a\nB\n"), 0o644)
	_, err := b.edit(path, "a", "x", false)
	if err == nil || !strings.Contains(err.Error(), "-b\n+B\n") {
		t.Fatalf("changed: %v", err)
	}
	if got := string(b.content(path)); got != "a\nB\n" {
		t.Fatalf("content %q", got)
	}
	if _, err := b.edit(path, "a", "x", false); err != nil { // the change was shown
		t.Fatal(err)
	}
	if got := string(b.content(path)); got != "x\nB\n" {
		t.Fatalf("content %q", got)
	}
	if err := os.Chtimes(path, longAgo(), longAgo()); err != nil {
		t.Fatal(err)
	}
	if _, err := b.edit(path, "x", "y", false); err != nil {
		t.Fatalf("a new time alone is no change: %v", err)
	}
}

func TestNewFiles(t *testing.T) {
	b := newBench(t)
	path := filepath.Join(b.dir, "new/dir/f.txt")
	if _, err := b.edit(path, "x", "y", false); err == nil || !strings.Contains(err.Error(), "does not exist") {
		t.Fatalf("absent: %v", err)
	}
	if _, err := os.Stat(filepath.Join(b.dir, "new")); err == nil {
		t.Fatal("a failed edit made a directory")
	}
	res, err := b.edit(path, "", "one\ntwo\n", false)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff("Created new/dir/f.txt.", res.Blocks[0].Text); d != "" {
		t.Error(d)
	}
	if out := res.Output.(edit.Output); out.OriginalFile != nil || res.LinesAdded != 2 {
		t.Errorf("original %v, added %d", out.OriginalFile, res.LinesAdded)
	}
	if _, err := b.edit(path, "two", "three", false); err != nil {
		t.Fatal(err)
	}
	if _, err := call(b.edits, json.RawMessage(`{"file_path":"s","old_string":"","new_string":"\ud83d"}`)); err == nil || !strings.Contains(err.Error(), "surrogate") {
		t.Fatalf("half a pair: %v", err)
	}
}

// Many edits of one file at once: each one works on what the one before left.
func TestConcurrent(t *testing.T) {
	b := newBench(t)
	const n = 40
	var start strings.Builder
	for i := range n {
		fmt.Fprintf(&start, "line-%03d old\n", i)
	}
	path := b.write("f", []byte(start.String()), 0o644)
	if _, err := b.read(path); err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			if _, err := b.edit(path, fmt.Sprintf("line-%03d old", i), fmt.Sprintf("line-%03d new", i), false); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if d := cmp.Diff(strings.ReplaceAll(start.String(), "old", "new"), string(b.content(path))); d != "" {
		t.Error(d)
	}
}

// Lines with any mix of ends: an edit of one line leaves all others byte for byte.
func TestOtherLinesStay(t *testing.T) {
	b := newBench(t)
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(1, 12).Draw(rt, "lines")
		at := rapid.IntRange(0, n-1).Draw(rt, "at")
		var pre, mid, post string
		for i := range n {
			end := rapid.SampledFrom([]string{"\n", "\r\n", "\r\r\n"}).Draw(rt, "end")
			line := fmt.Sprintf("<%d>%s", i, end)
			switch {
			case i < at:
				pre += line
			case i == at:
				mid = line
			default:
				post += line
			}
		}
		path := b.write("f", []byte(pre+mid+post), 0o644)
		if _, err := b.read(path); err != nil {
			rt.Fatal(err)
		}
		if _, err := b.edit(path, fmt.Sprintf("<%d>", at), "one\ntwo", false); err != nil {
			rt.Fatal(err)
		}
		got := string(b.content(path))
		if !strings.HasPrefix(got, pre+"one") || !strings.HasSuffix(got, "two"+strings.TrimPrefix(mid, fmt.Sprintf("<%d>", at))+post) {
			rt.Fatalf("%q became %q", pre+mid+post, got)
		}
	})
}

func longAgo() time.Time { return time.Date(2001, 2, 3, 4, 5, 6, 0, time.UTC) }

func TestThroughLink(t *testing.T) {
	b := newBench(t)
	path := b.write("real.sh", []byte("echo a\n"), 0o755)
	link := filepath.Join(b.dir, "link")
	if err := os.Symlink("real.sh", link); err != nil {
		t.Skipf("SKIPPED: %v", err)
	}
	if _, err := b.read(path); err != nil { // under its own name
		t.Fatal(err)
	}
	res, err := b.edit(link, "a", "b", false)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]string{path}, res.Touched); d != "" {
		t.Error(d)
	}
	info, err := os.Lstat(link)
	if err != nil || info.Mode()&fs.ModeSymlink == 0 {
		t.Error("the link is gone")
	}
	if got := string(b.content(path)); got != "echo b\n" {
		t.Errorf("content %q", got)
	}
}

func TestNotAFile(t *testing.T) {
	b := newBench(t)
	for path, want := range map[string]string{b.dir: "is a directory", "": "path is empty"} {
		for _, old := range []string{"", "a"} {
			if _, err := b.edit(path, old, "b", false); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v", path, err)
			}
		}
	}
}

func TestDefinition(t *testing.T) {
	raw, _ := json.Marshal(newBench(t).edits.Def())
	if len(raw) > 600 {
		t.Errorf("%d bytes", len(raw))
	}
}
