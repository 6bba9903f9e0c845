package width

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestOf(t *testing.T) {
	for s, want := range map[string]int{
		"": 0, "abc": 3, "文字": 4, "ｱ": 1, "ｆｕ": 4, "é": 1, "e\u0301": 1, "👍": 2, "👍🏽": 2,
		"👩‍👩‍👧": 2, "🇩🇪": 2, "❤️": 2, "1️⃣": 2, "\x1b[1;31mred\x1b[m": 3, Link("https://a.b", "link"): 4, "한글": 4,
	} {
		if got := Of(s); got != want {
			t.Errorf("%q is %d cells, want %d", s, got, want)
		}
	}
}

func TestCut(t *testing.T) {
	for _, c := range []struct {
		s     string
		cells int
		want  string
	}{
		{"short", 10, "short"},
		{"exactly", 7, "exactly"},
		{"too long", 5, "too …"},
		{"文字列です", 5, "文字…"},
		{"文字列です", 6, "文字…"},
		{"👩‍👩‍👧👩‍👩‍👧", 3, "👩‍👩‍👧…"},
		{"x", 0, ""},
		{"xy", 1, "…"},
		{"\x1b[31mred text\x1b[m", 4, "\x1b[31mred…\x1b[m"},
	} {
		if got := Cut(c.s, c.cells, "…"); got != c.want {
			t.Errorf("Cut(%q, %d) = %q, want %q", c.s, c.cells, got, c.want)
		}
	}
}

func TestInert(t *testing.T) {
	for s, want := range map[string]string{"a\tb": "a   b", "文\tb": "文  b", "\x1b[31m": "␛[31m", "a\nb": "a␊b", "\u202e": "<U+202E>"} {
		if got := Inert(s); got != want {
			t.Errorf("%q gives %q, want %q", s, got, want)
		}
	}
}

func TestRows(t *testing.T) {
	for _, c := range []struct {
		l    Line
		cols int
		want []string
	}{
		{Line{Text: "one two three"}, 8, []string{"one two", "three"}},
		{Line{Text: "one two three"}, 7, []string{"one two", "three"}},
		{Line{Text: "• one two three", Hang: "  "}, 9, []string{"• one two", "  three"}},
		{Line{Text: "incomprehensibilities here"}, 8, []string{"incompre", "hensibil", "ities", "here"}},
		{Line{Text: "中文字符没有空格。好"}, 8, []string{"中文字符", "没有空", "格。好"}},
		{Line{Text: "「中文」文"}, 4, []string{"「中", "文」", "文"}},
		{Line{Text: "a \x1b[31mred and blue\x1b[m b"}, 7, []string{"a \x1b[31mred\x1b[m", "\x1b[31mand\x1b[m", "\x1b[31mblue\x1b[m b"}},
		{Line{Text: "well-known words"}, 6, []string{"well-", "known", "words"}},
		{Line{Text: "--flag-name -x 5-10"}, 8, []string{"--flag-", "name -x", "5-10"}},
		{Line{Text: ""}, 5, []string{""}},
		{Line{Text: "| a | b |", Fixed: true}, 5, []string{"| a …"}},
	} {
		if diff := cmp.Diff(c.want, c.l.Rows(c.cols)); diff != "" {
			t.Errorf("%q at %d:\n%s", c.l.Text, c.cols, diff)
		}
	}
}

// pieces make texts with everything that is awkward.
var pieces = rapid.SampledFrom([]string{
	"a", "word", " ", "  ", "-", "文", "字。", "「", "e\u0301", "👩‍👩‍👧", "🇩🇪", "❤️", "\x1b[31m", "\x1b[m", "\u200d", "\u0301", Link("https://x", "y"),
})

func genText(t *rapid.T) string {
	return strings.Join(rapid.SliceOfN(pieces, 0, 40).Draw(t, "pieces"), "")
}

func TestBreaksLoseNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, first, rest := genText(t), rapid.IntRange(1, 20).Draw(t, "first"), rapid.IntRange(1, 20).Draw(t, "rest")
		at, limit := 0, first
		for _, g := range Breaks(s, first, rest) {
			if g.Start != at || g.End < g.Start {
				t.Fatalf("segment %+v after %d of %q", g, at, s)
			}
			text := s[g.Start:g.End]
			if Of(text) != g.Cells {
				t.Fatalf("%q is %d cells, not %d: a cluster was split", text, Of(text), g.Cells)
			}
			if seen, _ := trimRight(text); Of(seen) > max(limit, 2) {
				t.Fatalf("%q has more than %d cells", seen, limit)
			}
			at, limit = g.End, rest
		}
		if at != len(s) {
			t.Fatalf("%q ends at %d", s, at)
		}
	})
}

