package e2e

import (
	"strings"
	"testing"

	"lathe/internal/fakeapi"
)

// What ran in the background when the program was killed is told to the model when the session is taken up again, once.
func TestKilledBackgroundIsTold(t *testing.T) {
	t.Parallel()
	silent := fakeapi.Answer{Faults: []fakeapi.Fault{{Kind: fakeapi.FaultStallEarly}}, Text: "x"}
	r := newRig(t, fakeapi.Sequence(
		answer(fakeapi.Call("Bash", map[string]any{"command": "echo > started; sleep 306", "run_in_background": true})), silent))
	p := r.start("-p", "start it", "--permission-mode", "bypassPermissions")
	r.called(2, 0)
	if err := p.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	p.wait()
	r.serve(&fakeapi.Script{Default: &fakeapi.Answer{Text: "well"}})
	const told = "background command bash_1 (echo > started; sleep 306) was left"
	for i, prompt := range []string{"what is it", "and now"} {
		r.must("-c", "-p", prompt)
		r.legal()
		if n := strings.Count(strings.ReplaceAll(string(r.last().Body), `\u003e`, ">"), told); n != 1 {
			t.Errorf("run %d: it is told %d times", i+1, n)
		}
	}
}
