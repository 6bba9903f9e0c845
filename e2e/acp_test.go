package e2e

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

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

// A session is loaded with its past as updates before the answer, resumed without, listed, closed and deleted.
func TestACPSessions(t *testing.T) {
	t.Parallel()
	r := newRig(t, fakeapi.Sequence(answer(fakeapi.Block{Text: "Reading."}, readFile("a.txt")), fakeapi.Text("It says hello."), fakeapi.Text("Again."), fakeapi.Text("Third.")))
	r.file("a.txt", "hello\n")
	e := r.acp(t, "")
	id := e.session()
	e.prompt(id, "what is in a.txt?")
	e.end()

	e = r.acp(t, "")
	list := e.call("session/list", fmt.Sprintf(`{"cwd":%q}`, r.dir))["sessions"].([]any)
	if len(list) != 1 || at(list[0].(map[string]any), "sessionId") != id || at(list[0].(map[string]any), "cwd") != r.dir {
		t.Errorf("the list: %v", list)
	}
	if all := e.call("session/list", `{}`)["sessions"].([]any); len(all) != 1 {
		t.Errorf("the whole list: %v", all)
	}
	params := fmt.Sprintf(`{"sessionId":%q,"cwd":%q,"mcpServers":[]}`, id, r.dir)
	res := e.call("session/load", params)
	if at(res, "modes.currentModeId") != "default" {
		t.Errorf("loaded: %v", res)
	}
	if u, a := e.said("user_message_chunk"), e.said("agent_message_chunk"); u != "what is in a.txt?" || a != "Reading.It says hello." {
		t.Errorf("the past before the answer: %q, %q", u, a)
	}
	if c, u := e.kinds("tool_call"), e.kinds("tool_call_update"); len(c) != 1 || len(u) != 1 || u[0]["status"] != "completed" {
		t.Errorf("the past calls: %v %v", c, u)
	}
	e.prompt(id, "once more")
	e.call("session/close", fmt.Sprintf(`{"sessionId":%q}`, id))
	if err := e.fails("session/prompt", promptParams(id, "closed")); err["code"] != -32002.0 {
		t.Errorf("a prompt for a closed session: %v", err)
	}
	before := len(e.updates)
	e.call("session/resume", params)
	for _, u := range e.updates[before:] {
		if u["sessionUpdate"] == "agent_message_chunk" {
			t.Errorf("resume replays: %v", u)
		}
	}
	e.prompt(id, "and again")
	if n := len(r.last().Body); n < len(r.api.Requests()[0].Body) {
		t.Errorf("the history is not sent: %d bytes", n)
	}
	e.call("session/delete", fmt.Sprintf(`{"sessionId":%q}`, id))
	if len(r.transcripts()) != 0 {
		t.Errorf("still there: %v", r.transcripts())
	}
	if err := e.fails("session/load", params); err["code"] != -32002.0 {
		t.Errorf("a deleted session: %v", err)
	}
	e.end()
	r.legal()
}

