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
