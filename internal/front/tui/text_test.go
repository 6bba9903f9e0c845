package tui

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Lines in two columns that do not fit wrap in their second column, or have it below the first.
func TestColumns(t *testing.T) {
	const name, help = "  /copy [N]     ", "the text of the last answer, or of the Nth last"
	for _, c := range []struct {
		cols int
		line string
		want []string
	}{
		{80, name + help, nil},
		{50, name + help, []string{"    /copy [N]     the text of the last answer, or", "                  of the Nth last"}},
		{36, name + help, []string{"    /copy [N]", "      the text of the last answer,", "      or of the Nth last"}},
		{36, "                " + help, []string{"      the text of the last answer,", "      or of the Nth last"}},
		{36, "a plain line that is too long for the screen", nil},
		{36, "a first column that is far too long to be a name  and a second", nil},
	} {
		u := &ui{cols: c.cols}
		var got []string
		for _, l := range u.columns(c.line) {
			got = append(got, l.Rows(c.cols)...)
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%q at %d:\n%s", c.line, c.cols, diff)
		}
	}
}
