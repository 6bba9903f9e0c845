package hook_test

import (
	"encoding/json"
	"strings"
	"testing"

	"lathe/internal/hook"
	"lathe/internal/perm"
)

// A handler that is not run holds up what it would have judged, and nothing else: a call is asked about, the rest is refused.
func TestHeld(t *testing.T) {
	const why = "the project has changed"
	for name, c := range map[string]struct {
		event     hook.Event
		more      []string
		callsOnly bool
		want      string
	}{
		"a call":                    {event: hook.PreToolUse, want: "ask"},
		"a call, with a person":     {event: hook.PreToolUse, callsOnly: true, want: "ask"},
		"a prompt":                  {event: hook.UserPromptSubmit, want: "deny"},
		"a prompt, with a person":   {event: hook.UserPromptSubmit, callsOnly: true},
		"a change of the model":     {event: hook.PreModelSwitch, want: "deny"},
		"a question":                {event: hook.PermissionRequest},
		"a result":                  {event: hook.PostToolUse},
		"what decides nothing":      {event: hook.PreToolUse, more: []string{"async", "true"}},
		"what only wakes the model": {event: hook.PreToolUse, more: []string{"asyncRewake", "true"}},
	} {
		held := hook.Source{Scope: "project", File: "/p/settings.json", Held: why, CallsOnly: c.callsOnly, Hooks: json.RawMessage(command(c.event, "touch ran", c.more...))}
		r := newRig(t, "{}", func(d *hook.Deps) { d.Set = hook.Parse([]hook.Source{held}, perm.Options{}) })
		p := bash("ls")
		p.Event = c.event
		if got := short(r.Fire(t.Context(), p)); got.Verdict != c.want || got.Verdict != "" && !strings.Contains(got.Reason, why) {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// So does a command that is refused when it would run; one in the background decides nothing.
func TestRefusedCommand(t *testing.T) {
	refuse := func(d *hook.Deps) {
		d.Refuse = func(perm.Source, string, []string, string) string { return "another program" }
	}
	for _, c := range []struct {
		more []string
		want string
	}{
		{nil, "ask"},
		{[]string{"async", "true"}, ""},
		{[]string{"asyncRewake", "true"}, ""},
	} {
		r := newRig(t, command(hook.PreToolUse, "exit 0", c.more...), refuse)
		if o := r.Fire(t.Context(), bash("ls")); short(o).Verdict != c.want || o.Held != (c.want != "") {
			t.Errorf("%v: %+v", c.more, o)
		}
	}
}