func TestACPSettings(t *testing.T) {
	t.Parallel()
	r := newRig(t, fakeapi.Sequence(fakeapi.Text("one"), fakeapi.Text("two")))
	e := r.acp(t, "")
	res := e.call("session/new", fmt.Sprintf(`{"cwd":%q,"mcpServers":[]}`, r.dir))
	id := res["sessionId"].(string)
	options := map[any]map[string]any{}
	for _, o := range res["configOptions"].([]any) {
		options[o.(map[string]any)["id"]] = o.(map[string]any)
	}
	if options["mode"]["currentValue"] != "default" || options["model"] == nil || options["effort"] == nil {
		t.Errorf("the options: %v", options)
	}
	e.call("session/set_mode", fmt.Sprintf(`{"sessionId":%q,"modeId":"plan"}`, id))
	if u := e.kinds("current_mode_update"); len(u) != 1 || u[0]["currentModeId"] != "plan" {
		t.Errorf("the mode: %v", u)
	}
	other := ""
	for _, o := range options["model"]["options"].([]any) {
		if v := o.(map[string]any)["value"].(string); strings.Contains(v, "sonnet") {
			other = v
		}
	}
	set := e.call("session/set_config_option", fmt.Sprintf(`{"sessionId":%q,"configId":"model","value":%q}`, id, other))
	if !strings.Contains(fmt.Sprint(set["configOptions"]), other) {
		t.Errorf("after the change: %v", set)
	}
	e.call("session/set_config_option", fmt.Sprintf(`{"sessionId":%q,"configId":"effort","value":"low"}`, id))
	if err := e.fails("session/set_config_option", fmt.Sprintf(`{"sessionId":%q,"configId":"thinking","value":"off"}`, id)); err["code"] != -32602.0 {
		t.Errorf("a model that always thinks: %v", err)
	}
	other = "claude-sonnet-5"
	e.call("session/set_config_option", fmt.Sprintf(`{"sessionId":%q,"configId":"model","value":%q}`, id, other))
	e.call("session/set_config_option", fmt.Sprintf(`{"sessionId":%q,"configId":"thinking","value":"off"}`, id))
	e.prompt(id, "hello")
	body := string(r.last().Body)
	if r.last().Model != other || !strings.Contains(body, `"effort":"low"`) || strings.Contains(body, `"adaptive"`) {
		t.Errorf("sent: %s", body)
	}
	for _, bad := range []string{`"configId":"mode","value":"nonsense"`, `"configId":"nonsense","value":"x"`, `"configId":"effort","value":"x"`, `"configId":"mode","value":"bypassPermissions"`} {
		if err := e.fails("session/set_config_option", fmt.Sprintf(`{"sessionId":%q,%s}`, id, bad)); err["code"] != -32602.0 {
			t.Errorf("%s: %v", bad, err)
		}
	}
	if all := fmt.Sprint(e.kinds("available_commands_update")); !strings.Contains(all, "name:status") || strings.Contains(all, "name:clear") || strings.Contains(all, "name:exit") {
		t.Errorf("the commands: %s", all) // a session is left for another by the editor, not behind its back
	}
	// A command is answered as text, an unknown one too.
	e.updates = nil
	if res := e.prompt(id, "/status"); res["stopReason"] != "end_turn" || !strings.Contains(e.said("agent_message_chunk"), "Model: "+other) {
		t.Errorf("/status: %v %q", res, e.said("agent_message_chunk"))
	}
	e.updates = nil
	if res := e.prompt(id, "/statsu"); res["stopReason"] != "end_turn" || !strings.Contains(e.said("agent_message_chunk"), "/status") {
		t.Errorf("/statsu: %v %q", res, e.said("agent_message_chunk"))
	}
	e.end()
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

func TestACPErrors(t *testing.T) {
	t.Parallel()
	r := newRig(t, fakeapi.Sequence(fakeapi.Answer{Faults: []fakeapi.Fault{{Kind: "status", Status: 400, Message: "no good"}}}, fakeapi.Text("well")))
	e := r.acp(t, "")
	for params, code := range map[string]float64{
		`{"cwd":"relative","mcpServers":[]}`:        -32602,
		`{"cwd":"/does/not/exist","mcpServers":[]}`: -32603,
		fmt.Sprintf(`{"cwd":%q,"mcpServers":[{"type":"sse","name":"s","url":"http://127.0.0.1/","headers":[]}]}`, r.dir): -32602,
	} {
		if err := e.fails("session/new", params); err["code"] != code {
			t.Errorf("%s: %v", params, err)
		}
	}
	if err := e.fails("session/load", fmt.Sprintf(`{"sessionId":"../../etc/passwd","cwd":%q,"mcpServers":[]}`, r.dir)); err["code"] != -32002.0 {
		t.Errorf("a session that is none: %v", err)
	}
	e.write([]byte(`this is not JSON`))
	e.until("the parse error", func() bool { return at(e.answers["null"], "error.code") == -32700.0 })
	e.write([]byte(`{"jsonrpc":"2.0","method":"session/unheard_of","params":{}}`))
	e.write([]byte(`{"jsonrpc":"2.0","id":"x1","method":"session/unheard_of","params":{}}`))
	e.until("an answer", func() bool { return at(e.answers[`"x1"`], "error.code") == -32601.0 })
	id := e.session()
	if err := e.fails("session/prompt", promptParams(id, "go")); !strings.Contains(fmt.Sprint(err["message"]), "no good") {
		t.Errorf("a failure of the API: %v", err)
	}
	if res := e.prompt(id, "go on"); res["stopReason"] != "end_turn" {
		t.Errorf("after it: %v", res)
	}
	if code := e.end(); code != 0 {
		t.Errorf("exit code %d", code)
	}

	r.env = append(r.env, "ANTHROPIC_API_KEY=")
	e = r.acp(t, "")
	if err := e.fails("session/new", fmt.Sprintf(`{"cwd":%q,"mcpServers":[]}`, r.dir)); err["code"] != -32000.0 {
		t.Errorf("without a key: %v", err)
	}
	if err := e.fails("authenticate", `{"methodId":"environment"}`); err["code"] != -32000.0 {
		t.Errorf("without a key: %v", err)
	}
	e.end()
}

// An editor that dies takes the running command and the program along.
func TestACPEditorDies(t *testing.T) {
	t.Parallel()
	r := newRig(t, fakeapi.Sequence(answer(bash("sleep 300")), fakeapi.Text("on")))
	e := r.acp(t, "", "--permission-mode", "bypassPermissions")
	e.start("session/prompt", promptParams(e.session(), "go"))
	e.until("the command", func() bool { return len(e.kinds("tool_call_update")) > 0 })
	if code := e.end(); code != 0 {
		t.Errorf("exit code %d\n%s", code, e.errs.String())
	}
	r.goesOn("go")
}

// Several sessions run side by side, each in its own directory.
func TestACPSideBySide(t *testing.T) {
	t.Parallel()
	r := newRig(t, &fakeapi.Script{Default: &fakeapi.Answer{Text: "well"}})
	e := r.acp(t, "")
	var ids, open []string
	for i := range 4 {
		dir := filepath.Join(r.dir, fmt.Sprint("p", i))
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		ids = append(ids, e.call("session/new", fmt.Sprintf(`{"cwd":%q,"mcpServers":[]}`, dir))["sessionId"].(string))
	}
	for i, id := range ids {
		open = append(open, e.start("session/prompt", promptParams(id, fmt.Sprint("prompt number ", i))))
	}
	for _, request := range open {
		if m := e.wait(request); at(m, "result.stopReason") != "end_turn" {
			t.Errorf("%v", m)
		}
	}
	dirs := map[string]bool{}
	for _, req := range r.api.Requests() {
		for i := range ids {
			if body := string(req.Body); strings.Contains(body, fmt.Sprint("prompt number ", i)) && strings.Contains(body, quoted(filepath.Join(r.dir, fmt.Sprint("p", i)))) {
				dirs[fmt.Sprint(i)] = true
			}
		}
	}
	if len(dirs) != 4 {
		t.Errorf("only sessions %v were sent with their own directory", dirs)
	}
	e.end()
	r.legal()
}

// What the editor shows is what Read sees and Edit changes, unsaved or not; a file that it does not have is on disk.
func TestACPEditorBuffers(t *testing.T) {
	t.Parallel()
	r := newRig(t, fakeapi.Sequence(
		answer(readFile("a.txt"), readFile("b.txt")), answer(change("a.txt", "unsaved", "changed"), change("b.txt", "disk", "DISK")),
		answer(fakeapi.Call("Write", map[string]any{"file_path": "new.txt", "content": "fresh\n"})), fakeapi.Text("done"),
	))
	r.file("a.txt", "saved\n")
	r.file("b.txt", "disk\n")
	e := r.acp(t, `{"fs":{"readTextFile":true,"writeTextFile":true}}`, "--permission-mode", "acceptEdits")
	buffers := map[any]string{filepath.Join(r.dir, "a.txt"): "unsaved\n"}
	e.serve["fs/read_text_file"] = func(p map[string]any) (any, error) {
		if text, ok := buffers[p["path"]]; ok {
			return map[string]any{"content": text}, nil
		}
		return nil, fmt.Errorf("%v is not open", p["path"])
	}
	e.serve["fs/write_text_file"] = func(p map[string]any) (any, error) {
		buffers[p["path"]] = p["content"].(string)
		return map[string]any{}, nil
	}
	e.prompt(e.session(), "change both")
	if got := buffers[filepath.Join(r.dir, "a.txt")]; got != "changed\n" {
		t.Errorf("the buffer holds %q", got)
	}
	if got := buffers[filepath.Join(r.dir, "new.txt")]; got != "fresh\n" {
		t.Errorf("the new file's buffer holds %q", got)
	}
	if a, b := r.read(filepath.Join(r.dir, "a.txt")), r.read(filepath.Join(r.dir, "b.txt")); a != "saved\n" || b != "DISK\n" {
		t.Errorf("on disk: %q %q", a, b)
	}
	if !strings.Contains(string(r.last().Body), "unsaved") {
		t.Error("the model was not shown the editor's text")
	}
	e.end()
	r.legal()
}

// A command that runs unconfined in the foreground runs in the editor's terminal, where that is offered: its output is
// shown there and told to the model, its directory carries over, and a cancel kills it.
func TestACPTerminal(t *testing.T) {
	t.Parallel()
	r := newRig(t, fakeapi.Sequence(answer(bash("mkdir sub; cd sub; echo told; exit 3")), answer(bash("pwd")), fakeapi.Text("done"), answer(bash("sleep 300")), fakeapi.Text("on")))
	e := r.acp(t, `{"terminal":true}`, "--allowedTools", "Bash")
	type terminal struct {
		cmd *exec.Cmd
		out []byte
	}
	var all []*terminal
	var did []string
	find := func(p map[string]any) *terminal {
		n := 0
		_, _ = fmt.Sscanf(p["terminalId"].(string), "t%d", &n)
		return all[n]
	}
	id := ""
	e.serve["terminal/create"] = func(p map[string]any) (any, error) {
		var args []string
		for _, a := range p["args"].([]any) {
			args = append(args, a.(string))
		}
		c := exec.Command(p["command"].(string), args...)
		c.Dir, c.Env = p["cwd"].(string), os.Environ()
		for _, v := range p["env"].([]any) {
			c.Env = append(c.Env, v.(map[string]any)["name"].(string)+"="+v.(map[string]any)["value"].(string))
		}
		all = append(all, &terminal{cmd: c})
		return map[string]any{"terminalId": fmt.Sprint("t", len(all)-1)}, nil
	}
	e.serve["terminal/wait_for_exit"] = func(p map[string]any) (any, error) {
		x := find(p)
		if strings.Contains(x.cmd.String(), "sleep") {
			e.tell("session/cancel", fmt.Sprintf(`{"sessionId":%q}`, id))
			return nil, nil // runs on
		}
		x.out, _ = x.cmd.CombinedOutput()
		return map[string]any{"exitCode": x.cmd.ProcessState.ExitCode()}, nil
	}
	e.serve["terminal/output"] = func(p map[string]any) (any, error) {
		return map[string]any{"output": string(find(p).out), "truncated": false}, nil
	}
	for _, method := range []string{"terminal/kill", "terminal/release"} {
		e.serve[method] = func(map[string]any) (any, error) {
			did = append(did, method)
			return map[string]any{}, nil
		}
	}
	id = e.session()
	e.prompt(id, "go")
	last := string(r.last().Body)
	if !strings.Contains(last, "Exit code 3") || !strings.Contains(last, "told") || !strings.Contains(last, quoted(filepath.Join(r.dir, "sub"))) {
		t.Errorf("the model was told: %s", last)
	}
	shown := 0
	for _, u := range e.kinds("tool_call_update") {
		if strings.Contains(fmt.Sprint(u["content"]), "type:terminal") {
			shown++
		}
	}
	if shown < 4 || strings.Join(did, " ") != "terminal/release terminal/release" {
		t.Errorf("%d updates show a terminal; then %v", shown, did)
	}
	if res := e.prompt(id, "and wait"); res["stopReason"] != "cancelled" {
		t.Errorf("cancelled: %v", res)
	}
	if got := strings.Join(did[2:], " "); got != "terminal/kill terminal/release" {
		t.Errorf("after the cancel: %s", got)
	}
	e.prompt(id, "go on")
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

// MCP servers of the editor, started or reached by HTTP, are servers of its session.
func TestACPServers(t *testing.T) {
	t.Parallel()
	r := newRig(t, fakeapi.Sequence(answer(useTool("mcp__notes__echo", map[string]any{"text": "one"}), useTool("mcp__far__echo", map[string]any{"text": "two"})), fakeapi.Text("done")))
	web := httptest.NewServer(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return newMCPServer() }, nil))
	defer web.Close()
	pid := filepath.Join(r.home, "pid")
	e := r.acp(t, "", "--allowedTools", "mcp__notes__echo", "--allowedTools", "mcp__far__echo")
	res := e.call("session/new", fmt.Sprintf(`{"cwd":%q,"mcpServers":[{"name":"notes","command":%q,"args":[%q],"env":[{"name":"X","value":"1"}]},
		{"type":"http","name":"far","url":%q,"headers":[{"name":"X-Test","value":"1"}]}]}`, r.dir, serverPath(t), pid, web.URL))
	e.prompt(res["sessionId"].(string), "echo")
	body := string(r.last().Body)
	if !strings.Contains(body, "echo: one") || !strings.Contains(body, "echo: two") {
		t.Errorf("the model was told: %s", body)
	}
	e.end()
	r.legal()
}
