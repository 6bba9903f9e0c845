package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lathe/internal/fakeapi"
)

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
