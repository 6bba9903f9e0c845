package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"lathe/internal/fakeapi"
)

func serverPath(t *testing.T) string {
	t.Helper()
	path, err := exec.LookPath("mcp-server")
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// notes is a configuration with the test server by the name notes.
func notes(t *testing.T, args ...string) string {
	b, err := json.Marshal(map[string]any{"mcpServers": map[string]any{"notes": map[string]any{"command": serverPath(t), "args": append([]string{}, args...)}}})
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// toolNames are the names of the definitions of a request.
func toolNames(t *testing.T, req fakeapi.Request) []string {
	t.Helper()
	var body struct {
		Tools []struct {
			Name string `json:"name"`
		} `json:"tools"`
	}
	if err := json.Unmarshal(req.Body, &body); err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, tl := range body.Tools {
		out = append(out, tl.Name)
	}
	return out
}

func useTool(name string, input map[string]any) fakeapi.Block {
	if input == nil {
		input = map[string]any{}
	}
	return fakeapi.Call(name, input)
}

// A project's servers are started only where it is trusted; their tools are declared, called under the rules, and
// nothing of the server is left when the program has ended.
func TestServersOfAProject(t *testing.T) {
	t.Parallel()
	r := newRig(t, fakeapi.Sequence(
		answer(useTool("mcp__notes__echo", map[string]any{"text": "hi"}), useTool("mcp__notes__careful", nil)), fakeapi.Text("done"), fakeapi.Text("more"),
	))
	pidFile := filepath.Join(r.home, "pid")
	r.file(".mcp.json", notes(t, pidFile))
	r.file(".git/HEAD", "ref: refs/heads/main\n")
	o := r.must("-p", "go", "--trust", "--allowedTools", "mcp__notes", "--output-format", "stream-json", "--verbose")
	all := r.api.Requests()
	if names := toolNames(t, all[0]); !slices.Contains(names, "mcp__notes__echo") || slices.Contains(names, "CallTool") || !slices.Contains(names, "ReadMcpResourceTool") {
		t.Errorf("tools %v", names)
	}
	for _, want := range []string{"echo: hi", "wants a person to agree", "Instructions of the MCP server notes:"} {
		if !strings.Contains(string(all[1].Body), want) {
			t.Errorf("the request does not hold %q: %s", want, all[1].Body)
		}
	}
	init := jsonLines(t, o.out)[0]
	if s := fmt.Sprint(init["mcp_servers"]); s != "[map[name:notes source:project status:connected]]" {
		t.Errorf("init: %s", s)
	}
	gone(t, pidFile)
	r.legal()

	o = r.must("-p", "again")
	if !strings.Contains(o.err, "are not started: this project is not trusted") {
		t.Errorf("stderr: %s", o.err)
	}
	if names := toolNames(t, r.last()); slices.Contains(names, "mcp__notes__echo") {
		t.Errorf("tools of a server that is not trusted: %v", names)
	}
}

// gone fails the test when the process whose id is in the file still runs.
func gone(t *testing.T, pidFile string) {
	t.Helper()
	pid, err := os.ReadFile(pidFile)
	if err != nil {
		t.Fatalf("the server was not started: %v", err)
	}
	if cmd, err := os.ReadFile("/proc/" + string(pid) + "/cmdline"); err == nil && strings.Contains(string(cmd), "mcp-server") {
		t.Errorf("the server (process %s) still runs", pid)
	}
}

// Definitions that would cost much are loaded on demand: the list is attached, ToolSearch gives the schema, CallTool
// calls, and the rules judge what is called.
func TestDeferredTools(t *testing.T) {
	t.Parallel()
	r := newRig(t, fakeapi.Sequence(
		answer(useTool("ToolSearch", map[string]any{"query": "select:mcp__notes__echo"})),
		answer(useTool("CallTool", map[string]any{"tool": "mcp__notes__echo", "input": map[string]any{"text": "deferred"}})),
		answer(useTool("CallTool", map[string]any{"tool": "mcp__notes__judge", "input": map[string]any{}})),
		answer(useTool("mcp__notes__echo", map[string]any{"text": "direct"})),
		answer(useTool("CallTool", map[string]any{"tool": "Bash", "input": map[string]any{"command": "touch made"}})),
		fakeapi.Text("done"),
	))
	r.env = append(r.env, "ENABLE_TOOL_SEARCH=true")
	r.must("-p", "go", "--mcp-config", notes(t), "--allowedTools", "mcp__notes__echo", "--disallowedTools", "mcp__notes__judge")
	all := r.api.Requests()
	names := toolNames(t, all[0])
	if slices.ContainsFunc(names, func(n string) bool { return strings.HasPrefix(n, "mcp__") }) || !slices.Contains(names, "ToolSearch") || !slices.Contains(names, "CallTool") {
		t.Errorf("tools %v", names)
	}
	for i, want := range []string{"- mcp__notes__echo: Says a text again.", "Input schema: {", "echo: deferred", "there is no tool named mcp__notes__judge", "echo: direct", "nothing covers the part"} {
		if !strings.Contains(string(all[i].Body), quoted(want)) {
			t.Errorf("request %d does not hold %q:\n%s", i, want, all[i].Body)
		}
	}
	if strings.Contains(string(all[0].Body), "mcp__notes__judge") {
		t.Error("a denied tool was listed")
	}
	if _, err := os.Stat(filepath.Join(r.dir, "made")); err == nil {
		t.Error("a command ran through CallTool that the rules do not allow")
	}
	r.legal()
}

// A server that dies during a call, and one that is no longer there when the session is resumed: the definitions stay
// the same bytes, and the calls say what has happened.
func TestLostServer(t *testing.T) {
	t.Parallel()
	r := newRig(t, fakeapi.Sequence(
		answer(useTool("mcp__notes__die", nil)), answer(useTool("mcp__notes__echo", map[string]any{"text": "x"})), fakeapi.Text("done"),
		answer(useTool("mcp__notes__echo", map[string]any{"text": "y"})), fakeapi.Text("done"),
	))
	r.must("-p", "go", "--mcp-config", notes(t), "--allowedTools", "mcp__notes")
	r.must("-c", "-p", "again", "--allowedTools", "mcp__notes")
	all := r.api.Requests()
	for i, want := range map[int]string{
		1: "was lost during this call, and what it did is unknown: it ended with exit code 4; it wrote: out of paper",
		2: `the MCP server \"notes\" is not connected: it ended with exit code 4`,
		4: "its server is not part of this session; the user can add it with lathe mcp add",
	} {
		if !strings.Contains(string(all[i].Body), want) {
			t.Errorf("request %d does not hold %q:\n%s", i, want, all[i].Body)
		}
	}
	first := toolsOf(t, all[0])
	for i, req := range all[1:] {
		if toolsOf(t, req) != first {
			t.Errorf("the definitions of request %d differ", i+1)
		}
	}
	r.legal()
}

func toolsOf(t *testing.T, req fakeapi.Request) string {
	t.Helper()
	var body struct {
		Tools json.RawMessage `json:"tools"`
	}
	if err := json.Unmarshal(req.Body, &body); err != nil {
		t.Fatal(err)
	}
	return strings.ReplaceAll(string(body.Tools), `,"cache_control":{"type":"ephemeral"}`, "")
}

// Resources are mentioned with @server:uri, and prompts are commands.
func TestServerResourcesAndPrompts(t *testing.T) {
	t.Parallel()
	r := newRig(t, &fakeapi.Script{Default: &fakeapi.Answer{Text: "well"}})
	config := notes(t)
	r.must("-p", "what says @notes:note://1?", "--mcp-config", config)
	if body := string(r.last().Body); !strings.Contains(body, "buy milk") {
		t.Errorf("sent: %s", body)
	}
	r.must("-p", `/mcp__notes__review "the tests"`, "--mcp-config", config)
	if body := string(r.last().Body); !strings.Contains(body, "Please review the tests") {
		t.Errorf("sent: %s", body)
	}
	o := r.must("-p", "/mcp", "--mcp-config", config)
	if !strings.Contains(o.out, "notes                connected") || !strings.Contains(o.out, "5 tools, 1 prompt; notes 1.0") {
		t.Errorf("/mcp: %s", o.out)
	}
	r.legal()
}

// A tool of a server answers permission questions.
func TestPermissionPromptTool(t *testing.T) {
	t.Parallel()
	r := newRig(t, fakeapi.Sequence(answer(bash("touch good")), answer(bash("touch bad")), answer(useTool("mcp__notes__careful", map[string]any{"command": "good"})), fakeapi.Text("done"), answer(bash("touch good"))))
	r.must("-p", "go", "--mcp-config", notes(t), "--permission-prompt-tool", "mcp__notes__judge")
	all := r.api.Requests()
	if !strings.Contains(string(all[2].Body), "the judge says no") || !strings.Contains(string(all[3].Body), "a person must agree to it") {
		t.Errorf("sent: %s", all[3].Body)
	}
	for name, want := range map[string]bool{"good": false, "better": true, "bad": false} {
		if _, err := os.Stat(filepath.Join(r.dir, name)); (err == nil) != want {
			t.Errorf("file %s: %v", name, err)
		}
	}
	o := r.run("-p", "go", "--mcp-config", notes(t), "--permission-prompt-tool", "mcp__notes__none")
	if o.code != 1 || !strings.Contains(o.out+o.err, "MCP tool mcp__notes__none (passed via --permission-prompt-tool) not found. Available MCP tools: mcp__notes__careful") {
		t.Errorf("exit code %d\n%s\n%s", o.code, o.out, o.err)
	}
	r.legal()
}

// Wrong configurations are told of; only a --mcp-config that cannot be read at all ends the program.
func TestServerConfigurations(t *testing.T) {
	t.Parallel()
	r := newRig(t, &fakeapi.Script{Default: &fakeapi.Answer{Text: "well"}})
	o := r.run("-p", "go", "--mcp-config", "missing.json")
	if o.code != 1 || !strings.Contains(o.err, "--mcp-config: MCP config file not found") {
		t.Errorf("%d %s", o.code, o.err)
	}
	o = r.must("-p", "go", "--mcp-config", `{"mcpServers":{"a":{"url":"http://127.0.0.1:1/"},"b":{"type":"odd"},"c":{"command":"/no/such/program"}}}`)
	for _, want := range []string{`MCP server "a": it has a url and no type`, `MCP server "b": there is no type "odd"`, "MCP server c is not connected: start /no/such/program"} {
		if !strings.Contains(o.err, want) {
			t.Errorf("stderr does not hold %q: %s", want, o.err)
		}
	}
	if err := os.WriteFile(filepath.Join(r.home, ".claude.json"), []byte(strings.Replace(notes(t), `"notes"`, `"mine"`, 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	r.must("-p", "go")
	if names := toolNames(t, r.last()); !slices.Contains(names, "mcp__mine__echo") {
		t.Errorf("the user's server: %v", names)
	}
	r.must("-p", "go", "--strict-mcp-config", "--mcp-config", notes(t))
	if names := toolNames(t, r.last()); slices.Contains(names, "mcp__mine__echo") || !slices.Contains(names, "mcp__notes__echo") {
		t.Errorf("strict: %v", names)
	}
	r.must("-p", "go", "--settings", `{"deniedMcpServers":[{"serverName":"mine"}]}`)
	if names := toolNames(t, r.last()); slices.Contains(names, "mcp__mine__echo") {
		t.Errorf("denied: %v", names)
	}
	r.legal()
}

func TestServerOverHTTP(t *testing.T) {
	t.Parallel()
	s := newMCPServer()
	srv := httptest.NewServer(mcp.NewStreamableHTTPHandler(func(req *http.Request) *mcp.Server {
		if req.Header.Get("X-Team") != "blue" {
			return nil
		}
		return s
	}, &mcp.StreamableHTTPOptions{Stateless: true}))
	t.Cleanup(srv.Close)
	r := newRig(t, fakeapi.Sequence(answer(useTool("mcp__web__echo", map[string]any{"text": "far"})), fakeapi.Text("done")))
	r.env = append(r.env, "TEAM=blue")
	r.must("-p", "go", "--allowedTools", "mcp__web__*", "--mcp-config", `{"mcpServers":{"web":{"type":"http","url":"`+srv.URL+`","headers":{"X-Team":"${TEAM}"}}}}`)
	if body := string(r.last().Body); !strings.Contains(body, "echo: far") {
		t.Errorf("sent: %s", body)
	}
	r.legal()
}

// A server in the host's process: its handshake and calls are messages of the control channel.
func TestServerOfTheHost(t *testing.T) {
	t.Parallel()
	r := newRig(t, fakeapi.Sequence(answer(useTool("mcp__calc__add", map[string]any{"a": 1})), fakeapi.Text("done")))
	h := r.bareHost(t, "--allowedTools", "mcp__calc__add")
	h.say(`{"type":"control_request","request_id":"init","request":{"subtype":"initialize","hooks":null,"sdkMcpServers":["calc"]}}`)
	h.typed("control_response")
	h.user("go")
	var methods []string
	for {
		m := h.next("a message for the server", func(m map[string]any) bool {
			return m["type"] == "result" || m["type"] == "control_request" && at(m, "request.subtype") == "mcp_message"
		})
		if m["type"] == "result" {
			break
		}
		if at(m, "request.server_name") != "calc" {
			t.Errorf("%v", m)
		}
		method, id := fmt.Sprint(at(m, "request.message.method")), at(m, "request.message.id")
		methods = append(methods, method)
		result := map[string]string{
			"initialize": `{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"calc","version":"1"}}`,
			"tools/list": `{"tools":[{"name":"add","description":"adds","inputSchema":{"type":"object"}}]}`,
			"tools/call": `{"content":[{"type":"text","text":"the sum"}]}`,
		}[method]
		if result == "" {
			result, id = "{}", 0
		}
		n, _ := json.Marshal(id)
		h.reply(m["request_id"].(string), fmt.Sprintf(`{"mcp_response":{"jsonrpc":"2.0","id":%s,"result":%s}}`, n, result))
	}
	if got := strings.Join(methods, " "); got != "initialize notifications/initialized tools/list tools/call" {
		t.Errorf("messages: %s", got)
	}
	if body := string(r.last().Body); !strings.Contains(body, "the sum") {
		t.Errorf("sent: %s", body)
	}
	for _, m := range h.all {
		if m["subtype"] == "init" && fmt.Sprint(m["mcp_servers"]) != "[map[name:calc source:sdk status:connected]]" {
			t.Errorf("init: %v", m["mcp_servers"])
		}
	}
	if code := h.end(); code != 0 {
		t.Errorf("exit code %d\n%s", code, h.errs)
	}
	r.legal()
}
