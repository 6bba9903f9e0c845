package hook_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"lathe/internal/hook"
	"lathe/internal/perm"
	"lathe/internal/proc"
)

// patience bounds every wait. It is only ever used up by a test that fails.
const patience = time.Minute

// rig is a bus over one configuration, with real processes.
type rig struct {
	*hook.Bus
	set *hook.Set
	dir string
}

func newRig(t *testing.T, config string, change ...func(*hook.Deps)) *rig {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("SKIPPED: the hooks of these tests are shell scripts")
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	opt := perm.Options{Start: dir, Home: dir, ProjectRoot: dir, Platform: runtime.GOOS}
	set := hook.Parse([]hook.Source{{Scope: "user", File: "/u/settings.json", Dir: dir, Hooks: json.RawMessage(config)}}, opt)
	procs := &proc.Group{}
	d := hook.Deps{
		Set: set, Procs: procs, Environ: os.Environ, Getenv: os.Getenv,
		Base: func() hook.Base {
			return hook.Base{Session: "s1", Transcript: "/t.jsonl", Cwd: dir, Project: dir, Mode: "default", Effort: "low", EnvFile: dir + "/env"}
		},
		Perm: func() perm.Env {
			return perm.Env{Platform: runtime.GOOS, Workspace: perm.Workspace{Cwd: dir, Roots: []string{dir}, Home: dir}}
		},
		Spill: func(text string) (string, error) {
			return "/spilled", os.WriteFile(filepath.Join(dir, "spilled"), []byte(text), 0o600)
		},
	}
	for _, f := range change {
		f(&d)
	}
	b := hook.New(d)
	t.Cleanup(func() { b.Close(); procs.Close() })
	return &rig{Bus: b, set: set, dir: dir}
}

func command(event hook.Event, text string, more ...string) string {
	h := map[string]any{"type": "command", "command": text}
	for i := 0; i+1 < len(more); i += 2 {
		var v any
		_ = json.Unmarshal([]byte(more[i+1]), &v)
		h[more[i]] = v
	}
	b, _ := json.Marshal(map[string]any{string(event): []any{map[string]any{"hooks": []any{h}}}})
	return string(b)
}

func bash(cmd string) hook.Payload {
	in, _ := json.Marshal(map[string]string{"command": cmd})
	return hook.Payload{
		Event: hook.PreToolUse, Match: "Bash", Call: &perm.Request{Tool: "Bash", Input: in},
		Fields: map[string]any{"tool_name": "Bash", "tool_input": json.RawMessage(in), "tool_use_id": "t1"},
	}
}

// said is what an outcome comes to, in short.
type said struct {
	Verdict string
	Reason  string
	Context []string
	System  []string
	Problem string // first words
	Stop    bool
}

func short(o hook.Outcome) said {
	s := said{Context: o.Context, System: o.System, Stop: o.Stop}
	if o.Decision != nil {
		s.Verdict, s.Reason = o.Decision.Verdict.String(), o.Decision.Reason
	}
	if len(o.Problems) > 0 {
		_, s.Problem, _ = strings.Cut(o.Problems[0], "): ")
		if s.Problem == "" {
			s.Problem = o.Problems[0]
		}
		s.Problem, _, _ = strings.Cut(s.Problem, ": ")
	}
	return s
}

