//go:build unix

package e2e

import (
	"os/exec"
	"syscall"
	"testing"

	"lathe/internal/fakeapi"
)

// A run that was started to outlive its terminal does so: the SIGHUP that nohup ignores stays ignored.
func TestIgnoredHangupStaysIgnored(t *testing.T) {
	t.Parallel()
	held := fakeapi.Answer{Text: "an answer of some words, in pieces", Chunk: 4, Faults: []fakeapi.Fault{{Kind: fakeapi.FaultStall, AfterEvents: 3}}}
	r := newRig(t, fakeapi.Sequence(held))
	cmd := r.command()
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("SKIPPED: there is no sh on this machine")
	}
	cmd.Path, cmd.Args = sh, []string{"sh", "-c", `trap '' HUP; exec "$0" -p hi`, binary(t)}
	p := r.launch(cmd)
	r.called(1, 3)
	if err := cmd.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	stop := r.letGo()
	o := p.wait()
	stop()
	if o.code != 0 || o.out != "an answer of some words, in pieces\n" {
		t.Errorf("exit code %d, output %q\n%s", o.code, o.out, o.err)
	}
}
