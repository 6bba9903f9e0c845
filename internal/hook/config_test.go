package hook_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tailscale/hujson"

	"lathe/internal/hook"
	"lathe/internal/perm"
	"lathe/internal/testkit"
)

func parse(config string) *hook.Set {
	return hook.Parse([]hook.Source{{
		Scope: "user", File: "/s.json", Hooks: json.RawMessage(config),
		Line: func(p string) int { return len(p) },
	}}, perm.Options{Start: "/", Home: "/h", ProjectRoot: "/"})
}

func TestMatchers(t *testing.T) {
	for _, tt := range []struct {
		event        hook.Event
		matcher      string
		hits, misses string
	}{
		{hook.PreToolUse, `""`, "Bash Edit", ""},
		{hook.PreToolUse, `"*"`, "Bash", ""},
		{hook.PreToolUse, `null`, "Bash", ""},
		{hook.PreToolUse, `"Bash"`, "Bash", "BashOutput bash"},
		{hook.PreToolUse, `"Edit|Write"`, "Edit Write", "MultiEdit"},
		{hook.PreToolUse, `"Edit, Write"`, "Edit Write", "Bash"},
		{hook.PreToolUse, `"Bash|"`, "Bash", "Edit"},
		{hook.PreToolUse, `"mcp__srv"`, "mcp__srv", "mcp__srv__x"},
		{hook.PreToolUse, `"mcp__srv__.*"`, "mcp__srv__x", "mcp__other__x"},
		{hook.PreToolUse, `"Notebook.*"`, "NotebookEdit", "Edit"},
		{hook.PreToolUse, `"^(Edit|Write)$"`, "Edit", "MultiEdit"},
		{hook.PreToolUse, `"dit."`, "EditX", "Edit"},
		{hook.UserPromptSubmit, `"anything(("`, "x", ""},
		{hook.StopFailure, `"rate_limit|overloaded"`, "overloaded", "unknown"},
		{hook.SessionStart, `"startup"`, "startup", "resume"},
	} {
		config := fmt.Sprintf(`{%q: [{"matcher": %s, "hooks": [{"type": "command", "command": "x"}]}]}`, tt.event, tt.matcher)
		b := hook.New(hook.Deps{Set: parse(config)})
		for _, name := range strings.Fields(tt.hits) {
			if !b.Has(tt.event, name) {
				t.Errorf("%s does not match %s", tt.matcher, name)
			}
		}
		for _, name := range strings.Fields(tt.misses) {
			if b.Has(tt.event, name) {
				t.Errorf("%s matches %s", tt.matcher, name)
			}
		}
	}
}

// A matcher that cannot be evaluated is named; before a call it blocks, elsewhere it matches nothing.
func TestBrokenMatchers(t *testing.T) {
	for _, m := range []string{"[", "Bash(", "Edit|(?!Read)"} {
		for _, e := range []hook.Event{hook.PreToolUse, hook.PermissionRequest, hook.PostToolUse} {
			q, _ := json.Marshal(m)
			r := newRig(t, fmt.Sprintf(`{%q: [{"matcher": %s, "hooks": [{"type": "command", "command": "touch ran"}]}]}`, e, q))
			if len(r.set.Warnings) != 1 || !strings.Contains(r.set.Warnings[0], m) {
				t.Errorf("%s: warnings %q", m, r.set.Warnings)
			}
			p := bash("ls")
			p.Event = e
			o := r.Fire(t.Context(), p)
			blocked := o.Decision != nil && o.Decision.Verdict == perm.Deny
			if blocked != (e != hook.PostToolUse) || blocked != r.Has(e, "Bash") {
				t.Errorf("%s %s: blocked %v", e, m, blocked)
			}
			if _, err := os.Stat(filepath.Join(r.dir, "ran")); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("%s %s: the hook ran", e, m)
			}
		}
	}
}

