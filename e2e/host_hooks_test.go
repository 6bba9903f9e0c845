package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lathe/internal/fakeapi"
)

// serve answers every question of the program by its subtype until a result comes, and returns the result.
func (h *host) serve(answers map[string]func(id string, req map[string]any) string) map[string]any {
	h.t.Helper()
	for {
		m := h.next("a result", func(m map[string]any) bool { return m["type"] == "result" || m["type"] == "control_request" })
		if m["type"] == "result" {
			return m
		}
		req := m["request"].(map[string]any)
		kind := fmt.Sprint(req["subtype"])
		f := answers[kind]
		if f == nil {
			h.t.Fatalf("the program asks for %s: %v", kind, m)
		}
		id := m["request_id"].(string)
		if payload := f(id, req); payload != "" {
			h.reply(id, payload)
		}
	}
}

func (h *host) initialize(hooks string) {
	h.t.Helper()
	h.say(`{"type":"control_request","request_id":"init2","request":{"subtype":"initialize","hooks":%s}}`, strings.Join(strings.Fields(hooks), " "))
	m := h.next("the handshake", func(m map[string]any) bool { return at(m, "response.request_id") == "init2" })
	if at(m, "response.response.hooks_applied") != true || at(m, "response.response.hook_on_failure_supported") != true {
		h.t.Fatalf("handshake: %v", m)
	}
}

// Callbacks of the host decide like hooks of the settings; what takes too long is withdrawn and blocks the call.
func TestHostHooks(t *testing.T) {
	t.Parallel()
	r := newRig(t, fakeapi.Sequence(
		answer(bash("touch one")), answer(bash("touch two")), answer(fakeapi.Call("Write", map[string]any{"file_path": "slow", "content": "x"})), answer(bash("touch fails")), answer(bash("touch last")), fakeapi.Text("done"), fakeapi.Text("really done"),
	))
	h := r.host(t, "--permission-mode", "bypassPermissions")
	h.initialize(`{"PreToolUse":[{"matcher":"Bash","hookCallbackIds":["hook_0"]},{"matcher":"Write","hookCallbackIds":["hook_0"],"timeout":0.3}],"UserPromptSubmit":[{"hookCallbackIds":["hook_1"]}],
		"PostToolUse":[{"matcher":"Read|Bash","hookCallbackIds":["hook_2"]}],"Stop":[{"hookCallbackIds":["hook_3"]}],"PostToolBatch":[{"hookCallbackIds":["hook_4"]}]}`)
	h.user("go")
	var seen []string
	stops := 0
	res := h.serve(map[string]func(string, map[string]any) string{"hook_callback": func(id string, req map[string]any) string {
		event, command := fmt.Sprint(at(req, "input.hook_event_name")), fmt.Sprint(at(req, "input.tool_input.command"))
		seen = append(seen, fmt.Sprint(req["callback_id"], " ", event))
		switch {
		case event == "UserPromptSubmit":
			return `{"hookSpecificOutput":{"hookEventName":"UserPromptSubmit","additionalContext":"the weather is fine"}}`
		case event == "PreToolUse" && command == "touch one":
			if req["tool_use_id"] == nil || at(req, "input.session_id") == nil {
				t.Errorf("the request: %v", req)
			}
			return `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"never one"}}`
		case event == "PreToolUse" && command == "touch two":
			return `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow","updatedInput":{"command":"touch changed"}}}`
		case event == "PreToolUse" && at(req, "input.tool_name") == "Write":
			h.next("the withdrawal", func(m map[string]any) bool { return m["type"] == "control_cancel_request" && m["request_id"] == id })
			return `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow"}}` // too late
		case event == "PreToolUse" && command == "touch fails":
			h.say(`{"type":"control_response","response":{"subtype":"error","request_id":%q,"error":"it threw"}}`, id)
			return ""
		case event == "Stop":
			if stops++; stops == 1 {
				return `{"decision":"block","reason":"say it again"}`
			}
		}
		return `{}`
	}})
	if res["result"] != "really done" {
		t.Errorf("result %v", res)
	}
	for name, want := range map[string]bool{"one": false, "two": false, "changed": true, "slow": false, "fails": true, "last": true} {
		if _, err := os.Stat(filepath.Join(r.dir, name)); (err == nil) != want {
			t.Errorf("file %s: %v", name, err)
		}
	}
	body := string(r.last().Body)
	for _, want := range []string{"the weather is fine", "never one", "too long to answer", "say it again"} {
		if !strings.Contains(body, want) {
			t.Errorf("the model was not told %q", want)
		}
	}
	if stops != 2 || !strings.Contains(strings.Join(seen, ","), "hook_4 PostToolBatch") {
		t.Errorf("seen: %v", seen)
	}
	if code := h.end(); code != 0 {
		t.Errorf("exit code %d\n%s", code, h.errs)
	}
	r.legal()
}

// A hook and the host are asked at the same time; the first answer counts, and the other question is withdrawn.
func TestHostPermissionRequestHook(t *testing.T) {
	t.Parallel()
	r := newRig(t, fakeapi.Sequence(answer(bash("touch one")), answer(bash("touch two")), fakeapi.Text("done")))
	h := r.host(t, "--permission-prompt-tool=stdio")
	h.initialize(`{"PermissionRequest":[{"hookCallbackIds":["hook_0"]}]}`)
	h.user("go")
	both := func() (hook, asked string) {
		for range 2 {
			id, req := h.asked()
			if req["subtype"] == "hook_callback" {
				hook = id
			} else {
				asked = id
			}
		}
		return hook, asked
	}
	hook, asked := both()
	h.reply(hook, `{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"allow","updatedInput":{"command":"touch changed"}}}}`)
	h.next("the withdrawn question", func(m map[string]any) bool { return m["type"] == "control_cancel_request" && m["request_id"] == asked })
	hook, asked = both()
	h.reply(asked, `{"behavior":"deny","message":"no"}`)
	h.next("the withdrawn hook", func(m map[string]any) bool { return m["type"] == "control_cancel_request" && m["request_id"] == hook })
	if m := h.typed("result"); m["result"] != "done" || len(m["permission_denials"].([]any)) != 1 {
		t.Errorf("result %v", m)
	}
	if code := h.end(); code != 0 {
		t.Errorf("exit code %d\n%s", code, h.errs)
	}
	for name, want := range map[string]bool{"one": false, "changed": true, "two": false} {
		if _, err := os.Stat(filepath.Join(r.dir, name)); (err == nil) != want {
			t.Errorf("file %s: %v", name, err)
		}
	}
	r.legal()
}

// A question that comes after the host has closed its side is refused, and hooks that cannot be asked are passed over.
func TestHostGone(t *testing.T) {
	t.Parallel()
	r := newRig(t, fakeapi.Sequence(fakeapi.Text("one"), answer(bash("touch two")), fakeapi.Text("two")))
	h := r.host(t, "--permission-prompt-tool=stdio")
	h.initialize(`{"Stop":[{"hookCallbackIds":["hook_0"]}],"PreToolUse":[{"hookCallbackIds":["hook_1"]}]}`)
	h.user("first")
	id, _ := h.asked() // the Stop hook of the first turn
	h.user("second")
	_ = h.in.Close()
	_ = id
	if m := h.typed("result"); m["result"] != "one" {
		t.Errorf("result %v", m)
	}
	if m := h.typed("result"); m["result"] != "two" || len(m["permission_denials"].([]any)) != 1 {
		t.Errorf("result %v", m)
	}
	if code := h.end(); code != 0 {
		t.Errorf("exit code %d\n%s", code, h.errs)
	}
	r.legal()
}
