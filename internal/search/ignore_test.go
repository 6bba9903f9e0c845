package search

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestRules(t *testing.T) {
	cases := []struct {
		rules string
		path  string // a trailing slash means a folder
		want  verdict
	}{
		{"*.log", "a.log", ignored},
		{"*.log", "d/a.log", ignored},
		{"*.log\n!a.log", "a.log", included},
		{"!a.log\n*.log", "a.log", ignored},
		{"build/", "build", noRule},
		{"build/", "build/", ignored},
		{"/build", "d/build", noRule},
		{"/build", "build", ignored},
		{"a/b", "a/b", ignored},
		{"a/b", "x/a/b", noRule},
		{"**/a/b", "x/a/b", ignored},
		{"**/a/b", "a/b", ignored},
		{"a/**", "a/", noRule},
		{"a/**", "a/b", ignored},
		{"a/**/b", "a/b", ignored},
		{"a/**/b", "a/x/y/b", ignored},
		{"a/**/b", "a/x/y/c", noRule},
		{"# a", "# a", noRule},
		{`\# a`, "# a", ignored},
		{`\!a`, "!a", ignored},
		{"a  ", "a", ignored},
		{`a\ `, "a ", ignored},
		{"a\r\n", "a", ignored},
		{"\ufeffa", "a", ignored},
		{"[a-c]x", "bx", ignored},
		{"[!a-c]x", "bx", noRule},
		{"[]x]", "]", ignored},
		{"[[:digit:]]", "7", ignored},
		{"[a", "[a", noRule},
		{`\*`, "*", ignored},
		{`\*`, "x", noRule},
		{"*", ".hidden", ignored},
		{"a*/b", "ax/b", ignored},
		{"a*/b", "a/x/b", noRule},
		{"*.tar.gz", "x.tar.gz", ignored},
		{"/", "a", noRule},
		{"a//", "a/", noRule},
	}
	for _, c := range cases {
		dir, name, _ := cutLast(strings.TrimSuffix(c.path, "/"))
		got := noRule
		if r := parseRules(c.rules); r != nil {
			got = r.match(dir, name, strings.HasSuffix(c.path, "/"))
		}
		if got != c.want {
			t.Errorf("rules %q, path %q: got %d, want %d", c.rules, c.path, got, c.want)
		}
	}
}

func cutLast(p string) (dir, name string, ok bool) {
	if i := strings.LastIndexByte(p, '/'); i >= 0 {
		return p[:i], p[i+1:], true
	}
	return "", p, false
}

// listAll returns the files that a search of root looks at, relative, sorted.
func listAll(t *testing.T, root string) []string {
	t.Helper()
	m, err := Compile(Query{Pattern: "^"})
	if err != nil {
		t.Fatal(err)
	}
	r, err := Grep(t.Context(), m, GrepOptions{Root: root, Mode: ModeFiles})
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, f := range r.Files {
		rel, err := filepath.Rel(root, f.Path)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, filepath.ToSlash(rel))
	}
	slices.Sort(out)
	return out
}

func write(t *testing.T, root string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		p := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// closedGit gives git a home of its own, and returns the home.
func closedGit(t *testing.T) string {
	t.Helper()
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("XDG_CONFIG_HOME", "")
	t.Setenv("GIT_CONFIG_GLOBAL", "")
	os.Unsetenv("GIT_CONFIG_GLOBAL")
	t.Setenv("GIT_CONFIG_NOSYSTEM", "1")
	return home
}

func TestIgnoreSources(t *testing.T) {
	home := closedGit(t)
	root := t.TempDir()
	write(t, home, map[string]string{".gitconfig": "[user]\n\tname = x\n[core]\n\texcludesFile = ~/own\n", "own": "*.mine\n"})
	write(t, root, map[string]string{
		".git/HEAD": "x", ".git/info/exclude": "*.local\n", ".gitignore": "*.log\nout/\n", ".ignore": "!keep.log\nnotes\n",
		"a.log": "x", "keep.log": "x", "a.mine": "x", "a.local": "x", "notes": "x", "out/a": "x", ".hidden": "x",
		"sub/.gitignore": "!a.log\nb\n", "sub/a.log": "x", "sub/b": "x", "sub/c": "x",
		"nested/.git/HEAD": "x", "nested/a.log": "x", "nested/notes": "x", "nested/a.mine": "x",
		"linked/.git": "gitdir: ../.git\n", "linked/x.local": "x", "linked/a.log": "x",
	})
	want := []string{".gitignore", ".hidden", ".ignore", "keep.log", "linked/a.log", "nested/a.log", "sub/.gitignore", "sub/a.log", "sub/c"}
	if d := cmp.Diff(want, listAll(t, root)); d != "" {
		t.Error("from the repository root:", d)
	}
	if d := cmp.Diff([]string{".gitignore", "a.log", "c"}, listAll(t, filepath.Join(root, "sub"))); d != "" {
		t.Error("from a folder below:", d)
	}
	// A folder that is ignored can still be searched when it is named.
	if d := cmp.Diff([]string{"a"}, listAll(t, filepath.Join(root, "out"))); d != "" {
		t.Error("from an ignored folder:", d)
	}
}

// TestIgnoreLikeGit compares with git itself on generated trees and rules.
func TestIgnoreLikeGit(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("SKIPPED: git is not installed, so ignore rules were not compared with it")
	}
	closedGit(t)
	rounds := 24
	if testing.Short() {
		rounds = 10
	}
	for seed := range rounds {
		rnd := rand.New(rand.NewPCG(uint64(seed), 7))
		root := t.TempDir()
		files := map[string]string{}
		for range 40 {
			files[randomPath(rnd, 4)] = "x\n"
		}
		for p := range files { // no file may be a folder as well
			for q := range files {
				if strings.HasPrefix(q, p+"/") {
					delete(files, p)
				}
			}
		}
		var where []string
		for p := range files {
			for d := filepath.ToSlash(filepath.Dir(p)); d != "."; d = filepath.ToSlash(filepath.Dir(d)) {
				where = append(where, d)
			}
		}
		slices.Sort(where)
		files[".gitignore"] = randomRules(rnd)
		for range 3 {
			if len(where) > 0 {
				files[where[rnd.IntN(len(where))]+"/.gitignore"] = randomRules(rnd)
			}
		}
		write(t, root, files)
		run(t, root, nil, "git", "init", "-q")
		write(t, root, map[string]string{".git/info/exclude": randomRules(rnd)})
		var names []string
		for p := range files {
			names = append(names, p)
		}
		slices.Sort(names)
		out := run(t, root, []byte(strings.Join(names, "\x00")+"\x00"), "git", "check-ignore", "--no-index", "-z", "--stdin")
		gone := strings.Split(string(out), "\x00")
		var want []string
		for _, n := range names {
			if !slices.Contains(gone, n) {
				want = append(want, n)
			}
		}
		if d := cmp.Diff(want, listAll(t, root)); d != "" {
			for n, text := range files {
				if filepath.Base(n) == ".gitignore" {
					t.Logf("%s:\n%s", n, text)
				}
			}
			exclude, _ := os.ReadFile(filepath.Join(root, ".git/info/exclude"))
			t.Fatalf("seed %d: git and we differ (- git, + ours): %s\nexclude:\n%s", seed, d, exclude)
		}
	}
}

