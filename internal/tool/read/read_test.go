package read

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"lathe/internal/token"
	"lathe/internal/tool"
)

type bench struct {
	t     *testing.T
	dir   string
	files *tool.ReadCache
	tool  *Tool
	calls int
}

func newBench(t *testing.T) *bench {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	files := tool.NewReadCache()
	return &bench{t: t, dir: dir, files: files, tool: New(Deps{Workspace: tool.NewWorkspace(dir, ""), Files: files})}
}

func (b *bench) write(name string, data []byte) string {
	path := filepath.Join(b.dir, name)
	if err := os.WriteFile(path, data, 0o644); err != nil {
		b.t.Fatal(err)
	}
	return path
}

func (b *bench) read(input map[string]any) (tool.Result, error) {
	raw, _ := json.Marshal(input)
	raw, err := tool.Canonical(b.tool, raw)
	if err != nil {
		return tool.Result{}, err
	}
	b.calls++
	plan, err := b.tool.Plan(context.Background(), tool.Call{ID: fmt.Sprintf("toolu_%d", b.calls), Input: raw})
	if err != nil {
		return tool.Result{}, err
	}
	return plan.Run(context.Background(), nil)
}

func TestText(t *testing.T) {
	many := strings.Repeat("x\n", 2500)
	tests := []struct {
		name, data string
		input      map[string]any
		want       string // of the text; "a…z" stands for what starts and ends so
		out        TextFile
	}{
		{"plain", "a\nb\n", nil, "1\ta\n2\tb", TextFile{Content: "a\nb\n", NumLines: 2, StartLine: 1, TotalLines: 2}},
		{"no last line end", "a\nb", nil, "1\ta\n2\tb", TextFile{Content: "a\nb", NumLines: 2, StartLine: 1, TotalLines: 2}},
		{"CRLF and BOM", "\xef\xbb\xbfa\r\nb\r\n", nil, "1\ta\n2\tb", TextFile{Content: "a\r\nb\r\n", NumLines: 2, StartLine: 1, TotalLines: 2}},
		{"UTF-16", "\xff\xfea\x00\n\x00", nil, "1\ta", TextFile{Content: "a\n", NumLines: 1, StartLine: 1, TotalLines: 1}},
		{"empty", "", nil, "(f exists, but is empty)", TextFile{StartLine: 1}},
		{"blank line", "\n", nil, "1\t", TextFile{Content: "\n", NumLines: 1, StartLine: 1, TotalLines: 1}},
		{"range", "a\nb\nc\nd\n", map[string]any{"offset": 2, "limit": "2"}, "2\tb\n3\tc\n(PARTIAL view: lines 2-3 of 4; go on with offset 4)", TextFile{Content: "b\nc\n", NumLines: 2, StartLine: 2, TotalLines: 4}},
		{"past the end", "a\nb\n", map[string]any{"offset": 9}, "(f has only 2 lines; offset 9 is past the end)", TextFile{StartLine: 9, TotalLines: 2}},
		{"right after the end", "a\nb\n", map[string]any{"offset": 3}, "(f has only 2 lines; offset 3 is past the end)", TextFile{StartLine: 3, TotalLines: 2}},
		{"many lines", many, nil, "1\tx…2000\tx\n(PARTIAL view: lines 1-2000 of 2500; go on with offset 2001)", TextFile{Content: many[:4000], NumLines: 2000, StartLine: 1, TotalLines: 2500}},
		{"not UTF-8", "caf\xe9\n", nil, "(not valid UTF-8…1\tcaf\ufffd", TextFile{Content: "caf\ufffd\n", NumLines: 1, StartLine: 1, TotalLines: 1}},
		{"long line", strings.Repeat("é", 2003) + "\n", nil, "1\té…(3 more characters)\n(shortened: 1 line over 2000 characters; use grep -o or cut to see the rest)", TextFile{Content: strings.Repeat("é", 2000) + "… (3 more characters)\n", NumLines: 1, StartLine: 1, TotalLines: 1}},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			b := newBench(t)
			path := b.write("f", []byte(tc.data))
			input := map[string]any{"path": "f"}
			for k, v := range tc.input {
				input[k] = v
			}
			got, err := b.read(input)
			if err != nil {
				t.Fatal(err)
			}
			text := got.Blocks[0].Text
			if head, tail, cut := strings.Cut(tc.want, "…"); text != tc.want && !(cut && strings.HasPrefix(text, head) && strings.HasSuffix(text, tail)) {
				t.Errorf("text %.300q", text)
			}
			tc.out.FilePath = path
			if d := cmp.Diff(Output{"text", tc.out}, got.Output); d != "" {
				t.Error(d)
			}
			if d := cmp.Diff([]string{path}, got.Touched); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestSizeLimit(t *testing.T) {
	b := newBench(t)
	b.write("f", []byte(strings.Repeat(strings.Repeat("x", 999)+"\n", 1000)))
	res, err := b.read(map[string]any{"file_path": "f"})
	if err != nil {
		t.Fatal(err)
	}
	out := res.Output.(Output).File.(TextFile)
	text := res.Blocks[0].Text
	if !out.Truncated || len(text) > maxBytes+200 || !strings.HasSuffix(text, fmt.Sprintf("of 1000, cut at 256 KB; go on with offset %d)", out.NumLines+1)) {
		t.Errorf("%d bytes, ends %q", len(text), text[len(text)-100:])
	}
}

// A limit of tokens shows the first page, from which an offset goes on; a limit of lines that is over it is refused with one that is not.
func TestTokenLimit(t *testing.T) {
	b := newBench(t)
	b.tool.d.MaxTokens = 100
	b.write("f", []byte(strings.Repeat("some words of text\n", 200)))
	b.write("long", []byte(strings.Repeat("some words of text ", 90)+"\nx\n"))
	read := func(in map[string]any) (string, TextFile) {
		t.Helper()
		res, err := b.read(in)
		if err != nil {
			t.Fatal(err)
		}
		return res.Blocks[0].Text, res.Output.(Output).File.(TextFile)
	}
	text, first := read(map[string]any{"file_path": "f"})
	if lines, _, _ := strings.Cut(text, "(PARTIAL"); !first.Truncated || first.NumLines < 5 || first.NumLines > 50 || token.Text(lines) > 110 ||
		!strings.HasSuffix(text, fmt.Sprintf("lines 1-%d of 200, cut at the limit of tokens; go on with offset %d)", first.NumLines, first.NumLines+1)) {
		t.Errorf("%+v, ends %q", first.NumLines, text)
	}
	if _, next := read(map[string]any{"file_path": "f", "offset": first.NumLines + 1}); next.StartLine != first.NumLines+1 || next.NumLines < 5 {
		t.Errorf("the next page is %d from %d", next.NumLines, next.StartLine)
	}
	if _, part := read(map[string]any{"file_path": "f", "limit": first.NumLines}); part.NumLines != first.NumLines || part.Truncated {
		t.Errorf("%d lines, cut: %v", part.NumLines, part.Truncated)
	}
	want := fmt.Sprintf("100 lines of f are more than the 100 tokens that one result may have (CLAUDE_CODE_FILE_READ_MAX_OUTPUT_TOKENS); from line 1 on, ask for %d lines at most", first.NumLines)
	if _, err := b.read(map[string]any{"file_path": "f", "limit": 100}); err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
	if _, long := read(map[string]any{"file_path": "long"}); long.NumLines != 1 || !long.Truncated {
		t.Errorf("a line over the limit: %d lines, cut: %v", long.NumLines, long.Truncated)
	}
}

func TestRefused(t *testing.T) {
	b := newBench(t)
	b.write("bin", []byte("a\x00b"))
	b.write("f", []byte("x"))
	if err := os.Mkdir(filepath.Join(b.dir, "d"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		input map[string]any
		want  string
	}{
		{map[string]any{"file_path": "bin"}, "binary file (3 bytes)"},
		{map[string]any{"file_path": "d"}, "is a directory"},
		{map[string]any{"file_path": "no"}, "does not exist"},
		{map[string]any{"file_path": ""}, "path is empty"},
		{map[string]any{"file_path": "a\x00"}, "NUL"},
		{map[string]any{"file_path": "f", "offset": -1}, "offset"},
		{map[string]any{"file_path": "f", "limit": 0}, "limit"},
		{map[string]any{"file_path": "f", "pages": "1"}, "not a PDF"},
	} {
		if _, err := b.read(tc.input); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%v: %v", tc.input, err)
		}
	}
	if all := b.files.All(); len(all) != 0 {
		t.Errorf("recorded %v", all)
	}
}

// What was seen of a file in pieces counts as seen when the pieces join.
func TestRecord(t *testing.T) {
	b := newBench(t)
	data := []byte("1\n2\n3\n4\n5\n6\n")
	path := b.write("f", data)
	seen := func(offset, limit int) tool.ReadState {
		t.Helper()
		if _, err := b.read(map[string]any{"file_path": path, "offset": offset, "limit": limit}); err != nil {
			t.Fatal(err)
		}
		s, _ := b.files.Get(path)
		return s
	}
	info, _ := os.Stat(path)
	want := tool.State(data, info)
	want.Partial, want.Offset, want.Limit = true, 2, 2
	if d := cmp.Diff(want, seen(2, 2)); d != "" {
		t.Error(d)
	}
	if s := seen(6, 1); s.Offset != 6 || s.Limit != 1 {
		t.Errorf("apart: %d %d", s.Offset, s.Limit)
	}
	if s := seen(3, 3); s.Offset != 3 || s.Limit != 4 {
		t.Errorf("joined: %d %d", s.Offset, s.Limit)
	}
	want.Partial, want.Offset, want.Limit = false, 0, 0
	if d := cmp.Diff(want, seen(1, 2)); d != "" {
		t.Error(d)
	}
	if s := seen(1, 1); s.Partial {
		t.Error("seen whole before")
	}
}

func TestPages(t *testing.T) {
	for in, want := range map[string][]int{"3": {3}, "1-3": {1, 2, 3}, " 6, 9-10": {6, 9, 10}, "": nil, "0": nil, "5-2": nil, "1-99": nil, "a": nil, "1-15,20-30": nil} {
		got, err := parsePages(in)
		if d := cmp.Diff(want, got); d != "" || (err == nil) != (want != nil) {
			t.Errorf("%q: %v %v", in, got, err)
		}
	}
}

func TestDefinition(t *testing.T) {
	raw, _ := json.Marshal(newBench(t).tool.Def())
	if len(raw) > 600 {
		t.Errorf("%d bytes", len(raw))
	}
}
