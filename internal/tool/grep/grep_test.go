package grep

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"lathe/internal/msg"
	"lathe/internal/tool"
)

// call runs a call as the pipeline does, from the raw input on.
func call(t *testing.T, tl *Tool, input string) (text string, out Output, err error) {
	t.Helper()
	canonical, err := tool.Canonical(tl, json.RawMessage(input))
	if err != nil {
		return "", Output{}, err
	}
	plan, err := tl.Plan(t.Context(), tool.Call{Input: canonical})
	if err != nil {
		return "", Output{}, err
	}
	if !plan.Parallel || !plan.ReadOnly {
		t.Error("Grep must be parallel and read-only")
	}
	res, err := plan.Run(t.Context(), nil)
	if err != nil {
		return "", Output{}, err
	}
	return msg.JoinText(res.Blocks), res.Output.(Output), nil
}

func workspace(t *testing.T) (string, *Tool) {
	t.Helper()
	root := t.TempDir()
	at := time.Now().Add(-time.Hour)
	for i, f := range []struct{ name, text string }{
		{"a.go", "package a\n\nfunc Foo() {}\nfunc bar() { Foo() }\n"},
		{"sub/b.ts", "foo();\nFOO();\n"},
		{"sub/c.go", "// nothing\n"},
		{"vendor/v.go", "Foo\n"},
		{".git/HEAD", "Foo\n"},
		{".gitignore", "vendor/\n"},
		{"many.txt", strings.Repeat("line of text with Many\n", 600)},
	} {
		p := filepath.Join(root, filepath.FromSlash(f.name))
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(f.text), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(p, at, at.Add(time.Duration(i)*time.Minute)); err != nil {
			t.Fatal(err)
		}
	}
	return root, New(Deps{Workspace: tool.NewWorkspace(root, "")})
}

func TestGrep(t *testing.T) {
	root, tl := workspace(t)
	cases := []struct{ name, input, want string }{
		{"files, newest first", `{"pattern":"Foo","-i":true}`, "sub/b.ts\na.go"},
		{"content", `{"pattern":"Foo","output_mode":"content"}`, "a.go:3:func Foo() {}\na.go:4:func bar() { Foo() }"},
		{"content without numbers", `{"pattern":"Foo","output_mode":"content","-n":false,"glob":"*.go"}`, "a.go:func Foo() {}\na.go:func bar() { Foo() }"},
		{"context", `{"pattern":"func bar","output_mode":"content","-C":1}`, "a.go-3-func Foo() {}\na.go:4:func bar() { Foo() }"},
		{
			"gaps", `{"pattern":"package|FOO","output_mode":"content","-A":"0","context":0,"-B":1}`,
			"a.go:1:package a\n--\nsub/b.ts-1-foo();\nsub/b.ts:2:FOO();",
		},
		{"only matching", `{"pattern":"f[o]+","-o":true}`, "sub/b.ts:1:foo"},
		{"count", `{"pattern":"foo","-i":true,"-c":true}`, "a.go:2\nsub/b.ts:2"},
		{"list", `{"pattern":"foo","-l":true,"-r":true}`, "sub/b.ts"},
		{"type", `{"pattern":"foo","-i":true,"type":"ts"}`, "sub/b.ts"},
		{
			"a file", `{"pattern":"Foo","file_path":"a.go","output_mode":"content","head_limit":1}`,
			"3:func Foo() {}\n[Shown: 1-1 of 2 lines. Go on with offset 1, or narrow the search.]",
		},
		{"offset", `{"pattern":"Foo","path":"a.go","output_mode":"content","offset":1}`, "4:func bar() { Foo() }"},
		{"offset too far", `{"pattern":"Foo","path":"a.go","output_mode":"content","offset":9}`, "[Nothing at offset 9: there are 2 lines.]"},
		{"ignored but named", `{"pattern":"Foo","path":"vendor"}`, "vendor/v.go"},
		{"absolute glob", `{"pattern":"foo","-i":true,"glob":"` + filepath.ToSlash(root) + `/sub/*"}`, "sub/b.ts"},
		{"nothing", `{"pattern":"zzz"}`, "No matches found"},
		{"nothing with a filter", `{"pattern":"Foo","type":"py"}`, "No matches found in files of that glob and type"},
		{
			"multiline", `{"pattern":"Foo\\(\\) \\{\\}\\nfunc","multiline":true,"output_mode":"content"}`,
			"a.go:3:func Foo() {}\na.go:4:func bar() { Foo() }",
		},
	}
	for _, c := range cases {
		got, _, err := call(t, tl, c.input)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if d := cmp.Diff(c.want, filepath.ToSlash(got)); d != "" {
			t.Errorf("%s: %s", c.name, d)
		}
	}
}

