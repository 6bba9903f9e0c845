package search

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// globNames returns what a pattern finds, relative to root, sorted.
func globNames(t interface{ Fatalf(string, ...any) }, opt GlobOptions) []string {
	r, err := Glob(context.Background(), opt)
	if err != nil {
		t.Fatalf("%s: %v", opt.Pattern, err)
	}
	out := []string{}
	for _, f := range r.Files {
		rel, err := filepath.Rel(opt.Root, f.Path)
		if err != nil {
			t.Fatalf("%v", err)
		}
		out = append(out, filepath.ToSlash(rel))
	}
	slices.Sort(out)
	return out
}

func TestGlob(t *testing.T) {
	closedGit(t)
	root := t.TempDir()
	write(t, root, map[string]string{
		"a.go": "", "b.ts": "", "c.tsx": "", ".hid/x.go": "", "src/a.go": "", "src/deep/b.go": "", "src/deep/c.md": "",
		"node_modules/p/i.go": "", ".git/config": "", ".git/x.go": "", ".gitignore": "node_modules\n", "é.go": "", "[q].go": "", "src/.env": "",
	})
	cases := []struct {
		pattern string
		want    []string
	}{
		{"*.go", []string{"[q].go", "a.go", "é.go"}},
		{"?.go", []string{"a.go", "é.go"}},
		{`\[q\].go`, []string{"[q].go"}},
		{"**/*.go", []string{".hid/x.go", "[q].go", "a.go", "node_modules/p/i.go", "src/a.go", "src/deep/b.go", "é.go"}},
		{"*.{ts,tsx}", []string{"b.ts", "c.tsx"}},
		{"{src,node_modules}/**/[bi].go", []string{"node_modules/p/i.go", "src/deep/b.go"}},
		{"src/**", []string{"src/.env", "src/a.go", "src/deep/b.go", "src/deep/c.md"}},
		{"src/**/", []string{}},
		{"./src/*.go", []string{"src/a.go"}},
		{"src/../a.go", []string{"a.go"}},
		{".git/*", []string{".git/config", ".git/x.go"}},
		{"**/.git/*.go", []string{".git/x.go"}},
		{"src", []string{}},
		{"src/a.go", []string{"src/a.go"}},
		{"none/*.go", []string{}},
		{"*/*/*.go", []string{"node_modules/p/i.go", "src/deep/b.go"}},
		{"{a,a,*a}.go", []string{"a.go"}},
		{filepath.ToSlash(root) + "/src/*.go", []string{"src/a.go"}},
	}
	for _, c := range cases {
		if d := cmp.Diff(c.want, globNames(t, GlobOptions{Root: root, Pattern: c.pattern})); d != "" {
			t.Errorf("%s: %s", c.pattern, d)
		}
	}
	got := globNames(t, GlobOptions{Root: root, Pattern: "**/*.go", RespectIgnore: true, SkipHidden: true})
	if d := cmp.Diff([]string{"[q].go", "a.go", "src/a.go", "src/deep/b.go", "é.go"}, got); d != "" {
		t.Error("ignored and hidden left out:", d)
	}
	for _, bad := range []string{"a[b", "{" + strings.Repeat("{a,b}", 12) + ",c}", "a\x00"} {
		if _, err := Glob(t.Context(), GlobOptions{Root: root, Pattern: bad}); err == nil {
			t.Errorf("%q: no error", bad)
		}
	}
}

// TestGlobLinks: folders that are links are entered where the pattern names them, and loops end.
func TestGlobLinks(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("SKIPPED: links need rights on Windows")
	}
	top := t.TempDir()
	write(t, top, map[string]string{"items/foo/a.md": "", "items/foo/sub/b.md": "", "ws/cat/own.md": ""})
	for link, target := range map[string]string{"ws/cat/foo": "../../items/foo", "ws/cat/loop": ".", "ws/cat/gone": "nowhere", "ws/cat/f.md": "../../items/foo/a.md"} {
		if err := os.Symlink(target, filepath.Join(top, link)); err != nil {
			t.Fatal(err)
		}
	}
	root := filepath.Join(top, "ws")
	cases := []struct {
		pattern string
		want    []string
	}{
		{"cat/foo/**/*.md", []string{"cat/foo/a.md", "cat/foo/sub/b.md"}},
		{"**/*.md", []string{"cat/f.md", "cat/own.md"}},
		{"**/foo/*.md", []string{"cat/foo/a.md"}},
		{"*/foo/**/*.md", []string{"cat/foo/a.md", "cat/foo/sub/b.md"}},
		{"cat/*/*.md", []string{"cat/foo/a.md", "cat/loop/f.md", "cat/loop/own.md"}},
		{"cat/loop/loop/own.md", []string{"cat/loop/loop/own.md"}},
		{"cat/loop/**/own.md", []string{"cat/loop/own.md"}},
		{"**/loop/**/own.md", []string{"cat/loop/own.md"}},
	}
	for _, c := range cases {
		if d := cmp.Diff(c.want, globNames(t, GlobOptions{Root: root, Pattern: c.pattern})); d != "" {
			t.Errorf("%s: %s", c.pattern, d)
		}
	}
}

