package e2e

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"lathe/internal/fakeapi"
)

// What the Python SDK does otherwise: values in words of their own, the system prompt on the command line, hooks null and
// matchers null, text as content, and an answer to the handshake that it waits for.
func TestHostPython(t *testing.T) {
	t.Parallel()
	r := newRig(t, fakeapi.Sequence(answer(bash("touch x")), fakeapi.Text("done")))
	r.env = append(r.env, "CLAUDE_CODE_ENTRYPOINT=sdk-py")
	h := r.hostRaw(t, "--output-format", "stream-json", "--verbose", "--system-prompt", "", "--model", "claude-haiku-5-5", "--max-turns", "5",
		"--permission-prompt-tool", "stdio", "--permission-mode", "default", "--setting-sources=", "--input-format", "stream-json")
	h.say(`{"type":"control_request","request_id":"req_1_ab","request":{"subtype":"initialize","hooks":{"PreToolUse":[{"matcher":null,"hookCallbackIds":["hook_0"]}]},"agents":null}}`)
	if m := h.typed("control_response"); at(m, "response.subtype") != "success" || at(m, "response.request_id") != "req_1_ab" {
		t.Fatalf("handshake: %v", m)
	}
	h.say(`{"type":"user","message":{"role":"user","content":"hello"},"parent_tool_use_id":null,"session_id":"default"}`)
	res := h.serve(map[string]func(string, map[string]any) string{
		"hook_callback": func(string, map[string]any) string { return `{}` },
		"can_use_tool": func(_ string, q map[string]any) string {
			return `{"behavior":"allow","updatedInput":{"command":"touch x"}}`
		},
	})
	for _, key := range []string{"subtype", "duration_ms", "duration_api_ms", "is_error", "num_turns", "session_id"} {
		if res[key] == nil {
			t.Errorf("the result has no %s", key)
		}
	}
	if _, err := os.Stat(filepath.Join(r.dir, "x")); err != nil {
		t.Error("the allowed call did not run")
	}
	for _, l := range h.all {
		if l["type"] == "assistant" && (at(l, "message.model") == nil || at(l, "message.content") == nil) {
			t.Errorf("an assistant message that the Python SDK cannot read: %v", l)
		}
	}
	if code := h.end(); code != 0 {
		t.Errorf("exit code %d\n%s", code, h.errs)
	}
	r.legal()
}

// What is no request that is known is answered with an error; what is no message is passed over.
func TestHostOddLines(t *testing.T) {
	t.Parallel()
	r := newRig(t, fakeapi.Sequence(fakeapi.Text("one")))
	h := r.host(t)
	h.say(`{"type":"control_request","request_id":"a","request":{"subtype":"make_coffee"}}`)
	m := h.next("the refusal", func(m map[string]any) bool { return at(m, "response.request_id") == "a" })
	if at(m, "response.subtype") != "error" || at(m, "response.error_code") != "unsupported_request" {
		t.Errorf("unknown request: %v", m)
	}
	for _, line := range []string{
		`{"type":"control_request","request_id":"b"}`, `{"type":"control_request","request_id":"c","request":7}`,
		`{"type":"user"}`, `{"type":"user","message":{"role":"user","content":7}}`,
		`{"type":"control_response"}`, `{"type":"control_response","response":{"subtype":"success","request_id":"never asked","response":{}}}`,
		`{"type":"control_cancel_request","request_id":"zzz"}`, `{"type":7}`, `[1,2]`, `null`, `"text"`, `{`, "\xff\xfe", "", "   \r",
	} {
		h.say("%s", line)
	}
	h.user("hi")
	if m := h.typed("result"); m["result"] != "one" {
		t.Errorf("result %v", m)
	}
	if code := h.end(); code != 0 {
		t.Errorf("exit code %d\n%s", code, h.errs)
	}
}

// A line of 50 MB is a message like any other.
func TestHostLongLine(t *testing.T) {
	t.Parallel()
	r := newRig(t, &fakeapi.Script{Default: &fakeapi.Answer{Text: "long"}})
	h := r.host(t)
	h.say(`{"type":"keep_alive","filling":"%s"}`, strings.Repeat("x", 50<<20))
	h.user("hi")
	if m := h.typed("result"); m["result"] != "long" {
		t.Errorf("result %v", m)
	}
	if code := h.end(); code != 0 {
		t.Errorf("exit code %d\n%s", code, h.errs)
	}
}

// A host that reads slowly gets everything; one that dies takes the program and what it runs along.
func TestHostSlowAndDying(t *testing.T) {
	t.Parallel()
	r := newRig(t, fakeapi.Sequence(fakeapi.Answer{Text: strings.Repeat("word ", 40_000), Chunk: 512}, answer(bash("touch started; sleep 300"))))
	h := r.host(t, "--include-partial-messages", "--permission-mode", "bypassPermissions")
	h.user("hi")
	r.called(1, 10)
	text := ""
	for {
		m := h.next("a line", func(map[string]any) bool { return true })
		if d, ok := at(m, "event.delta.text").(string); ok {
			text += d
		}
		if m["type"] == "result" {
			if m["result"] != text || len(text) != 200_000 {
				t.Errorf("%d bytes of deltas, %d of the result", len(text), len(fmt.Sprint(m["result"])))
			}
			break
		}
	}
	h.user("go")
	h.next("the call", func(m map[string]any) bool { return m["type"] == "assistant" })
	for limit := time.Now().Add(patience); ; time.Sleep(5 * time.Millisecond) {
		if _, err := os.Stat(filepath.Join(r.dir, "started")); err == nil {
			break
		}
		if time.Now().After(limit) {
			t.Fatal("the command does not start")
		}
	}
	_ = h.outPipe.Close() // the host's end of both pipes goes
	h.say(`{"type":"control_request","request_id":"x","request":{"subtype":"get_session_cost"}}`)
	_ = h.in.Close()
	done := make(chan error, 1)
	go func() { done <- h.cmd.Wait() }()
	select {
	case <-done:
	case <-time.After(patience):
		t.Fatal("the program outlives its host")
	}
}

