package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lathe/internal/fakeapi"
)

func change(name, old, now string) fakeapi.Block {
	return fakeapi.Call("Edit", map[string]any{"file_path": name, "old_string": old, "new_string": now})
}

// A turn with tools: text comes in pieces, calls with kind, place and change, and the answer to the prompt is last.
func TestACPTurn(t *testing.T) {
	t.Parallel()
	r := newRig(t, fakeapi.Sequence(
		answer(fakeapi.Block{Text: "Let me look."}, readFile("a.txt")), answer(change("a.txt", "two", "TWO")),
		answer(fakeapi.Call("Write", map[string]any{"file_path": "new.txt", "content": "fresh\n"})),
		answer(fakeapi.Call("TodoWrite", map[string]any{"todos": []map[string]any{{"content": "test it", "status": "in_progress"}}})),
		fakeapi.Text("All done."),
	))
	r.file("a.txt", "one\ntwo\nthree\n")
	e := r.acp(t, "", "--permission-mode", "acceptEdits")
	id := e.session()
	if res := e.prompt(id, "change a.txt"); res["stopReason"] != "end_turn" {
		t.Errorf("result %v", res)
	}
	if got := e.said("agent_message_chunk"); got != "Let me look.All done." {
		t.Errorf("the answer: %q", got)
	}
	calls := e.kinds("tool_call")
	if len(calls) != 3 {
		t.Fatalf("%d tool calls, want 3 (the to-do list is the plan): %v", len(calls), calls)
	}
	path := filepath.Join(r.dir, "a.txt")
	if c := calls[0]; c["kind"] != "read" || c["title"] != "Read a.txt" || c["status"] != "pending" || at(c["locations"].([]any)[0].(map[string]any), "path") != path {
		t.Errorf("the read: %v", c)
	}
	if c := calls[1]; c["kind"] != "edit" || at(c, "rawInput.new_string") != "TWO" {
		t.Errorf("the edit: %v", c)
	}
	done := map[any]map[string]any{}
	for _, u := range e.kinds("tool_call_update") {
		if u["status"] == "completed" {
			done[u["toolCallId"]] = u
		}
	}
	diff := done[calls[1]["toolCallId"]]["content"].([]any)[0].(map[string]any)
	if diff["type"] != "diff" || diff["path"] != path || diff["oldText"] != "one\ntwo\nthree\n" || diff["newText"] != "one\nTWO\nthree\n" {
		t.Errorf("the change: %v", diff)
	}
	created := done[calls[2]["toolCallId"]]["content"].([]any)[0].(map[string]any)
	if created["oldText"] != nil || created["newText"] != "fresh\n" {
		t.Errorf("the new file: %v", created)
	}
	if p := e.kinds("plan"); len(p) != 1 || at(p[0]["entries"].([]any)[0].(map[string]any), "status") != "in_progress" {
		t.Errorf("the plan: %v", p)
	}
	if u := e.kinds("usage_update"); len(u) == 0 || u[len(u)-1]["cost"] == nil {
		t.Errorf("usage: %v", u)
	}
	if u := e.kinds("session_info_update"); len(u) != 1 || u[0]["title"] != "change a.txt" {
		t.Errorf("title: %v", u)
	}
	if len(e.kinds("available_commands_update")) == 0 {
		t.Error("no commands were told")
	}
	if code := e.end(); code != 0 {
		t.Errorf("exit code %d\n%s", code, e.errs.String())
	}
	r.legal()
}

// pick answers permission questions with the first option of a kind that allowed names, one after the other.
func (e *acpEditor) pick(asked *[]map[string]any, kinds ...string) {
	n := 0
	e.serve["session/request_permission"] = func(p map[string]any) (any, error) {
		*asked = append(*asked, p)
		kind := kinds[n]
		n++
		for _, o := range p["options"].([]any) {
			if o := o.(map[string]any); o["kind"] == kind {
				return map[string]any{"outcome": map[string]any{"outcome": "selected", "optionId": o["optionId"]}}, nil
			}
		}
		return nil, fmt.Errorf("no option of kind %s: %v", kind, p["options"])
	}
}

