//go:build unix

package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"lathe/internal/fakeapi"
)

// TestKilledInACommand: the program is killed while a command runs; the next run puts back what the command changed.
func TestKilledInACommand(t *testing.T) {
	t.Parallel()
	r := newRig(t, fakeapi.Sequence(
		call("Bash", `{"command":"echo changed > a.txt; rm b.txt; mkdir d; echo new > d/c.txt; echo ready; kill -9 $PPID; sleep 0.1"}`), fakeapi.Text("never")))
	r.env = append(r.env, "CLAUDE_CODE_ENABLE_SDK_FILE_CHECKPOINTING=true")
	r.file("a.txt", "one\n")
	r.file("b.txt", "two\n")
	p := r.start("-p", "go", "--permission-mode", "bypassPermissions", "--session-id", "11111111-1111-4111-8111-111111111111")
	_ = p.wait()
	if s, ok := p.cmd.ProcessState.Sys().(syscall.WaitStatus); !ok || s.Signal() != syscall.SIGKILL {
		t.Fatalf("the program was not killed: %v\n%s", p.cmd.ProcessState, p.stderr.String())
	}
	read := func(name string) string {
		data, _ := os.ReadFile(filepath.Join(r.dir, name))
		return string(data)
	}
	if read("a.txt") != "changed\n" {
		t.Fatalf("a.txt: %q", read("a.txt"))
	}
	o := r.must("-p", "/rewind 1 files", "-c")
	if !strings.Contains(o.out, "Put back 3 files") || read("a.txt") != "one\n" || read("b.txt") != "two\n" || read("d/c.txt") != "" {
		t.Errorf("%s\na: %q b: %q c: %q", o.out, read("a.txt"), read("b.txt"), read("d/c.txt"))
	}
}
