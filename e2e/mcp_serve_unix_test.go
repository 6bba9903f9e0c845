//go:build unix

package e2e

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"lathe/internal/fakeapi"
)

// toolServer is lathe mcp serve with a client of the official library at the other end.
type toolServer struct {
	t    *testing.T
	s    *sdk.ClientSession
	asks []string
}

func (r *rig) mcpServe(t *testing.T, answer string, args ...string) *toolServer {
	t.Helper()
	return r.serveBy(t, r.command(append([]string{"mcp", "serve"}, args...)...), answer)
}

func (r *rig) serveBy(t *testing.T, cmd *exec.Cmd, answer string) *toolServer {
	t.Helper()
	ts := &toolServer{t: t}
	var o sdk.ClientOptions
	if answer != "" {
		o.ElicitationHandler = func(_ context.Context, req *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
			ts.asks = append(ts.asks, req.Params.Message)
			return &sdk.ElicitResult{Action: answer}, nil
		}
	}
	c := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, &o)
	s, err := c.Connect(t.Context(), &sdk.CommandTransport{Command: cmd, TerminateDuration: time.Minute}, &sdk.ClientSessionOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	ts.s = s
	return ts
}

func (ts *toolServer) call(tool string, in map[string]any) (text string, failed bool) {
	ts.t.Helper()
	res, err := ts.s.CallTool(ts.t.Context(), &sdk.CallToolParams{Name: tool, Arguments: in})
	if err != nil {
		ts.t.Fatal(err)
	}
	for _, c := range res.Content {
		if c, ok := c.(*sdk.TextContent); ok {
			text += c.Text
		}
	}
	return text, res.IsError
}

// The tools are offered, and judged as for the model: rules, hooks, a mode; a person at the client is asked where there is one.
func TestMCPServe(t *testing.T) {
	t.Parallel()
	r := newRig(t, &fakeapi.Script{})
	r.file("a.txt", "hello\n")
	r.file(".lathe/settings.json", `{"permissions":{"deny":["Read(secret)"]},"hooks":{"PreToolUse":[{"matcher":"Bash","hooks":[{"type":"command","command":"cat > seen"}]}]}}`)
	r.file("secret", "x")
	ts := r.mcpServe(t, "", "--trust", "--allowedTools", "Bash(touch *)")
	list, err := ts.s.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, d := range list.Tools {
		names = append(names, d.Name)
		if d.Description == "" || d.Annotations.ReadOnlyHint != slices.Contains([]string{"Read", "Grep", "Glob", "WebFetch", "TaskOutput"}, d.Name) {
			t.Errorf("%+v", d)
		}
	}
	slices.Sort(names)
	if got := strings.Join(names, " "); got != "Bash Edit Glob Grep NotebookEdit Read TaskOutput TaskStop WebFetch Write" {
		t.Errorf("tools: %s", got)
	}
	if text, failed := ts.call("Read", map[string]any{"file_path": filepath.Join(r.dir, "a.txt")}); failed || !strings.Contains(text, "hello") {
		t.Error(text)
	}
	if text, failed := ts.call("Bash", map[string]any{"command": "touch made"}); failed {
		t.Error(text)
	}
	if _, err := os.Stat(filepath.Join(r.dir, "made")); err != nil {
		t.Error(err)
	}
	if seen := r.read(filepath.Join(r.dir, "seen")); !strings.Contains(seen, `"touch made"`) {
		t.Errorf("the hook saw %s", seen)
	}
	for _, c := range []struct {
		tool string
		in   map[string]any
		want string
	}{
		{"Write", map[string]any{"file_path": "b", "content": "x"}, "--allowedTools"},
		{"Read", map[string]any{"file_path": "secret"}, "denied"},
		{"Edit", map[string]any{"file_path": "a.txt"}, "old_string"},
		{"Bash", map[string]any{"command": "touch x; curl http://127.0.0.1:9"}, "nobody is there to ask"},
	} {
		if text, failed := ts.call(c.tool, c.in); !failed || !strings.Contains(text, c.want) {
			t.Errorf("%s: %v %s", c.tool, failed, text)
		}
	}
	if _, err := ts.s.CallTool(t.Context(), &sdk.CallToolParams{Name: "Agent", Arguments: map[string]any{}}); err == nil {
		t.Error("a tool that is not offered was called")
	}
	if len(r.api.Requests()) != 0 || len(r.transcripts()) != 0 {
		t.Errorf("%d requests, transcripts %v", len(r.api.Requests()), r.transcripts())
	}
}

func TestMCPServeAsks(t *testing.T) {
	t.Parallel()
	for answer, want := range map[string]bool{"accept": true, "decline": false, "cancel": false} {
		r := newRig(t, &fakeapi.Script{})
		r.env = append(r.env, "ANTHROPIC_API_KEY=") // no model is needed
		ts := r.mcpServe(t, answer)
		text, failed := ts.call("Write", map[string]any{"file_path": "b", "content": "x"})
		_, err := os.Stat(filepath.Join(r.dir, "b"))
		if failed == want || (err == nil) != want {
			t.Errorf("%s: %v %s", answer, err, text)
		}
		if len(ts.asks) != 1 || !strings.Contains(ts.asks[0], "Write") {
			t.Errorf("%s: asked %q", answer, ts.asks)
		}
	}
}