func run(t *testing.T, dir string, in []byte, name string, args ...string) []byte {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Stdin = dir, bytes.NewReader(in)
	out, err := cmd.Output()
	if err != nil && cmd.ProcessState.ExitCode() > 1 {
		t.Fatalf("%s %v: %v", name, args, err)
	}
	return out
}

func randomPath(rnd *rand.Rand, depth int) string {
	names := []string{"a", "b", "ab", "abc", "x.log", "y.txt", ".h", "build", "a b", "é", "[q]", "c.tar.gz", "#x", "!y"}
	parts := make([]string, 1+rnd.IntN(depth))
	for i := range parts {
		parts[i] = names[rnd.IntN(len(names))]
	}
	return strings.Join(parts, "/")
}

func randomRules(rnd *rand.Rand) string {
	words := []string{
		"a", "b", "ab", "abc", "x.log", "*.log", "*.txt", "build", "*", "a*", "?b", "[ab]", "[!a]*", "[^b]", ".h", ".*", "a b", "é",
		"*.gz", "*c", `\[q]`, `\#x`, `\!y`, "#x", "a ", `a\ b`, "[[:alpha:]]b", "*.tar.*", "a?c", `\a`, "[a-", "x.lo[g-]",
	}
	var b strings.Builder
	for range 1 + rnd.IntN(5) {
		if rnd.IntN(4) == 0 {
			b.WriteByte('!')
		}
		switch rnd.IntN(8) {
		case 0, 1:
			b.WriteByte('/')
		case 2:
			b.WriteString("**/")
		}
		b.WriteString(words[rnd.IntN(len(words))])
		for rnd.IntN(3) == 0 {
			fmt.Fprintf(&b, "/%s", append(words, "**")[rnd.IntN(len(words)+1)])
		}
		switch rnd.IntN(8) {
		case 0, 1:
			b.WriteByte('/')
		case 2:
			b.WriteString("/**")
		case 3:
			b.WriteByte(' ')
		}
		b.WriteString([]string{"\n", "\n", "\r\n"}[rnd.IntN(3)])
	}
	return b.String()
}

func FuzzRules(f *testing.F) {
	f.Add("*.log\n!a\n/b/**/c/\n[a", "a/b.log")
	f.Add(`\`, `\`)
	f.Fuzz(func(t *testing.T, text, path string) {
		r := parseRules(text)
		if r == nil {
			return
		}
		dir, name, _ := cutLast(path)
		for _, isDir := range []bool{false, true} {
			// The looked-up rules must agree with trying them one by one.
			want := noRule
			for i := range r.list {
				x := &r.list[i]
				hit := x.pattern.matchSegment(0, name) && len(x.pattern.segs) == 1
				if x.anchor {
					hit = x.pattern.match(joinPath(dir, name))
				}
				if !hit || x.dirOnly && !isDir {
					continue
				}
				want = ignored
				if x.negate {
					want = included
				}
			}
			if name != "" && !strings.Contains(dir, "//") && !strings.HasPrefix(path, "/") {
				if got := r.match(dir, name, isDir); got != want {
					t.Errorf("rules %q, path %q: got %d, want %d", text, path, got, want)
				}
			}
		}
	})
}
