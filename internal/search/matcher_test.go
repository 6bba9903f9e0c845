package search

import (
	"bytes"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// naiveLines is what a search must find: each line by itself, by package regexp.
func naiveLines(re *regexp.Regexp, text string) []string {
	var out []string
	for line := range strings.Lines(text) {
		if line = strings.TrimSuffix(line, "\n"); re.MatchString(line) {
			out = append(out, line)
		}
	}
	return out
}

// matchedLines is what the matcher finds with its prefilter (and without, when plain is set).
func matchedLines(m *Matcher, text string, plain, noDFA bool) []string {
	p := m.probe()
	if noDFA {
		p.dfa = nil
	}
	b := []byte(text)
	p.begin(b)
	if plain {
		p.trusted = false
	}
	var out []string
	for pos := 0; ; {
		start, end, ok := p.nextLine(b, pos)
		if !ok {
			return out
		}
		out = append(out, string(b[start:end]))
		pos = end + 1
	}
}

func checkMatcher(t interface{ Fatalf(string, ...any) }, pattern string, fold bool, text string) {
	m, err := Compile(Query{Pattern: pattern, IgnoreCase: fold})
	if err != nil {
		return // the pattern can match no line, or is none
	}
	flags := "(?m)"
	if fold {
		flags = "(?im)"
	}
	re, err := regexp.Compile(flags + pattern)
	if err != nil {
		return
	}
	want := naiveLines(re, text)
	for _, plain := range []bool{false, true} {
		for _, noDFA := range []bool{false, true} {
			if d := cmp.Diff(want, matchedLines(m, text, plain, noDFA)); d != "" {
				t.Fatalf("pattern %q, fold %v, plain %v, without automaton %v, text %q: %s", pattern, fold, plain, noDFA, text, d)
			}
		}
	}
	if !bytes.Contains([]byte(text), []byte{'\r'}) && len(want) > 0 {
		p := m.probe()
		if !p.mayMatch([]byte(text)) {
			t.Fatalf("pattern %q, fold %v: mayMatch is false for %q", pattern, fold, text)
		}
	}
}

// patterns draws regular expressions that have something to do with texts.
func patterns() *rapid.Generator[string] {
	atom := rapid.SampledFrom([]string{
		"a", "b", "ab", "foo", "task", "Kas", "S", "k", "é", "ſ", ".", `\w`, `\d`, `\s`, `\b`, `\B`, "^", "$", "[a-c]", "[^a]", "[^é]",
		"[ks]", "(?i:k)", "(?i:Foo)", "(?-i:S)", `\.`, "1", "12", "(a|b|foo)", "(foo|é|x*)", "(?:ab|k)", `\W`, "[é-ü]", "x?", `\A`, `\z`,
	})
	return rapid.Custom(func(t *rapid.T) string {
		var b strings.Builder
		for range rapid.IntRange(1, 5).Draw(t, "parts") {
			s := atom.Draw(t, "atom")
			if strings.ContainsAny(s, `^$`) && !strings.HasPrefix(s, "[") || s == `\b` || s == `\B` || s == `\A` || s == `\z` {
				b.WriteString(s)
				continue
			}
			if op := rapid.SampledFrom([]string{"", "", "", "+", "*", "?", "{2}", "{1,3}", "|"}).Draw(t, "op"); op == "|" {
				b.WriteString(s + "|")
			} else if op != "" {
				b.WriteString("(?:" + s + ")" + op)
			} else {
				b.WriteString(s)
			}
		}
		return b.String()
	})
}

func texts_() *rapid.Generator[string] {
	word := rapid.SampledFrom([]string{
		"a", "b", "ab", "foo", "FOO", "Foo", "task", "TASK", "tas\u212a", "ta\u017fk", "kas", "é", "É", "1", "12", " ", ".", "\n", "\n\n", "_",
		"x", "\xff", "\xc3", "\u2028", "ü", "\t",
	})
	return rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(word, 0, 40).Draw(t, "words"), "")
	})
}

func TestMatcherIsNaive(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		checkMatcher(t, patterns().Draw(t, "pattern"), rapid.Bool().Draw(t, "fold"), texts_().Draw(t, "text"))
	})
}

func FuzzMatcher(f *testing.F) {
	f.Add("ta[sk]+", true, "TAſK\ntask\n")
	f.Add(`\bfoo$|^x*`, false, "a foo\n\nfoox")
	f.Add(`[^a]b`, false, "\xffb\n\xc3b")
	f.Fuzz(func(t *testing.T, pattern string, fold bool, text string) {
		if len(pattern) > 60 || len(text) > 2000 || strings.Contains(text, "\r") || strings.Contains(pattern, "(?") || strings.Contains(pattern, `\Q`) {
			return // carriage returns and flags have meanings of their own, tested elsewhere
		}
		checkMatcher(t, pattern, fold, text)
	})
}

