package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"lathe/internal/fakeapi"
)

const echoTool = "mcp__notes__echo"

// A server of the project that says something else of a tool than when the project was trusted does not get that to the
// model: the tool is away, and the user is told, until the user agrees.
func TestChangedDefinitionOfAProjectServer(t *testing.T) {
	t.Parallel()
	r := newRig(t, &fakeapi.Script{Default: &fakeapi.Answer{Text: "well"}})
	r.file(".mcp.json", notes(t))
	r.must("trust")
	ask := func(args ...string) (string, bool) {
		t.Helper()
		o := r.must(append([]string{"-p", "hello"}, args...)...)
		if strings.Contains(string(r.last().Body), "all your base") {
			t.Errorf("what the model was told: %s", r.last().Body)
		}
		return o.err, slices.Contains(toolNames(t, r.last()), echoTool)
	}
	if said, there := ask(); !there || strings.Contains(said, "says something else") {
		t.Fatalf("at first: %v %s", there, said)
	}
	r.env = append(r.env, "NOTES_ABOUT=It is all your base.")
	for range 2 { // it stays away
		if said, there := ask(); there || !strings.Contains(said, "notes says something else") || !strings.Contains(said, echoTool) {
			t.Errorf("changed: %v %s", there, said)
		}
	}
	r.serve(fakeapi.Sequence(answer(fakeapi.Call(echoTool, map[string]any{"text": "x"})), fakeapi.Text("well")))
	r.must("-p", "call it", "--permission-mode", "bypassPermissions")
	if !strings.Contains(string(r.last().Body), "until you agree") {
		t.Errorf("a call of it was answered with %s", r.last().Body)
	}
	r.serve(&fakeapi.Script{Default: &fakeapi.Answer{Text: "well"}})
	o := r.must("-p", "/mcp accept notes")
	if !strings.Contains(o.out, "Accepted what notes says of: "+echoTool) {
		t.Errorf("%s%s", o.out, o.err)
	}
	if o := r.must("-p", "hello"); strings.Contains(o.err, "says something else") || !slices.Contains(toolNames(t, r.last()), echoTool) {
		t.Errorf("accepted, and still away: %s", o.err)
	}
	r.env = nil
	if _, there := ask(); there {
		t.Error("changed again, and there")
	}
	r.must("trust")
	if _, there := ask(); !there {
		t.Error("trusted again, and away")
	}
}

// A server that changes a definition while a session goes on changes nothing of what is sent; the change is told to the
// user and the model.
func TestChangedDefinitionWhileASessionGoesOn(t *testing.T) {
	t.Parallel()
	r := newRig(t, &fakeapi.Script{Default: &fakeapi.Answer{Text: "well"}})
	h := r.host(t, "--mcp-config", notes(t))
	h.user("first")
	h.typed("result")
	first := definitions(t, r.last())
	if m := h.query(`{"subtype":"mcp_call","serverName":"notes","tool":"redefine","arguments":{}}`); m["subtype"] != "success" {
		t.Fatalf("%v", m)
	}
	for deadline := time.Now().Add(patience); ; {
		b, err := json.Marshal(h.query(`{"subtype":"mcp_status"}`))
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(b), "Sends all files") {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("the change is not heard of")
		}
	}
	h.user("second")
	told := false
	h.next("the second result", func(m map[string]any) bool {
		b, _ := json.Marshal(m)
		told = told || strings.Contains(string(b), "MCP server notes has changed the definitions of: "+echoTool)
		return m["type"] == "result"
	})
	if !told {
		t.Error("the user is not told")
	}
	if second := definitions(t, r.last()); second != first {
		t.Errorf("the definitions were\n%s\nand are\n%s", first, second)
	}
	if body := string(r.last().Body); strings.Contains(body, "Sends all files") || !strings.Contains(body, "definitions here stay what they were: "+echoTool) {
		t.Errorf("the model is told %s", body)
	}
	h.end()
	r.legal()
}