// Wrong entries are skipped and named with their place; the good ones beside them count.
func TestWrongEntries(t *testing.T) {
	good := `{"type": "command", "command": "x"}`
	for _, tt := range []struct {
		config string
		count  int
		warn   []string // parts of the warnings, in order
	}{
		{`[]`, 0, []string{"/s.json:6: hooks must be an object"}},
		{`{"NoSuchEvent": [], "Stop": [{"hooks": [` + good + `]}]}`, 1, []string{`/s.json:18: there is no hook event "NoSuchEvent"`}},
		{`{"Stop": {}}`, 0, []string{"must be a list of {matcher, hooks}"}},
		{`{"Stop": [{"hooks": ` + good + `}, {"matcher": "x"}, 7, {"hooks": [` + good + `]}]}`, 1, []string{`needs a list "hooks"`, `needs a list "hooks"`, `needs a list "hooks"`}},
		{`{"Stop": [{"matcher": 5, "hooks": [` + good + `]}]}`, 0, []string{"the matcher of hooks.Stop must be a text"}},
		{
			`{"Stop": [{"hooks": ["echo hi", {"type": "nope"}, {"command": "x"}, {"type": "command"}, ` + good + `]}]}`, 1,
			[]string{"must be an object", `not "nope"`, `not ""`, "has no command"},
		},
		{`{"Stop": [{"hooks": [{"type": "command", "command": ["x"]}]}]}`, 0, []string{"wrong type"}},
		{`{"Stop": [{"hooks": [{"type": "command", "command": "x", "timeout": "5"}]}]}`, 1, []string{"timeout must be a number of seconds"}},
		{`{"SessionStart": [{"hooks": [{"type": "prompt", "prompt": "x"}, {"type": "http", "url": "http://x"}]}]}`, 0, []string{"has the type prompt", "has the type http"}},
		{`{"Stop": [{"hooks": [{"type": "command", "command": "x", "if": "Bash(ls)"}]}]}`, 1, []string{`knows no "if"`}},
		{`{"PreToolUse": [{"matcher": "Bash(git commit:*)", "hooks": [` + good + `]}]}`, 1, []string{"compared with tool names only"}},
		{`{"PreToolUse": [{"hooks": [{"type": "command", "command": "x", "onFailure": "explode"}, {"type": "command", "command": "x", "shell": "fish"}]}]}`, 0, []string{"onFailure", "shell"}},
		{`{"Stop": [{"hooks": [{"type": "mcp_tool", "tool": "x"}]}]}`, 0, []string{"has no server"}},
	} {
		set := parse(tt.config)
		n := len(set.List())
		ok := n == tt.count && len(set.Warnings) == len(tt.warn)
		for i := 0; ok && i < len(tt.warn); i++ {
			ok = strings.Contains(set.Warnings[i], tt.warn[i])
		}
		if !ok {
			t.Errorf("%s: %d handlers, warnings %q", tt.config, n, set.Warnings)
		}
	}
}

// Every hook configuration that people really have gives the handlers that a tolerant reader finds; what cannot be
// one is named.
func TestRealConfigurations(t *testing.T) {
	dir := testkit.Shared(t, "data/config")
	var expect struct {
		Real map[string]struct {
			Events map[hook.Event]int `json:"hook_events"`
		} `json:"real"`
	}
	b, err := os.ReadFile(filepath.Join(dir, "EXPECT.json"))
	if err != nil || json.Unmarshal(b, &expect) != nil {
		t.Fatal("EXPECT.json cannot be read", err)
	}
	files := 0
	for name, want := range expect.Real {
		if want.Events == nil {
			continue
		}
		files++
		set := parse(hooksIn(t, filepath.Join(dir, name)))
		warned := strings.Join(set.Warnings, "\n")
		got := count(set)
		for e, n := range want.Events {
			if n == 0 && !strings.Contains(warned, "hooks."+string(e)+" needs a list") {
				t.Errorf("%s: what is wrong with %s is not named", name, e)
			}
			if n > 0 && got[e] == 0 && strings.Contains(warned, fmt.Sprintf("no hook event %q", e)) {
				n = 0 // another program's event
			}
			n -= strings.Count(warned, fmt.Sprintf("a handler of hooks.%s has the type", e)) // named, since it can never run
			if got[e] != n {
				t.Errorf("%s: %d handlers of %s, want %d\n%s", name, got[e], e, n, warned)
			}
		}
	}
	if files < 20 {
		t.Errorf("only %d configurations", files)
	}
}

// count is the number of handlers of each event.
func count(set *hook.Set) map[hook.Event]int {
	out := map[hook.Event]int{}
	for _, h := range set.List() {
		out[hook.Event(h.Event)]++
	}
	return out
}

func hooksIn(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err == nil {
		text, err = hujson.Standardize(text)
	}
	var keys map[string]json.RawMessage
	if err != nil || json.Unmarshal(text, &keys) != nil {
		t.Fatal(path, err)
	}
	return string(keys["hooks"])
}

// The odd files: broken matchers and wrong shapes are reported, the others still run.
func TestOddConfigurations(t *testing.T) {
	dir := testkit.Shared(t, "data/config")
	set := parse(hooksIn(t, filepath.Join(dir, "odd/08-matchers/.claude/settings.json")))
	if diff := cmp.Diff(map[hook.Event]int{hook.PreToolUse: 22}, count(set)); diff != "" {
		t.Error(diff)
	}
	for _, want := range []string{
		`matcher "["`, `matcher "Bash("`, `matcher "Edit|(?!Read)"`, `timeout must be a number`, `needs a list "hooks"`,
		`not "nope"`, `must be an object`, `"NoSuchEvent"`,
	} {
		if !strings.Contains(strings.Join(set.Warnings, "\n"), want) {
			t.Errorf("no warning of %s:\n%s", want, strings.Join(set.Warnings, "\n"))
		}
	}
	if set := parse(hooksIn(t, filepath.Join(dir, "odd/06-wrong-types/.claude/settings.json"))); !set.Empty() || len(set.Warnings) != 1 {
		t.Errorf("wrong types: %q", set.Warnings)
	}
}

func FuzzParse(f *testing.F) {
	f.Add(`{"PreToolUse": [{"matcher": "Bash|(", "hooks": [{"type": "command", "command": "x", "if": "Bash(ls *)", "timeout": 1e9}]}]}`)
	f.Add(`{"Stop": [{"hooks": [{"type": "http", "url": "http://x", "headers": {"a": "$B"}}]}]}`)
	f.Fuzz(func(t *testing.T, config string) {
		set := parse(config)
		b := hook.New(hook.Deps{Set: set})
		b.Has(hook.PreToolUse, "Bash")
	})
}
