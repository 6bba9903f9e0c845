package markdown

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"unicode"

	"pgregory.net/rapid"

	"lathe/internal/front/tui/theme"
	"lathe/internal/front/tui/width"
)

var update = flag.Bool("update", false, "write the golden files anew")

var (
	plain = theme.Named("none", theme.Plain, true)
	dark  = theme.Named("dark", theme.Palette, true)
)

func answer(t testing.TB) string {
	b, err := os.ReadFile("testdata/answer.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func rows(lines []width.Line, cols int) string {
	var b strings.Builder
	for _, l := range lines {
		for _, row := range l.Rows(cols) {
			b.WriteString(row + "\n")
		}
	}
	return b.String()
}

var (
	oneStyle = regexp.MustCompile("\x1b\\[([0-9;]*)m")
	oneLink  = regexp.MustCompile("\x1b]8;;([^\x1b]*)\x1b\\\\")
)

// tags makes sequences readable: \x1b[1m as {1}, the end of styles as {}.
func tags(s string) string {
	return oneLink.ReplaceAllString(oneStyle.ReplaceAllString(s, "{$1}"), "{link $1}")
}

func TestGolden(t *testing.T) {
	src := answer(t)
	for _, c := range []struct {
		name string
		cols int
		o    Options
	}{
		{"40", 40, Options{Theme: &plain}},
		{"80", 80, Options{Theme: &plain}},
		{"200", 200, Options{Theme: &plain}},
		{"80-colour", 80, Options{Theme: &dark, Links: true}},
	} {
		c.o.Width = c.cols
		got := tags(rows(render(src, c.o), c.cols))
		file := "testdata/answer-" + c.name + ".golden"
		if *update {
			if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, _ := os.ReadFile(file)
		if got != string(want) {
			t.Errorf("%s changed; look at it and run with -update:\n%s", file, got)
		}
		for line := range strings.Lines(got) {
			if c.name != "80-colour" && width.Of(strings.TrimSuffix(line, "\n")) > c.cols {
				t.Errorf("wider than %d: %q", c.cols, line)
			}
		}
	}
}

func TestBlocks(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"", ""},
		{"one\ntwo", "one\ntwo\n"},
		{"one\n\n\n\ntwo", "one\n\ntwo\n"},
		{"- a\n- b\n\n- c", "• a\n• b\n\n• c\n"},
		{"- a\n  more\nlazy\n- b", "• a\n  more\n  lazy\n• b\n"},
		{"3. a\n1. b\n9) c", "3. a\n4. b\n9) c\n"},
		{"1. a\n  - b\n2. c", "1. a\n   ◦ b\n2. c\n"},
		{"- a\n\n  para\n\nout", "• a\n\n  para\n\nout\n"},
		{"-\n- b", "•\n• b\n"},
		{"text\n- a", "text\n• a\n"},
		{"text\n2. a", "text\n2. a\n"},
		{"1. a\n```sh\nls\n```\n2. b", "1. a\n```sh\nls\n```\n2. b\n"},
		{"> a\nlazy\n\nb", " │ a\n │ lazy\n\nb\n"},
		{"> > a\n> b", " │  │ a\n │  │ b\n"},
		{"> - a\n> - b", " │ • a\n │ • b\n"},
		{"```\na\n\nb\n``", "```\na\n\nb\n``\n```\n"},
		{"````md\n```\nx\n```\n````", "````md\n```\nx\n```\n````\n"},
		{"a\n# b\nc", "a\n\n# b\n\nc\n"},
		{"#not\n####### no", "#not\n####### no\n"},
		{"a\n===", "# a\n"},
		{"a | b\n--|--\n1 | 2", "a │ b\n──┼──\n1 │ 2\n"},
		{"| a |\n|--|\n| `x\\|y` | z |", "a\n─────\n`x|y`\n"},
		{"intro\n| a | b |\n|---|---|\n\nafter", "intro\na │ b\n──┼──\n\nafter\n"},
		{"a - b\n- - -", "a - b\n────────────────────────\n"},
		{"a\\*b\\* &amp; &copy;", "a*b* & ©\n"},
		{"[x]: http://a.b\n\n[x] and [y]", "[x]: http://a.b\n\nx (http://a.b) and [y]\n"},
		{"<div>\n*hi*", "<div>\n*hi*\n"},
		{"\x1b[31mred\r\nx\u202ey", "␛[31mred\nx<U+202E>y\n"},
		{"&#27;[31m", "␛[31m\n"},
		{"two  \nlines", "two\nlines\n"},
		{"snake_case_name and 2*3*4", "snake_case_name and 2*3*4\n"},
		{"1. a\n   ```\n   \tx\n\ty\n   ```", "1. a\n   ```\n       x\n    y\n   ```\n"},
		{"-\ta\n\n\tb\n\n\t- c", "• a\n\n  b\n\n  ◦ c\n"},
		{"a\n---", "## a\n"},
		{"a\tb", "a   b\n"},
		{"- [x] a\n- [ ] b\n- [c] d", "[x] a\n[ ] b\n• [c] d\n"},
	} {
		o := Options{Theme: &plain, Width: 80}
		if got := rows(render(c.in, o), 80); got != c.want {
			t.Errorf("%q:\n got %q\nwant %q", c.in, got, c.want)
		}
	}
}