// With --await-initialize the first line must be the handshake.
func TestHostAwaitInitialize(t *testing.T) {
	t.Parallel()
	r := newRig(t, fakeapi.Sequence())
	h := r.hostRaw(t, "--output-format", "stream-json", "--verbose", "--input-format", "stream-json", "--await-initialize")
	h.user("hi")
	_, _ = io.Copy(io.Discard, h.out)
	if code := h.end(); code != 1 || !strings.Contains(h.errs.String(), "--await-initialize") {
		t.Errorf("exit code %d: %s", code, h.errs)
	}
}

// The exit code says how the last turn ended; a session that cannot start gives an empty result.
func TestHostExitCodes(t *testing.T) {
	t.Parallel()
	r := newRig(t, &fakeapi.Script{Default: &fakeapi.Answer{Faults: []fakeapi.Fault{{Kind: fakeapi.FaultStatus, Status: 400}}}})
	h := r.host(t)
	h.user("hi")
	if m := h.typed("result"); m["is_error"] != true || m["subtype"] != "success" || m["api_error_status"] != float64(400) {
		t.Errorf("result %v", m)
	}
	if code := h.end(); code != 1 {
		t.Errorf("exit code %d after an error", code)
	}
	h = r.hostRaw(t, "--output-format", "stream-json", "--verbose", "--input-format", "stream-json", "--resume=11111111-2222-4333-8444-555555555555")
	h.say(`{"type":"control_request","request_id":"init","request":{"subtype":"initialize","hooks":null}}`)
	m := h.next("a line", func(map[string]any) bool { return true })
	if m["type"] != "result" || m["num_turns"] != float64(0) || m["total_cost_usd"] != float64(0) {
		t.Errorf("the first line: %v", m)
	}
	if code := h.end(); code != 1 || !strings.Contains(h.errs.String(), "No conversation found with session ID") {
		t.Errorf("exit code %d: %s", code, h.errs)
	}
	h = r.hostRaw(t, "--output-format", "stream-json", "--verbose", "--input-format", "stream-json")
	if code := h.end(); code != 0 {
		t.Errorf("exit code %d when nothing was asked", code)
	}
}

// A message that waits can be taken back, and an interrupt says what still waits, or drops it.
func TestHostQueue(t *testing.T) {
	t.Parallel()
	r := newRig(t, fakeapi.Sequence(answer(bash("touch started; sleep 300")), fakeapi.Text("two")))
	h := r.host(t, "--permission-mode", "bypassPermissions")
	named := func(n int) string { return fmt.Sprintf("0a1b2c3d-1111-4222-8333-44445555880%d", n) }
	message := func(n int) {
		h.say(`{"type":"user","session_id":"","uuid":"%s","message":{"role":"user","content":"message %d"},"parent_tool_use_id":null}`, named(n), n)
	}
	message(1)
	h.next("the call", func(m map[string]any) bool { return m["type"] == "assistant" })
	message(2)
	message(3)
	h.next("the third waits", func(m map[string]any) bool { return m["type"] == "command_lifecycle" && m["command_uuid"] == named(3) })
	h.say(`{"type":"control_request","request_id":"take","request":{"subtype":"cancel_async_message","message_uuid":"%s"}}`, named(2))
	m := h.next("the answer", func(m map[string]any) bool { return at(m, "response.request_id") == "take" })
	if at(m, "response.response.cancelled") != true {
		t.Errorf("taken back: %v", m)
	}
	h.say(`{"type":"control_request","request_id":"stop","request":{"subtype":"interrupt"}}`)
	m = h.next("the receipt", func(m map[string]any) bool { return at(m, "response.request_id") == "stop" })
	if rest, _ := json.Marshal(at(m, "response.response.still_queued")); string(rest) != `["`+named(3)+`"]` {
		t.Errorf("still queued: %s", rest)
	}
	if m := h.typed("result"); m["is_error"] != true || m["queued_turn_count"] != float64(1) {
		t.Errorf("result %v", m)
	}
	if m := h.typed("result"); m["result"] != "two" || m["user_message_uuid"] != named(3) {
		t.Errorf("result %v", m)
	}
	if body := string(r.last().Body); strings.Contains(body, "message 2") || !strings.Contains(body, "message 3") {
		t.Errorf("what was sent: %s", body)
	}
	if code := h.end(); code != 0 {
		t.Errorf("exit code %d\n%s", code, h.errs)
	}
	r.legal()
}