func TestGlobIsDoublestar(t *testing.T) {
	root := t.TempDir()
	write(t, root, map[string]string{
		"a": "", "b/a": "", "b/b/a": "", "b/b/b/ab": "", "ab/a": "", "ab/.x": "", ".x/a": "", "b/ab": "", "c/d/e/f/a": "", "c/a/e/f/b": "", "é/é": "",
	})
	var all []string
	_ = filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if rel, _ := filepath.Rel(root, p); err == nil && !d.IsDir() {
			all = append(all, filepath.ToSlash(rel))
		}
		return err
	})
	rapid.Check(t, func(t *rapid.T) {
		seg := rapid.SampledFrom([]string{"a", "b", "ab", "*", "**", "**", "a*", "?", "[ab]", "{a,b}", "{c/d,ab}", ".x", "é"})
		pat := strings.Join(rapid.SliceOfN(seg, 1, 5).Draw(t, "pattern"), "/")
		want := []string{}
		for _, p := range all {
			if doublestarMatch(t, pat, p) {
				want = append(want, p)
			}
		}
		slices.Sort(want)
		if d := cmp.Diff(want, globNames(t, GlobOptions{Root: root, Pattern: pat})); d != "" {
			t.Fatalf("%s: %s", pat, d)
		}
	})
}

func TestGlobNewestFirst(t *testing.T) {
	root := t.TempDir()
	at := time.Now().Add(-time.Hour)
	for i := range 150 {
		name := filepath.Join(root, string(rune('a'+i%26))+string(rune('a'+i/26)))
		write(t, root, map[string]string{filepath.Base(name): ""})
		if err := os.Chtimes(name, at, at.Add(time.Duration(i)*time.Second)); err != nil {
			t.Fatal(err)
		}
	}
	r, err := Glob(t.Context(), GlobOptions{Root: root, Pattern: "*", Keep: 100})
	if err != nil {
		t.Fatal(err)
	}
	sorted := slices.IsSortedFunc(r.Files, func(a, b GlobFile) int { return b.ModTime.Compare(a.ModTime) })
	if len(r.Files) != 100 || r.Total != 150 || !sorted || !r.Files[0].ModTime.Equal(at.Add(149*time.Second).Truncate(time.Nanosecond)) {
		t.Errorf("%d of %d, sorted %v, newest %v", len(r.Files), r.Total, sorted, r.Files[0])
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Glob(ctx, GlobOptions{Root: root, Pattern: "*"}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestFilter(t *testing.T) {
	cases := []struct {
		globs, types []string
		path         string
		want         verdict
	}{
		{nil, nil, "a.go", noRule},
		{[]string{"*.go"}, nil, "a.go", included},
		{[]string{"*.go"}, nil, "a.ts", ignored},
		{[]string{"*.go"}, nil, "dir/", noRule},
		{[]string{"!*.go"}, nil, "a.go", ignored},
		{[]string{"!*.go"}, nil, "a.ts", noRule},
		{[]string{"*.{ts,tsx}"}, nil, "x/a.tsx", included},
		{[]string{"sub/x/*.go"}, nil, "x/a.go", included}, // from the current directory, above the root
		{[]string{"x/*.go"}, nil, "x/a.go", included},     // from the root
		{[]string{"y/*.go"}, nil, "x/a.go", ignored},
		{nil, []string{"go"}, "a.go", noRule},
		{nil, []string{"go"}, "a.ts", ignored},
		{nil, []string{"go", "ts"}, "a.ts", noRule},
		{[]string{"*.ts"}, []string{"go"}, "a.ts", ignored},
	}
	for _, c := range cases {
		f, err := NewFilter(filepath.FromSlash("/w/sub"), filepath.FromSlash("/w"), c.globs, c.types)
		if err != nil {
			t.Fatal(err)
		}
		dir, name, _ := cutLast(strings.TrimSuffix(c.path, "/"))
		if got := f.judge(dir, name, strings.HasSuffix(c.path, "/")); got != c.want {
			t.Errorf("%+v: got %d", c, got)
		}
	}
	for typ, want := range map[string]string{
		"golang": `unknown file type "golang"; did you mean go? Or use glob, such as *.golang`,
		"tsx":    `unknown file type "tsx"; did you mean ts, typescript? Or use glob, such as *.tsx`,
		"qq":     `unknown file type "qq"; use glob instead, such as *.qq`,
	} {
		if _, err := NewFilter("/", "/", nil, []string{typ}); err == nil || err.Error() != want {
			t.Errorf("%s: %v", typ, err)
		}
	}
	if d := cmp.Diff([]string{"*.{a,b}", "!c", "d"}, SplitGlobs(" *.{a,b},!c d ")); d != "" {
		t.Error(d)
	}
}
