package headless

import (
	"bytes"
	"testing"

	"lathe/internal/event"
	"lathe/internal/msg"
)

// TestOnce: where the same eyes read both streams the result is said once; else each stream is whole.
func TestOnce(t *testing.T) {
	text := func(s, stop string) event.Event {
		return event.Message{Msg: msg.Message{Kind: msg.KindAssistant, StopReason: stop, Blocks: []msg.Block{msg.Text(s)}}}
	}
	ok := event.TurnDone{Result: event.Result{Subtype: event.Success, Text: "Done."}}
	failed := event.TurnDone{Result: event.Result{Subtype: event.Success, IsError: true, Text: "API Error: 500"}}
	cases := map[string]struct {
		terminal     bool
		events       []event.Event
		out, errText string
	}{
		"terminal":            {true, []event.Event{text("I look.", "tool_use"), text("Done.", "end_turn"), ok}, "Done.\n", "  I look.\n"},
		"among others":        {true, []event.Event{text("Done.", "end_turn"), event.CommandsChanged{}, event.State{State: "idle"}, ok}, "Done.\n", ""},
		"pipe":                {false, []event.Event{text("I look.", "tool_use"), text("Done.", "end_turn"), ok}, "Done.\n", "  I look.\n  Done.\n"},
		"sent on by a hook":   {true, []event.Event{text("Enough?", "end_turn"), text("Done.", "end_turn"), ok}, "Done.\n", "  Enough?\n"},
		"another result":      {true, []event.Event{text("Enough?", "end_turn"), failed}, "API Error: 500\n", "  Enough?\n"},
		"failure, terminal":   {true, []event.Event{failed}, "API Error: 500\n", ""},
		"failure, redirected": {false, []event.Event{failed}, "API Error: 500\n", "lathe: API Error: 500\n"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			var out, errOut bytes.Buffer
			w := writer{out: &out, errOut: &errOut, o: Options{Format: Text, Verbose: true, Terminal: c.terminal}, once: c.terminal}
			for _, e := range c.events {
				if err := w.event(event.Envelope{Event: e}); err != nil {
					t.Fatal(err)
				}
			}
			if out.String() != c.out || errOut.String() != c.errText {
				t.Errorf("out %q, standard error %q", out.String(), errOut.String())
			}
		})
	}
}
