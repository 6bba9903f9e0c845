package e2e

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"lathe/internal/fakeapi"
)

// host drives the program over its control channel.
type host struct {
	t       *testing.T
	cmd     *exec.Cmd
	in      io.WriteCloser
	out     *bufio.Reader
	outPipe io.Closer
	errs    *strings.Builder
	all     []map[string]any
}

// host starts the program and begins the handshake.
func (r *rig) host(t *testing.T, args ...string) *host {
	t.Helper()
	h := r.bareHost(t, args...)
	h.say(`{"type":"control_request","request_id":"init","request":{"subtype":"initialize","hooks":null}}`)
	return h
}

// bareHost has said nothing yet.
func (r *rig) bareHost(t *testing.T, args ...string) *host {
	t.Helper()
	return r.hostRaw(t, append([]string{"--output-format", "stream-json", "--verbose", "--input-format", "stream-json"}, args...)...)
}

// hostRaw starts the program with exactly these arguments.
func (r *rig) hostRaw(t *testing.T, args ...string) *host {
	t.Helper()
	cmd := r.command(args...)
	cmd.Env = append(cmd.Env, "CLAUDE_CODE_SDK_READS_SESSION_STATE=1")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	h := &host{t: t, cmd: cmd, in: in, out: bufio.NewReader(out), outPipe: out, errs: &strings.Builder{}}
	cmd.Stderr = h.errs
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	return h
}

func (h *host) say(format string, args ...any) {
	h.t.Helper()
	if _, err := fmt.Fprintf(h.in, format+"\n", args...); err != nil {
		h.t.Fatalf("write to the program: %v\n%s", err, h.errs)
	}
}

func (h *host) user(text string) {
	h.t.Helper()
	b, _ := json.Marshal(text)
	h.say(`{"type":"user","session_id":"","message":{"role":"user","content":%s},"parent_tool_use_id":null}`, b)
}

// next reads lines until one that match accepts.
func (h *host) next(what string, match func(m map[string]any) bool) map[string]any {
	h.t.Helper()
	late := time.AfterFunc(patience, func() { _ = h.cmd.Process.Kill() }) // a test that fails does not wait for ever
	defer late.Stop()
	for {
		line, err := h.out.ReadBytes('\n')
		if err != nil {
			h.t.Fatalf("waiting for %s: %v\n%s", what, err, h.errs)
		}
		var m map[string]any
		if err := json.Unmarshal(line, &m); err != nil {
			h.t.Fatalf("a line that is not JSON: %s", line)
		}
		h.all = append(h.all, m)
		if match(m) {
			return m
		}
	}
}

func (h *host) typed(typ string) map[string]any {
	h.t.Helper()
	return h.next(typ, func(m map[string]any) bool { return m["type"] == typ })
}

// asked waits for a permission question.
func (h *host) asked() (id string, request map[string]any) {
	h.t.Helper()
	m := h.typed("control_request")
	return m["request_id"].(string), m["request"].(map[string]any)
}

func (h *host) reply(id, payload string) {
	h.say(`{"type":"control_response","response":{"subtype":"success","request_id":%q,"response":%s}}`, id, payload)
}

// end closes the input and returns the exit code.
func (h *host) end() int {
	h.t.Helper()
	_ = h.in.Close()
	_, _ = io.Copy(io.Discard, h.out)
	_ = h.cmd.Wait()
	return h.cmd.ProcessState.ExitCode()
}

func at(m map[string]any, path string) any {
	var v any = m
	for _, key := range strings.Split(path, ".") {
		o, ok := v.(map[string]any)
		if !ok {
			return nil
		}
		v = o[key]
	}
	return v
}

func TestHostTurns(t *testing.T) {
	t.Parallel()
	r := newRig(t, fakeapi.Sequence(fakeapi.Text("one"), fakeapi.Text("two")))
	h := r.host(t)
	if m := h.typed("control_response"); at(m, "response.request_id") != "init" || at(m, "response.response.models") == nil {
		t.Errorf("handshake: %v", m)
	}
	h.user("first")
	if m := h.typed("result"); m["result"] != "one" {
		t.Errorf("result %v", m)
	}
	h.next("idle", func(m map[string]any) bool { return m["state"] == "idle" })
	h.say("this is not JSON")
	h.say(`{"type":"keep_alive"}`)
	h.say(`{"type":"something_new","x":1}`)
	h.say(`{"type":"control_request","request_id":"q1","request":{"subtype":"set_model","model":"sonnet"}}`)
	h.typed("control_response")
	h.user("second")
	if m := h.typed("result"); m["result"] != "two" {
		t.Errorf("result %v", m)
	}
	if got := r.last().Model; !strings.Contains(got, "sonnet") {
		t.Errorf("the second turn went to %s", got)
	}
	if code := h.end(); code != 0 {
		t.Errorf("exit code %d\n%s", code, h.errs)
	}
	inits := 0
	for _, m := range h.all {
		if m["subtype"] == "init" {
			inits++
		}
	}
	if inits != 2 {
		t.Errorf("%d init lines for two turns", inits)
	}
	r.legal()
}

