package e2e

import (
	"bufio"
	"encoding/json"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"lathe/internal/fakeapi"
)

// serverPackages are the published servers that the client is tested with.
var serverPackages = []string{"@modelcontextprotocol/server-everything@2026.8.31", "@modelcontextprotocol/server-filesystem@2026.8.31"}

// The published servers, driven through the program.
func TestPublishedServers(t *testing.T) {
	modules := filepath.Join(npmInstall(t, serverPackages...), "node_modules", "@modelcontextprotocol")
	node, err := exec.LookPath("node")
	if err != nil {
		t.Fatal(err)
	}
	r := newRig(t, fakeapi.Sequence(
		answer(
			useTool("mcp__everything__echo", map[string]any{"message": "far away"}),
			useTool("mcp__everything__get-sum", map[string]any{"a": 19, "b": 23}),
			useTool("mcp__everything__get-tiny-image", nil),
			useTool("mcp__everything__get-structured-content", map[string]any{"location": "New York"}),
			useTool("mcp__files__read_text_file", map[string]any{"path": "${CWD}/inside.txt"}),
			useTool("mcp__files__read_text_file", map[string]any{"path": "/etc/hostname"}),
			useTool("ListMcpResourcesTool", map[string]any{"server": "everything"}),
		), fakeapi.Text("done"),
	))
	r.file("inside.txt", "what is inside")
	config, err := json.Marshal(map[string]any{"mcpServers": map[string]any{
		"everything": map[string]any{"command": node, "args": []string{filepath.Join(modules, "server-everything", "dist", "index.js"), "stdio"}},
		"files":      map[string]any{"command": node, "args": []string{filepath.Join(modules, "server-filesystem", "dist", "index.js"), r.dir}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	r.env = append(r.env, "ENABLE_TOOL_SEARCH=false")
	r.must("-p", "go", "--mcp-config", string(config), "--allowedTools", "mcp__everything", "mcp__files")
	all := r.api.Requests()
	names := toolNames(t, all[0])
	for _, want := range []string{"mcp__everything__echo", "mcp__files__write_file"} {
		if !slices.Contains(names, want) {
			t.Errorf("there is no %s among %v", want, names)
		}
	}
	body := string(all[1].Body)
	for _, want := range []string{"Echo: far away", "42", `"media_type":"image/png"`, "what is inside", "Access denied"} {
		if !strings.Contains(body, want) {
			t.Errorf("the results do not hold %q", want)
		}
	}
	if t.Failed() {
		t.Logf("%s", body[max(0, len(body)-6000):])
	}
	r.legal()

	// The same server over HTTP.
	port, listens := "", false
	for try := 0; !listens; try++ { // a port that was free may be somebody's by the time that the server asks for it
		if try == 5 {
			t.Fatal("the server never listens")
		}
		port = freePort(t)
		web := exec.Command(node, filepath.Join(modules, "server-everything", "dist", "index.js"), "streamableHttp")
		web.Env = append(os.Environ(), "PORT="+port)
		out, err := web.StderrPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := web.Start(); err != nil {
			t.Fatal(err)
		}
		defer func() { _ = web.Process.Kill(); _ = web.Wait() }()
		listens = comes(out, "listening")
	}
	r.serve(fakeapi.Sequence(answer(useTool("mcp__web__echo", map[string]any{"message": "by HTTP"})), fakeapi.Text("done")))
	r.must("-p", "go", "--mcp-config", `{"mcpServers":{"web":{"type":"http","url":"http://127.0.0.1:`+port+`/mcp"}}}`, "--allowedTools", "mcp__web")
	if body := string(r.last().Body); !strings.Contains(body, "Echo: by HTTP") {
		t.Errorf("over HTTP: %s", body)
	}
	r.legal()
}

// freePort is a port that nobody listens on at this moment.
func freePort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	return port
}

// comes reads until a text has come, and goes on reading after it.
func comes(r io.Reader, text string) bool {
	in := bufio.NewScanner(r)
	for in.Scan() {
		if strings.Contains(strings.ToLower(in.Text()), text) {
			go func() {
				for in.Scan() {
				}
			}()
			return true
		}
	}
	return false
}
