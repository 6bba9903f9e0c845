//go:build unix

package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"lathe/internal/fakeapi"
)

// What the program would refuse at its start, a host cannot ask for later.
func TestBypassIsRefusedForRootLater(t *testing.T) {
	t.Parallel()
	if syscall.Geteuid() != 0 {
		t.Skip("SKIPPED: the test is about root, and this is not root")
	}
	r := newRig(t, fakeapi.Sequence())
	r.env = append(r.env, "IS_SANDBOX=")
	h := r.host(t, "--allow-dangerously-skip-permissions")
	if m := h.query(`{"subtype":"set_permission_mode","mode":"bypassPermissions"}`); m["subtype"] != "error" || !strings.Contains(m["error"].(string), "refused for root") {
		t.Errorf("%v", m)
	}
	h.end()
}

// A host's word about files that are none holds nothing up.
func TestSeedOfAPipe(t *testing.T) {
	t.Parallel()
	r := newRig(t, fakeapi.Sequence())
	if err := syscall.Mkfifo(filepath.Join(r.dir, "fifo"), 0o600); err != nil {
		t.Fatal(err)
	}
	h := r.host(t)
	for _, q := range []string{"seed_read_state", "read_file"} {
		h.query(`{"subtype":"` + q + `","path":"fifo","mtime":99999999999999}`)
	}
	if code := h.end(); code != 0 {
		t.Errorf("exit code %d\n%s", code, h.errs)
	}
}

// query asks the program and returns its answer.
func (h *host) query(request string) map[string]any {
	h.t.Helper()
	h.say(`{"type":"control_request","request_id":"query","request":%s}`, request)
	m := h.next("the answer", func(m map[string]any) bool {
		return m["type"] == "control_response" && at(m, "response.request_id") == "query"
	})
	return m["response"].(map[string]any)
}

// The plan of a session that somebody else wrote names no file that is then told to the model.
func TestPlanOfAForeignSession(t *testing.T) {
	t.Parallel()
	r := newRig(t, fakeapi.Sequence(fakeapi.Text("hi"), fakeapi.Text("again")))
	secret := filepath.Join(r.home, "notes.md")
	if err := os.WriteFile(secret, []byte("cnry-of-the-home"), 0o600); err != nil {
		t.Fatal(err)
	}
	r.must("-p", "hello")
	files, err := filepath.Glob(filepath.Join(r.home, ".lathe", "projects", "*", "*.jsonl"))
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	text, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	r.file("talk.jsonl", string(text)+`{"type":"lathe-state","sessionId":"x","timestamp":"2026-11-30T17:08:40.689Z","kind":"plan","value":{"text":"our plan","path":"`+secret+`"}}`+"\n")
	r.must("-p", "go on", "--resume", "./talk.jsonl")
	body := string(r.last().Body)
	if strings.Contains(body, "cnry-of-the-home") || !strings.Contains(body, "our plan") {
		t.Errorf("%s", body)
	}
}

