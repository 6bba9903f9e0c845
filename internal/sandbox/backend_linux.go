package sandbox

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"lathe/internal/proc"
)

const probeLimit = 15 * time.Second

// findBackend tries bubblewrap, then Landlock alone.
func (s *Sandbox) findBackend() Status {
	// What was open when this program started would reach into the sandbox, past every path.
	_ = unix.CloseRange(3, math.MaxInt32, unix.CLOSE_RANGE_CLOEXEC)
	st := Status{Landlock: landlockABI()}
	if _, err := filter(filterOptions{}); err != nil {
		st.Missing = err.Error()
		return st
	}
	why := s.tryBwrap(&st)
	if why == "" {
		st.Backend = "bubblewrap"
		return st
	}
	st.Missing = why
	if st.Landlock < minLandlock {
		st.Missing += fmt.Sprintf("; and Landlock alone needs version %d of its interface (Linux 6.2), this kernel has %d", minLandlock, st.Landlock)
		return st
	}
	if err := s.tryLandlock(st.Landlock); err != nil {
		st.Missing += "; and Landlock does not work: " + err.Error()
		return st
	}
	st.Backend = "landlock"
	st.Weaker = append(st.Weaker, "no namespaces ("+why+"): no network at all, other processes can be seen")
	if s.o.Settings.Weaker {
		st.Weaker = append(st.Weaker, "protected names below the working directories can be changed (enableWeakerNestedSandbox)")
	} else {
		st.Weaker = append(st.Weaker, "nothing can be made right beside protected names, so no new file at the top of a working directory and no git commit (enableWeakerNestedSandbox opens that)")
	}
	if st.Landlock < 6 {
		st.Weaker = append(st.Weaker, "signals reach other processes of the user")
	}
	return st
}

// bwrapPath finds bubblewrap, but not where a command could have put one.
func (s *Sandbox) bwrapPath() (string, string) {
	path := s.o.Settings.Bwrap
	if path == "" {
		found, err := exec.LookPath("bwrap")
		if err != nil {
			return "", "bubblewrap is not installed (Debian, Ubuntu: apt install bubblewrap; Fedora: dnf install bubblewrap; Arch: pacman -S bubblewrap)"
		}
		path = found
	}
	path, err := filepath.Abs(path)
	if err != nil {
		return "", err.Error()
	}
	if r, ok := real(path); !ok || withinAny(r, s.o.Input().Roots) {
		return "", path + " is missing or inside a working directory, so it is not used"
	}
	return path, ""
}

func (s *Sandbox) tryBwrap(st *Status) (why string) {
	path, why := s.bwrapPath()
	if why != "" {
		return why
	}
	try := func(hostProc bool) error {
		o := viewOptions{bwrap: path, program: s.o.Program, temp: os.TempDir(), dir: "/", root: os.Geteuid() == 0, hostProc: hostProc}
		spec := helperSpec{Landlock: st.Landlock, Internet: true}
		return runProbe(append(bwrapArgs(&Policy{}, o), probeArg), spec)
	}
	err := try(false)
	if err != nil && s.o.Settings.Weaker {
		if try(true) == nil {
			st.hostProc = true
			st.Weaker = append(st.Weaker, "the outer /proc is shown: other processes can be seen (enableWeakerNestedSandbox)")
			return ""
		}
	}
	if err != nil {
		return whyBwrapFails(err.Error())
	}
	return ""
}

func (s *Sandbox) tryLandlock(abi int) error {
	return runProbe([]string{s.o.Program, HelperName, probeArg}, helperSpec{Landlock: abi, Write: []string{os.TempDir()}, Read: []string{"/"}})
}

// runProbe runs the helper so that it only confines itself.
func runProbe(args []string, spec helperSpec) error {
	ours, theirs, err := channelFor(spec)
	if err != nil {
		return err
	}
	defer func() { _ = ours.Close(); _ = theirs.Close() }()
	null, err := os.Open(os.DevNull)
	if err != nil {
		return err
	}
	defer func() { _ = null.Close() }()
	cmd := exec.Command(args[0], args[1:]...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	cmd.ExtraFiles = []*os.File{null, null, theirs}
	cmd.WaitDelay = 10 * time.Second // a busy machine may take its time to come round to us, and then it counts as failed
	if err := cmd.Start(); err != nil {
		return err
	}
	limit := time.AfterFunc(probeLimit, func() { _ = cmd.Process.Kill() })
	defer limit.Stop()
	if err := cmd.Wait(); err != nil {
		if text := strings.TrimSpace(out.String()); text != "" {
			return errors.New(text)
		}
		return err
	}
	return nil
}

// channelFor makes the two ends of the helper's channel, with its orders already in it.
func channelFor(spec helperSpec) (ours, theirs *os.File, err error) {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, nil, err
	}
	ours, theirs = os.NewFile(uintptr(fds[0]), "sandbox"), os.NewFile(uintptr(fds[1]), "sandbox")
	order, err := json.Marshal(spec)
	if err == nil && len(order) > 150<<10 { // what the socket takes without a reader
		err = errors.New("the policy has too many paths")
	}
	if err == nil {
		_, err = ours.Write(order)
	}
	if err != nil {
		_, _ = ours.Close(), theirs.Close()
		return nil, nil, err
	}
	return ours, theirs, nil
}

