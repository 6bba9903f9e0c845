package tui

import (
	"fmt"
	"strings"
	"testing"

	"lathe/internal/front/tui/term"
	"lathe/internal/front/tui/theme"
)

// On a small screen what is asked about is seen, and an answer that is not shown whole is not taken before it is.
func TestChoiceOnASmallScreen(t *testing.T) {
	taken := -1
	long := strings.Repeat("Bash(a rule with many words) ", 8)
	c := &choice{title: "Run this command?", body: func(int) []string {
		var out []string
		for n := range 20 {
			out = append(out, fmt.Sprintf("command row %d", n))
		}
		return out
	}}
	for i, label := range []string{"Yes", "Yes, and for this session: " + long, "Yes, and always: " + long, "No"} {
		c.options = append(c.options, option{label: label, do: func(string) { taken = i }})
	}
	u := &ui{th: theme.Theme{}}
	u.open(c)
	draw := func() string {
		rows, _ := c.rows(u, 40, 20)
		if len(rows) > 20 {
			t.Errorf("%d rows of 20", len(rows))
		}
		return strings.Join(rows, "\n")
	}
	if got := draw(); !strings.Contains(got, "command row 5") || !strings.Contains(got, "4. No") || !strings.Contains(got, "below") {
		t.Fatal(got)
	}
	two := term.Key{Text: "2", Code: '2'}
	c.key(u, two)
	if taken != -1 || c.sel != 1 {
		t.Fatalf("took %d, chose %d", taken, c.sel)
	}
	if got := draw(); strings.Count(strings.Join(strings.Fields(got), " "), "rule with") < 8 || !strings.Contains(got, "command row 0") {
		t.Error(got)
	}
	if c.key(u, two); taken != 1 {
		t.Errorf("took %d", taken)
	}
}
