//go:build unix

package term

import (
	"testing"

	"lathe/internal/fakeapi"
)

// A watch is asked for like a command; what it prints later wakes the session, which was idle.
func TestAWatchWakesTheSession(t *testing.T) {
	said := fakeapi.Text("I saw it.")
	waiting := fakeapi.Text("I wait.")
	r := newRig(t, &fakeapi.Script{
		Turns: []fakeapi.Turn{
			{When: &fakeapi.When{User: "printed:\nthe build broke"}, Answer: said},
			{Answer: answer(fakeapi.Call("Monitor", map[string]any{
				"command": "until [ -e go ]; do sleep 0.02; done; echo the build broke; exec sleep 600", "description": "the build",
			}))},
		},
		Default: &waiting,
	})
	s := r.start(80, 30)
	s.waitFor("manual mode")
	s.keys("go<enter>")
	s.waitFor("Watch what this command prints?", "until [ -e go ]")
	s.keys("y")
	s.waitFor("Monitor the build", "Watching as task bash_1, for 5m at most", "I wait.", "manual mode")
	r.file("go", "")
	s.waitFor("I saw it.", "manual mode")
	s.keys("/tasks<enter>")
	s.waitFor("In the background", "the build", "running")
}
