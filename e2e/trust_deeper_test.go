package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lathe/internal/fakeapi"
)

// Trust in a project says nothing of what is in folders below its top: what commands there run counts when it was approved
// there, and as it was then.
func TestTrustInDeeperFolders(t *testing.T) {
	t.Parallel()
	r := newRig(t, &fakeapi.Script{Default: &fakeapi.Answer{Text: "well"}})
	r.file(".git/HEAD", "ref: refs/heads/main\n")
	r.file(".git/objects/x", "")
	top := r.dir
	r.must("trust")
	r.file("sub/words.md", "plain")
	r.file("sub/.claude/commands/say.md", "Say hello.")
	r.dir = filepath.Join(top, "sub")
	ran := func() (bool, string) {
		t.Helper()
		o := r.run("-p", "/state")
		_, err := os.Stat(filepath.Join(r.dir, "ran"))
		_ = os.Remove(filepath.Join(r.dir, "ran"))
		return err == nil, o.err
	}
	if o := r.must("-p", "/say"); strings.Contains(o.err, "approved") {
		t.Errorf("words alone: %s", o.err)
	}
	r.file(".claude/commands/state.md", "---\nallowed-tools: Bash(touch *)\n---\nHere: !`touch ran`\n")
	if did, said := ran(); did || !strings.Contains(said, "you have not approved it") {
		t.Errorf("before: ran %v: %s", did, said)
	}
	r.must("trust")
	if did, said := ran(); !did || strings.Contains(said, "approved") {
		t.Errorf("approved: ran %v: %s", did, said)
	}
	r.file(".claude/commands/state.md", "---\nallowed-tools: Bash(touch *)\n---\nHere: !`touch ran; touch more`\n")
	if did, _ := ran(); did {
		t.Error("changed, and it ran")
	}
	r.dir = top
	if o := r.must("-p", "hello"); strings.Contains(o.err, "approved") {
		t.Errorf("at the top: %s", o.err)
	}
}

// A hook runs the script that was there when the project was trusted; another one asks again.
func TestTrustIsBoundToScripts(t *testing.T) {
	t.Parallel()
	r := newRig(t, &fakeapi.Script{Default: &fakeapi.Answer{Text: "well"}})
	r.file("check.sh", "echo one >> ran.txt\n")
	r.file(".claude/settings.json", `{"hooks":{"UserPromptSubmit":[{"hooks":[{"type":"command","command":"sh \"$CLAUDE_PROJECT_DIR\"/check.sh"}]}]}}`)
	if o := r.must("trust"); !strings.Contains(o.out, "script of hooks") {
		t.Errorf("it is not shown: %s", o.out)
	}
	r.must("-p", "hello")
	r.file("check.sh", "echo two >> ran.txt\n")
	if o := r.must("-p", "hello"); !strings.Contains(o.err, "has changed since you trusted it") {
		t.Errorf("%s", o.err)
	}
	r.must("trust")
	r.must("-p", "hello")
	if got := r.read(filepath.Join(r.dir, "ran.txt")); got != "one\ntwo\n" {
		t.Errorf("ran: %q", got)
	}
}
