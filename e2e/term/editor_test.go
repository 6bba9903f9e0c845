//go:build unix

package term

import (
	"os"
	"strings"
	"testing"

	"lathe/internal/fakeapi"
)

// fakeEditor is the person's editor: it puts words behind what the file holds.
func fakeEditor() {
	path := os.Args[len(os.Args)-1]
	b, err := os.ReadFile(path)
	if err == nil {
		err = os.WriteFile(path, []byte(strings.TrimRight(string(b), "\n")+" EDITED\n"), 0o600)
	}
	if err != nil {
		os.Exit(1)
	}
}

func TestExternalEditor(t *testing.T) {
	r := newRig(t, fakeapi.Sequence(fakeapi.Text("Read.")))
	r.env = append(r.env, "EDITOR=fake-editor -w")
	s := r.start(80, 24)
	s.waitFor("manual mode")
	s.keys("half a thought<c-g>")
	s.waitFor("❯ half a thought EDITED")
	s.keys("<c-x><c-e>")
	s.waitFor("❯ half a thought EDITED EDITED")
	s.keys("<enter>")
	s.waitFor("Read.")
}

// TestEditorOverTheTranscript: the inline screen behind the transcript is taken away before the editor comes, and stands there once
// when both have gone.
func TestEditorOverTheTranscript(t *testing.T) {
	r := newRig(t, fakeapi.Sequence())
	r.env = append(r.env, "EDITOR=fake-editor")
	s := r.start(80, 24)
	s.waitFor("manual mode")
	s.keys("half a thought")
	s.waitFor("❯ half a thought")
	s.keys("<c-o>")
	s.waitFor("transcript · q back")
	s.keys("v")
	s.until("the transcript is back", func(string) bool { return strings.Count(s.written(), "\x1b[?1049h") == 2 })
	s.waitFor("transcript · q back")
	s.keys("qs")
	s.waitFor("❯ half a thoughts", "manual mode")
	if all := s.all(); strings.Count(all, "❯ half") != 1 || strings.Count(all, "manual mode") != 1 {
		t.Errorf("not once:\n%s", all)
	}
}
