package search

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// show writes a report as grep would: name, separator, number, separator, line.
func show(r Report, root string) string {
	var b strings.Builder
	for i, f := range r.Files {
		rel, _ := filepath.Rel(root, f.Path)
		for k, l := range f.Lines {
			sep := ":"
			if !l.Match {
				sep = "-"
			}
			if l.Gap || k == 0 && i > 0 {
				b.WriteString("--\n")
			}
			fmt.Fprintf(&b, "%s%s%d%s%s\n", filepath.ToSlash(rel), sep, l.Num, sep, l.Text)
		}
	}
	return b.String()
}

func mustGrep(t *testing.T, q Query, opt GrepOptions) Report {
	t.Helper()
	m, err := Compile(q)
	if err != nil {
		t.Fatal(err)
	}
	if opt.KeepLines == 0 {
		opt.KeepLines = 1 << 20
	}
	r, err := Grep(t.Context(), m, opt)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// naiveContext is the content of one file by line-by-line search.
func naiveContext(name, text string, re *regexp.Regexp, before, after int) string {
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	if text == "" {
		return ""
	}
	mark := make([]byte, len(lines))
	for i, l := range lines {
		if !re.MatchString(l) {
			continue
		}
		for k := max(0, i-before); k <= min(len(lines)-1, i+after); k++ {
			mark[k] = max(mark[k], 1)
		}
		mark[i] = 2
	}
	var b strings.Builder
	last := -1
	for i, l := range lines {
		if mark[i] == 0 {
			continue
		}
		if last >= 0 && i > last+1 {
			b.WriteString("--\n")
		}
		last = i
		sep := "-"
		if mark[i] == 2 {
			sep = ":"
		}
		fmt.Fprintf(&b, "%s%s%d%s%s\n", name, sep, i+1, sep, l)
	}
	return b.String()
}

// TestWindowsAreSeamless searches with windows of a few bytes, so that every line end falls on a window's edge.
func TestWindowsAreSeamless(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	rapid.Check(t, func(t *rapid.T) {
		line := rapid.SampledFrom([]string{"", "a", "foo", "x foo y", "bar bar", strings.Repeat("z", 70), strings.Repeat("z", 40) + "foo"})
		text := strings.Join(rapid.SliceOfN(line, 0, 40).Draw(t, "lines"), "\n") + rapid.SampledFrom([]string{"", "\n"}).Draw(t, "end")
		before, after := rapid.IntRange(0, 4).Draw(t, "before"), rapid.IntRange(0, 4).Draw(t, "after")
		win := rapid.IntRange(2, 50).Draw(t, "window")
		pattern := rapid.SampledFrom([]string{"foo", "^$", "a", "o+ |^z"}).Draw(t, "pattern")
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		m, err := Compile(Query{Pattern: pattern})
		if err != nil {
			t.Fatal(err)
		}
		opt := &GrepOptions{Mode: ModeContent, Before: before, After: after, KeepLines: 1000}
		s := newScanner(m, opt, func() bool { return false })
		s.buf, s.win = make([]byte, win), win
		f, err := openFile(path)
		if err != nil {
			t.Fatal(err)
		}
		defer f.close()
		hit, err := s.scan(f, false)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if hit != nil {
			hit.Path = path
			got = show(Report{Files: []FileHit{*hit}}, dir)
		}
		if d := cmp.Diff(naiveContext("f", text, regexp.MustCompile(pattern), before, after), got); d != "" {
			t.Fatalf("window %d: %s", win, d)
		}
	})
}

// sample writes a tree of text files and returns it.
func sample(t *testing.T, seed uint64) (root string, files map[string]string) {
	t.Helper()
	rnd := rand.New(rand.NewPCG(seed, 3))
	words := []string{"foo", "Foo", "FOO", "bar", "task", "TASK", "x", "12", "2024-01-02", "é", "func (a)", "return", "\t", "ſ", "end."}
	root, files = t.TempDir(), map[string]string{}
	for range 30 {
		var b strings.Builder
		for range rnd.IntN(60) {
			for range rnd.IntN(6) {
				b.WriteString(words[rnd.IntN(len(words))])
				b.WriteByte(' ')
			}
			b.WriteByte('\n')
		}
		if rnd.IntN(2) == 0 {
			b.WriteString("last foo line")
		}
		files[fmt.Sprintf("d%d/e%d/f%d.%s", rnd.IntN(3), rnd.IntN(3), rnd.IntN(100), []string{"go", "md", "log"}[rnd.IntN(3)])] = b.String()
	}
	files[".hidden/h.go"] = "foo\n"
	files["d1/nul.go"] = "foo\x00\n"
	files["d1/empty.go"] = ""
	files[".gitignore"] = "*.log\n/d2/e1/\n"
	write(t, root, files)
	if err := os.Mkdir(filepath.Join(root, ".git"), 0o755); err != nil {
		t.Fatal(err)
	}
	return root, files
}

var samplePatterns = []struct {
	pattern string
	fold    bool
}{
	{"foo", false},
	{"foo", true},
	{"task", true},
	{`\d{4}-\d+`, false},
	{`^$`, false},
	{`^\s*func`, false},
	{`[A-Z]{3} `, false},
	{"foo|bar", false},
	{`o+ .*end\.`, false},
	{"é$|é ", false},
	{"", false},
}

func TestContextIsNaive(t *testing.T) {
	closedGit(t)
	for seed := range uint64(4) {
		root, files := sample(t, seed)
		for _, q := range samplePatterns[:10] {
			flags := "(?m)"
			if q.fold {
				flags = "(?im)"
			}
			re := regexp.MustCompile(flags + q.pattern)
			r := mustGrep(t, Query{Pattern: q.pattern, IgnoreCase: q.fold}, GrepOptions{Root: root, Mode: ModeContent, Before: 1, After: 2})
			var parts []string
			names := []string{}
			for n := range files {
				names = append(names, n)
			}
			slices.Sort(names)
			for _, n := range names {
				if strings.HasSuffix(n, ".log") || strings.HasPrefix(n, "d2/e1/") || strings.Contains(files[n], "\x00") {
					continue
				}
				if s := naiveContext(n, files[n], re, 1, 2); s != "" {
					parts = append(parts, s)
				}
			}
			if d := cmp.Diff(strings.Join(parts, "--\n"), show(r, root)); d != "" {
				t.Fatalf("seed %d, %q: %s", seed, q.pattern, d)
			}
		}
	}
}

func TestLikeRipgrep(t *testing.T) {
	if _, err := exec.LookPath("rg"); err != nil {
		t.Skip("SKIPPED: ripgrep is not installed, so results were not compared with it")
	}
	closedGit(t)
	for seed := range uint64(4) {
		root, _ := sample(t, seed+100)
		for _, q := range samplePatterns[:10] {
			for _, globs := range [][]string{nil, {"*.go"}, {"!*.md"}, {"d1/**/*.{go,md}"}, {"*.log"}} {
				args := []string{"--no-config", "--hidden", "--glob", "!.git", "--sort", "path", "-n", "--no-heading", "-C1"}
				if q.fold {
					args = append(args, "-i")
				}
				for _, g := range globs {
					args = append(args, "--glob", g)
				}
				want := string(run(t, root, nil, "rg", append(args, "-e", q.pattern, "./")...))
				want = strings.ReplaceAll("\n"+want, "\n./", "\n")[1:]
				filter, err := NewFilter(root, root, globs, nil)
				if err != nil {
					t.Fatal(err)
				}
				r := mustGrep(t, Query{Pattern: q.pattern, IgnoreCase: q.fold}, GrepOptions{Root: root, Mode: ModeContent, Before: 1, After: 1, Filter: filter})
				if d := cmp.Diff(sortBlocks(want), sortBlocks(show(r, root))); d != "" {
					t.Fatalf("seed %d, %q, globs %q: - rg, + ours: %s", seed, q.pattern, globs, d)
				}
			}
		}
	}
}

// sortBlocks brings the groups of context into one order, since both sort paths differently.
func sortBlocks(s string) []string {
	b := strings.Split(strings.TrimSuffix(s, "\n"), "\n--\n")
	slices.Sort(b)
	return b
}

func TestModesAndKinds(t *testing.T) {
	closedGit(t)
	root := t.TempDir()
	long := strings.Repeat("x", 3000) + "needle" + strings.Repeat("y", 3000)
	write(t, root, map[string]string{
		"old.txt": "needle\n", "new.txt": "one needle needle\ntwo\nneedle", "long.txt": long, "latin.txt": "caf\xe9 needle\n",
		"bin": "\x00needle", "utf16.txt": string(utf16Bytes("a\nneedle é\n")), ".svn/entries": "needle", "crlf.txt": "needle\r\nb\r\n",
	})
	at := time.Now().Add(-time.Hour)
	for i, n := range []string{"old.txt", "latin.txt", "long.txt", "utf16.txt", "crlf.txt", "new.txt"} {
		if err := os.Chtimes(filepath.Join(root, n), at, at.Add(time.Duration(i)*time.Minute)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("old.txt", filepath.Join(root, "link.txt")); err != nil && runtime.GOOS != "windows" {
		t.Fatal(err)
	}
	makeFIFO(t, filepath.Join(root, "pipe"))
	var names []string
	for _, f := range mustGrep(t, Query{Pattern: "needle"}, GrepOptions{Root: root, Mode: ModeFiles}).Files {
		names = append(names, filepath.Base(f.Path))
	}
	if d := cmp.Diff([]string{"new.txt", "crlf.txt", "utf16.txt", "long.txt", "latin.txt", "old.txt"}, names); d != "" {
		t.Error("files, newest first:", d)
	}
	want := "crlf.txt:1:needle\n--\nlatin.txt:1:caf\ufffd needle\n--\nlong.txt:1:[…]" + strings.Repeat("x", 125) + "needle" +
		strings.Repeat("y", 369) + "[…]\n--\nnew.txt:1:one needle needle\n--\nnew.txt:3:needle\n--\nold.txt:1:needle\n--\nutf16.txt:2:needle é\n"
	if d := cmp.Diff(want, show(mustGrep(t, Query{Pattern: "needle"}, GrepOptions{Root: root, Mode: ModeContent}), root)); d != "" {
		t.Error("content:", d)
	}
	only := mustGrep(t, Query{Pattern: "ne+"}, GrepOptions{Root: filepath.Join(root, "new.txt"), Mode: ModeContent, OnlyMatching: true})
	if d := cmp.Diff("new.txt:1:ne\nnew.txt:1:nee\nnew.txt:1:nee\n--\nnew.txt:3:nee\n", show(only, root)); d != "" {
		t.Error("only matching:", d)
	}
	count := mustGrep(t, Query{Pattern: "needle"}, GrepOptions{Root: filepath.Join(root, "new.txt"), Mode: ModeCount})
	if count.Files[0].Matches != 2 {
		t.Error("count:", count.Files[0].Matches)
	}
	if r := mustGrep(t, Query{Pattern: "needle"}, GrepOptions{Root: filepath.Join(root, "bin"), Mode: ModeContent}); len(r.Files) != 1 || !r.Files[0].Binary {
		t.Errorf("a binary file named by itself: %+v", r)
	}
	multi := mustGrep(t, Query{Pattern: `needle\ntwo.n`, Multiline: true}, GrepOptions{Root: root, Mode: ModeContent})
	if d := cmp.Diff("new.txt:1:one needle needle\nnew.txt:2:two\nnew.txt:3:needle\n", show(multi, root)); d != "" {
		t.Error("multiline:", d)
	}
	hidden := mustGrep(t, Query{Pattern: "needle"}, GrepOptions{Root: root, Hide: func(abs string) bool { return filepath.Base(abs) != "old.txt" }})
	if len(hidden.Files) != 1 {
		t.Errorf("hidden files came through: %+v", hidden.Files)
	}
	if runtime.GOOS == "linux" {
		m, _ := Compile(Query{Pattern: "needle"})
		if _, err := Grep(t.Context(), m, GrepOptions{Root: filepath.Join(root, "pipe")}); err == nil {
			t.Error("a pipe was searched")
		}
	}
}

func utf16Bytes(s string) []byte {
	out := []byte{0xff, 0xfe}
	for _, u := range utf16.Encode([]rune(s)) {
		out = append(out, byte(u), byte(u>>8))
	}
	return out
}

// TestLettersAtWindowEdges: a letter of several bytes at the edge of what is probed must not make a file binary.
func TestLettersAtWindowEdges(t *testing.T) {
	root := t.TempDir()
	for _, edge := range []int{510, 1022, 4094, 7998, 8190, windowSize - 2} {
		for d := range 5 {
			name := strconv.Itoa(edge + d)
			write(t, root, map[string]string{name: strings.Repeat("a", edge+d) + "é\nneedle\n"})
			r := mustGrep(t, Query{Pattern: "needle"}, GrepOptions{Root: filepath.Join(root, name), Mode: ModeCount})
			if len(r.Files) != 1 || r.Files[0].Binary {
				t.Errorf("edge at %s: %+v", name, r.Files)
			}
		}
	}
}

func TestLargeFiles(t *testing.T) {
	root := t.TempDir()
	path := filepath.Join(root, "big")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	line := strings.Repeat("lorem ipsum ", 100) + "\n"
	for range 20000 { // 24 MB
		if _, err := f.WriteString(line); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := f.WriteString(strings.Repeat("z", 2*maxLine) + "needle\nneedle"); err != nil {
		t.Fatal(err)
	}
	r := mustGrep(t, Query{Pattern: "needle$"}, GrepOptions{Root: root, Mode: ModeContent})
	if len(r.Files) != 1 || len(r.Files[0].Lines) != 2 || r.Files[0].Lines[1].Text != "needle" {
		t.Fatalf("got %+v", r)
	}
	r = mustGrep(t, Query{Pattern: "needle", Multiline: true}, GrepOptions{Root: root})
	if d := cmp.Diff([]string{path}, r.TooLarge); d != "" {
		t.Error(d)
	}
	// The text kept stays within bounds, whatever matches.
	r = mustGrep(t, Query{Pattern: "lorem"}, GrepOptions{Root: root, Mode: ModeContent, KeepLines: 250})
	if got := r.Files[0]; len(got.Lines) != 250 || got.Matches != 20000 || got.NumLines != 20000 {
		t.Errorf("got %d lines, %d matches, %d in all", len(got.Lines), got.Matches, got.NumLines)
	}
}

// A search that is stopped takes up no other folder, and of a file no other window.
func TestCancelStopsAtOnce(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	var handled atomic.Int64
	err := walk(ctx, task{}, func(c *crew) (func(task), func()) {
		return func(task) {
			handled.Add(1)
			cancel()
			for !c.stopped.Load() {
				runtime.Gosched()
			}
			c.push(make([]task, 100)...)
		}, func() {}
	})
	if !errors.Is(err, context.Canceled) || handled.Load() != 1 {
		t.Errorf("%v; %d folders were taken up", err, handled.Load())
	}

	root := t.TempDir()
	write(t, root, map[string]string{"f": strings.Repeat("a line\n", 1<<20)})
	m, err := Compile(Query{Pattern: "line"})
	if err != nil {
		t.Fatal(err)
	}
	s := newScanner(m, &GrepOptions{Mode: ModeCount}, func() bool { return true })
	defer s.p.close()
	f, err := openFile(filepath.Join(root, "f"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.close()
	hit, err := s.scan(f, true)
	if err != nil || hit == nil || hit.Matches > windowSize/len("a line\n") {
		t.Errorf("%v; %+v", err, hit)
	}

	if _, err := Grep(ctx, m, GrepOptions{Root: root}); !errors.Is(err, context.Canceled) {
		t.Errorf("a search whose context has ended: %v", err)
	}
}