func TestHostIsAsked(t *testing.T) {
	t.Parallel()
	r := newRig(t, fakeapi.Sequence(
		answer(bash("touch one")), answer(bash("touch two")), answer(bash("touch three")), answer(bash("touch three")), answer(bash("touch four")), fakeapi.Text("done"),
	))
	h := r.host(t, "--permission-prompt-tool=stdio")
	h.user("go")
	id, q := h.asked()
	if q["tool_name"] != "Bash" || at(q, "input.command") != "touch one" || len(q["permission_suggestions"].([]any)) == 0 {
		t.Errorf("the question: %v", q)
	}
	h.reply(id, `{"behavior":"allow","updatedInput":{"command":"touch changed"}}`)
	id, _ = h.asked()
	h.reply(id, `{"behavior":"deny","message":"not two"}`)
	id, _ = h.asked()
	h.reply(id, `{"behavior":"allow","updatedPermissions":[{"type":"addRules","rules":[{"toolName":"Bash","ruleContent":"touch three"}],"behavior":"allow","destination":"session"}]}`)
	id, q = h.asked() // the second "touch three" is covered by the rule
	if at(q, "input.command") != "touch four" {
		t.Errorf("asked again: %v", q)
	}
	h.reply(id, `"nonsense"`) // whatever is not a plain allow is a no
	res := h.typed("result")
	if denials, _ := res["permission_denials"].([]any); len(denials) != 2 {
		t.Errorf("denials %v", res["permission_denials"])
	}
	if code := h.end(); code != 0 {
		t.Errorf("exit code %d\n%s", code, h.errs)
	}
	for name, want := range map[string]bool{"one": false, "changed": true, "two": false, "three": true, "four": false} {
		if _, err := os.Stat(filepath.Join(r.dir, name)); (err == nil) != want {
			t.Errorf("file %s: %v", name, err)
		}
	}
	r.legal()
}

// A host that has closed its side answers nothing any more: what would be asked is denied, and the turn ends.
func TestHostThatLeaves(t *testing.T) {
	t.Parallel()
	r := newRig(t, fakeapi.Sequence(answer(bash("touch one")), fakeapi.Text("done")))
	h := r.host(t, "--permission-prompt-tool=stdio")
	h.user("go")
	h.asked()
	_ = h.in.Close()
	if m := h.typed("result"); m["result"] != "done" {
		t.Errorf("result %v", m)
	}
	if code := h.end(); code != 0 {
		t.Errorf("exit code %d\n%s", code, h.errs)
	}
	r.legal()
}

func TestHostInterrupts(t *testing.T) {
	t.Parallel()
	r := newRig(t, fakeapi.Sequence(answer(bash("touch started; sleep 300")), fakeapi.Text("on")))
	h := r.host(t, "--permission-mode", "bypassPermissions")
	h.user("go")
	h.next("the call", func(m map[string]any) bool { return m["type"] == "assistant" })
	h.say(`{"type":"control_request","request_id":"stop","request":{"subtype":"interrupt"}}`)
	if m := h.typed("result"); m["subtype"] != "error_during_execution" || m["is_error"] != true {
		t.Errorf("result %v", m)
	}
	h.user("and now?")
	if m := h.typed("result"); m["result"] != "on" {
		t.Errorf("result %v", m)
	}
	if code := h.end(); code != 0 {
		t.Errorf("exit code %d\n%s", code, h.errs)
	}
	r.legal()
}

func TestHostErrors(t *testing.T) {
	t.Parallel()
	r := newRig(t, fakeapi.Sequence())
	h := r.host(t, "--resume", "11111111-2222-4333-8444-555555555555")
	m := h.typed("result")
	if m["is_error"] != true || !strings.Contains(fmt.Sprint(m["errors"]), "No conversation found") {
		t.Errorf("result %v", m)
	}
	if code := h.end(); code != 1 {
		t.Errorf("exit code %d", code)
	}
}