func TestCompileErrors(t *testing.T) {
	cases := []struct{ pattern, want string }{
		{"", "the pattern is empty; give the text or regular expression to look for"},
		{"a(b", "bad pattern \"a(b\": missing closing ): `a(b`; write a literal parenthesis as \\( or \\)"},
		{"foo(?=bar)", "bad pattern \"foo(?=bar)\": invalid or unsupported Perl syntax: `(?=`; look-around is not supported: search for the text alone and sort the results yourself"},
		{"(?<!x)y", "bad pattern \"(?<!x)y\": invalid named capture: `(?<!x)y`; look-around is not supported: search for the text alone and sort the results yourself"},
		{`(a)\1`, "bad pattern \"(a)\\\\1\": invalid escape sequence: `\\1`; back references are not supported"},
		{"*a", "bad pattern \"*a\": missing argument to repetition operator: `*`; write the character itself with a backslash before it"},
		{"[a", "bad pattern \"[a\": missing closing ]: `[a`; write a literal bracket as \\["},
		{`a\nb`, `the pattern holds a line end (\n), which cannot match within one line; set multiline to true`},
	}
	for _, c := range cases {
		_, err := Compile(Query{Pattern: c.pattern})
		got := ""
		if err != nil {
			got = err.Error()
		}
		if d := cmp.Diff(c.want, got); d != "" {
			t.Errorf("%q: %s", c.pattern, d)
		}
	}
}

func TestCarriageReturn(t *testing.T) {
	m, err := Compile(Query{Pattern: `foo$|^$`})
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]string{"a foo\r", "\r", "foo"}, matchedLines(m, "a foo\r\nfoo b\r\n\r\nfoo", false, false)); d != "" {
		t.Error(d)
	}
}

func TestRequiredLiterals(t *testing.T) {
	cases := []struct {
		pattern string
		fold    bool
		want    []string
		whole   bool
	}{
		{"foo", false, []string{"foo"}, true},
		{"Foo", true, []string{"foo"}, true},
		{`func \w+Deadline\(`, false, []string{"Deadline("}, false},
		{"foo|bar", false, []string{"foo", "bar"}, true},
		{"(foo|bar)baz", false, []string{"foobaz", "barbaz"}, true},
		{"x*", false, nil, false},
		{"a?bcd", false, []string{"bcd"}, false},
		{"(zip)+", false, []string{"zip"}, false},
		{"^zip$", false, []string{"zip"}, false},
		{"[0-9]+", false, nil, false},
		{"zip|x*", false, nil, false},
		{"é", true, nil, false},
		{"éclair", true, []string{"clair"}, false},
	}
	for _, c := range cases {
		m, err := Compile(Query{Pattern: c.pattern, IgnoreCase: c.fold})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, l := range m.lits {
			got = append(got, string(l.text))
		}
		if d := cmp.Diff(c.want, got); d != "" || m.whole != c.whole {
			t.Errorf("%q: whole %v, literals %s", c.pattern, m.whole, d)
		}
	}
}

func TestAutomatonGivesUp(t *testing.T) {
	// Every position may begin a match that is far away: more states than are kept.
	m, err := Compile(Query{Pattern: `[ab][ab]*a[ab]{14}c`})
	if err != nil {
		t.Fatal(err)
	}
	m.lits = nil
	var b strings.Builder
	x := uint32(1)
	for range 60000 {
		x = x*1664525 + 1013904223
		b.WriteByte("ab"[x>>31])
	}
	text := b.String() + "\nabaaaaaaaaaaaaaaac\n"
	p := m.probe()
	p.begin([]byte(text))
	start, end, ok := p.nextLine([]byte(text), 0)
	if !ok || text[start:end] != "abaaaaaaaaaaaaaaac" {
		t.Fatalf("got %d %d %v", start, end, ok)
	}
	if !p.dfa.off {
		t.Error("the test no longer fills the table; make it harder")
	}
}

func TestPatternIsDoublestar(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		seg := rapid.SampledFrom([]string{"a", "b", "ab", "*", "a*", "*b", "**", "?", "[ab]", "[^a]*", "é", "?b", "{a,b}", "{a,*b}c", ".x"})
		pat := strings.Join(rapid.SliceOfN(seg, 1, 5).Draw(t, "pattern"), "/")
		name := rapid.SampledFrom([]string{"a", "b", "ab", "abc", "é", "ac", ".x", "bb"})
		path := strings.Join(rapid.SliceOfN(name, 1, 5).Draw(t, "path"), "/")
		got := false
		parts, err := expandBraces(pat)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range parts {
			c := compilePattern(p, true)
			got = got || c.match(path)
		}
		if want := doublestarMatch(t, pat, path); got != want {
			t.Fatalf("pattern %q, path %q: got %v, want %v", pat, path, got, want)
		}
	})
}