func TestFinishedLinesComeOnce(t *testing.T) {
	r := New(Options{Theme: &plain})
	if l := r.Feed("```go\nfunc a() {\n  x :="); len(l) != 2 || l[1].Text != "func a() {" {
		t.Errorf("a finished line of an open fence: %+v", l)
	}
	if l := r.Open(); len(l) != 2 || l[0].Text != "  x :=" {
		t.Errorf("open: %+v", l)
	}
	if l := r.Feed(" 1\n}\n```\nafter"); len(l) != 3 {
		t.Errorf("%+v", l)
	}
	if l := r.Open(); len(l) != 1 || l[0].Text != "after" {
		t.Errorf("open: %+v", l)
	}
	if l := r.Feed("\n- one\n- two"); len(l) != 1 || l[0].Text != "after" {
		t.Errorf("%+v", l)
	}
	if l := r.Feed("\n- three\n\n"); len(l) != 3 || l[0].Text != "• one" || l[2].Text != "• three" {
		t.Errorf("%+v", l)
	}
	if l := r.Close(); len(l) != 0 {
		t.Errorf("%+v", l)
	}
}

// pieces put together make most of what can go wrong.
var pieces = rapid.SampledFrom([]string{
	"\n", "\n", "\n\n", "a", "word ", "- ", "1. ", "> ", "# ", "```", "```go\n", "~~~\n", "`", "*", "**", "_", "|", "|--|--|\n", "| a | b |\n", "    ", "  ",
	"[x](http://a.b)", "[x]", "[x]: http://c.d\n", "<b>", "&amp;", "\\", "---\n", "===\n", "é文", "\x1b[31m", "\t", "\r\n", "&Tab;", "&#27;[2J", "~~", "http://x.y/z", "- [ ] ", "\x00",
})

func TestAnySplitGivesTheSameLines(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		src := strings.Join(rapid.SliceOfN(pieces, 0, 40).Draw(t, "pieces"), "")
		cuts := rapid.SliceOfN(rapid.IntRange(0, len(src)), 0, 8).Draw(t, "cuts")
		checkSplit(t, src, cuts)
	})
}

func checkSplit(t interface{ Fatalf(string, ...any) }, src string, cuts []int) {
	slices.Sort(cuts)
	o := Options{Theme: &dark, Width: 40, Links: true}
	want := render(src, o)
	r := New(o)
	var got []width.Line
	at := 0
	for _, c := range append(cuts, len(src)) {
		got = append(got, r.Feed(src[at:c])...)
		at = c
		live := append(slices.Clone(got), r.Open()...)
		if whole := render(src[:c], o); !slices.Equal(live, whole) {
			t.Fatalf("%q: finished and open lines are\n%+v\nwhole:\n%+v", src[:c], live, whole)
		}
	}
	got = append(got, r.Close()...)
	if !slices.Equal(got, want) {
		t.Fatalf("%q in pieces:\n%+v\nwhole:\n%+v", src, got, want)
	}
	for _, l := range got {
		for _, c := range width.Strip(l.Text) {
			if unicode.Is(unicode.Cc, c) {
				t.Fatalf("%q gives a line with %U: %q", src, c, l.Text)
			}
		}
		l.Rows(40)
	}
}

