package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/uuid"

	"lathe/internal/fakeapi"
)

func call(tool, input string) fakeapi.Answer {
	return fakeapi.Answer{Blocks: []fakeapi.Block{{Tool: tool, Input: json.RawMessage(input)}}}
}

const twoQuestions = `{"questions":[{"question":"Which colour?","header":"Colour","multiSelect":false,"options":[{"label":"Red","description":"warm"},{"label":"Blue","description":"cold"}]},` +
	`{"question":"Which sizes?","header":"Sizes","multiSelect":true,"options":[{"label":"S","description":"small"},{"label":"L","description":"large"}]}]}`

func TestQuestionToTheUser(t *testing.T) {
	t.Parallel()
	forged := strings.TrimSuffix(twoQuestions, "}") + `,"answers":{"Which colour?":"Red"}}` // the model cannot answer itself
	r := newRig(t, fakeapi.Sequence(call("AskUserQuestion", twoQuestions), call("AskUserQuestion", forged), call("AskUserQuestion", twoQuestions), fakeapi.Text("done")))
	h := r.host(t, "--permission-prompt-tool", "stdio", "--permission-mode", "acceptEdits")
	h.user("go")
	id, req := h.asked()
	if req["tool_name"] != "AskUserQuestion" || at(req, "input.answers") != nil {
		t.Fatalf("asked %v", req)
	}
	var in map[string]any
	raw, _ := json.Marshal(req["input"])
	_ = json.Unmarshal(raw, &in)
	in["answers"] = map[string]any{"Which colour?": "Blue", "Which sizes?": "S, L", "free": "as you like"}
	answer, _ := json.Marshal(map[string]any{"behavior": "allow", "updatedInput": in})
	h.reply(id, string(answer))
	res := h.typed("user")
	if at(res, "tool_use_result.answers.Which colour?") != "Blue" {
		t.Errorf("result %v", res)
	}
	text, _ := json.Marshal(res)
	for _, want := range []string{"Blue", "S, L", "as you like"} {
		if !strings.Contains(string(text), want) {
			t.Errorf("%s is missing in %s", want, text)
		}
	}
	id, req = h.asked()
	if at(req, "input.answers") != nil {
		t.Errorf("the model's own answers are shown: %v", req)
	}
	h.reply(id, `{"behavior":"allow"}`)
	if text, _ := json.Marshal(h.typed("user")); !strings.Contains(string(text), "nobody gave an answer") {
		t.Errorf("allowed without an answer: %s", text)
	}
	id, _ = h.asked()
	h.reply(id, `{"behavior":"deny","message":"not now"}`)
	if text, _ := json.Marshal(h.typed("user")); !strings.Contains(string(text), "not now") {
		t.Errorf("refused: %s", text)
	}
	h.typed("result")
	if code := h.end(); code != 0 {
		t.Errorf("exit code %d\n%s", code, h.errs)
	}
}

func TestPlanApproval(t *testing.T) {
	t.Parallel()
	plan := `{"plan":"# Add a file\n\n1. Write a.txt"}`
	write := call("Write", `{"file_path":"a.txt","content":"x\n"}`)
	r := newRig(t, fakeapi.Sequence(write, call("ExitPlanMode", plan), call("ExitPlanMode", plan), write, fakeapi.Text("done"), fakeapi.Text("well")))
	h := r.host(t, "--permission-prompt-tool", "stdio", "--permission-mode", "plan", "--session-id", "11111111-1111-4111-8111-111111111111")
	h.user("go")
	first := h.typed("user") // in plan mode nothing may be written, and nobody is asked
	if text, _ := json.Marshal(first); !strings.Contains(string(text), `"is_error":true`) {
		t.Errorf("a write in plan mode: %s", text)
	}
	id, req := h.asked()
	if req["tool_name"] != "ExitPlanMode" || at(req, "input.plan") == nil {
		t.Fatalf("asked %v", req)
	}
	h.reply(id, `{"behavior":"deny","message":"name the file b.txt"}`)
	if text, _ := json.Marshal(h.typed("user")); !strings.Contains(string(text), "name the file b.txt") || !strings.Contains(string(text), "Plan mode goes on") {
		t.Errorf("refused: %s", text)
	}
	id, _ = h.asked()
	h.reply(id, `{"behavior":"allow","updatedInput":{"plan":"# Add a file\n\n1. Write b.txt"}}`)
	status := h.next("status", func(m map[string]any) bool { return m["subtype"] == "status" && m["permissionMode"] != nil })
	if status["permissionMode"] != "default" {
		t.Errorf("status %v", status)
	}
	res := h.typed("user")
	if at(res, "tool_use_result.planWasEdited") != true {
		t.Errorf("result %v", res)
	}
	file, _ := at(res, "tool_use_result.filePath").(string)
	if data, err := os.ReadFile(file); err != nil || !strings.Contains(string(data), "b.txt") || !strings.HasPrefix(filepath.Base(file), "add-a-file-") {
		t.Errorf("plan file %q: %v %q", file, err, data)
	}
	id, req = h.asked() // the write, which is asked for again as in mode default
	if req["tool_name"] != "Write" {
		t.Fatalf("asked %v", req)
	}
	h.reply(id, `{"behavior":"allow","updatedInput":{"file_path":"a.txt","content":"x\n"}}`)
	h.typed("result")
	if code := h.end(); code != 0 {
		t.Errorf("exit code %d\n%s", code, h.errs)
	}
	body := string(r.last().Body)
	if n := strings.Count(body, "Plan mode is on"); n != 1 {
		t.Errorf("plan mode is told %d times", n)
	}
}

