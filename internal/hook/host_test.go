package hook_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"lathe/internal/hook"
	"lathe/internal/perm"
)

func hosted(t *testing.T, answer func(ctx context.Context, id string) (string, error)) *rig {
	t.Helper()
	return newRig(t, `{}`, func(d *hook.Deps) {
		d.Call = func(ctx context.Context, id, callID string, input json.RawMessage) (json.RawMessage, error) {
			if callID != "t1" || !strings.Contains(string(input), `"hook_event_name":"PreToolUse"`) {
				t.Errorf("%s was asked about %q with %s", id, callID, input)
			}
			v, err := answer(ctx, id)
			return json.RawMessage(v), err
		}
	})
}

// What a host answers counts like what a hook of the settings writes.
func TestHostAnswers(t *testing.T) {
	deny := `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"no"}}`
	for name, tt := range map[string]struct {
		answer  string
		err     error
		failure string
		want    perm.Verdict // Abstain: no decision
		problem bool
	}{
		"deny":               {answer: deny, want: perm.Deny},
		"no opinion":         {answer: `{}`},
		"null":               {answer: `null`},
		"goes on without it": {answer: `{"async":true}`},
		"no object":          {answer: `"yes"`, problem: true},
		"wrong event":        {answer: `{"hookSpecificOutput":{"hookEventName":"Stop"}}`, problem: true},
		"threw":              {err: errors.New("boom"), problem: true},
		"threw and guards":   {err: errors.New("boom"), failure: "block", want: perm.Deny, problem: true},
		"gone":               {err: hook.ErrGone},
		"gone and guards":    {err: hook.ErrGone, failure: "block", want: perm.Deny, problem: true},
	} {
		t.Run(name, func(t *testing.T) {
			r := hosted(t, func(context.Context, string) (string, error) { return tt.answer, tt.err })
			if _, err := r.SetHost(json.RawMessage(`{"PreToolUse":[{"matcher":null,"hookCallbackIds":["hook_0"],"onFailure":"` + tt.failure + `"}]}`)); err != nil {
				t.Fatal(err)
			}
			o := r.Fire(t.Context(), bash("ls"))
			got := perm.Abstain
			if o.Decision != nil {
				got = o.Decision.Verdict
			}
			if got != tt.want || (len(o.Problems) > 0) != tt.problem {
				t.Errorf("decided %v, problems %q", got, o.Problems)
			}
		})
	}
}

func TestHostTakesTooLong(t *testing.T) {
	withdrawn := false
	r := hosted(t, func(ctx context.Context, _ string) (string, error) {
		<-ctx.Done()
		withdrawn = true
		return "", context.Cause(ctx)
	})
	if _, err := r.SetHost(json.RawMessage(`{"PreToolUse":[{"hookCallbackIds":["hook_0"],"timeout":0.02}]}`)); err != nil {
		t.Fatal(err)
	}
	if o := r.Fire(t.Context(), bash("ls")); !withdrawn || o.Decision == nil || o.Decision.Verdict != perm.Deny {
		t.Errorf("withdrawn %v, decision %+v", withdrawn, o.Decision)
	}
}

// A later registration replaces the one before; what cannot be read leaves it.
func TestHostIsReplaced(t *testing.T) {
	var asked []string
	r := hosted(t, func(_ context.Context, id string) (string, error) { asked = append(asked, id); return `{}`, nil })
	set := func(text string) []string {
		t.Helper()
		problems, err := r.SetHost(json.RawMessage(text))
		if (err != nil) != (text == `[]`) {
			t.Errorf("%s: %v", text, err)
		}
		return problems
	}
	set(`{"PreToolUse":[{"matcher":"Bash|Read","hookCallbackIds":["hook_0","hook_0"]},{"matcher":"Write","hookCallbackIds":["hook_1"]}]}`)
	r.Fire(t.Context(), bash("ls"))
	set(`[]`)
	r.Fire(t.Context(), bash("ls"))
	if problems := set(`{"PreToolUse":[{"hookCallbackIds":["hook_2"]}],"Nonsense":[]}`); len(problems) != 1 {
		t.Errorf("problems %q", problems)
	}
	r.Fire(t.Context(), bash("ls"))
	set(`null`)
	r.Fire(t.Context(), bash("ls"))
	if strings.Join(asked, " ") != "hook_0 hook_0 hook_2" {
		t.Errorf("asked %v", asked)
	}
	if r.Has(hook.PreToolUse, "Bash") {
		t.Error("hooks that are gone are there")
	}
}