func TestErrors(t *testing.T) {
	root, tl := workspace(t)
	for input, want := range map[string]string{
		`{"pattern":"a("}`:                         "bad pattern \"a(\": missing closing ): `a(`; write a literal parenthesis as \\( or \\)",
		`{"pattern":"a","glob":"[x"}`:              `bad glob "[x": the class that starts at [ is not closed; write a literal bracket as \[`,
		`{"pattern":"a","type":"zz"}`:              `unknown file type "zz"; use glob instead, such as *.zz`,
		`{"pattern":"a","path":"gone"}`:            "no such file or folder: " + filepath.Join(root, "gone") + " (the current directory is " + root + ")",
		`{"pattern":"a","-A":-1}`:                  "-A (or -C, context) must be from 0 to 1000",
		`{"pattern":"a","path":"x\u0000"}`:         "path holds a NUL byte",
		`{"pattern":"a","output_mode":"sideways"}`: "wrong input for Grep: output_mode must be one of files_with_matches, content, count",
		`{}`: "wrong input for Grep: pattern is missing",
	} {
		_, _, err := call(t, tl, input)
		if err == nil || err.Error() != want {
			t.Errorf("%s: %v", input, err)
		}
	}
}

func TestLimits(t *testing.T) {
	_, tl := workspace(t)
	text, out, err := call(t, tl, `{"pattern":"Many","output_mode":"content"}`)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasSuffix(text, "[Shown: 1-250 of 600 lines. Go on with offset 250, or narrow the search.]") {
		t.Error(text[len(text)-200:])
	}
	n := func(i int) *int { return &i }
	content := out.Content
	out.Content = nil
	want := Output{Mode: "content", NumFiles: 1, Filenames: []string{"many.txt"}, NumLines: n(250), NumMatches: n(600), TotalFiles: n(1), TotalLines: n(600), AppliedLimit: n(250)}
	if d := cmp.Diff(want, out); d != "" {
		t.Error(d)
	}
	if got := strings.Count(*content, "\n") + 1; got != 250 {
		t.Error("lines of content:", got)
	}
	// All pages together are all lines, whatever the byte limit cuts.
	seen, offset := 0, 0
	for offset < 600 {
		text, out, err := call(t, tl, fmt.Sprintf(`{"pattern":"Many","output_mode":"content","head_limit":0,"offset":%d}`, offset))
		if err != nil || *out.NumLines == 0 {
			t.Fatal(err, text)
		}
		if len(*out.Content) > maxBytes {
			t.Errorf("%d bytes", len(*out.Content))
		}
		seen += *out.NumLines
		offset += *out.NumLines
	}
	if seen != 600 {
		t.Error("lines on all pages:", seen)
	}
}

func TestHide(t *testing.T) {
	root, _ := workspace(t)
	tl := New(Deps{Workspace: tool.NewWorkspace(root, ""), Hide: func(abs string) bool { return filepath.Base(abs) == "a.go" }})
	got, _, err := call(t, tl, `{"pattern":"Foo","path":"a.go"}`)
	if err != nil || got != "No matches found" {
		t.Error(got, err)
	}
}

func TestTimeout(t *testing.T) {
	root, _ := workspace(t)
	tl := New(Deps{Workspace: tool.NewWorkspace(root, ""), Timeout: time.Nanosecond})
	got, _, err := call(t, tl, `{"pattern":"Foo"}`)
	if err != nil || !strings.Contains(got, "[Stopped after 1ns: the result is incomplete.") {
		t.Error(got, err)
	}
}

func TestDefinitionIsShort(t *testing.T) {
	def := New(Deps{}).Def()
	if n := (len(def.Description) + len(def.InputSchema)) / 4; n > 320 {
		t.Errorf("%d tokens", n)
	}
	if !json.Valid(def.InputSchema) {
		t.Error("the schema is no JSON")
	}
}