func TestACPPermissions(t *testing.T) {
	t.Parallel()
	r := newRig(t, fakeapi.Sequence(
		answer(bash("touch one")), answer(bash("touch two")), answer(bash("touch three")), answer(bash("touch three")),
		answer(bash("mkdir four")), answer(bash("mkdir four")), fakeapi.Text("done"),
	))
	e := r.acp(t, "")
	var asked []map[string]any
	e.pick(&asked, "allow_once", "reject_once", "allow_always", "reject_always")
	if res := e.prompt(e.session(), "go"); res["stopReason"] != "end_turn" {
		t.Errorf("result %v", res)
	}
	if len(asked) != 4 {
		t.Fatalf("%d questions, want 4: what was allowed or rejected for good is not asked again\n%v\n%v", len(asked), asked, e.updates)
	}
	q := asked[0]
	if at(q, "toolCall.kind") != "execute" || at(q, "toolCall.rawInput.command") != "touch one" || !strings.Contains(fmt.Sprint(q["options"]), "Allow Bash(touch *) in this session") {
		t.Errorf("the question: %v", q)
	}
	for name, want := range map[string]bool{"one": true, "two": false, "three": true, "four": false} {
		if _, err := os.Stat(filepath.Join(r.dir, name)); (err == nil) != want {
			t.Errorf("file %s: %v", name, err)
		}
	}
	failed := 0
	for _, u := range e.kinds("tool_call_update") {
		if u["status"] == "failed" {
			failed++
		}
	}
	if failed != 3 {
		t.Errorf("%d calls failed, want 3", failed)
	}
	e.end()
	r.legal()
}

// A cancel ends the prompt with its own stop reason, whatever it meets: a running command, an open question, an answer
// under way, or a turn that has not begun.
func TestACPCancel(t *testing.T) {
	t.Parallel()
	r := newRig(t, fakeapi.Sequence(answer(bash("sleep 300")), fakeapi.Text("on"), answer(bash("touch asked")),
		fakeapi.Answer{Text: "never", Faults: []fakeapi.Fault{{Kind: fakeapi.FaultStallEarly}}}))
	e := r.acp(t, "")
	e.serve["session/request_permission"] = func(p map[string]any) (any, error) {
		if at(p, "toolCall.rawInput.command") == "touch asked" {
			e.tell("session/cancel", fmt.Sprintf(`{"sessionId":%q}`, p["sessionId"]))
			return map[string]any{"outcome": map[string]any{"outcome": "cancelled"}}, nil
		}
		return map[string]any{"outcome": map[string]any{"outcome": "selected", "optionId": "allow"}}, nil
	}
	id := e.session()
	running := e.start("session/prompt", promptParams(id, "go"))
	e.until("the command", func() bool {
		u := e.kinds("tool_call_update")
		return len(u) > 0 && u[len(u)-1]["status"] == "in_progress"
	})
	e.tell("session/cancel", fmt.Sprintf(`{"sessionId":%q}`, id))
	if m := e.wait(running); at(m, "result.stopReason") != "cancelled" {
		t.Errorf("a running command: %v", m)
	}
	if res := e.prompt(id, "and now?"); res["stopReason"] != "end_turn" {
		t.Errorf("the next prompt: %v", res)
	}
	if res := e.prompt(id, "ask me"); res["stopReason"] != "cancelled" {
		t.Errorf("an open question: %v", res)
	}
	early := e.start("session/prompt", promptParams(id, "never mind"))
	waiting := e.start("session/prompt", promptParams(id, "nor this"))
	e.tell("session/cancel", fmt.Sprintf(`{"sessionId":%q}`, id))
	for _, request := range []string{early, waiting} {
		if m := e.wait(request); at(m, "result.stopReason") != "cancelled" {
			t.Errorf("cancelled at once: %v", m)
		}
	}
	if code := e.end(); code != 0 {
		t.Errorf("exit code %d\n%s", code, e.errs.String())
	}
	r.legal()
}

