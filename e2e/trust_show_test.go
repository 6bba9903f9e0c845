package e2e

import (
	"strings"
	"testing"

	"lathe/internal/fakeapi"
)

// lathe trust --show marks, against the last yes, what is new, what has changed and what is gone.
func TestTrustShowsWhatChanged(t *testing.T) {
	t.Parallel()
	r := newRig(t, &fakeapi.Script{})
	hook := func(event, command string) string {
		return `"` + event + `":[{"hooks":[{"type":"command","command":"` + command + `"}]}]`
	}
	r.file(".claude/settings.json", `{"hooks":{`+hook("Stop", "echo one")+`,`+hook("PreToolUse", "echo two")+`}}`)
	if o := r.must("trust", "--show"); strings.Contains(o.out, "(new)") || strings.Contains(o.out, "no longer there") {
		t.Errorf("before any yes: %s", o.out)
	}
	r.must("trust")
	r.file(".claude/settings.json", `{"hooks":{`+hook("Stop", "echo other")+`,`+hook("SessionEnd", "echo three")+`}}`)
	o := r.must("trust", "--show")
	for _, want := range []string{"hook Stop (changed):", "hook SessionEnd (new):", "no longer there: hook PreToolUse (.claude/settings.json)"} {
		if !strings.Contains(o.out, want) {
			t.Errorf("%q is missing in\n%s", want, o.out)
		}
	}
	r.must("trust")
	if o := r.must("trust", "--show"); strings.Contains(o.out, "(new)") || strings.Contains(o.out, "(changed)") || strings.Contains(o.out, "no longer there") {
		t.Errorf("after another yes: %s", o.out)
	}
}
