package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"lathe/internal/fakeapi"
)

// Trust is in what was there when it was given: what a definition runs or allows that came, or changed, while the session
// runs does not count in it.
func TestTrustWhileFilesChange(t *testing.T) {
	t.Parallel()
	const hooks = "hooks:\n  PreToolUse:\n    - matcher: Write\n      hooks:\n        - type: command\n          command: sh tools/check.sh\n"
	skill := "---\nname: deploy\ndescription: deploys\nallowed-tools: Bash(touch *)\n%H---\nHere: !`touch %`\n"
	skill = strings.Replace(skill, "%H", hooks, 1)
	for name, c := range map[string]struct {
		path, text string // written while the session runs
		runs       bool
	}{
		"nothing":         {"", "", true},
		"other words":     {".claude/skills/deploy/SKILL.md", strings.Replace(skill, "%", "ran", 1) + "More words.\n", true},
		"another command": {".claude/skills/deploy/SKILL.md", strings.Replace(skill, "%", "ran", 1) + "And: !`touch more`\n", false},
		"another program": {"tools/check.sh", "#!/bin/sh\nexit 0 # another\n", false},
		"another skill":   {".claude/skills/late/SKILL.md", strings.ReplaceAll(strings.Replace(skill, "%", "ran", 1), "deploy", "late"), false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var r *rig
			r = newRig(t, &fakeapi.Script{Func: func(q fakeapi.Request) *fakeapi.Answer {
				a := fakeapi.Text("done")
				if first(q) {
					called := "deploy"
					if c.path != "" {
						r.file(c.path, c.text)
						if strings.Contains(c.path, "late") {
							called = "late"
						}
					}
					a = answer(fakeapi.Call("Skill", map[string]any{"skill": called}))
				}
				return &a
			}})
			r.file("tools/check.sh", "#!/bin/sh\nexit 0\n")
			r.file(".claude/skills/deploy/SKILL.md", strings.Replace(skill, "%", "ran", 1))
			r.must("trust")
			r.run("-p", "deploy it", "--allowedTools", "Skill")
			_, err := os.Stat(filepath.Join(r.dir, "ran"))
			if (err == nil) != c.runs {
				t.Errorf("ran: %v; %s", err == nil, r.last().LastToolResult())
			}
		})
	}
}

// A hook's program that changes while the session runs is not run before the user has approved what it is now.
func TestTrustInAHooksProgram(t *testing.T) {
	t.Parallel()
	for name, approve := range map[string]bool{"not approved": false, "approved meanwhile": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var r *rig
			var calls atomic.Int32
			r = newRig(t, &fakeapi.Script{Func: func(fakeapi.Request) *fakeapi.Answer {
				a := fakeapi.Text("done")
				switch calls.Add(1) {
				case 1:
					a = answer(bash("true"))
				case 2:
					r.file("check.sh", "echo changed >> ran.txt\n")
					if approve {
						r.must("trust")
					}
					a = answer(bash("true"))
				}
				return &a
			}})
			r.file("check.sh", "echo trusted >> ran.txt\n")
			r.file(".claude/settings.json", `{"hooks":{"PostToolUse":[{"hooks":[{"type":"command","command":"sh \"$CLAUDE_PROJECT_DIR\"/check.sh"}]}]}}`)
			r.must("trust")
			o := r.must("-p", "go", "--allowedTools", "Bash(true)")
			want := "trusted\n"
			if approve {
				want += "changed\n"
			}
			if got := r.read(filepath.Join(r.dir, "ran.txt")); got != want || !approve && !strings.Contains(o.err, "is not the one that you trusted") {
				t.Errorf("ran %q; %s", got, o.err)
			}
		})
	}
}
