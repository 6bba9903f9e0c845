package tui

import (
	"testing"
	"time"
)

// What is marked is copied without the breaks and indents that wrapping has made, and with those of the text.
func TestSelectedText(t *testing.T) {
	now := time.Unix(1e9, 0)
	u := bare(&now)
	u.cols = 20
	u.items = []item{{kind: kindText, text: "- an item of several words that wraps\n- next"}, {kind: kindText, text: "The end."}}
	f := &fullView{cols: u.cols, n: u.rows, cache: map[int]cached{}}
	u.full = f
	for _, c := range []struct {
		from, to place
		want     string
	}{
		{place{0, 0, 0}, place{1, 5, 80}, "• an item of several words that wraps\n• next\n\nThe end."},
		{place{0, 0, 2}, place{0, 1, 9}, "an item of several"},
		{place{0, 1, 0}, place{0, 1, 80}, "several words"},
		{place{0, 1, 2}, place{0, 1, 4}, "se"},
		{place{}, place{}, ""},
	} {
		f.sel = selection{from: c.from, to: c.to}
		if got := f.selected(u); got != c.want {
			t.Errorf("%v to %v: %q, want %q", c.from, c.to, got, c.want)
		}
	}
}

// Keys move the end of what is marked, not before its beginning, and do nothing where what it was in has gone.
func TestExtendSelection(t *testing.T) {
	now := time.Unix(1e9, 0)
	u := bare(&now)
	u.items = []item{{kind: kindText, text: "one two"}, {kind: kindText, text: "three"}}
	f := &fullView{cols: u.cols, n: u.rows, cache: map[int]cached{}}
	u.full = f
	f.sel = selection{from: place{0, 0, 0}, to: place{0, 0, 3}}
	for _, step := range []struct{ key, want string }{
		{"shift+right", "one"},
		{"shift+left", "one"},
		{"shift+end", "one two"},
		{"shift+right", "one two"},
		{"shift+down", "one two"},
		{"shift+down", "one two"},
		{"shift+end", "one two\n\nthree"},
		{"shift+up", "one two"},
		{"shift+up", "one two"},
		{"shift+home", "one two"},
	} {
		if !f.extend(u, step.key) || f.selected(u) != step.want {
			t.Errorf("%s: %q, want %q", step.key, f.selected(u), step.want)
		}
	}
	u.items = u.items[:0]
	if f.extend(u, "shift+right") {
		t.Error("something is marked in a conversation that was left")
	}
	f.sel = selection{}
	if f.extend(u, "shift+right") {
		t.Error("nothing was marked")
	}
}
