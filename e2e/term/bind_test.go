//go:build unix

package term

import (
	"testing"

	"lathe/internal/fakeapi"
)

// Keys of the user's own file, with a chord, a command, and one that is taken away; what does not hold is told.
func TestKeybindings(t *testing.T) {
	r := newRig(t, fakeapi.Sequence(fakeapi.Text("Heard.")))
	r.file("../.lathe/keybindings.json", `{"bindings": [{"context": "Chat", "bindings": {
		"ctrl+x t": "app:toggleTranscript", "alt+s": "chat:submit", "ctrl+s": null, "ctrl+x ctrl+n": "command:keys", "ctrl+q": "chat:nothing"}}]}`)
	s := r.start(100, 24)
	s.waitFor("manual mode", `there is no action "chat:nothing" here`)
	s.keys("a prompt<c-s>") // would put the draft aside
	s.write("\x1bs")
	s.waitFor("Heard.")
	s.keys("<c-x>")
	s.waitFor("Ctrl+X …")
	s.keys("<c-n>")
	s.waitFor("enter sends")
}

func TestVimKeys(t *testing.T) {
	r := newRig(t, fakeapi.Sequence(fakeapi.Text("Heard.")))
	r.file("../.lathe/settings.json", `{"editorMode": "vim"}`)
	s := r.start(100, 24)
	s.waitFor("INSERT")
	s.keys("one two three<esc>")
	s.waitFor("NORMAL")
	s.keys("0dw")
	s.waitFor("❯ two three")
	s.keys("u$v")
	s.waitFor("VISUAL", "❯ one two three")
	s.keys("bd")
	s.waitFor("❯ one two")
	s.keys("<enter>")
	s.waitFor("Heard.")
}
