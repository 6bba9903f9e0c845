package e2e

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"lathe/internal/fakeapi"
)

// With opusplan the model follows the mode from one call to the next: an approved plan is carried out by the other model,
// in the same turn, and a resumed session that plans does it with the first.
func TestOpusPlanFollowsTheMode(t *testing.T) {
	t.Parallel()
	plan := call("ExitPlanMode", `{"plan":"1. Answer."}`)
	r := newRig(t, fakeapi.Sequence(plan, fakeapi.Text("done"), call("EnterPlanMode", `{}`), fakeapi.Text("planning"), fakeapi.Text("one"), fakeapi.Text("two")))
	ask := []string{"--permission-prompt-tool", "stdio"}
	h := r.host(t, append(ask, "--model", "opusplan", "--permission-mode", "plan", "--session-id", "11111111-1111-4111-8111-111111111111")...)
	h.user("go")
	id, _ := h.asked()
	h.reply(id, `{"behavior":"allow","updatedInput":{"plan":"1. Answer."}}`)
	h.typed("result")
	h.user("plan again")
	h.typed("result")
	if code := h.end(); code != 0 {
		t.Errorf("exit code %d\n%s", code, h.errs)
	}
	h = r.host(t, append(ask, "--resume", "11111111-1111-4111-8111-111111111111")...)
	h.user("go on")
	if m := h.next("init", func(m map[string]any) bool { return m["subtype"] == "init" }); m["model"] != "claude-opus-5-5" {
		t.Errorf("told of the model %v", m["model"])
	}
	h.typed("result")
	h.say(`{"type":"control_request","request_id":"q1","request":{"subtype":"set_permission_mode","mode":"default"}}`)
	h.typed("control_response")
	h.user("and now")
	h.typed("result")
	if code := h.end(); code != 0 {
		t.Errorf("exit code %d\n%s", code, h.errs)
	}
	var models []string
	for _, x := range r.api.Requests() {
		var body struct {
			Model string `json:"model"`
		}
		if err := json.Unmarshal(x.Body, &body); err != nil {
			t.Fatal(err)
		}
		models = append(models, body.Model)
	}
	opus, sonnet := "claude-opus-5-5", "claude-sonnet-5-5"
	if diff := cmp.Diff([]string{opus, sonnet, sonnet, opus, opus, sonnet}, models); diff != "" {
		t.Error(diff)
	}
}
