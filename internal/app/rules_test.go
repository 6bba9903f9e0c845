package app

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"lathe/internal/config"
	"lathe/internal/event"
	"lathe/internal/git"
	"lathe/internal/perm"
)

// Rules that change while a session runs count from the next call on; a file that cannot be read any more leaves
// in force what it said.
func TestRulesChangeWhileRunning(t *testing.T) {
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	work := filepath.Join(base, "work")
	file := filepath.Join(work, ".claude", "settings.json")
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Chdir(work)
	write := func(text string) {
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write(`{"permissions":{"deny":[]}}`)
	var errOut bytes.Buffer
	o := demoOptions(base)
	o.Log = &errOut
	r, err := newRun(o)
	if err != nil {
		t.Fatal(err)
	}
	defer r.close()
	now := time.Now()
	r.watch = config.NewWatcher(r.place.Places, func() time.Time { now = now.Add(2 * time.Second); return now })
	decide := func() perm.Verdict {
		return r.decide(perm.Request{Tool: "Bash", Input: json.RawMessage(`{"command":"ls"}`)}).Verdict
	}
	if got := decide(); got != perm.Allow {
		t.Fatalf("before: %v", got)
	}
	write(`{"permissions":{"deny":["Bash(ls)"]}}`)
	if got := decide(); got != perm.Deny {
		t.Errorf("a new deny rule does not count: %v", got)
	}
	write(`{"permissions":{"deny":["Bash(ls)"`)
	if got := decide(); got != perm.Deny || !strings.Contains(errOut.String(), "settings.json:1:") {
		t.Errorf("a broken file opened what it had denied: %v, told %q", got, errOut.String())
	}
	write(`{"permissions":{"deny":["Bash(pwd)"]}}`)
	if got := decide(); got != perm.Allow {
		t.Errorf("a repaired file does not count: %v", got)
	}
}

// asking is a session of the demo that asks before commands.
func asking(t *testing.T, base string) *run {
	t.Helper()
	o := demoOptions(base)
	o.Mode, o.Allowed, o.Sources = "default", nil, nil
	r, err := newRun(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.close)
	return r
}

// A lasting answer saves exactly the rules that were shown. They cover that call from then on, in this session and
// in the next, and nothing with an added part.
func TestLastingAnswer(t *testing.T) {
	for _, command := range []string{"make all", "npm test -- --watch", "curl -s http://example.test && make x", "touch 'a b'"} {
		t.Run(command, func(t *testing.T) {
			base, err := filepath.EvalSymlinks(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			work := filepath.Join(base, "work")
			if err := os.MkdirAll(work, 0o755); err != nil {
				t.Fatal(err)
			}
			t.Chdir(work)
			open := func() *run { return asking(t, base) }
			decide := func(r *run, command string) perm.Decision {
				in, _ := json.Marshal(map[string]string{"command": command})
				return r.decide(perm.Request{Tool: "Bash", Input: in})
			}
			r := open() // the folder is not trusted, and need not be
			asked := decide(r, command)
			if asked.Verdict != perm.Ask || len(asked.Suggest) == 0 {
				t.Fatalf("%v: %s, suggests %v", asked.Verdict, asked.Reason, asked.Suggest)
			}
			if err := r.remember(asked.Suggest, event.SaveLocal); err != nil {
				t.Fatal(err)
			}
			l, err := config.ReadLayer(config.Local, filepath.Join(work, ".lathe", "settings.local.json"), "")
			if err != nil {
				t.Fatal(err)
			}
			var saved []string
			for _, rule := range (&config.Settings{Layers: []*config.Layer{l}}).Permissions().Rules {
				saved = append(saved, rule.Text)
			}
			if len(saved) != len(asked.Suggest) {
				t.Errorf("saved %q, shown %v", saved, asked.Suggest)
			}
			for i, rule := range asked.Suggest {
				if saved[i] != rule.Text {
					t.Errorf("saved %q, shown %q", saved[i], rule.Text)
				}
			}
			for name, r := range map[string]*run{"this session": r, "the next session": open()} {
				if d := decide(r, command); d.Verdict != perm.Allow {
					t.Errorf("%s: %v: %s", name, d.Verdict, d.Reason)
				}
				for _, wider := range []string{command + "; rm -rf build", command + " | sh", "sudo " + command, command + " > /etc/passwd"} {
					if d := decide(r, wider); d.Verdict == perm.Allow {
						t.Errorf("%s: %q is allowed too", name, wider)
					}
				}
			}
		})
	}
}

// The file of a lasting answer is the user's alone: git does not see it, and the project's own list of what git ignores is
// not touched. A file that was there already is left to the user.
func TestLastingAnswerIsKeptOutOfGit(t *testing.T) {
	t.Setenv("GIT_CONFIG_GLOBAL", os.DevNull)
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	work := filepath.Join(base, "work")
	if err := os.MkdirAll(work, 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := git.Run(t.Context(), work, "init", "-q"); err != nil {
		t.Fatal(err)
	}
	t.Chdir(work)
	file := filepath.Join(work, ".lathe", "settings.local.json")
	status := func() string {
		t.Helper()
		out, err := git.Run(t.Context(), work, "status", "--porcelain", "--untracked-files=all")
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	for _, there := range []bool{false, true} {
		if there {
			if err := os.Remove(filepath.Join(work, ".git", "info", "exclude")); err != nil {
				t.Fatal(err)
			}
		}
		rule := perm.Rule{Text: fmt.Sprintf("Bash(make %v)", there), Effect: perm.Allow}
		if err := asking(t, base).remember([]perm.Rule{rule}, event.SaveLocal); err != nil {
			t.Fatal(err)
		}
		if text, err := os.ReadFile(file); err != nil || !strings.Contains(string(text), rule.Text) {
			t.Fatalf("%s, %v", text, err)
		}
		if seen := strings.Contains(status(), "settings.local.json"); seen != there {
			t.Errorf("there before: %v; git sees it: %v", there, seen)
		}
	}
}

// A lasting answer approves what it saves and nothing else: not what somebody wrote into the project's files meanwhile, and
// no trust in the folder.
func TestLastingAnswerApprovesOnlyItself(t *testing.T) {
	for name, trust := range map[string]bool{"trusted": true, "not trusted": false} {
		t.Run(name, func(t *testing.T) {
			base, err := filepath.EvalSymlinks(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			t.Chdir(base)
			open := func() *run { return asking(t, base) }
			r := open()
			if trust {
				if err := config.NewTrust(r.place.Sys.Dirs.State).Add(r.place.TrustKey, r.place.Grants, time.Now()); err != nil {
					t.Fatal(err)
				}
				r = open()
			}
			rules := func(text string) []perm.Rule { return []perm.Rule{{Text: text, Effect: perm.Allow}} }
			if err := r.remember(rules("Bash(make a)"), event.SaveLocal); err != nil {
				t.Fatal(err)
			}
			if err := r.remember(rules("Bash(make b)"), event.SaveLocal); err != nil {
				t.Fatal(err)
			}
			if next := open(); !next.place.Counts() || next.place.Trusted != trust {
				t.Errorf("after two answers: counts %v, trusted %v", next.place.Counts(), next.place.Trusted)
			}
			if err := os.MkdirAll(".claude", 0o755); err != nil {
				t.Fatal(err)
			}
			hooks := `{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"touch owned"}]}]}}`
			if err := os.WriteFile(".claude/settings.json", []byte(hooks), 0o644); err != nil {
				t.Fatal(err)
			}
			if err := r.remember(rules("Bash(make c)"), event.SaveLocal); err != nil {
				t.Fatal(err)
			}
			for _, l := range r.latest.Layers {
				if l.Scope == config.Project && l.Trusted {
					t.Errorf("%s counts in this session", l.File)
				}
			}
			if next := open(); next.place.Counts() {
				t.Error("hooks that came meanwhile were approved by the answer")
			}
		})
	}
}

// Why parts of a project do not count is said once.
func TestJoinUntrusted(t *testing.T) {
	hooks := "the hooks in h.json are not run: this project" + untrustedWhy
	got := joinUntrusted([]string{"a", ignoredGrants(2), "b", hooks})
	want := []string{"a", "this project" + untrustedWhy + ": 2 permission grants of this project are ignored; the hooks in h.json are not run", "b"}
	if !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	if got := joinUntrusted([]string{hooks}); !slices.Equal(got, []string{hooks}) {
		t.Errorf("%q", got)
	}
}
