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
