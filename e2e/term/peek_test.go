//go:build unix

package term

import (
	"fmt"
	"strings"
	"testing"

	"lathe/internal/fakeapi"
)

func edit(file, before, after string) fakeapi.Block {
	return fakeapi.Call("Edit", map[string]any{"file_path": "${CWD}/" + file, "old_string": before, "new_string": after})
}

// One answer lets edits pass from now on; Shift+Tab takes it.
func TestAcceptEditsFromNowOn(t *testing.T) {
	for _, key := range []string{"<s-tab>", "2"} {
		r := newRig(t, fakeapi.Sequence(
			answer(fakeapi.Call("Read", map[string]any{"file_path": "${CWD}/a.txt"}), edit("a.txt", "one", "1")),
			answer(edit("a.txt", "two", "2")),
			fakeapi.Text("Both done."),
		))
		r.file("a.txt", "one\ntwo\n")
		s := r.start(80, 30)
		s.waitFor("manual mode")
		s.keys("go<enter>")
		s.waitFor("2. Yes, and accept edits from now on (this session)")
		s.keys(key)
		s.waitFor("Both done.", "accept edits on")
		if got := r.read("a.txt"); got != "1\n2\n" {
			t.Errorf("the file is %q", got)
		}
	}
}

// In another question Shift+Tab changes the mode and answers nothing.
func TestModeInADialog(t *testing.T) {
	r := newRig(t, fakeapi.Sequence(answer(bash("touch x")), fakeapi.Text("Done.")))
	s := r.start(80, 30)
	s.waitFor("manual mode")
	s.keys("go<enter>")
	s.waitFor("Run this command?")
	s.keys("<s-tab>")
	s.waitFor("from the next call on: ⏵⏵ accept edits on", "Run this command?")
	s.keys("y")
	s.waitFor("Done.", "accept edits on")
}

// Ctrl+O shows all that a running command has said, and all of what is asked about; the question waits behind it.
func TestTranscriptOfNow(t *testing.T) {
	command := "for i in 1 2 3 4 5 6 7 8 9; do echo line $i; done; while [ ! -e go ]; do sleep 0.05; done"
	r := newRig(t, fakeapi.Sequence(answer(bash(command)), answer(bash("touch "+strings.Repeat("a-long-name ", 12))), fakeapi.Text("Done.")))
	s := r.start(80, 40, "--allowedTools", "Bash(for *),Bash(while *),Bash(echo *),Bash(sleep *),Bash([ *)")
	s.waitFor("manual mode")
	s.keys("go<enter>")
	s.waitFor("line 9")
	s.gone("line 5\n") // the conversation has the last rows only
	s.keys("<c-o>")
	s.waitFor("▸ Bash for i in 1 2", "line 1\n", "line 5\n", "line 9\n", "transcript")
	s.keys("q")
	s.gone("line 5\n")
	r.file("go", "")
	s.waitFor("Run this command?")
	s.keys("<c-o>")
	s.waitFor("a question waits", "? Run this command?", "✓ Bash for i in 1 2")
	s.keys("y") // answers nothing here
	s.keys("<c-o>")
	s.waitFor("1. Yes")
	s.gone("a question waits")
	s.keys("y")
	s.waitFor("Done.")
	if n := len(r.api.Requests()); n != 3 {
		t.Error(fmt.Sprint(n, " requests"))
	}
}
