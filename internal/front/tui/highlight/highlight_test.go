package highlight

import (
	"flag"
	"os"
	"strings"
	"testing"

	"lathe/internal/front/tui/theme"
)

var update = flag.Bool("update", false, "write the golden files anew")

// letters draw the kinds under a line.
const letters = " ksc0ftbK+-"

func draw(sc *Scanner, line string) string {
	line = strings.ReplaceAll(line, "\t", "    ")
	marks := []byte(strings.Repeat(" ", len(line)))
	for _, s := range sc.Line(line) {
		for i := s.Start; i < s.End; i++ {
			marks[i] = letters[s.Kind]
		}
	}
	return "  " + line + "\n  " + strings.TrimRight(string(marks), " ") + "\n"
}

// The golden file shows each line with a letter under each highlighted byte: keyword, string, comment, 0 number, function,
// type, builtin, Key.
func TestSamples(t *testing.T) {
	in, err := os.ReadFile("testdata/samples.txt")
	if err != nil {
		t.Fatal(err)
	}
	var got strings.Builder
	var sc *Scanner
	for line := range strings.Lines(string(in)) {
		line = strings.TrimSuffix(line, "\n")
		if name, ok := strings.CutPrefix(line, "== "); ok {
			sc = New(name)
			got.WriteString(line + "\n")
			continue
		}
		got.WriteString(draw(sc, line))
	}
	if *update {
		if err := os.WriteFile("testdata/samples.golden", []byte(got.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, _ := os.ReadFile("testdata/samples.golden")
	if got.String() != string(want) {
		t.Errorf("spans changed; look at them and run with -update:\n%s", got.String())
	}
}

func TestEveryLanguageIsFound(t *testing.T) {
	for _, n := range languageNames() {
		if !New(n).Known() {
			t.Errorf("%s is not known", n)
		}
	}
	for _, n := range []string{"main.go", "TS", " python ", ".yml"} {
		if !New(n).Known() {
			t.Errorf("%q is not known", n)
		}
	}
	if sc := New("klingon"); sc.Known() || sc.Line("if x") != nil {
		t.Error("an unknown language was highlighted")
	}
}

func TestPaint(t *testing.T) {
	th := theme.Named("dark", theme.ANSI, true)
	sc := New("go")
	if got := Paint(&th, `if  return "s"`, sc.Line(`if  return "s"`)); got != "\x1b[35mif  return\x1b[m \x1b[32m\"s\"\x1b[m" {
		t.Errorf("%q", got)
	}
	plain := theme.Named("none", theme.Plain, true)
	if got := Paint(&plain, "if x", sc.Line("if x")); got != "if x" {
		t.Errorf("%q", got)
	}
}

// FuzzLine: spans are in order and inside the line, for every language, whatever comes.
func FuzzLine(f *testing.F) {
	f.Add("'\\", "<<E\n/*\"", 3)
	f.Add("\"a\\\n\"\"\"", "é`\n${", 14)
	names := languageNames()
	f.Fuzz(func(t *testing.T, a, b string, lang int) {
		sc := New(names[max(lang, -lang, 0)%len(names)])
		for _, line := range strings.Split(a+"\n"+b, "\n") {
			at := 0
			for _, s := range sc.Line(line) {
				if s.Start < at || s.End <= s.Start || s.End > len(line) {
					t.Fatalf("%q: span %+v after %d", line, s, at)
				}
				at = s.End
			}
		}
	})
}

func BenchmarkLine(b *testing.B) {
	src, err := os.ReadFile("languages.go")
	if err != nil {
		b.Fatal(err)
	}
	lines := strings.Split(string(src), "\n")
	th := theme.Named("dark", theme.True, true)
	b.SetBytes(int64(len(src)))
	for b.Loop() {
		sc := New("go")
		for _, l := range lines {
			Paint(&th, l, sc.Line(l))
		}
	}
}

// languageNames are the languages by their usual name.
func languageNames() []string {
	return strings.Fields(`go rust c cpp csharp java kotlin swift scala dart javascript typescript python ruby php perl lua bash powershell
		sql html xml css json yaml toml ini dockerfile makefile diff markdown elixir haskell r zig nix hcl graphql protobuf clojure`)
}
