package main

import (
	"testing"

	"lathe/internal/pipeline/compact"
)

// A long turn costs less with the planner than without its steps, and the API refuses nothing of it.
func TestPlannedCostsLessInOneTurn(t *testing.T) {
	sc := scenario{model: "claude-opus-5-5", passes: 60, turn: 60, window: 200_000, reread: 0.3}
	planned, err := sc.play(compact.Config{Auto: true}, 0)
	if err != nil {
		t.Fatal(err)
	}
	none, err := sc.play(compact.Config{Auto: true, Off: []string{"snip", "microcompact", "collapse"}}, 0)
	if err != nil {
		t.Fatal(err)
	}
	if planned.edits == 0 || planned.cost >= none.cost {
		t.Errorf("planned: $%.2f with %d edits, without steps: $%.2f", planned.cost, planned.edits, none.cost)
	}
}
