package event

import (
	"encoding/json"
	"testing"
	"time"
)

// Calls that end soon have no progress line, others one a second at most.
func TestProgressLines(t *testing.T) {
	e := &Encoder{NewID: func() string { return "u" }}
	var got []float64
	tell := func(id string, at time.Duration) {
		t.Helper()
		for _, l := range e.Lines(Envelope{Session: "s", Parent: "p", Event: ToolProgress{ID: id, Name: "Bash", Text: "x", Elapsed: at}}) {
			var m map[string]any
			if err := json.Unmarshal(l, &m); err != nil {
				t.Fatal(err)
			}
			if m["type"] != "tool_progress" || m["tool_use_id"] != id || m["tool_name"] != "Bash" || m["parent_tool_use_id"] != "p" || m["session_id"] != "s" {
				t.Errorf("the line: %s", l)
			}
			got = append(got, m["elapsed_time_seconds"].(float64))
		}
	}
	for _, at := range []time.Duration{0, 900, 1500, 2400, 2500, 30000} {
		tell("a", at*time.Millisecond)
		tell("b", 0)
	}
	want := []float64{1.5, 2.5, 30}
	if len(got) != len(want) || got[0] != want[0] || got[1] != want[1] || got[2] != want[2] {
		t.Errorf("told at %v, want %v", got, want)
	}
	e.Lines(Envelope{Event: ToolDone{ID: "a"}})
	if len(e.progressed) != 0 {
		t.Errorf("calls that ended are remembered: %v", e.progressed)
	}
}