func TestRowsKeepTheText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, cols := genText(t), rapid.IntRange(2, 20).Draw(t, "cols")
		var got strings.Builder
		for _, row := range (Line{Text: s}).Rows(cols) {
			if Of(row) > cols {
				t.Fatalf("%q is wider than %d", row, cols)
			}
			got.WriteString(Strip(row))
		}
		plain := strings.NewReplacer(" ", "", "\u200d", "", "\u0301", "").Replace
		if plain(got.String()) != plain(Strip(s)) {
			t.Fatalf("%q became %q", Strip(s), got.String())
		}
	})
}

// rowsAt is what a terminal shows that breaks anywhere.
func rowsAt(s string, cols int) []string {
	rows := []string{""}
	for at := 0; s != ""; {
		n, w := Next(s)
		if at+w > cols {
			rows, at = append(rows, ""), 0
		}
		rows[len(rows)-1] += s[:n]
		at += w
		s = s[n:]
	}
	return rows
}

func TestFilled(t *testing.T) {
	for _, c := range []struct {
		text, hang string
		cols       int
		want       []string
	}{
		{"one two three", "", 20, []string{"one two three"}},
		{"one two three", "", 13, []string{"one two      ", "three"}},
		{"one two three", "", 10, []string{"one two   ", "three"}},
		{"one two three", "", 7, []string{"one    ", "two    ", "three"}}, // a word at the edge would be joined to the next one in a copy
		{"• one two three", "  ", 10, []string{"• one two ", "  three"}},
		{"a https://example.org/long b", "", 12, []string{"a https://ex", "ample.org/lo", "ng b"}},
		{"seen in exactly/as/long b", "", 16, []string{"seen in exactly/", "as/long b"}},
		{"we see it in exactly/as/long b", "", 16, []string{"we see it in    ", "exactly/as/long ", "b"}},
		{"a exactly/as/long b", "", 17, []string{"a exactly/as/long", " b"}},
		{"• 中文字符没有空格。好 end", "  ", 9, []string{"• 中文字 ", "  符没有 ", "  空格。 ", "  好 end"}},
		{"• 中文字符，没有空格", "  ", 16, []string{"• 中文字符，    ", "  没有空格"}}, // behind punctuation, where the row is half full
		{"• 中，文字符没有空格", "  ", 16, []string{"• 中，文字符没有", "  空格"}},
		{"• see使用foo-bar模式", "  ", 12, []string{"• see使用   ", "  foo-bar模 ", "  式"}},
		{"中文字符，没有空格", "", 10, []string{"中文字符，", "没有空格"}},
		{"中文字符没有，空格", "", 14, []string{"中文字符没有，", "空格"}}, // without an indent nothing comes into a copy
		{"x 中文字符没有", " \x1b[48;5;240m \x1b[m ", 9, []string{"x 中文字 ", " \x1b[48;5;240m \x1b[m 符没有"}},
		{"one two three", "│ ", 10, []string{"one two   ", "  three"}}, // a bar would be copied between the words
		{"a \x1b[4mlinked words\x1b[m b", "", 10, []string{"a \x1b[4mlinked\x1b[m  \x1b[4m", "words\x1b[m b"}},
		{"12345678901 3456789012345 b", "        ", 20, []string{"12345678901 34567890", "12345 b"}}, // with the hanging indent it would not fit in a row either
		{"ends here  ", "", 10, []string{"ends here"}},
		{"a \x1b[1m b\x1b[m", "", 20, []string{"a\x1b[1m  b\x1b[m"}},
		{"\x1b[1mends here\x1b[m  ", "", 20, []string{"\x1b[1mends here\x1b[m  "}},
		{"a  b", "", 4, []string{"a   ", "b"}},
	} {
		got := rowsAt(Line{Text: c.text, Hang: c.hang, Prose: true}.Filled(c.cols), c.cols)
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%q at %d:\n%s", c.text, c.cols, diff)
		}
	}
}

// A copy of filled prose has the words of the text, and none is broken that need not be.
func TestFilledKeepsWords(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, cols := genText(t), rapid.IntRange(1, 24).Draw(t, "cols")
		l := Line{Text: s, Hang: Spaces(rapid.IntRange(0, 12).Draw(t, "hang")), Prose: true}
		filled := l.Filled(cols)
		plain := func(s string) string { return strings.ReplaceAll(Strip(s), " ", "") }
		if got, want := strings.Fields(Strip(filled)), strings.Fields(Strip(s)); !cmp.Equal(got, want) && l.Hang == "" || plain(filled) != plain(s) {
			t.Fatalf("%q became %q", Strip(s), Strip(filled))
		}
		for _, row := range rowsAt(filled, cols) {
			for _, word := range strings.Fields(Strip(row)) {
				if isPlain(word) && !slices.ContainsFunc(strings.Fields(Strip(s)), func(w string) bool { return w == word || !isPlain(w) || len(w) > cols/2 }) {
					t.Fatalf("%q is broken in %q at %d", word, Strip(s), cols)
				}
			}
		}
	})
}

