package hook_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"lathe/internal/hook"
	"lathe/internal/perm"
)

// A handler that is not run, when it is asked or from the start, holds up what it would have judged, and nothing else.
func TestHeldEvents(t *testing.T) {
	for _, c := range []struct {
		event     hook.Event
		more      []string
		callsOnly bool
		want      perm.Verdict // Abstain: no decision
	}{
		{event: hook.PreToolUse, want: perm.Ask},
		{event: hook.PreToolUse, more: []string{"onFailure", `"block"`}, want: perm.Deny},
		{event: hook.PreToolUse, more: []string{"async", "true"}},
		{event: hook.UserPromptSubmit, want: perm.Deny},
		{event: hook.UserPromptExpansion, want: perm.Deny},
		{event: hook.PreSkillShellCommand, want: perm.Deny},
		{event: hook.PreModelSwitch, want: perm.Deny},
		{event: hook.ConfigChange, want: perm.Deny},
		{event: hook.PermissionRequest},
		{event: hook.PostToolUse},
		{event: hook.Stop},
		{event: hook.SessionStart},
		{event: hook.PreToolUse, callsOnly: true, want: perm.Ask},
		{event: hook.UserPromptSubmit, callsOnly: true},
	} {
		config := command(c.event, "touch ran", c.more...)
		for _, from := range []string{"asked", "start"} {
			r := newRig(t, config, func(d *hook.Deps) {
				if from == "asked" {
					d.Refuse = func(perm.Source, string, []string, string) string { return "it is another" }
					return
				}
				d.Set = hook.Parse([]hook.Source{{Scope: "project", Hooks: json.RawMessage(config), Held: "it is another", CallsOnly: c.callsOnly}}, perm.Options{Platform: "linux"})
			})
			p := bash("ls")
			p.Event = c.event
			want := c.want
			if from == "asked" && c.callsOnly {
				continue
			}
			o := r.Fire(t.Context(), p)
			got := perm.Abstain
			if o.Decision != nil {
				got = o.Decision.Verdict
			}
			if got != want || o.Held != (want == perm.Ask) {
				t.Errorf("%s %v, %s: %v, want %v", c.event, c.more, from, got, want)
			}
			if _, err := os.Stat(filepath.Join(r.dir, "ran")); err == nil {
				t.Errorf("%s, %s: it ran", c.event, from)
			}
		}
	}
}
