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
