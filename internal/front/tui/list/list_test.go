package list

import (
	"fmt"
	"strings"
	"testing"

	"lathe/internal/front/tui/theme"
	"lathe/internal/front/tui/width"
)

func marked(text string, at [][2]int) string {
	for i := len(at) - 1; i >= 0; i-- {
		text = text[:at[i][0]] + "<" + text[at[i][0]:at[i][1]] + ">" + text[at[i][1]:]
	}
	return text
}

func TestRank(t *testing.T) {
	files := []string{
		"README.md", "internal/front/tui/editor/editor.go", "internal/front/tui/editor/editor_test.go", "internal/editorial/notes.md",
		"cmd/lathe/main.go", "internal/app/main_test.go", "docs/ümlaut.md", "src/UserModelList.tsx",
	}
	for _, c := range []struct{ query, want string }{
		{"editor", "internal/front/tui/editor/<editor>.go|internal/front/tui/editor/<editor>_test.go|internal/<editor>ial/notes.md"},
		{"main", "cmd/lathe/<main>.go|internal/app/<main>_test.go"},
		{"main.go", "cmd/lathe/<main.go>"},
		{"etest", "internal/front/tui/editor/<e>ditor_<test>.go"},
		{"uml", "src/<U>ser<M>odel<L>ist.tsx"},
		{"app/ma", "internal/<app/ma>in_test.go"},
		{"üml", "docs/<üml>aut.md"},
		{"UML", "src/<U>ser<M>odel<L>ist.tsx"},
		{"zzz", ""},
	} {
		var got []string
		for _, h := range Rank(c.query, files, 3) {
			got = append(got, marked(files[h.Index], h.At))
		}
		if g := strings.Join(got, "|"); g != c.want && !strings.HasPrefix(g, c.want+"|") {
			t.Errorf("%q:\n got %s\nwant %s", c.query, g, c.want)
		}
	}
}

func TestPrefix(t *testing.T) {
	l := New([]Item{{Text: "model"}, {Text: "mcp__server__prompt"}, {Text: "add-dir"}, {Text: "clear", Aliases: []string{"new", "reset"}}, {Text: "remodel-all"}}, Prefix)
	for query, want := range map[string]string{"mod": "<mod>el", "adddir": "<add-dir>", "d": "add-<d>ir", "res": "clear", "serv": "mcp__<serv>er__prompt", "mdl": "", "a": "<a>dd-dir|remodel-<a>ll"} {
		l.SetQuery(query)
		var got []string
		for _, h := range l.hits {
			got = append(got, marked(l.items[h.Index].Text, h.At))
		}
		if g := strings.Join(got, "|"); g != want {
			t.Errorf("%q: %q, want %q", query, g, want)
		}
	}
}

func TestWindow(t *testing.T) {
	var items []Item
	for i := range 25 {
		items = append(items, Item{Text: fmt.Sprintf("item %d", i), Detail: "what it is"})
	}
	l := New(items, Words)
	l.SetHeight(4)
	var got []string
	at := func() { got = append(got, fmt.Sprintf("%s@%d", l.Position(), l.top)) }
	l.Move(-1)
	at()
	l.Move(1)
	at()
	l.Page(1)
	at()
	l.Page(-5)
	at()
	l.Last()
	at()
	l.SetQuery("1 item")
	at()
	l.Move(2)
	l.SetItems(items[:20])
	at()
	l.SetQuery("none")
	at()
	if g := strings.Join(got, " "); g != "25/25@21 1/25@0 5/25@1 1/25@0 25/25@21 1/12@0 3/11@0 0/0@0" {
		t.Error(g)
	}
	if _, ok := l.Chosen(); ok || len(l.Rows(&theme.Theme{}, 40)) != 0 {
		t.Error("an empty list has a chosen item or rows")
	}
}

func TestRows(t *testing.T) {
	l := New([]Item{{Text: "model", Detail: "choose the model"}, {Text: "mcp", Detail: "servers, and a text that is too long for its row"}, {Text: "文字\x1b[m"}}, Prefix)
	l.SetQuery("m")
	dark := theme.Named("dark", theme.ANSI, true)
	got := strings.Join(l.Rows(&dark, 40), "\n")
	want := "\x1b[94m›\x1b[m \x1b[94;1;94mm\x1b[m\x1b[94model\x1b[m  \x1b[37mchoose the model\x1b[m\n" +
		"  \x1b[1;94mm\x1b[mcp    \x1b[37mservers, and a text that is to…\x1b[m"
	if got != want {
		t.Errorf("\n%q\n%q", got, want)
	}
	l.SetQuery("")
	for cols := 4; cols < 60; cols++ {
		for _, row := range l.Rows(&dark, cols) {
			if width.Of(row) > cols {
				t.Errorf("%q is wider than %d", row, cols)
			}
		}
	}
}

func FuzzRank(f *testing.F) {
	f.Add("ab", "xaxb/ab", "é")
	f.Fuzz(func(t *testing.T, query, a, b string) {
		for _, h := range Rank(query, []string{a, b}, 5) {
			text := []string{a, b}[h.Index]
			pos := 0
			for _, r := range h.At {
				if r[0] < pos || r[1] <= r[0] || r[1] > len(text) {
					t.Fatalf("%q in %q: %v", query, text, h.At)
				}
				pos = r[1]
			}
		}
		l := New([]Item{{Text: a}, {Text: b}}, Prefix)
		l.SetQuery(query)
		l.Rows(&theme.Theme{}, 20)
		l = New([]Item{{Text: a}, {Text: b}}, Words)
		l.SetQuery(query)
		l.Rows(&theme.Theme{}, 20)
	})
}

func BenchmarkRank100000(b *testing.B) {
	var files []string
	for i := range 100_000 {
		files = append(files, fmt.Sprintf("packages/module%d/src/components/some/Component%dView.tsx", i%977, i))
	}
	for b.Loop() {
		Rank("comp12vi", files, 20)
	}
}
