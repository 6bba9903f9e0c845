package tui

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"lathe/internal/event"
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

// The question of a sub-agent stays when the turn is over, and leaves the screen when it is taken back: a hook has answered it, or
// the sub-agent was stopped.
func TestQuestionsOfSubAgents(t *testing.T) {
	now := time.Unix(1e9, 0)
	u := bare(&now)
	tell := func(e event.Event, parent string) {
		env := event.Envelope{Event: e, Parent: parent}
		if parent != "" {
			env.Agent = event.Agent{ID: "x", Type: "helper"}
		}
		u.event(env)
	}
	open := func(want ...string) {
		t.Helper()
		var ids []string
		for _, d := range u.dialogs {
			id, _ := d.(asks).asked()
			ids = append(ids, id)
		}
		if diff := cmp.Diff(want, ids); diff != "" {
			t.Error(diff)
		}
	}
	questions := []byte(`{"questions":[{"question":"Which?","options":[{"label":"This"}]}]}`)
	tell(event.Ask{ID: "a", Tool: "Bash"}, "")
	tell(event.Ask{ID: "b", Tool: "Bash"}, "call")
	tell(event.Ask{ID: "c", Tool: "Edit"}, "call")
	tell(event.Ask{ID: "d", Tool: "AskUserQuestion", Input: questions, AgentID: "x"}, "call")
	tell(event.Ask{ID: "e", Tool: "AskUserQuestion", Input: questions}, "")
	tell(event.TurnDone{}, "")
	open("b", "c", "d")
	tell(event.AskWithdrawn{ID: "c"}, "call")
	open("b", "d")
	tell(event.State{State: "idle"}, "")
	open("b", "d")
}

// Errors are shown where hints and lists are, and may quote what comes from outside: a terminal must not act on that.
func TestErrorsAreInert(t *testing.T) {
	now := time.Unix(1e9, 0)
	u := bare(&now)
	u.cols = 80
	evil := "cannot read \x1b]52;c;x\x07\u202egpj"
	u.hint = evil
	rows, _ := u.inputRows(10)
	p := newPicker(evil, nil, func(entry) {})
	p.empty = evil
	more, _ := p.rows(u, 80, 20)
	c := &choice{title: "x", options: []option{{label: "Yes"}}, body: func(int) []string { return nil }}
	asked, _ := c.rows(u, 80, 20)
	for _, r := range append(append(rows, more...), asked...) {
		if strings.ContainsAny(r, "\x07\u202e") || strings.Contains(r, "\x1b]") {
			t.Errorf("%q", r)
		}
	}
}