// wrap rewrites the command line for the back end.
func (r *Run) wrap(spec *proc.Spec, in Input) error {
	shell, err := exec.LookPath(spec.Args[0])
	if err != nil {
		return err
	}
	args := append([]string{shell}, spec.Args[1:]...)
	dir := spec.Dir
	if real, ok := real(dir); ok {
		dir = real
	}
	var order helperSpec
	var prefix []string
	if r.status.Backend == "bubblewrap" {
		path, why := r.sandbox.bwrapPath()
		if why != "" {
			return errors.New(why)
		}
		o := viewOptions{
			bwrap: path, program: r.sandbox.o.Program, temp: in.Temp, hidden: r.sandbox.hiddenFile(), dir: dir, root: os.Geteuid() == 0,
			hostProc: r.status.hostProc,
		}
		prefix, order = bwrapArgs(&r.policy, o), r.viewOrder()
		spec.Env = append(spec.Env, proxyEnv(net.JoinHostPort("127.0.0.1", fmt.Sprint(helperPort)))...)
		spec.Dir = "/"
	} else {
		// The running program itself, whatever stands at its path by now.
		prefix = []string{fmt.Sprintf("/proc/%d/exe", os.Getpid()), HelperName}
		order = r.landlockOrder()
	}
	ours, theirs, err := channelFor(order)
	if err != nil {
		return err
	}
	spec.Args = append(prefix, args...)
	spec.Files = append(spec.Files, theirs)
	if !order.Listen {
		return ours.Close()
	}
	return r.startProxy(ours)
}

// viewOrder is for inside bubblewrap, whose view does most: Landlock only repeats where may be written.
func (r *Run) viewOrder() helperSpec {
	order := helperSpec{Unix: r.policy.Network.UnixSockets, Internet: true, Listen: true}
	if r.policy.Unlimited {
		return order
	}
	write := append([]string{"/tmp", "/var/tmp", "/dev"}, r.policy.Write...)
	order.Mounts = append([]string{"/proc"}, write...)
	if r.status.Landlock > 0 {
		order.Landlock, order.Write = r.status.Landlock, write
	}
	return order
}

// landlockOrder says "all but" by what is beside: see except.
func (r *Run) landlockOrder() helperSpec {
	p := &r.policy
	order := helperSpec{Landlock: r.status.Landlock, Unix: p.Network.UnixSockets, Supervise: true}
	if p.Unlimited {
		order.Write, order.Read = []string{"/"}, []string{"/"}
		return order
	}
	denied := slices.Concat(p.Hide, p.Keep, p.Absent, p.Aside, p.Restore)
	for _, dir := range p.Write {
		below := denied
		if r.sandbox.o.Settings.Weaker {
			below = p.Hide
		}
		// A denied parent counts only where no deeper entry opens the directory again.
		below = slices.DeleteFunc(slices.Clone(below), func(d string) bool { return d != dir && within(dir, d) })
		order.Write = append(order.Write, except(dir, below)...)
	}
	for _, dev := range []string{"null", "zero", "full", "random", "urandom", "tty"} {
		order.Write = append(order.Write, "/dev/"+dev)
	}
	// No other devices: to root, a disk is a file with all secrets in it.
	order.Read = append(except("/", append([]string{"/dev"}, p.Hide...)), p.Show...)
	return order
}

// startProxy waits for the listener from inside and serves it.
func (r *Run) startProxy(channel *os.File) error {
	conn, err := net.FileConn(channel)
	_ = channel.Close()
	if err != nil {
		return err
	}
	p := newProxy(r.policy.Network, &r.sandbox.o)
	r.proxy = p
	if !p.track(conn) {
		return errors.New("the session is ending")
	}
	p.spawn(func() {
		defer p.untrack(conn)
		l, err := receiveListener(conn.(*net.UnixConn))
		if err == nil {
			p.serve(l)
		}
	})
	return nil
}

// receiveListener takes the listener that the helper passes. An error means that it never came to that, or that
// the command has ended.
func receiveListener(conn *net.UnixConn) (net.Listener, error) {
	buf, oob := make([]byte, 16), make([]byte, 128)
	_, n, _, _, err := conn.ReadMsgUnix(buf, oob)
	if err != nil {
		return nil, err
	}
	messages, err := unix.ParseSocketControlMessage(oob[:n])
	if err != nil || len(messages) != 1 {
		return nil, errors.New("no listener was passed")
	}
	fds, err := unix.ParseUnixRights(&messages[0])
	if err != nil || len(fds) == 0 {
		return nil, errors.New("no listener was passed")
	}
	for _, fd := range fds {
		unix.CloseOnExec(fd)
	}
	for _, fd := range fds[1:] {
		_ = unix.Close(fd)
	}
	f := os.NewFile(uintptr(fds[0]), "listener")
	defer func() { _ = f.Close() }()
	return net.FileListener(f)
}