// The documented table: exit code × kind of standard output × event.
func TestExitCodesAndOutput(t *testing.T) {
	const deny = `{"systemMessage": "sys", "hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "deny", "permissionDecisionReason": "why"}}`
	const blocked = `{"systemMessage": "sys", "decision": "block", "reason": "why"}`
	const plain = `{"systemMessage": "sys"}`
	yes := func(event, out string) string { // what a valid object decides
		switch {
		case out == deny && event != "PreToolUse":
			return "invalid"
		case out == plain || event == "SessionStart" || event == "Notification":
			return ""
		}
		return "deny"
	}
	stdouts := map[string]string{
		"empty": "", "text": "hello", "half": `{"a":`, "array": `["x"]`, "broken": `{"continue": maybe}`,
		"wrong": `{"decision": "perhaps"}`, "plain": plain, "deny": deny, "block": blocked,
	}
	for _, event := range []hook.Event{hook.PreToolUse, hook.UserPromptSubmit, hook.PostToolUse, hook.Stop, hook.SessionStart, hook.Notification} {
		exit2 := map[hook.Event]string{hook.PreToolUse: "deny", hook.UserPromptSubmit: "deny", hook.PostToolUse: "deny", hook.Stop: "deny"}[event]
		for kind, out := range stdouts {
			for _, code := range []int{0, 2, 1} {
				t.Run(fmt.Sprintf("%s/%s/%d", event, kind, code), func(t *testing.T) {
					r := newRig(t, command(event, fmt.Sprintf("printf %%s '%s'; echo err >&2; exit %d", out, code)))
					got := short(r.Fire(t.Context(), hook.Payload{Event: event}))
					object := kind == "plain" || kind == "deny" || kind == "block"
					decided := ""
					if object {
						decided = yes(string(event), out)
					}
					valid := object && decided != "invalid"
					want := said{}
					switch {
					case code == 2:
						want.Verdict = exit2
						if exit2 != "" {
							want.Reason = "err"
						}
						if event == hook.SessionStart {
							want.Problem = "err"
						}
					case valid && decided != "":
						want.Verdict, want.Reason = decided, "why"
					case valid:
					case kind == "broken":
						want.Problem = "its JSON cannot be read"
					case object || kind == "wrong":
						want.Problem = "its JSON is not valid"
					case code == 1:
						want.Problem = "exit code 1"
					case out != "" && (event == hook.UserPromptSubmit || event == hook.SessionStart):
						want.Context = []string{out}
					}
					if valid {
						want.System = []string{"sys"}
					}
					if diff := cmp.Diff(want, got); diff != "" {
						t.Errorf("(-want +got):\n%s", diff)
					}
				})
			}
		}
	}
}