// The person at the client sees the call itself, whole, and not what a model says of it.
func TestMCPServeShowsTheCall(t *testing.T) {
	t.Parallel()
	r := newRig(t, &fakeapi.Script{})
	ts := r.mcpServe(t, "decline")
	command := "echo " + strings.Repeat("a", 200) + "\n\ttouch hidden \x1b[2K"
	ts.call("Bash", map[string]any{"command": command, "description": "Run the tests", "timeout": 5000})
	ts.call("Write", map[string]any{"file_path": "b", "content": "first\nlast line"})
	ts.call("Write", map[string]any{"file_path": "b", "content": strings.Repeat("x", 100<<10)})
	if len(ts.asks) != 2 {
		t.Fatalf("asked %q", ts.asks)
	}
	if q := ts.asks[0]; !strings.Contains(q, strings.Repeat("a", 200)+"\n\ttouch hidden") || strings.Contains(q, "\x1b") || strings.Contains(q, "Run the tests") || !strings.Contains(q, "5000") {
		t.Errorf("%q", q)
	}
	if q := ts.asks[1]; !strings.Contains(q, "last line") || !strings.Contains(q, "file_path: ") {
		t.Errorf("%q", q)
	}
}

// A client that goes away ends what it has started.
func TestMCPServeEnds(t *testing.T) {
	t.Parallel()
	r := newRig(t, &fakeapi.Script{})
	ts := r.mcpServe(t, "", "--permission-mode", "bypassPermissions")
	if text, failed := ts.call("Bash", map[string]any{"command": "echo $$ > pid; exec sleep 600", "run_in_background": true}); failed {
		t.Fatal(text)
	}
	awaitFile(t, filepath.Join(r.dir, "pid"))
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		_, err := ts.s.CallTool(ctx, &sdk.CallToolParams{Name: "Bash", Arguments: map[string]any{"command": "echo $$ > pid2; exec sleep 600"}})
		done <- err
	}()
	awaitFile(t, filepath.Join(r.dir, "pid2"))
	cancel()
	if err := <-done; err == nil {
		t.Error("a call that was given up has a result")
	}
	awaitGone(t, filepath.Join(r.dir, "pid2"))
	if text, failed := ts.call("Bash", map[string]any{"command": "echo still here"}); failed || !strings.Contains(text, "still here") {
		t.Error(text)
	}
	if err := ts.s.Close(); err != nil {
		t.Error(err)
	}
	awaitGone(t, filepath.Join(r.dir, "pid"))
}

// A yes counts for the words that were asked only: an answer that a client sends along with other ones is none.
func TestMCPServeTakesNoOtherAnswer(t *testing.T) {
	t.Parallel()
	r := newRig(t, &fakeapi.Script{})
	ts := r.mcpServe(t, "")
	for _, state := range []string{"", "Lathe: may the tool Read do this?"} {
		res, err := ts.s.CallTool(t.Context(), &sdk.CallToolParams{
			Name: "Write", Arguments: map[string]any{"file_path": "b", "content": "x"}, RequestState: state,
			InputResponses: sdk.InputResponseMap{"allow": &sdk.ElicitResult{Action: "accept"}},
		})
		if err == nil && !res.IsError {
			t.Errorf("with %q the call was allowed", state)
		}
		if _, err := os.Stat(filepath.Join(r.dir, "b")); err == nil {
			t.Errorf("with %q the file was written", state)
		}
	}
}

// Every signal that ends programs ends what a client has started, too.
func TestMCPServeSignals(t *testing.T) {
	t.Parallel()
	for _, sig := range []syscall.Signal{syscall.SIGHUP, syscall.SIGTERM} {
		r := newRig(t, &fakeapi.Script{})
		cmd := r.command("mcp", "serve", "--permission-mode", "bypassPermissions")
		ts := r.serveBy(t, cmd, "")
		if text, failed := ts.call("Bash", map[string]any{"command": "echo $$ > pid; exec sleep 600", "run_in_background": true}); failed {
			t.Fatal(text)
		}
		awaitFile(t, filepath.Join(r.dir, "pid"))
		if err := cmd.Process.Signal(sig); err != nil {
			t.Fatal(err)
		}
		awaitGone(t, filepath.Join(r.dir, "pid"))
	}
}

// What tools find of secrets that are known here no client is told, as no model is.
func TestMCPServeKeepsSecrets(t *testing.T) {
	t.Parallel()
	r := newRig(t, &fakeapi.Script{})
	r.env = append(r.env, "DEPLOY_TOKEN=pelican-harbour-4711")
	r.file("a.txt", "login pelican-harbour-4711 here\n")
	ts := r.mcpServe(t, "")
	for tool, in := range map[string]map[string]any{"Read": {"file_path": "a.txt"}, "Grep": {"pattern": "login", "output_mode": "content"}} {
		if text, failed := ts.call(tool, in); failed || strings.Contains(text, "pelican") || !strings.Contains(text, "login [redacted: DEPLOY_TOKEN] here") {
			t.Errorf("%s: %v %s", tool, failed, text)
		}
	}
}

// awaitFile waits until a file holds something.
func awaitFile(t *testing.T, path string) {
	t.Helper()
	for range 3000 {
		if b, err := os.ReadFile(path); err == nil && len(b) > 1 {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("%s was not written", path)
}

// awaitGone waits until the process whose id is in a file has ended.
func awaitGone(t *testing.T, file string) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	for range 3000 {
		if errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("process %d still runs", pid)
}
