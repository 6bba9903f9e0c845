package list

import (
	"fmt"
	"strings"
	"testing"

	"lathe/internal/front/tui/theme"
	"lathe/internal/front/tui/width"
)

func TestWindow(t *testing.T) {
	var items []Item
	for i := range 25 {
		items = append(items, Item{Text: fmt.Sprintf("item %d", i), Detail: "what it is"})
	}
	l := New(items)
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
	l := New([]Item{{Text: "model", Detail: "choose the model"}, {Text: "mcp", Detail: "servers, and a text that is too long for its row"}, {Text: "文字\x1b["}})
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

func FuzzList(f *testing.F) {
	f.Add("ab", "xaxb/ab", "é")
	f.Fuzz(func(t *testing.T, query, a, b string) {
		l := New([]Item{{Text: a}, {Text: b}})
		l.SetQuery(query)
		for _, row := range l.Rows(&theme.Theme{}, 20) {
			if width.Of(row) > 20 {
				t.Errorf("%q is wider than 20", row)
			}
		}
	})
}

// What the details do not need of a row is the text's.
func TestLongTextBesideShortDetail(t *testing.T) {
	long := strings.Repeat("x", 60)
	l := New([]Item{{Text: long, Detail: "session"}, {Text: "short", Detail: "local"}})
	th := theme.Theme{}
	if got := l.Rows(&th, 80); got[0] != "› "+long+"  session" || got[1] != "  short"+strings.Repeat(" ", 57)+"local" {
		t.Errorf("%q", got)
	}
	if got := l.Whole(&th, 80); got != "" {
		t.Errorf("cut off: %q", got)
	}
	if got := l.Whole(&th, 50); got != long+" · session" {
		t.Errorf("not whole: %q", got)
	}
	if got := l.Rows(&th, 50); got[0] != "› "+long[:38]+"…  session" {
		t.Errorf("%q", got)
	}
}
