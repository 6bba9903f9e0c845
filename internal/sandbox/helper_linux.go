package sandbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

const (
	helperFd    = 5       // where the helper is told what to do, and hands over its listener
	helperPort  = 3128    // where the proxy is found inside
	probeArg    = "probe" // instead of a program: only try
	helperError = 125     // its exit code when it could not confine itself
)

// helperSpec is what the helper is told.
type helperSpec struct {
	Landlock    int      // the version to use, 0 for none
	Write, Read []string // as for landlock
	Unix        bool     // Unix sockets may be opened
	Internet    bool     // the network is one of its own
	Listen      bool     // hand over a listener for the proxy
	Mounts      []string // mounts that may be written, with those below; nil: there is no view of our own
	Supervise   bool     // no namespace ends what the command leaves behind: stay and do it
}

// Helper is the hidden subcommand: it runs inside the sandbox (or, without namespaces, before it), confines itself
// and becomes the program that args name. It returns only when that fails.
func Helper(args []string, stderr io.Writer) int {
	err := confine(args)
	var code exitStatus
	if errors.As(err, &code) {
		return int(code)
	}
	fmt.Fprintf(stderr, "lathe: the sandbox could not be entered: %v\n", err)
	return helperError
}

type exitStatus int

func (e exitStatus) Error() string { return fmt.Sprintf("exit status %d", int(e)) }

func confine(args []string) error {
	runtime.LockOSThread() // what follows counts for this thread, which becomes the program
	if len(args) == 0 {
		return errors.New("no program given")
	}
	channel := os.NewFile(helperFd, "sandbox")
	if channel == nil {
		return errors.New("this command is for the sandbox's own use")
	}
	var spec helperSpec
	if err := json.NewDecoder(channel).Decode(&spec); err != nil {
		return fmt.Errorf("read what to do: %w", err)
	}
	if spec.Supervise {
		return supervise(spec, channel, args)
	}
	if spec.Listen {
		if err := handOver(channel); err != nil {
			return fmt.Errorf("open the way to the proxy: %w", err)
		}
	}
	_ = channel.Close()
	if spec.Mounts != nil {
		if err := checkMounts(spec.Mounts); err != nil {
			return err
		}
	}
	if err := dropPrivileges(); err != nil {
		return fmt.Errorf("give up privileges: %w", err)
	}
	if spec.Landlock > 0 {
		if err := landlock(spec.Landlock, spec.Write, spec.Read); err != nil {
			return err
		}
	}
	p, err := filter(filterOptions{unixSockets: spec.Unix, internet: spec.Internet})
	if err != nil {
		return err
	}
	if err := p.install(); err != nil {
		return err
	}
	if args[0] == probeArg {
		return exitStatus(0)
	}
	_ = unix.CloseRange(helperFd, math.MaxInt32, unix.CLOSE_RANGE_CLOEXEC) // whatever else was open here
	return fmt.Errorf("start %s: %w", args[0], unix.Exec(args[0], args, os.Environ()))
}

// checkMounts makes sure that nothing can be written but what was meant: a command that runs beside could have put
// a link in the place of a directory while it was being mounted.
func checkMounts(allowed []string) error {
	text, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return fmt.Errorf("look at the mounts: %w", err)
	}
	for line := range strings.Lines(string(text)) {
		fields := strings.Fields(line) // id parent device root mountpoint options …
		if len(fields) < 6 || slices.Contains(strings.Split(fields[5], ","), "ro") {
			continue
		}
		if path := unescapeMount(fields[4]); !withinAny(path, allowed) {
			return fmt.Errorf("%s can be written and should not be", path)
		}
	}
	return nil
}

// unescapeMount reads a path of mountinfo, where blanks and the like are octal.
func unescapeMount(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+3 < len(s) {
			if n, err := strconv.ParseUint(s[i+1:i+4], 8, 8); err == nil {
				b.WriteByte(byte(n))
				i += 3
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// dropPrivileges gives up what root has over others, for good, and what programs would gain when started.
func dropPrivileges() error {
	if os.Geteuid() == 0 {
		for c := uintptr(0); c <= unix.CAP_LAST_CAP; c++ {
			_ = unix.Prctl(unix.PR_CAPBSET_DROP, c, 0, 0, 0) // refused where there is nothing to drop
		}
		head := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
		var none [2]unix.CapUserData
		if err := unix.Capset(&head, &none[0]); err != nil {
			return err
		}
	}
	return unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
}

// handOver opens a listener in the network of the sandbox and passes it out: the proxy takes connections from it
// without any process in between.
func handOver(channel *os.File) error {
	l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(helperPort)))
	if err != nil {
		return err
	}
	f, err := l.(*net.TCPListener).File()
	if err != nil {
		return err
	}
	defer func() { _ = f.Close(); _ = l.Close() }()
	return unix.Sendmsg(int(channel.Fd()), []byte{1}, unix.UnixRights(int(f.Fd())), nil, 0)
}

// supervise runs the confined program as a child and ends whatever it leaves behind, also what left its process
// group and cleaned its environment.
func supervise(spec helperSpec, channel *os.File, args []string) error {
	_ = channel.Close()
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("take over what is left behind: %w", err)
	}
	spec.Supervise = false
	order, err := json.Marshal(spec)
	if err != nil {
		return err
	}
	r, w, err := os.Pipe()
	if err != nil {
		return err
	}
	cmd := exec.Command("/proc/self/exe", append([]string{HelperName}, args...)...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.ExtraFiles = []*os.File{os.NewFile(3, "script"), os.NewFile(4, "report"), r}
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	// The group gets these; we stay for the rest. Caught and not ignored, or the command would ignore them too.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGTERM, syscall.SIGHUP, syscall.SIGINT)
	if err := cmd.Start(); err != nil {
		return err
	}
	_ = r.Close()
	for _, f := range cmd.ExtraFiles[:2] {
		_ = f.Close()
	}
	_, _ = w.Write(order) // a child that is gone shows in its status
	_ = w.Close()
	_ = cmd.Wait()
	killDescendants()
	ws, ok := cmd.ProcessState.Sys().(syscall.WaitStatus)
	if ok && ws.Signaled() {
		return exitStatus(128 + int(ws.Signal()))
	}
	return exitStatus(cmd.ProcessState.ExitCode())
}

// killDescendants ends all that the command started. Orphans become our children, so there is no end before all
// are gone.
func killDescendants() {
	for range 100 {
		kids := children(os.Getpid())
		if len(kids) == 0 {
			return
		}
		for _, pid := range kids {
			killTree(pid, 0)
		}
		for {
			pid, err := unix.Wait4(-1, nil, unix.WNOHANG, nil)
			if pid <= 0 || err != nil {
				break
			}
		}
	}
}

func killTree(pid, depth int) {
	if depth < 50 {
		_ = unix.Kill(pid, unix.SIGSTOP) // or it would go on starting others
		for _, kid := range children(pid) {
			killTree(kid, depth+1)
		}
	}
	_ = unix.Kill(pid, unix.SIGKILL)
}

func children(pid int) []int {
	var out []int
	files, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	for _, f := range files {
		text, _ := os.ReadFile(f)
		for _, s := range strings.Fields(string(text)) {
			if n, err := strconv.Atoi(s); err == nil {
				out = append(out, n)
			}
		}
	}
	return out
}