func TestPlanModeIsRestored(t *testing.T) {
	t.Parallel()
	r := newRig(t, fakeapi.Sequence(call("EnterPlanMode", `{}`), fakeapi.Text("one"), fakeapi.Text("two"), fakeapi.Text("three"), fakeapi.Text("four")))
	ask := []string{"--permission-prompt-tool", "stdio"}
	h := r.host(t, append(ask, "--permission-mode", "acceptEdits", "--session-id", "11111111-1111-4111-8111-111111111111")...)
	h.user("go")
	h.next("status", func(m map[string]any) bool { return m["permissionMode"] == "plan" })
	h.typed("result")
	h.end()
	if !strings.Contains(string(r.last().Body), "Plan mode is on. The user wants a plan") {
		t.Error("the model is not told how to plan")
	}
	h = r.host(t, append(ask, "--resume", "11111111-1111-4111-8111-111111111111")...)
	h.user("go on")
	if m := h.next("init", func(m map[string]any) bool { return m["subtype"] == "init" }); m["permissionMode"] != "plan" {
		t.Errorf("resumed in mode %v", m["permissionMode"])
	}
	h.typed("result")
	h.say(`{"type":"control_request","request_id":"q1","request":{"subtype":"set_permission_mode","mode":"default"}}`)
	h.typed("control_response")
	h.user("and now")
	h.typed("result")
	h.end()
	if !strings.Contains(string(r.last().Body), "Plan mode is off") {
		t.Error("the model is not told of the end of plan mode")
	}
	// Nobody to ask: the tools are not offered, and plan mode is not restored.
	o := r.must("-p", "hi", "--output-format", "stream-json", "--verbose")
	for _, name := range []string{"AskUserQuestion", "EnterPlanMode", "ExitPlanMode"} {
		if strings.Contains(o.out, `"`+name+`"`) {
			t.Errorf("%s is offered to nobody", name)
		}
	}
}

func modTime(t *testing.T, path string) int64 {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info.ModTime().UnixMilli()
}

// lastResult is the last message of the last request.
func lastResult(t *testing.T, r *rig) string {
	t.Helper()
	var body struct {
		Messages []json.RawMessage `json:"messages"`
	}
	if err := json.Unmarshal(r.last().Body, &body); err != nil {
		t.Fatal(err)
	}
	return string(body.Messages[len(body.Messages)-1])
}

