package table

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"lathe/internal/front/tui/theme"
	"lathe/internal/front/tui/width"
)

func show(lines []width.Line, cols int) string {
	var b strings.Builder
	for _, l := range lines {
		for _, row := range l.Rows(cols) {
			b.WriteString(row + "\n")
		}
	}
	return b.String()
}

func TestFit(t *testing.T) {
	th := theme.Named("none", theme.Plain, true)
	tab := Table{Head: []string{"tool", "tokens", "what it is for"}, Rows: [][]string{{"Bash", "1,200", "runs a command of the shell"}, {"読む", "5", ""}}, Aligns: []byte("lr")}
	for cols, want := range map[int]string{
		60: "tool │ tokens │ what it is for\n" +
			"─────┼────────┼────────────────────────────\n" +
			"Bash │  1,200 │ runs a command of the shell\n" +
			"読む │      5 │\n",
		32: "tool │ tokens │ what it is for\n" +
			"─────┼────────┼─────────────────\n" +
			"Bash │  1,200 │ runs a command\n" +
			"     │        │ of the shell\n" +
			"読む │      5 │\n",
		20: "tool: Bash\ntokens: 1,200\nwhat it is for: runs\n  a command of the\n  shell\n\ntool: 読む\ntokens: 5\n",
	} {
		if got := show(Fit(&th, tab, cols), cols); got != want {
			t.Errorf("at %d:\n%s", cols, got)
		}
	}
}

func TestNothingIsWiderThanTheScreen(t *testing.T) {
	th := theme.Named("dark", theme.True, true)
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 6).Draw(t, "columns")
		cell := rapid.SampledFrom([]string{"", "a", "some words here", "aVeryLongWordWithoutBlanks", "日本語の文章", "👩‍👩‍👧", "\x1b[1mbold words\x1b[m"})
		row := func() []string { return rapid.SliceOfN(cell, n, n).Draw(t, "row") }
		tab := Table{Head: row()}
		for range rapid.IntRange(0, 5).Draw(t, "rows") {
			tab.Rows = append(tab.Rows, row())
		}
		cols := rapid.IntRange(10, 120).Draw(t, "cols")
		for _, l := range Fit(&th, tab, cols) {
			for _, r := range l.Rows(cols) {
				if width.Of(r) > cols || l.Fixed && width.Of(l.Text) > cols {
					t.Fatalf("%q is wider than %d", r, cols)
				}
			}
		}
	})
}
