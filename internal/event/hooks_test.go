package event_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"lathe/internal/event"
)

// Hooks of a session's start are always told of, others when the host asks for them.
func TestHookLines(t *testing.T) {
	lines := func(hooks bool, e event.Event) []string {
		enc := event.Encoder{NewID: func() string { return "u" }, Hooks: hooks}
		var out []string
		for _, l := range enc.Lines(event.Envelope{Session: "s", Event: e}) {
			out = append(out, string(l))
		}
		return out
	}
	started := event.HookStarted{ID: "h1", Name: "Stop", Event: "Stop"}
	done := event.HookDone{ID: "h1", Name: "SessionStart:startup", Event: "SessionStart", Stdout: "o", Stderr: "e", Code: 2, Outcome: "error"}
	got := [][]string{lines(false, started), lines(true, started), lines(false, done)}
	want := [][]string{
		nil,
		{`{"hook_event":"Stop","hook_id":"h1","hook_name":"Stop","session_id":"s","subtype":"hook_started","type":"system","uuid":"u"}`},
		{`{"exit_code":2,"hook_event":"SessionStart","hook_id":"h1","hook_name":"SessionStart:startup","outcome":"error","output":"oe","session_id":"s","stderr":"e","stdout":"o","subtype":"hook_response","type":"system","uuid":"u"}`},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