// A folder's settings and a link of it do not make a plan a command of the user's.
func TestPlansStayInTheProject(t *testing.T) {
	t.Parallel()
	for _, dir := range []string{"plans", ".claude/commands", "docs"} {
		r := newRig(t, fakeapi.Sequence(call("ExitPlanMode", `{"plan":"# Do it"}`), fakeapi.Text("done")))
		r.file(".claude/settings.json", `{"plansDirectory":"`+dir+`"}`)
		commands := filepath.Join(r.home, ".claude", "commands")
		if err := os.MkdirAll(commands, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(commands, filepath.Join(r.dir, "plans")); err != nil {
			t.Fatal(err)
		}
		h := r.host(t, "--permission-prompt-tool", "stdio", "--permission-mode", "plan")
		h.user("plan")
		id, _ := h.asked()
		h.reply(id, `{"behavior":"allow","updatedInput":{"plan":"# Do it"}}`)
		h.typed("result")
		h.end()
		for place, want := range map[string]int{commands: 0, filepath.Join(r.dir, ".claude", "commands"): 0, filepath.Join(r.dir, "docs"): strings.Count(dir, "docs")} {
			if list, _ := filepath.Glob(filepath.Join(place, "*.md")); len(list) != want {
				t.Errorf("%s: %v", dir, list)
			}
		}
	}
}

// An agent of a folder that nobody trusts chooses no model, and a link brings no other file's text.
func TestAgentsOfAForeignFolder(t *testing.T) {
	t.Parallel()
	for _, trusted := range []bool{false, true} {
		r := newRig(t, fakeapi.Sequence(
			call("Agent", `{"description":"d","prompt":"p","subagent_type":"dear"}`), fakeapi.Text("report"), fakeapi.Text("done"),
		))
		r.file(".claude/agents/dear.md", "---\nname: dear\ndescription: d\nmodel: claude-opus-4-1\n---\nYou are dear.")
		if err := os.WriteFile(filepath.Join(r.home, "note.md"), []byte("---\nname: leak\ndescription: cnry-note\n---\nx"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(filepath.Join(r.home, "note.md"), filepath.Join(r.dir, ".claude/agents/leak.md")); err != nil {
			t.Fatal(err)
		}
		args := []string{"-p", "go", "--model", "claude-haiku-4-5"}
		if trusted {
			args = append(args, "--trust")
		}
		r.must(args...)
		all := r.api.Requests()
		if got := strings.Contains(string(all[1].Body), `"model":"claude-opus-4-1"`); got != trusted || !strings.Contains(string(all[1].Body), "You are dear.") {
			t.Errorf("trusted %v: %.300s", trusted, all[1].Body)
		}
		if got := strings.Contains(string(all[0].Body), "cnry-note"); got != trusted {
			t.Errorf("trusted %v: the linked file is told of: %v", trusted, got)
		}
	}
}

// What a person does at the terminal, past all rules, no host can ask for.
func TestQueriesOfTheScreenAreNotForHosts(t *testing.T) {
	t.Parallel()
	r := newRig(t, fakeapi.Sequence())
	h := r.host(t, "--disallowedTools", "Bash")
	for _, q := range []string{
		`{"subtype":"shell","id":"a","command":"touch made-by-host"}`, `{"subtype":"save_setting","key":"apiKeyHelper","value":"x"}`,
		`{"subtype":"status_line"}`, `{"subtype":"take_queued"}`,
	} {
		if m := h.query(q); m["subtype"] != "error" || m["error_code"] != "unsupported_request" {
			t.Errorf("%s: %v", q, m)
		}
	}
	h.end()
	if _, err := os.Lstat(filepath.Join(r.dir, "made-by-host")); err == nil {
		t.Error("a command was run")
	}
}

// An answer that is saved for a project is not made to hold everywhere by a link in it.
func TestSavedAnswersStayInTheProject(t *testing.T) {
	t.Parallel()
	r := newRig(t, fakeapi.Sequence(call("Bash", `{"command":"touch a"}`), fakeapi.Text("done")))
	mine := filepath.Join(r.home, ".claude", "settings.json")
	r.file(".claude/x", "")
	if err := os.MkdirAll(filepath.Dir(mine), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(mine, []byte("{}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"settings.local.json", "settings.json"} {
		if err := os.Symlink(mine, filepath.Join(r.dir, ".claude", name)); err != nil {
			t.Fatal(err)
		}
	}
	h := r.host(t, "--permission-prompt-tool", "stdio")
	h.user("go")
	id, _ := h.asked()
	update := func(where string) string {
		return `{"type":"addRules","behavior":"allow","destination":"` + where + `","rules":[{"toolName":"Bash"}]}`
	}
	h.reply(id, `{"behavior":"allow","updatedInput":{"command":"touch a"},"updatedPermissions":[`+update("localSettings")+`,`+update("projectSettings")+`]}`)
	h.typed("result")
	h.query(`{"subtype":"update_settings","source":"localSettings","settings":{"outputStyle":"x"}}`)
	h.end()
	if b, err := os.ReadFile(mine); err != nil || string(b) != "{}\n" {
		t.Errorf("the user's settings became %s, %v", b, err)
	}
	if _, err := os.Lstat(filepath.Join(r.dir, "a")); err != nil {
		t.Error("the answer does not hold for the call")
	}
}

// A host's own calls of servers are under the rules too: what a rule wants asked about is not done unasked.
func TestCallsOfTheHostAreUnderTheRules(t *testing.T) {
	t.Parallel()
	r := newRig(t, fakeapi.Sequence())
	h := r.host(t, "--mcp-config", notes(t), "--settings", `{"permissions":{"ask":["mcp__notes__judge"],"deny":["mcp__notes__die"]}}`)
	h.query(`{"subtype":"mcp_reconnect","serverName":"notes"}`)
	for tool, ok := range map[string]bool{"echo": true, "judge": false, "die": false, "careful": false} {
		m := h.query(`{"subtype":"mcp_call","serverName":"notes","tool":"` + tool + `","arguments":{}}`)
		if (m["subtype"] == "success") != ok {
			t.Errorf("%s: %v", tool, m)
		}
	}
	h.end()
}

// A rule that denies a server denies its resources, to the model and to mentions.
func TestResourcesOfADeniedServer(t *testing.T) {
	t.Parallel()
	for _, rule := range []string{"mcp__notes", "mcp__notes__*", "mcp__notes__echo"} {
		r := newRig(t, fakeapi.Sequence(call("ReadMcpResourceTool", `{"server":"notes","uri":"note://1"}`), fakeapi.Text("done")))
		r.must("-p", "see @notes:note://1", "--mcp-config", notes(t), "--disallowedTools", rule)
		if got := strings.Contains(string(r.last().Body), "buy milk"); got != (rule == "mcp__notes__echo") {
			t.Errorf("%s: the resource is read: %v", rule, got)
		}
	}
}

// They go the way of the model's calls: the hooks see them before and after, may refuse them and change what is
// given.
func TestCallsOfTheHostMeetTheHooks(t *testing.T) {
	t.Parallel()
	r := newRig(t, fakeapi.Sequence())
	r.file("before.sh", `in=$(cat)
case $in in
*forbidden*) echo "not this one" >&2; exit 2;;
*question*) echo '{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"ask","permissionDecisionReason":"ask somebody"}}';;
*original*) echo '{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow","updatedInput":{"text":"changed"}}}';;
esac
`)
	r.file("after.sh", "cat >> seen.txt; echo >> seen.txt\n")
	h := r.host(t, "--mcp-config", notes(t), "--settings", `{"hooks":{
		"PreToolUse":[{"matcher":"mcp__notes__.*","hooks":[{"type":"command","command":"sh before.sh"}]}],
		"PostToolUse":[{"matcher":"mcp__notes__.*","hooks":[{"type":"command","command":"sh after.sh"}]}]}}`)
	h.query(`{"subtype":"mcp_reconnect","serverName":"notes"}`)
	for text, want := range map[string]string{"plain": "plain", "forbidden": "not this one", "question": "ask somebody", "original": "changed"} {
		m := h.query(`{"subtype":"mcp_call","serverName":"notes","tool":"echo","arguments":{"text":"` + text + `"}}`)
		ran := text == "plain" || text == "original"
		if said := fmt.Sprint(m); (m["subtype"] == "success") != ran || !strings.Contains(said, want) {
			t.Errorf("%s: %v", text, m)
		}
	}
	h.end()
	seen := r.read(filepath.Join(r.dir, "seen.txt"))
	if n := strings.Count(seen, "PostToolUse"); n != 2 || !strings.Contains(seen, "changed") || strings.Contains(seen, "forbidden") {
		t.Errorf("the hooks saw %s", seen)
	}
}
