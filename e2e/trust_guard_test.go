package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"lathe/internal/fakeapi"
)

// A guard of a trusted project that is not run, since what it runs is not what was trusted, lets nothing pass unseen: what it
// would have judged is asked about, and where nobody can be asked, refused.
func TestAGuardThatCannotRun(t *testing.T) {
	t.Parallel()
	const settings = `{"hooks":{"PreToolUse":[{"matcher":"Bash","hooks":[{"type":"command","command":"sh tools/guard.sh"}]}],
		"Stop":[{"hooks":[{"type":"command","command":"sh tools/idle.sh"}]}]}}`
	const guard, idle = "#!/bin/sh\nexit 0\n", "#!/bin/sh\ntrue\n"
	for name, c := range map[string]struct {
		before, during func(r *rig) // the session, and before its second call
		args           []string
		call           string // the second one
		runs           bool
		says           string
	}{
		"as it was": {runs: true},
		"changed": {
			during: func(r *rig) { r.file("tools/guard.sh", "exit 0 # another\n") },
			says:   "is not the one that you trusted",
		},
		"another that was trusted, in its place": {
			during: func(r *rig) { r.file("tools/guard.sh", idle) },
			says:   "is not the one that you trusted",
		},
		"gone": {
			during: func(r *rig) { os.Remove(filepath.Join(r.dir, "tools", "guard.sh")) },
			says:   "is not the one that you trusted",
		},
		"changed, where nothing is asked": {
			during: func(r *rig) { r.file("tools/guard.sh", "exit 0 # another\n") },
			args:   []string{"--dangerously-skip-permissions"},
			says:   "is not the one that you trusted",
		},
		"another in the folder that the session went to": {
			during: func(r *rig) { r.file("below/tools/guard.sh", "touch "+r.dir+"/other; exit 0\n") },
			says:   "is not the one that you trusted",
		},
		"changed before the session": {
			before: func(r *rig) { r.file("tools/guard.sh", "exit 0 # another\n") },
			says:   "has changed since you trusted it",
		},
		"approved meanwhile": {
			during: func(r *rig) {
				r.file("below/tools/guard.sh", "exit 0 # another\n")
				r.file("tools/guard.sh", "exit 0 # another\n")
				r.must("trust")
			},
			runs: true,
		},
		"never trusted": {
			before: func(r *rig) { r.must("trust", "--remove") },
			runs:   true,
		},
		"trusted for one run": {
			during: func(r *rig) { r.file("tools/guard.sh", "exit 0 # another\n") },
			args:   []string{"--trust"},
			says:   "is not the one that you trusted",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var r *rig
			var calls atomic.Int32
			r = newRig(t, &fakeapi.Script{Func: func(fakeapi.Request) *fakeapi.Answer {
				a := fakeapi.Text("done")
				switch calls.Add(1) {
				case 1:
					a = answer(bash("cd below"))
				case 2:
					if c.during != nil {
						c.during(r)
					}
					a = answer(bash("touch " + r.dir + "/made"))
				}
				return &a
			}})
			r.file("tools/guard.sh", guard)
			r.file("tools/idle.sh", idle)
			r.file("below/tools/idle.sh", idle)
			r.file("below/tools/guard.sh", guard)
			r.file(".claude/settings.json", settings)
			r.must("trust")
			if c.before != nil {
				c.before(r)
			}
			o := r.must(append([]string{"-p", "go", "--allowedTools", "Bash"}, c.args...)...)
			_, err := os.Stat(filepath.Join(r.dir, "made"))
			said := r.last().LastToolResult()
			if (err == nil) != c.runs || !strings.Contains(said, c.says) {
				t.Errorf("ran: %v; the model was told %q; %s", err == nil, said, o.err)
			}
			if _, err := os.Stat(filepath.Join(r.dir, "other")); err == nil {
				t.Error("another program ran in the guard's place")
			}
		})
	}
}

// A prompt whose guard is not run is not sent; a person who was asked for trust again, and said no, may go on.
func TestAGuardOfPromptsThatCannotRun(t *testing.T) {
	t.Parallel()
	r := newRig(t, &fakeapi.Script{Func: func(fakeapi.Request) *fakeapi.Answer { a := fakeapi.Text("sent"); return &a }})
	r.file("guard.sh", "exit 0\n")
	r.file(".claude/settings.json", `{"hooks":{"UserPromptSubmit":[{"hooks":[{"type":"command","command":"sh guard.sh"}]}]}}`)
	r.must("trust")
	r.file("guard.sh", "exit 0 # another\n")
	o := r.run("-p", "go")
	if len(r.api.Requests()) > 0 || !strings.Contains(o.err, "lathe trust") {
		t.Errorf("%d requests; code %d, %s", len(r.api.Requests()), o.code, o.err)
	}
	r.must("trust")
	if o := r.must("-p", "go"); !strings.Contains(o.out, "sent") {
		t.Errorf("%q %s", o.out, o.err)
	}
}

// What a hook runs by name is not changed by a mode or a rule for a whole tool, whoever set the hook up: it runs outside of what
// the calls are judged by. A rule that names it opens it.
func TestProgramsOfHooksAreNotEditedUnasked(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		call    fakeapi.Block
		args    []string
		changed bool
	}{
		"an edit":               {call: fakeapi.Call("Write", map[string]any{"file_path": "tools/after.sh", "content": "touch pwned\n"}), args: []string{"--permission-mode", "acceptEdits"}},
		"a command":             {call: bash("echo 'touch pwned' > tools/after.sh"), args: []string{"--allowedTools", "Bash,Edit"}},
		"what a rule says":      {call: bash("echo 'touch pwned' > tools/after.sh"), args: []string{"--allowedTools", "Bash,Edit(tools/after.sh)"}, changed: true},
		"what a variable names": {call: bash("echo '--pre=./x' > tools/rg.conf"), args: []string{"--allowedTools", "Bash,Edit"}},
		"another file":          {call: bash("echo 'touch pwned' > tools/other.sh"), args: []string{"--allowedTools", "Bash,Edit"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, fakeapi.Sequence(answer(c.call), answer(bash("true")), fakeapi.Text("done")))
			const program = "#!/bin/sh\nexit 0\n"
			r.env = append(r.env, "RIPGREP_CONFIG_PATH="+filepath.Join(r.dir, "tools", "rg.conf"))
			r.file("tools/after.sh", program)
			r.must(append([]string{"-p", "go", "--settings", `{"hooks":{"PostToolUse":[{"hooks":[{"type":"command","command":"sh tools/after.sh"}]}]}}`}, c.args...)...)
			if got := r.read(filepath.Join(r.dir, "tools", "after.sh")); (got != program) != c.changed {
				t.Errorf("it holds %q; %s", got, r.api.Requests()[1].LastToolResult())
			}
			if _, err := os.Stat(filepath.Join(r.dir, "pwned")); (err == nil) != c.changed {
				t.Errorf("it ran: %v", err == nil)
			}
			if _, err := os.Stat(filepath.Join(r.dir, "tools", "rg.conf")); err == nil {
				t.Error("a file that rg obeys was made")
			}
			if _, err := os.Stat(filepath.Join(r.dir, "tools", "other.sh")); (err == nil) != strings.HasPrefix(name, "another") {
				t.Errorf("the other file: %v", err)
			}
		})
	}
}
