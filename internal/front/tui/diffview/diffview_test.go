package diffview

import (
	"flag"
	"os"
	"strings"
	"testing"
	"unicode"

	"pgregory.net/rapid"

	"lathe/internal/front/tui/theme"
	"lathe/internal/front/tui/width"
)

var update = flag.Bool("update", false, "write the golden files anew")

const before = `package main

import "fmt"

// main greets.
func main() {
	name := "world"
	fmt.Println("hello", name)
}

func add(a, b int) int {
	return a + b
}

func one() int { return 1 }

func two() int { return 2 }

func three() int { return 3 }

func last() {}
`

func after() string {
	return strings.NewReplacer(
		`name := "world"`, `name := os.Args[1] // a name that somebody gave, and a comment that goes on for quite a while`,
		`"hello", name`, `"Hello", name`,
		"func three() int { return 3 }\n", "func three() int {\n\treturn 1 + 2 // 三\n}\n",
		"func last() {}\n", "func last() {}",
	).Replace(before)
}

func page(p Page, cols int) string {
	var b strings.Builder
	for _, l := range p.Lines {
		for _, row := range l.Rows(cols) {
			b.WriteString(row + "\n")
		}
	}
	return b.String()
}

func TestGolden(t *testing.T) {
	plain := theme.Named("none", theme.Plain, true)
	mono := theme.Named("none", theme.Mono, true)
	dark := theme.Named("dark", theme.ANSI, true)
	d := Of(before, after())
	for _, c := range []struct {
		name string
		v    View
	}{
		{"40", View{Theme: &plain, Width: 40, Selected: -1}},
		{"80", View{Theme: &plain, Width: 80, Accept: []bool{true, false, true}, Selected: 1}},
		{"200", View{Theme: &plain, Width: 200, Selected: -1}},
		{"80-mono", View{Theme: &mono, Width: 80, Path: "x.go", Selected: -1}},
		{"80-colour", View{Theme: &dark, Width: 80, Path: "x.go", Selected: -1}},
	} {
		got := strings.ReplaceAll(page(d.Render(c.v), c.v.Width), "\x1b[", "{")
		file := "testdata/" + c.name + ".golden"
		if *update {
			if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, _ := os.ReadFile(file)
		if got != string(want) {
			t.Errorf("%s changed; look at it and run with -update:\n%s", file, got)
		}
	}
}

func TestApply(t *testing.T) {
	d := Of(before, after())
	if len(d.Hunks) != 2 {
		t.Fatalf("%d hunks", len(d.Hunks))
	}
	got := d.Apply([]bool{true, false})
	if !strings.Contains(got, "os.Args") || !strings.Contains(got, "{ return 3 }") || !strings.HasSuffix(got, "}\n") {
		t.Errorf("only the first hunk: %s", got)
	}
	crlf := Of("a\r\nb\r\nc\r\n", "a\r\nB\r\nc\r\n")
	if got := crlf.Apply(crlf.All(true)); got != "a\r\nB\r\nc\r\n" {
		t.Errorf("%q", got)
	}
	if d := Of("x", "x"); len(d.Hunks) != 0 || d.Apply(nil) != "x" {
		t.Error("equal texts differ")
	}
}

func text(t *rapid.T, name string) string {
	return strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{"a\n", "b\n", "c c c\n", "\n", "x\r\n", "long line of words\n", "é文\x1b[m\n", "end", "\t\n"}), 0, 40).Draw(t, name), "")
}

// Accepting everything gives the new text, nothing the old one; accepting some and then the rest gives the new one too.
func TestApplyProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := text(t, "old"), text(t, "new")
		d := Of(a, b)
		if got := d.Apply(d.All(true)); got != b {
			t.Fatalf("all of %q to %q gives %q", a, b, got)
		}
		if got := d.Apply(nil); got != a {
			t.Fatalf("none gives %q", got)
		}
		accept := make([]bool, len(d.Hunks))
		for i := range accept {
			accept[i] = rapid.Bool().Draw(t, "accept")
		}
		some := d.Apply(accept)
		rest := Of(some, b)
		if got := rest.Apply(rest.All(true)); got != b {
			t.Fatalf("the rest gives %q", got)
		}
		added, removed := count(d)
		if d := len(lines(b)) - len(lines(a)); added-removed != d {
			t.Fatalf("%d added, %d removed, %d more lines", added, removed, d)
		}
		th := theme.Named("dark", theme.True, true)
		for _, cols := range []int{20, 40, 130} {
			p := d.Render(View{Theme: &th, Width: cols, Accept: accept, Selected: 0, Path: "a.py"})
			if len(p.HunkAt) != len(d.Hunks) {
				t.Fatalf("%d places for %d hunks", len(p.HunkAt), len(d.Hunks))
			}
			for _, l := range p.Lines {
				for _, row := range l.Rows(cols) {
					if width.Of(row) > cols {
						t.Fatalf("%q is wider than %d", row, cols)
					}
				}
				if strings.IndexFunc(width.Strip(l.Text), unicode.IsControl) >= 0 {
					t.Fatalf("%q acts on the terminal", l.Text)
				}
			}
		}
	})
}

func TestFromPatch(t *testing.T) {
	d := FromPatch([]PatchHunk{{OldStart: 3, OldLines: 2, NewStart: 3, NewLines: 2, Lines: []string{" a", "-b", "+c", `\ No newline at end of file`, ""}}})
	plain := theme.Named("none", theme.Plain, true)
	if got := page(d.Render(View{Theme: &plain, Width: 40, Selected: -1}), 40); got != "⋯ 2 unchanged lines\n3   a\n4 - b\n4 + c (no line end)\n5\n" {
		t.Errorf("%q", got)
	}
}

func TestChanged(t *testing.T) {
	for _, c := range []struct{ a, b, want string }{
		{`fmt.Println("hello", name)`, `fmt.Println("Hello", name)`, "hello"},
		{"a b c d", "a x y d", "b c"},
		{"same", "same", ""},
	} {
		var got []string
		for _, r := range changed(c.a, c.b) {
			got = append(got, c.a[r[0]:r[1]])
		}
		if strings.Join(got, "|") != c.want {
			t.Errorf("%q to %q: %q", c.a, c.b, got)
		}
	}
}

func BenchmarkRenderOf2000Lines(b *testing.B) {
	old := strings.Repeat(before, 100)
	changed := strings.ReplaceAll(old, "hello", "Hello")
	th := theme.Named("dark", theme.True, true)
	for b.Loop() {
		Of(old, changed).Render(View{Theme: &th, Width: 80, Path: "x.go"})
	}
}

// count returns how many lines are added and removed.
func count(d *Diff) (added, removed int) {
	for _, h := range d.Hunks {
		for _, r := range h.Rows {
			switch r.Kind {
			case '+':
				added++
			case '-':
				removed++
			}
		}
	}
	return added, removed
}