func TestHostRewindsFiles(t *testing.T) {
	t.Parallel()
	script := func() *fakeapi.Script {
		return fakeapi.Sequence(call("Write", `{"file_path":"a.txt","content":"new\nlines\n"}`), fakeapi.Text("done"),
			call("Edit", `{"file_path":"a.txt","old_string":"new","new_string":"newer"}`), fakeapi.Text("done"), fakeapi.Text("more"),
			call("Edit", `{"file_path":"b.txt","old_string":"new","new_string":"newer"}`), fakeapi.Text("done"),
			call("Edit", `{"file_path":"b.txt","old_string":"new","new_string":"newer"}`), fakeapi.Text("done"))
	}
	const first, second = "aaaaaaaa-1111-4111-8111-111111111111", "bbbbbbbb-1111-4111-8111-111111111111"
	say := func(h *host, id, text string) {
		h.say(`{"type":"user","uuid":%q,"session_id":"","message":{"role":"user","content":%q},"parent_tool_use_id":null}`, id, text)
		h.typed("result")
	}
	ask := func(h *host, request string) map[string]any {
		h.say(`{"type":"control_request","request_id":"rw","request":%s}`, request)
		m := h.next("answer", func(m map[string]any) bool {
			return m["type"] == "control_response" && at(m, "response.request_id") == "rw"
		})
		return m["response"].(map[string]any)
	}

	r := newRig(t, script())
	h := r.host(t, "--permission-mode", "acceptEdits")
	say(h, first, "go")
	if m := ask(h, `{"subtype":"rewind_files","user_message_id":"`+first+`"}`); m["subtype"] != "error" || !strings.Contains(m["error"].(string), "checkpoints are off") {
		t.Errorf("checkpoints are off: %v", m)
	}
	h.end()

	r = newRig(t, script())
	r.env = append(r.env, "CLAUDE_CODE_ENABLE_SDK_FILE_CHECKPOINTING=true")
	h = r.host(t, "--permission-mode", "acceptEdits")
	say(h, first, "go")
	dry := ask(h, `{"subtype":"rewind_files","user_message_id":"`+first+`","dry_run":true}`)
	path := filepath.Join(r.dir, "a.txt")
	if at(dry, "response.canRewind") != true || at(dry, "response.deletions") != 2.0 || len(at(dry, "response.filesChanged").([]any)) != 1 || at(dry, "response.filesChanged").([]any)[0] != path {
		t.Errorf("dry run: %v", dry)
	}
	if _, err := os.Stat(path); err != nil {
		t.Error("a dry run changed something")
	}
	if m := ask(h, `{"subtype":"rewind_files","user_message_id":"`+first+`"}`); at(m, "response.canRewind") != true {
		t.Errorf("rewind: %v", m)
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("the file that was made is still there")
	}
	if m := ask(h, `{"subtype":"rewind_files","user_message_id":"cccccccc-1111-4111-8111-111111111111"}`); at(m, "response.canRewind") != false || at(m, "response.error") == nil {
		t.Errorf("unknown message: %v", m)
	}
	if err := os.WriteFile(path, []byte("new\nlines\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	say(h, second, "edit")
	body := string(r.last().Body)
	if !strings.Contains(body, "has not been read in this conversation") || !strings.Contains(body, "had files put back") {
		t.Error("after files were put back an edit needs a fresh read, and the model is told")
	}
	list := ask(h, `{"subtype":"checkpoints"}`)
	points, _ := at(list, "response.checkpoints").([]any)
	if rewinds, _ := at(list, "response.rewinds").([]any); len(points) != 2 || len(rewinds) != 1 {
		t.Errorf("checkpoints: %v", list)
	}
	if m := ask(h, `{"subtype":"rewind","user_message_id":"`+second+`","what":"conversation"}`); at(m, "response.prompt") != "edit" {
		t.Errorf("rewind of the conversation: %v", m)
	}
	say(h, "dddddddd-1111-4111-8111-111111111111", "third")
	if body := string(r.last().Body); strings.Contains(body, "has not been read") || !strings.Contains(body, "third") || !strings.Contains(body, `"go"`) {
		t.Errorf("after going back: %s", body)
	}
	r.file("b.txt", "new\n")
	for _, c := range []struct {
		mtime string
		known bool
	}{{"1", false}, {fmt.Sprint(modTime(t, filepath.Join(r.dir, "b.txt"))), true}} {
		if m := ask(h, `{"subtype":"seed_read_state","path":"b.txt","mtime":`+c.mtime+`}`); m["subtype"] != "success" {
			t.Errorf("seed_read_state: %v", m)
		}
		say(h, uuid.NewString(), "edit it")
		if got := !strings.Contains(lastResult(t, r), "has not been read in this conversation"); got != c.known {
			t.Errorf("after seed_read_state with %s the file counts as read: %v", c.mtime, got)
		}
	}
	if code := h.end(); code != 0 {
		t.Errorf("exit code %d\n%s", code, h.errs)
	}
	for _, req := range r.api.Requests() {
		for _, v := range req.Violations {
			t.Errorf("request %d: %v", req.N, v)
		}
	}
}

// TestHookAnswersForThePerson: a hook that allows with the answers speaks for the person; one that only allows does not.
func TestHookAnswersForThePerson(t *testing.T) {
	t.Parallel()
	r := newRig(t, fakeapi.Sequence(call("AskUserQuestion", twoQuestions), fakeapi.Text("done"), call("AskUserQuestion", twoQuestions), fakeapi.Text("done")))
	answer := strings.TrimSuffix(twoQuestions, "}") + `,"answers":{"Which colour?":"Blue"}}`
	hook := func(extra string) string {
		out := `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow"` + extra + `}}`
		settings, _ := json.Marshal(map[string]any{"hooks": map[string]any{"PreToolUse": []any{map[string]any{
			"matcher": "AskUserQuestion", "hooks": []any{map[string]any{"type": "command", "command": "cat <<'END'\n" + out + "\nEND"}},
		}}}})
		return string(settings)
	}
	h := r.host(t, "--permission-prompt-tool", "stdio", "--settings", hook(`,"updatedInput":`+answer))
	h.user("go")
	if res := h.typed("user"); at(res, "tool_use_result.answers.Which colour?") != "Blue" {
		t.Errorf("the hook's answer: %v", res)
	}
	h.typed("result")
	h.end()
	h = r.host(t, "--permission-prompt-tool", "stdio", "--settings", hook(""))
	h.user("go")
	id, _ := h.asked()
	h.reply(id, `{"behavior":"deny","message":"no"}`)
	h.typed("result")
	h.end()
}
