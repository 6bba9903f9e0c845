package sandbox

import (
	"fmt"
	"net"
	"os"
	"os/exec"

	"lathe/internal/proc"
)

const sandboxExec = "/usr/bin/sandbox-exec"

// findBackend tries sandbox-exec.
func (s *Sandbox) findBackend() Status {
	if _, err := os.Stat(sandboxExec); err != nil {
		return Status{Missing: sandboxExec + " is not there: it is part of macOS"}
	}
	if out, err := exec.Command(sandboxExec, "-p", seatbeltProfile(&Policy{}, 0), "/usr/bin/true").CombinedOutput(); err != nil {
		return Status{Missing: fmt.Sprintf("sandbox-exec does not work here: %v %s", err, out)}
	}
	return Status{Backend: "seatbelt"}
}

// wrap puts the shell under sandbox-exec; the proxy listens on a port of this machine that the profile names.
func (r *Run) wrap(spec *proc.Spec, _ Input) error {
	shell, err := exec.LookPath(spec.Args[0])
	if err != nil {
		return err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	r.proxy = newProxy(r.policy.Network, &r.sandbox.o)
	r.proxy.spawn(func() { r.proxy.serve(l) })
	port := l.Addr().(*net.TCPAddr).Port
	spec.Args = append([]string{sandboxExec, "-p", seatbeltProfile(&r.policy, port), shell}, spec.Args[1:]...)
	spec.Env = append(spec.Env, proxyEnv(l.Addr().String())...)
	return nil
}