func FuzzNext(f *testing.F) {
	f.Add("\x1b]8;;x\x1b\\é👩‍👩‍👧\xff")
	f.Fuzz(func(t *testing.T, s string) {
		for rest := s; rest != ""; {
			n, w := Next(rest)
			if n <= 0 || w < 0 || w > 2 {
				t.Fatalf("Next(%q) = %d, %d", rest, n, w)
			}
			if rest = rest[n:]; rest != "" && utf8.ValidString(s) && !utf8.RuneStart(rest[0]) {
				t.Fatalf("%q was split inside a rune", s)
			}
		}
		_, _ = (Line{Text: s}).Rows(7), Cut(s, 5, "…")
		if Of(Cut(s, 5, "…")) > 5 {
			t.Fatalf("Cut(%q) = %q", s, Cut(s, 5, "…"))
		}
	})
}

func BenchmarkRows(b *testing.B) {
	l := Line{Text: strings.Repeat("some words of a \x1b[1mlong\x1b[m paragraph with 文字, ", 200)}
	b.SetBytes(int64(len(l.Text)))
	for b.Loop() {
		l.Rows(80)
	}
}

// What a status line prints may hold names that others chose: only colours and links to web pages get through.
func TestPainted(t *testing.T) {
	for in, want := range map[string]string{
		"plain\tx":                                       "plain   x",
		"\x1b[31mred\x1b[0m rest":                        "\x1b[31mred\x1b[0m rest",
		"\x1b[1;38;2;1;2;3mopen":                         "\x1b[1;38;2;1;2;3mopen\x1b[m",
		"a\x1b]52;c;aGk=\x07b":                           "a␛]52;c;aGk=␇b",
		"a\x1b]0;title\x1b\\b":                           "a␛]0;title␛\\b",
		"a\x1b[2Jb\x1b[Hc\x1b[?1h":                       "a␛[2Jb␛[Hc␛[?1h",
		"a\x1bcb\rc":                                     "a␛cb␍c",
		"a\x1b]8;;https://x.y\ab\x1b]8;;\ac":             "a\x1b]8;;https://x.y\ab\x1b]8;;\ac",
		"\x1b]8;;https://x.y\aopen":                      "\x1b]8;;https://x.y\aopen\x1b]8;;\x1b\\",
		"\x1b]8;;file:///etc/passwd\ab":                  "␛]8;;file:///etc/passwd␇b",
		"\x1b]8;;https://x.y\x1b[2J\ab":                  "␛]8;;https://x.y␛[2J␇b",
		"\x1b]8;id=\x1b]52;c;aGk=;https://x.y\aev\x1b]8": "␛]8;id=␛]52;c;aGk=;https://x.y␇ev␛]8",
		"\x1b[31\x1b]52;c;aGk=\x07m":                     "␛[31␛]52;c;aGk=␇m",
	} {
		if got := Painted(in); got != want {
			t.Errorf("%q became %q, want %q", in, got, want)
		}
	}
}

func TestMark(t *testing.T) {
	paint := func(s string) string { return "<" + s + ">" }
	for _, c := range []struct {
		s          string
		from, to   int
		want, text string
	}{
		{"one two", 4, 7, "one <two>", "two"},
		{"one two", 0, 3, "<one> two", "one"},
		{"one", 3, 9, "one", ""},
		{"a文字b", 2, 3, "a<文>字b", "文"},
		{"\x1b[1mbold text\x1b[m end", 5, 12, "\x1b[1mbold \x1b[m<text en>d", "text en"},
		{"ab\u200bcd", 0, 2, "<ab\u200b>cd", "ab\u200b"},
		{"ab\u200bcd", 2, 3, "ab\u200b<c>d", "c"},
		{"one\x1b[1m two\x1b[m", 0, 3, "<one>\x1b[1m two\x1b[m", "one"},
		{"o\x1b[1mn\x1b[me two", 0, 3, "<one> two", "one"},
		{"\x1b[1mone", 0, 0, "\x1b[1mone", ""},
		{"\x1b[1mbold text\x1b[m end", 1, 2, "\x1b[1mb\x1b[m<o>\x1b[1mld text\x1b[m end", "o"},
	} {
		if got, text := Mark(c.s, c.from, c.to, paint); got != c.want || text != c.text {
			t.Errorf("Mark(%q, %d, %d) = %q, %q, want %q, %q", c.s, c.from, c.to, got, text, c.want, c.text)
		}
	}
}

// The rows of a line give its text back.
func TestWrapKeepsTheText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, cols := genText(t), rapid.IntRange(2, 20).Draw(t, "cols")
		var got strings.Builder
		for _, r := range (Line{Text: s, Hang: "> "}).Wrap(cols) {
			got.WriteString(r.Glue + Strip(r.Text)[r.Hang:])
		}
		plain := strings.NewReplacer("\u200d", "", "\u0301", "").Replace
		if got, want := strings.TrimRight(plain(got.String()), " "), strings.TrimRight(plain(Strip(s)), " "); got != want {
			t.Fatalf("%q became %q", want, got)
		}
	})
}
