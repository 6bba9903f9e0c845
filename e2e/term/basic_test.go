//go:build unix

package term

import (
	"strings"
	"testing"

	"lathe/internal/fakeapi"
)

func TestPromptAndAnswer(t *testing.T) {
	r := newRig(t, fakeapi.Sequence(fakeapi.Text("Hello from **the model**.\n\nSecond paragraph.")))
	s := r.start(80, 24)
	s.waitFor("Lathe", "❯")
	s.keys("say hello<enter>")
	s.waitFor("Hello from", "Second paragraph.", "❯ say hello")
	s.keys("<c-d>")
	s.waitFor("ctrl+d again")
	s.keys("<c-d>")
	if code := s.end(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	if !strings.Contains(s.all(), "lathe --resume ") {
		t.Errorf("no word about how to go on:\n%s", s.all())
	}
}

func TestPermissionDialog(t *testing.T) {
	r := newRig(t, fakeapi.Sequence(answer(bash("touch made.txt && echo ok")), fakeapi.Text("It is done.")))
	s := r.start(80, 30)
	s.waitFor("manual mode")
	s.keys("make it<enter>")
	s.waitFor("Run this command?", "touch made.txt && echo ok", "1. Yes")
	s.keys("y")
	s.waitFor("It is done.", "✓ Bash touch made.txt")
	s.gone("Run this command?")
}
