package e2e

import (
	"strings"
	"testing"

	"lathe/internal/fakeapi"
)

// A Notification hook is told of a sub-agent in the background that asks, and of its end.
func TestNotificationsOfAgents(t *testing.T) {
	t.Parallel()
	r := newRig(t, &fakeapi.Script{Func: func(q fakeapi.Request) *fakeapi.Answer {
		a := fakeapi.Text("Started.")
		switch {
		case isWorker(q) && first(q):
			a = answer(fakeapi.Call("Write", map[string]any{"file_path": "a.txt", "content": "x"}))
		case isWorker(q):
			a = fakeapi.Text("done")
		case !strings.Contains(string(q.Body), "task-notification") && first(q):
			a = answer(handOver("worker", "write it"))
		}
		return &a
	}})
	settings := `{"hooks":{"Notification":[` +
		`{"matcher":"agent_needs_input","hooks":[{"type":"command","command":"touch needs"}]},` +
		`{"matcher":"agent_completed","hooks":[{"type":"command","command":"cat > completed.part && mv completed.part completed"}]}]}}`
	h := r.host(t, "--agents", worker, "--permission-prompt-tool", "stdio", "--settings", settings)
	h.user("go")
	id, _ := h.asked()
	r.appears("needs")
	h.reply(id, `{"behavior":"allow","updatedInput":{"file_path":"a.txt","content":"x"}}`)
	r.appears("completed")
	if in := r.read(r.dir + "/completed"); !strings.Contains(in, `"notification_type":"agent_completed"`) || !strings.Contains(in, "completed") {
		t.Errorf("told %s", in)
	}
	if code := h.end(); code != 0 {
		t.Errorf("exit code %d\n%s", code, h.errs)
	}
}
