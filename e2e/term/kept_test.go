//go:build unix

package term

import (
	"fmt"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"lathe/internal/fakeapi"
)

// Who takes up a session whose last turn was killed is told so; after a turn that ended nothing is said.
func TestCutTurnIsToldOf(t *testing.T) {
	slow := fakeapi.Answer{Text: "Half of it stands here." + strings.Repeat(" And on it goes.", 2000), Chunk: 24}
	slow.EventDelay = fakeapi.Duration(200 * time.Millisecond) // it never ends before the kill
	r := newRig(t, fakeapi.Sequence(fakeapi.Text("A whole answer."), slow, fakeapi.Text("The rest.")))
	s := r.start(80, 30)
	s.waitFor("manual mode")
	said(s, "one", "A whole answer.")
	s.keys("/exit<enter>")
	s.end()
	s = r.start(80, 30, "--continue")
	s.waitFor("A whole answer.", "manual mode")
	s.keys("two<enter>")
	s.waitFor("Half of it stands here.")
	if strings.Contains(s.all(), "did not come to its end") {
		t.Errorf("a whole turn is said to be cut off:\n%s", s.all())
	}
	s.signal(syscall.SIGKILL)
	s.end()
	s = r.start(80, 30, "--continue")
	s.waitFor("❯ two", "The last turn did not come to its end", "manual mode")
	said(s, "go on", "The rest.")
}

// A call that ran when the program was killed is shown with the session that goes on.
func TestCutCallIsShown(t *testing.T) {
	r := newRig(t, fakeapi.Sequence(answer(bash("echo begun; cat hold")), fakeapi.Text("The rest.")))
	if err := syscall.Mkfifo(filepath.Join(r.dir, "hold"), 0o600); err != nil { // the command waits for ever
		t.Fatal(err)
	}
	s := r.start(80, 30)
	s.waitFor("manual mode")
	s.keys("go<enter>")
	s.waitFor("cat hold", "Yes")
	s.keys("y")
	s.waitFor("begun")
	s.signal(syscall.SIGKILL)
	s.end()
	s = r.start(80, 30, "--continue")
	s.waitFor("✗ Bash echo begun; cat hold", "cut off: Lathe ended while it ran", "The last turn did not come to its end")
	said(s, "go on", "The rest.")
}

// A long prompt is sent whole, shown by its head, and whole in the transcript.
func TestLongPromptIsShortened(t *testing.T) {
	r := newRig(t, fakeapi.Sequence(fakeapi.Text("Read.")))
	s := r.start(80, 40)
	s.waitFor("manual mode")
	var lines []string
	for i := 1; i <= 30; i++ {
		lines = append(lines, fmt.Sprintf("line %d of a long prompt", i))
	}
	s.write("\x1b[200~" + strings.Join(lines, "\r") + "\x1b[201~")
	s.waitFor("Pasted text #1")
	said(s, "", "Read.")
	s.waitFor("line 12 of a long prompt", "18 lines")
	if all := s.all(); strings.Contains(all, "line 13 of") {
		t.Errorf("it is shown whole:\n%s", all)
	}
	if body := string(r.api.Requests()[0].Body); !strings.Contains(body, "line 30 of a long prompt") {
		t.Errorf("it was not sent whole:\n%s", body)
	}
	s.keys("<c-o>")
	s.waitFor("line 30 of a long prompt")
}

// Ctrl+S in the search of the history goes over to the prompts of all folders, and back.
func TestHistoryOfAllFolders(t *testing.T) {
	r := newRig(t, fakeapi.Sequence(fakeapi.Text("First."), fakeapi.Text("Second.")))
	r.homeFile("elsewhere/a.txt", "")
	s := r.start(80, 24)
	s.waitFor("manual mode")
	said(s, "talk of apples", "First.")
	s.keys("/exit<enter>")
	s.end()
	cmd := r.command()
	cmd.Dir = filepath.Join(r.home, "elsewhere")
	s = r.launch(80, 24, cmd)
	s.waitFor("manual mode")
	said(s, "talk of pears", "Second.")
	s.keys("<c-r>")
	if text := s.waitFor("What was sent before", "ctrl+s all folders"); strings.Contains(text, "apples") {
		t.Errorf("the prompts of another folder are shown at once:\n%s", text)
	}
	s.keys("<c-s>")
	s.waitFor("What was sent before, in all folders", "talk of apples", "talk of pears")
	s.keys("<c-s>")
	s.gone("apples")
	s.keys("<c-s>apples")
	s.waitFor("talk of apples")
	s.keys("<enter>")
	s.waitFor("❯ talk of apples\n")
}

// Alt+M gives the mouse of the whole screen to the terminal, and takes it back.
func TestMouseToTheTerminal(t *testing.T) {
	r := newRig(t, fakeapi.Sequence())
	s := r.start(80, 24, "--fullscreen")
	s.waitFor("manual mode")
	on := func() bool {
		raw := s.written()
		return strings.LastIndex(raw, "\x1b[?1000h") > strings.LastIndex(raw, "\x1b[?1000l")
	}
	s.settled(on)
	s.keys("<m-m>")
	s.waitFor("the mouse is the terminal's")
	s.settled(func() bool { return !on() })
	s.keys("<m-m>")
	s.waitFor("the mouse is Lathe's")
	s.settled(on)
	s.keys("/exit<enter>")
	s.end()
	s.settled(func() bool { return !on() })
}

// Ctrl+E in a dialog tells what the call would do, and how much could go wrong, without a word from the model.
func TestExplainedCall(t *testing.T) {
	script := func() *fakeapi.Script {
		return fakeapi.Sequence(answer(bash("cp notes.txt /etc/notes && sudo reboot")), fakeapi.Text("Not then."))
	}
	at(t, script, func(r *rig, s *screen, name func(string) string) {
		r.file("notes.txt", "a\n")
		s.keys("go<enter>")
		s.waitFor("Run this command?", "ctrl+e: what it would do")
		s.keys("<c-e>")
		s.waitFor("What it would do: high risk", "writes /etc/notes, outside of the working directories")
		s.golden(name("explain"))
		s.keys("<c-e>")
		s.gone("What it would do: high risk")
		if n := len(r.api.Requests()); n != 1 {
			t.Errorf("%d requests", n)
		}
		s.keys("<esc>")
		s.waitFor("Interrupted")
	})
}