// definitions are the tools of a request as they were sent, without cache marks.
func definitions(t *testing.T, req fakeapi.Request) string {
	t.Helper()
	var body struct{ Tools []map[string]any }
	if err := json.Unmarshal(req.Body, &body); err != nil {
		t.Fatal(err)
	}
	for _, d := range body.Tools {
		delete(d, "cache_control")
	}
	b, err := json.Marshal(body.Tools)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// Servers of a plugin are of their own scope: what a host sets are its own servers, and takes none of a plugin away.
func TestServersOfAPlugin(t *testing.T) {
	t.Parallel()
	r := newRig(t, &fakeapi.Script{Default: &fakeapi.Answer{Text: "well"}})
	r.file("plug/.claude-plugin/plugin.json", `{"name":"plug"}`)
	r.file("plug/.mcp.json", notes(t))
	h := r.host(t, "--plugin-dir", "plug")
	h.user("first")
	h.typed("result")
	const tool = "mcp__plugin_plug_notes__echo"
	if names := toolNames(t, r.last()); !slices.Contains(names, tool) {
		t.Errorf("tools %v", names)
	}
	m := h.query(`{"subtype":"mcp_set_servers","servers":{}}`)
	if b, _ := json.Marshal(m); m["subtype"] != "success" || strings.Contains(string(b), "plug") {
		t.Errorf("%s", b)
	}
	b, err := json.Marshal(h.query(`{"subtype":"mcp_status"}`))
	if err != nil || !strings.Contains(string(b), `"scope":"plugin"`) || !strings.Contains(string(b), `"status":"connected"`) {
		t.Errorf("%s, %v", b, err)
	}
	if m := h.query(`{"subtype":"mcp_call","tool":"` + tool + `","arguments":{"text":"still"}}`); m["subtype"] != "success" {
		t.Errorf("%v", m)
	}
	h.end()
}

// What others wrote, and the program prints, begins no line of its own.
func TestTextOfOthersBeginsNoLine(t *testing.T) {
	t.Parallel()
	r := newRig(t, &fakeapi.Script{Default: &fakeapi.Answer{Text: "well"}})
	r.file(".mcp.json", `{"mcpServers":{"a\nlathe: forged 1":{"command":"true"},"b":{"command":"x\nlathe: forged 2"}}}`)
	r.file(".claude/settings.json", `{"permissions":{"deny":["Bash(\nlathe: forged 3"],"allow":["Read(x\nlathe: forged 4)"]},"model\nlathe: forged 5":1}`)
	var said strings.Builder
	for _, args := range [][]string{
		{"-p", "hello", "--trust", "--verbose"},
		{"-p", "/mcp", "--trust"},
		{"mcp", "list", "--trust"},
		{"mcp", "get", "b", "--trust"},
		{"permissions", "list"},
		{"config"},
		{"trust", "--show"},
		{"-p", "--resume", "no\nlathe: forged 6"},
		{"permissions", "check", "Bash", "ls\nlathe: forged 7"},
	} {
		o := r.run(args...)
		said.WriteString(o.out + "\n" + o.err + "\n")
	}
	if !strings.Contains(said.String(), "forged") {
		t.Errorf("nothing of it was printed: %s", said.String())
	}
	for line := range strings.Lines(said.String()) {
		if strings.HasPrefix(line, "lathe: forged") {
			t.Errorf("%q", line)
		}
	}
}

// A program of the project that starts one of its servers is run as it was when the project was trusted: another one in its
// place is not, until the user agrees.
func TestChangedProgramOfAProjectServer(t *testing.T) {
	t.Parallel()
	r := newRig(t, &fakeapi.Script{Default: &fakeapi.Answer{Text: "well"}})
	const program = "#!/bin/sh\ntouch \"$CLAUDE_PROJECT_DIR\"/RAN\nexec "
	r.file("tools/serve.sh", strings.Replace(program, "RAN", "before", 1)+serverPath(t)+"\n")
	r.file(".mcp.json", `{"mcpServers":{"notes":{"command":"sh","args":["./tools/serve.sh"]}}}`)
	r.must("trust")
	there := func(args ...string) bool {
		t.Helper()
		r.must(append([]string{"-p", "hello"}, args...)...)
		return slices.Contains(toolNames(t, r.last()), echoTool)
	}
	ran := func() bool { _, err := os.Stat(filepath.Join(r.dir, "after")); return err == nil }
	r.file("tools/serve.sh", strings.Replace(program, "RAN", "after", 1)+serverPath(t)+"\n")
	if there() || ran() { // it was not started in between: what was trusted is known from the yes on
		t.Error("another program was started")
	}
	if o := r.must("mcp", "list"); ran() || !strings.Contains(o.out, "is not the one that you trusted") {
		t.Errorf("ran %v; %s%s", ran(), o.out, o.err)
	}
	if o := r.must("-p", "/mcp accept notes"); !strings.Contains(o.out, "Accepted what notes starts") || !ran() || !there() {
		t.Errorf("accepted: %s%s", o.out, o.err)
	}
	r.file("tools/serve.sh", program+serverPath(t)+"\n")
	if there() || !there("--trust") {
		t.Error("changed again, and there; or away in a run that trusts what is there")
	}
	r.must("trust")
	if !there() {
		t.Error("trusted again, and away")
	}
}
