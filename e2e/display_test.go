package e2e

import (
	"strings"
	"testing"

	"lathe/internal/fakeapi"
)

// What a MessageDisplay hook makes of an answer is what a person reads; programs, and the session, have the answer itself.
func TestMessageDisplayOnTheCommandLine(t *testing.T) {
	t.Parallel()
	r := newRig(t, fakeapi.Sequence(fakeapi.Text("the word\nis swordfish"), fakeapi.Text("the word is swordfish")))
	r.file("hide.sh", `in=$(cat); case "$in" in *swordfish*) echo '{"hookSpecificOutput":{"hookEventName":"MessageDisplay","displayContent":"is ***"}}';; esac`)
	settings := `{"hooks":{"MessageDisplay":[{"hooks":[{"type":"command","command":"sh hide.sh"}]}]}}`
	if o := r.must("-p", "go", "--settings", settings); o.out != "the word\nis ***\n" {
		t.Errorf("printed %q", o.out)
	}
	if !strings.Contains(r.read(r.transcript()), "swordfish") {
		t.Error("the transcript has other words than the answer")
	}
	if o := r.must("-p", "go", "--output-format", "json", "--settings", settings); !strings.Contains(o.out, `"result":"the word is swordfish"`) {
		t.Errorf("printed %q", o.out)
	}
}