func FuzzRender(f *testing.F) {
	f.Add("# a\n- b\n```go\nx\n```\n| a |\n|--|\n| b |\n", 5)
	f.Add("&#x1b;[31m [a](<\x1b>) `\x9b`", 3)
	f.Fuzz(func(t *testing.T, src string, cut int) {
		if len(src) > 4096 {
			return
		}
		cut = max(cut, -cut, 0)
		checkSplit(t, src, []int{cut % (len(src) + 1)})
	})
}

// long is an answer of about n lines.
func long(t testing.TB, n int) string {
	src := answer(t)
	var b strings.Builder
	for k := 0; k < n; k += strings.Count(src, "\n") {
		b.WriteString(src)
		fmt.Fprintf(&b, "\nPart %d\n\n", k)
	}
	return b.String()
}

// stream renders in pieces of 16 bytes, with the open lines drawn after every fourth.
func stream(src string) {
	r := New(Options{Theme: &dark, Width: 80, Links: true})
	for i, k := 0, 0; i < len(src); i, k = i+16, k+1 {
		r.Feed(src[i:min(i+16, len(src))])
		if k%4 == 0 {
			r.Open()
		}
	}
	r.Close()
}

// Eight times the text takes eight times the work, not sixty-four. Work is measured by what it allocates, which a busy
// machine does not change.
func TestLinearWork(t *testing.T) {
	work := func(src string) (bytes, objects uint64) {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		stream(src)
		runtime.ReadMemStats(&after)
		return after.TotalAlloc - before.TotalAlloc, after.Mallocs - before.Mallocs
	}
	smallBytes, smallObjects := work(long(t, 500))
	bytes, objects := work(long(t, 4000))
	t.Logf("500 lines: %d bytes, %d objects; 4,000 lines: %d and %d", smallBytes, smallObjects, bytes, objects)
	if bytes > 10*smallBytes || objects > 10*smallObjects {
		t.Error("the work grows faster than the text")
	}
}

// What is written for styles is a small part of an answer. The documentation of this project is much like answers:
// prose, lists, tables, code.
func TestBytesOfStyles(t *testing.T) {
	files, _ := filepath.Glob("../../../../docs/*.md")
	in, out, text := 0, 0, 0
	for _, f := range files {
		src, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		in += len(src)
		for _, l := range render(string(src), Options{Theme: &dark, Width: 120, Links: true}) {
			out += len(l.Text) + 1
			text += len(width.Strip(l.Text)) + 1
		}
	}
	t.Logf("%d bytes in %d files become %d, %d without styles", in, len(files), out, text)
	if in == 0 || float64(out) > 1.3*float64(text) {
		t.Errorf("%d bytes become %d", in, out)
	}
}

func BenchmarkStream2000Lines(b *testing.B) {
	src := long(b, 2000)
	b.SetBytes(int64(len(src)))
	for b.Loop() {
		stream(src)
	}
}

// The live lines of a long table or paragraph cost no more than a screen's worth: a frame has its time.
func TestOpenOfLongBlocks(t *testing.T) {
	for name, src := range map[string]string{
		"table":     "| a | b |\n|---|---|\n" + strings.Repeat("| some cell | another `cell` with words |\n", 3000),
		"paragraph": strings.Repeat("words *and* more words, ", 8000),
		"lines":     strings.Repeat("a line of *text*\n", 8000),
	} {
		r := New(Options{Theme: &dark, Width: 80})
		r.Feed(src)
		allocated := func(f func()) uint64 {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			f()
			runtime.ReadMemStats(&after)
			return after.TotalAlloc - before.TotalAlloc
		}
		first := allocated(func() { r.Open() })
		r.Feed(src) // twice as long
		if second := allocated(func() { r.Open() }); second > 12<<20 || first > 12<<20 {
			t.Errorf("%s: %d, then %d bytes", name, first, second)
		}
		if n := len(r.Close()); name != "paragraph" && n < 5000 {
			t.Errorf("%s: only %d lines at the end", name, n)
		}
	}
}

// render renders a whole text.
func render(text string, o Options) []width.Line {
	r := New(o)
	return append(r.Feed(text), r.Close()...)
}