// What a prompt may hold reaches the model: images, links to files as mentions, embedded text.
func TestACPPrompts(t *testing.T) {
	t.Parallel()
	r := newRig(t, fakeapi.Sequence(fakeapi.Text("one")))
	r.file("with blank.txt", "the linked text\n")
	e := r.acp(t, "")
	id := e.session()
	const pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
	e.call("session/prompt", fmt.Sprintf(`{"sessionId":%q,"prompt":[
		{"type":"text","text":"Look at "},{"type":"resource_link","name":"with blank.txt","uri":"file://%s/with%%20blank.txt"},
		{"type":"image","mimeType":"image/png","data":%q},
		{"type":"resource","resource":{"uri":"file:///buffer.go","text":"@nothing.txt package main"}},
		{"type":"resource_link","name":"site","uri":"https://example.com/"}]}`, id, filepath.ToSlash(r.dir), pixel))
	body := string(r.last().Body)
	for _, want := range []string{"the linked text", pixel, "@nothing.txt package main", "[site](https://example.com/)"} {
		if !strings.Contains(body, quoted(want)) {
			t.Errorf("not sent: %s\n%s", want, body)
		}
	}
	if err := e.fails("session/prompt", fmt.Sprintf(`{"sessionId":%q,"prompt":[{"type":"audio","mimeType":"audio/wav","data":"AAAA"}]}`, id)); err["code"] != -32602.0 {
		t.Errorf("audio: %v", err)
	}
	e.end()
	r.legal()
}

// A plan is approved by a question about the mode; the model's own questions are a form, or choices one after the other.
func TestACPPlanAndQuestions(t *testing.T) {
	t.Parallel()
	ask := fakeapi.Call("AskUserQuestion", map[string]any{"questions": []map[string]any{
		{"question": "Which colour?", "header": "Colour", "options": []map[string]any{{"label": "Red", "description": "warm"}, {"label": "Blue", "description": "cold"}}},
		{"question": "Which sizes?", "header": "Sizes", "multiSelect": true, "options": []map[string]any{{"label": "S", "description": "small"}, {"label": "L", "description": "large"}}},
	}})
	r := newRig(t, fakeapi.Sequence(answer(fakeapi.Call("ExitPlanMode", map[string]any{"plan": "1. Do it."})), fakeapi.Text("planned"), answer(ask), fakeapi.Text("asked"), answer(ask), fakeapi.Text("asked")))
	e := r.acp(t, "", "--permission-mode", "plan")
	var asked []map[string]any
	e.pick(&asked, "allow_always", "allow_once", "allow_once")
	id := e.session()
	e.prompt(id, "plan it")
	if len(asked) != 1 || at(asked[0], "toolCall.kind") != "switch_mode" || !strings.Contains(fmt.Sprint(at(asked[0], "toolCall.content")), "1. Do it.") {
		t.Errorf("the plan: %v", asked)
	}
	e.until("the new mode", func() bool {
		u := e.kinds("current_mode_update")
		return len(u) > 0 && u[len(u)-1]["currentModeId"] == "acceptEdits"
	})
	e.prompt(id, "ask me")
	if body := string(r.last().Body); !strings.Contains(body, `Which colour?\n  Red`) || !strings.Contains(body, `Which sizes?\n  S`) {
		t.Errorf("by choices: %s", body)
	}
	e.end()

	e = r.acp(t, `{"elicitation":{"form":{}}}`)
	e.serve["elicitation/create"] = func(map[string]any) (any, error) {
		return map[string]any{"action": "accept", "content": map[string]any{"question_1": "Blue", "question_2": []string{"S", "L"}}}, nil
	}
	e.prompt(e.session(), "ask me")
	if body := string(r.last().Body); !strings.Contains(body, `Which colour?\n  Blue`) || !strings.Contains(body, `Which sizes?\n  S, L`) {
		t.Errorf("by a form: %s", body)
	}
	e.end()
	r.legal()
}
