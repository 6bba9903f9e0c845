package glob

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"lathe/internal/msg"
	"lathe/internal/tool"
)

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
	res, err := plan.Run(t.Context(), nil)
	if err != nil {
		return "", Output{}, err
	}
	return msg.JoinText(res.Blocks), res.Output.(Output), nil
}

func touch(t *testing.T, at time.Time, path ...string) {
	t.Helper()
	p := filepath.Join(path...)
	if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(p, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(p, at, at); err != nil {
		t.Fatal(err)
	}
}

func TestGlob(t *testing.T) {
	root := t.TempDir()
	at := time.Now().Add(-time.Hour)
	for i, n := range []string{"old.go", "sub/new.go", ".git/x.go", "node_modules/m.go", ".hid.go", "f.ts"} {
		touch(t, at.Add(time.Duration(i)*time.Minute), root, filepath.FromSlash(n))
	}
	if err := os.WriteFile(filepath.Join(root, ".gitignore"), []byte("node_modules\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	tl := New(Deps{Workspace: tool.NewWorkspace(root, "")})
	for input, want := range map[string]string{
		`{"pattern":"**/*.go"}`:                                        "." + "hid.go\nnode_modules/m.go\nsub/new.go\nold.go",
		`{"pattern":"*.go","path":"sub"}`:                              "sub/new.go",
		`{"pattern":"*.{go,ts}"}`:                                      "f.ts\n.hid.go\nold.go",
		`{"pattern":"*.rs"}`:                                           "No files found",
		`{"glob":"*.ts","directory":"` + filepath.ToSlash(root) + `"}`: "f.ts",
	} {
		got, out, err := call(t, tl, input)
		if err != nil {
			t.Errorf("%s: %v", input, err)
			continue
		}
		if d := cmp.Diff(want, filepath.ToSlash(got)); d != "" {
			t.Errorf("%s: %s", input, d)
		}
		if out.Truncated || !out.CountIsComplete || out.NumFiles != len(out.Filenames) || out.TotalMatches != out.NumFiles {
			t.Errorf("%s: %+v", input, out)
		}
	}
	for input, want := range map[string]string{
		`{"pattern":" "}`:                  "pattern is empty; give one such as **/*.go",
		`{"pattern":"[a"}`:                 `bad glob "[a": the class that starts at [ is not closed; write a literal bracket as \[`,
		`{"pattern":"*","path":"gone"}`:    "no such folder: " + filepath.Join(root, "gone") + " (the current directory is " + root + ")",
		`{"pattern":"*","path":"f.ts"}`:    "path must be a folder, and " + filepath.Join(root, "f.ts") + " is a file; put file names into pattern",
		`{"pattern":"*","path":"a\u0000"}`: "path or pattern holds a NUL byte",
		`{"path":"x"}`:                     "wrong input for Glob: pattern is missing",
	} {
		if _, _, err := call(t, tl, input); err == nil || err.Error() != want {
			t.Errorf("%s: %v", input, err)
		}
	}
}

func TestLimits(t *testing.T) {
	root := t.TempDir()
	for i := range 120 {
		touch(t, time.Unix(int64(1000+i), 0), root, "f"+string(rune('a'+i%26))+string(rune('a'+i/26)))
	}
	tl := New(Deps{Workspace: tool.NewWorkspace(root, "")})
	text, out, err := call(t, tl, `{"pattern":"f*"}`)
	if err != nil || !out.Truncated || out.NumFiles != 100 || out.TotalMatches != 120 ||
		!strings.HasSuffix(text, "\n[Shown: the 100 newest of 120 files. Use a narrower pattern or path for the rest.]") {
		t.Errorf("%v %+v %s", err, out, text)
	}
	tl = New(Deps{Workspace: tool.NewWorkspace(root, ""), Timeout: time.Nanosecond})
	text, out, err = call(t, tl, `{"pattern":"f*"}`)
	if err != nil || out.CountIsComplete || !strings.Contains(text, "[Stopped after 1ns: the result is incomplete.") {
		t.Errorf("%v %+v %s", err, out, text)
	}
	if def := tl.Def(); (len(def.Description)+len(def.InputSchema))/4 > 120 || !json.Valid(def.InputSchema) {
		t.Error("the definition is too long or no JSON")
	}
}