func TestOneCall(t *testing.T) {
	pre := func(fields string) string {
		return `echo '{"hookSpecificOutput": {"hookEventName": "PreToolUse", ` + fields + `}}'`
	}
	for _, tt := range []struct {
		name, command string
		more          []string
		want          said
	}{
		{"exit code 2 cannot be lifted", pre(`"permissionDecision": "allow"`) + "; echo no >&2; exit 2", nil, said{Verdict: "deny", Reason: "no"}},
		{"exit code 2 without a word", "exit 2", nil, said{Verdict: "deny", Reason: "no reason given"}},
		{"exit code 3 with a decision", pre(`"permissionDecision": "ask", "permissionDecisionReason": "hm"`) + "; exit 3", nil, said{Verdict: "ask", Reason: "hm"}},
		{"legacy approve", `echo '{"decision": "approve", "reason": "ok"}'`, nil, said{Verdict: "allow", Reason: "ok"}},
		{"legacy block", `echo '{"decision": "block", "reason": "no"}'`, nil, said{Verdict: "deny", Reason: "no"}},
		{"of another event", `echo '{"hookSpecificOutput": {"hookEventName": "Stop"}}'`, nil, said{Problem: "its JSON is not valid"}},
		{"input that is no object", pre(`"updatedInput": "x"`), nil, said{Problem: "its JSON is not valid"}},
		{"continue false", `echo '{"continue": false, "stopReason": "x"}'`, nil, said{Stop: true}},
		{"no such program", "", []string{"command", `"no-such-program"`, "args", `[]`}, said{Problem: "it could not be started"}},
		{"exec form", "", []string{"command", `"sh"`, "args", `["-c", "test \"$1\" = \"$CLAUDE_PROJECT_DIR\" && exit 2", "x", "${CLAUDE_PROJECT_DIR}"]`}, said{Verdict: "deny", Reason: "no reason given"}},
		{"bash", "[[ $BASH_VERSION ]] && exit 2", []string{"shell", `"bash"`}, said{Verdict: "deny", Reason: "no reason given"}},
		{"too slow", "sleep 30", []string{"timeout", "0.05"}, said{Problem: "it took longer than 50ms and was stopped"}},
		{"onFailure: exit code", pre(`"permissionDecision": "allow"`) + "; exit 1", []string{"onFailure", `"block"`}, said{Verdict: "deny", Reason: "the hook failed: exit code 1", Problem: "exit code 1"}},
		{"onFailure: output", `echo '{"decision": 1}'`, []string{"onFailure", `"block"`}, said{Verdict: "deny", Problem: "its JSON cannot be read"}},
		{"onFailure: slow", "sleep 30", []string{"timeout", "0.05", "onFailure", `"block"`}, said{Verdict: "deny", Reason: "the hook failed: it took longer than 50ms and was stopped", Problem: "it took longer than 50ms and was stopped"}},
		{"onFailure: fine", "exit 0", []string{"onFailure", `"block"`}, said{}},
		{"escape sequences", `printf '{"systemMessage": "a\\u001b[31mb\\u0007"}'`, nil, said{System: []string{"ab"}}},
		{"if: matches", "exit 2", []string{"if", `"Bash(rm *)"`}, said{Verdict: "deny", Reason: "no reason given"}},
		{"if: another", "exit 2", []string{"if", `"Bash(mv *)"`}, said{}},
		{"if: broken", "exit 2", []string{"if", `"Bash("`}, said{Verdict: "deny", Reason: "no reason given"}},
		{"mcp_tool", "", []string{"type", `"mcp_tool"`, "server", `"s"`, "tool", `"t"`}, said{Problem: "mcp_tool hooks are not supported by this version of Lathe"}},
		{"agent", "", []string{"type", `"agent"`, "prompt", `"look"`, "onFailure", `"block"`}, said{Verdict: "deny", Reason: "the hook failed: agent hooks are not supported here", Problem: "agent hooks are not supported here"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := newRig(t, command(hook.PreToolUse, tt.command, tt.more...))
			got := short(r.Fire(t.Context(), bash("echo hi && X=1 rm -rf x")))
			if tt.want.Reason == "" && tt.want.Verdict != "" {
				got.Reason = ""
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// What a hook is given: the input on standard input, its directory, its environment.
func TestInputAndEnvironment(t *testing.T) {
	t.Setenv("OTEL_EXPORTER_OTLP_HEADERS", "secret")
	t.Setenv("ANTHROPIC_API_KEY", "secret")
	t.Setenv("KEPT", "yes")
	r := newRig(t, command(hook.SessionStart, `cat > in.json; pwd > pwd; env > environment`))
	r.Fire(t.Context(), hook.Payload{Event: hook.SessionStart, Match: "startup", Prompt: "p1", Fields: map[string]any{"source": "startup"}})
	var got map[string]any
	b, _ := os.ReadFile(filepath.Join(r.dir, "in.json"))
	if err := json.Unmarshal(b, &got); err != nil {
		t.Fatal(err)
	}
	want := map[string]any{
		"session_id": "s1", "transcript_path": "/t.jsonl", "cwd": r.dir, "hook_event_name": "SessionStart",
		"permission_mode": "default", "prompt_id": "p1", "source": "startup",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	env, _ := os.ReadFile(filepath.Join(r.dir, "environment"))
	for _, line := range []string{
		"CLAUDE_PROJECT_DIR=" + r.dir, "CLAUDECODE=1", "CLAUDE_CODE_SESSION_ID=s1", "CLAUDE_CODE_CHILD_SESSION=1",
		"CLAUDE_EFFORT=low", fmt.Sprint("CLAUDE_PID=", os.Getpid()), "CLAUDE_ENV_FILE=" + r.dir + "/env", "KEPT=yes",
	} {
		if !strings.Contains("\n"+string(env), "\n"+line+"\n") {
			t.Errorf("the environment lacks %s", line)
		}
	}
	if strings.Contains(string(env), "secret") {
		t.Error("the environment holds a secret")
	}
}

// deny > defer > ask > allow, whatever the order; identical handlers run once; they run beside each other.
func TestSeveral(t *testing.T) {
	for _, tt := range []struct{ decisions, want string }{
		{"allow", "allow"},
		{"allow ask", "ask"},
		{"ask allow", "ask"},
		{"ask defer allow", "ask deferred"},
		{"deny allow defer", "deny"},
		{"allow ask defer deny", "deny"},
	} {
		var hooks []string
		for _, d := range strings.Fields(tt.decisions) {
			hooks = append(hooks, fmt.Sprintf(`{"type": "command", "command": "echo '{\"hookSpecificOutput\": {\"hookEventName\": \"PreToolUse\", \"permissionDecision\": \"%s\", \"updatedInput\": {\"command\": \"%s\"}}}'"}`, d, d))
		}
		r := newRig(t, `{"PreToolUse": [{"hooks": [`+strings.Join(hooks, ",")+`]}]}`)
		o := r.Fire(t.Context(), bash("ls"))
		got := o.Decision.Verdict.String()
		if o.Deferred {
			got += " deferred"
		}
		if got != tt.want {
			t.Errorf("%s: %s, want %s", tt.decisions, got, tt.want)
		}
		if (o.Input == nil) != (tt.want == "deny") {
			t.Errorf("%s: input %s", tt.decisions, o.Input)
		}
	}
	// Each waits for the other's file: one after the other they would never end.
	meet := `{"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "echo x >> once; touch a; until test -e b; do sleep 0.01; done"}]},
		{"matcher": "*", "hooks": [{"type": "command", "command": "touch b; until test -e a; do sleep 0.01; done"},
		{"type": "command", "command": "echo x >> once; touch a; until test -e b; do sleep 0.01; done"}]}]}`
	r := newRig(t, meet)
	if o := r.Fire(t.Context(), bash("ls")); len(o.Ran) != 2 {
		t.Errorf("%d ran, want 2", len(o.Ran))
	}
	if b, _ := os.ReadFile(filepath.Join(r.dir, "once")); string(b) != "x\n" {
		t.Errorf("the identical handler ran %q", b)
	}
}

// A hook that hangs is killed with everything that it started, also what left its session.
func TestHangingHookIsKilledWithItsGroup(t *testing.T) {
	script := `sh -c 'echo $$ > child; while :; do sleep 0.02; echo x >> beat; done' & setsid sh -c 'echo $$ > far; while :; do sleep 0.02; done' & trap '' TERM; while test ! -s child -o ! -s far; do sleep 0.01; done; while :; do sleep 1; done`
	for _, how := range []string{"timeout", "interrupt"} {
		t.Run(how, func(t *testing.T) {
			hang := func(limit time.Duration) *rig {
				r := newRig(t, command(hook.PreToolUse, script, "timeout", fmt.Sprint(limit.Seconds())))
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				if how == "interrupt" {
					go func() {
						for ; ctx.Err() == nil; time.Sleep(time.Millisecond) {
							if r.begun() {
								cancel()
							}
						}
					}()
				}
				if o := r.Fire(ctx, bash("ls")); o.Decision != nil {
					t.Errorf("a hook that was killed decided: %v", o.Decision)
				}
				return r
			}
			var r *rig
			if how == "interrupt" {
				r = hang(10 * time.Minute)
			} else {
				limit := 500 * time.Millisecond
				for r = hang(limit); !r.begun() && limit < patience; r = hang(limit) { // its start did not fit into the limit
					limit *= 3
				}
			}
			for _, name := range []string{"child", "far"} {
				b, err := os.ReadFile(filepath.Join(r.dir, name))
				if err != nil {
					t.Fatal(err)
				}
				pid := strings.TrimSpace(string(b))
				for end := time.Now().Add(patience); lives(pid); time.Sleep(time.Millisecond) { // the kernel takes its time
					if time.Now().After(end) {
						t.Fatalf("%s (%s) still lives", name, pid)
					}
				}
			}
		})
	}
}

// begun reports whether both children of the script run.
func (r *rig) begun() bool {
	near, _ := os.ReadFile(filepath.Join(r.dir, "child"))
	far, _ := os.ReadFile(filepath.Join(r.dir, "far"))
	return len(near) > 0 && len(far) > 0
}

func lives(pid string) bool {
	stat, err := os.ReadFile("/proc/" + pid + "/stat")
	return err == nil && !strings.Contains(string(stat), ") Z ")
}

func TestLongTextIsCut(t *testing.T) {
	r := newRig(t, command(hook.UserPromptSubmit, `head -c 30000 /dev/zero | tr '\0' x`))
	o := r.Fire(t.Context(), hook.Payload{Event: hook.UserPromptSubmit})
	if len(o.Context) != 1 || !strings.HasSuffix(o.Context[0], "[cut: 10000 of 30000 characters shown; the whole text is in /spilled]") {
		t.Fatalf("context: %.100s", o.Context)
	}
	if b, _ := os.ReadFile(filepath.Join(r.dir, "spilled")); len(b) != 30000 {
		t.Errorf("%d bytes were kept", len(b))
	}
}

// Handlers in the background: nobody waits, what they say comes later, exit code 2 with asyncRewake too.
func TestBackground(t *testing.T) {
	for _, tt := range []struct {
		name, command string
		more          []string
		want          hook.Late
	}{
		{
			"async", `until test -e go; do sleep 0.01; done; echo '{"systemMessage": "s", "hookSpecificOutput": {"hookEventName": "PreToolUse", "additionalContext": "c", "permissionDecision": "deny"}}'`,
			[]string{"async", "true"},
			hook.Late{Context: []string{"c"}, System: []string{"s"}},
		},
		{"wakes", `until test -e go; do sleep 0.01; done; echo look >&2; exit 2`, []string{"asyncRewake", "true"}, hook.Late{Context: []string{"look"}, Wake: true}},
		{"by its own word", `echo '{"async": true}'; until test -e go; do sleep 0.01; done; echo '{"systemMessage": "s"}'`, nil, hook.Late{System: []string{"s"}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := newRig(t, command(hook.PreToolUse, tt.command, tt.more...))
			if got := short(r.Fire(t.Context(), bash("ls"))); !cmp.Equal(got, said{}) {
				t.Errorf("it was waited for: %+v", got)
			}
			if r.Waiting() {
				t.Error("it has said something already")
			}
			if err := os.WriteFile(filepath.Join(r.dir, "go"), nil, 0o600); err != nil {
				t.Fatal(err)
			}
			end := time.Now().Add(patience)
			for !r.Waiting() && time.Now().Before(end) {
				time.Sleep(time.Millisecond)
			}
			if diff := cmp.Diff([]hook.Late{tt.want}, r.TakeLate()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// Close ends what runs in the background.
func TestCloseEndsTheBackground(t *testing.T) {
	r := newRig(t, command(hook.PreToolUse, `echo $$ > pid; sleep 600`, "async", "true"))
	r.Fire(t.Context(), bash("ls"))
	done := make(chan struct{})
	go func() { r.Close(); close(done) }()
	select {
	case <-done:
	case <-time.After(patience):
		t.Fatal("Close waits for a hook in the background")
	}
}

func TestPromptHooks(t *testing.T) {
	for _, tt := range []struct {
		event        hook.Event
		answer, more string
		want         said
	}{
		{hook.PreToolUse, `{"ok": true}`, "", said{}},
		{hook.PreToolUse, `Sure: {"ok": false, "reason": "no"}`, "", said{Verdict: "deny", Reason: "no", Stop: true}},
		{hook.PreToolUse, `{"ok": false, "reason": "no"}`, `, "continueOnBlock": true`, said{Verdict: "deny", Reason: "no"}},
		{hook.Stop, `{"ok": false, "reason": "go on"}`, "", said{Verdict: "deny", Reason: "go on"}},
		{hook.Stop, `{"ok": false, "reason": "go on", "impossible": true}`, "", said{}},
		{hook.PreToolUse, `perhaps`, "", said{Problem: `the model's answer is not {"ok"`}},
	} {
		var asked string
		r := newRig(t, fmt.Sprintf(`{"%s": [{"hooks": [{"type": "prompt", "prompt": "Is it fine? $ARGUMENTS"%s}]}]}`, tt.event, tt.more), func(d *hook.Deps) {
			d.Ask = func(_ context.Context, _, prompt string) (string, error) { asked = prompt; return tt.answer, nil }
		})
		p := bash("ls")
		p.Event = tt.event
		if diff := cmp.Diff(tt.want, short(r.Fire(t.Context(), p))); diff != "" {
			t.Errorf("%s %s:\n%s", tt.event, tt.answer, diff)
		}
		if !strings.HasPrefix(asked, `Is it fine? {"cwd":`) {
			t.Errorf("asked %q", asked)
		}
	}
}

// An MCP tool's input is filled in from the hook's; its text is read like standard output.
func TestToolHook(t *testing.T) {
	var got string
	config := `{"PreToolUse": [{"hooks": [{"type": "mcp_tool", "server": "s", "tool": "t", "input": {"a": ["cmd: ${tool_input.command}"], "b": "${nothing}"}}]}]}`
	r := newRig(t, config, func(d *hook.Deps) {
		d.Tool = func(_ context.Context, server, tool string, in json.RawMessage) (string, error) {
			got = server + " " + tool + " " + string(in)
			return `{"decision": "block", "reason": "no"}`, nil
		}
	})
	if diff := cmp.Diff(said{Verdict: "deny", Reason: "no"}, short(r.Fire(t.Context(), bash("ls")))); diff != "" {
		t.Error(diff)
	}
	if want := `s t {"a":["cmd: ls"],"b":"${nothing}"}`; got != want {
		t.Errorf("called with %s", got)
	}
}

// PermissionRequest answers in the person's place; exit code 2 says nothing there.
func TestPermissionRequest(t *testing.T) {
	for _, tt := range []struct {
		command string
		want    said
		abort   bool
	}{
		{`echo '{"hookSpecificOutput": {"hookEventName": "PermissionRequest", "decision": {"behavior": "allow", "updatedInput": {"command": "ls"}}}}'`, said{Verdict: "allow", Reason: "a PermissionRequest hook decided so"}, false},
		{`echo '{"hookSpecificOutput": {"hookEventName": "PermissionRequest", "decision": {"behavior": "deny", "message": "no", "interrupt": true}}}'`, said{Verdict: "deny", Reason: "no"}, true},
		{`echo '{"hookSpecificOutput": {"hookEventName": "PermissionRequest", "decision": {"behavior": "maybe"}}}'`, said{Problem: "its JSON is not valid"}, false},
		{`echo no >&2; exit 2`, said{}, false},
	} {
		r := newRig(t, command(hook.PermissionRequest, tt.command))
		p := bash("ls")
		p.Event = hook.PermissionRequest
		o := r.Fire(t.Context(), p)
		if diff := cmp.Diff(tt.want, short(o)); diff != "" || o.Abort != tt.abort {
			t.Errorf("%s: abort %v\n%s", tt.command, o.Abort, diff)
		}
	}
}

// The hooks of a session's end share one limit.
func TestSharedLimit(t *testing.T) {
	r := newRig(t, command(hook.SessionEnd, "sleep 300"))
	o := r.Fire(t.Context(), hook.Payload{Event: hook.SessionEnd, Match: "other", Limit: 50 * time.Millisecond})
	if got := short(o); got.Problem != "it took too long and was stopped" {
		t.Errorf("%+v", got)
	}
}

func TestNilBus(t *testing.T) {
	var b *hook.Bus
	if o := b.Fire(t.Context(), bash("ls")); len(o.Ran) != 0 || b.Has(hook.PreToolUse, "Bash") || b.Waiting() || b.TakeLate() != nil {
		t.Error("a nil bus does something")
	}
	b.Close()
}
