package sandbox

import (
	"os"
	"strings"
)

// viewOptions say how bubblewrap is to be called.
type viewOptions struct {
	bwrap    string // its path
	program  string // this program, which is shown inside as helperPath
	temp     string // the session's temporary directory
	hidden   string // an empty file that nobody can read
	dir      string // where the command starts
	root     bool   // we run as root, whose capabilities must be dropped
	hostProc bool   // the outer /proc is shown: a new one cannot be mounted in this container
}

// helperPath is where this program is found inside.
const helperPath = "/run/lathe"

// bwrapArgs are the arguments for a view of the files in which the policy holds: everything read-only, then what
// may be written, then what in it may not, each deeper entry over its parent.
func bwrapArgs(p *Policy, o viewOptions) []string {
	args := []string{
		o.bwrap, "--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-net", "--unshare-uts", "--unshare-cgroup-try",
		"--new-session", "--die-with-parent",
	}
	if o.root {
		args = append(args, "--cap-drop", "ALL")
	}
	base := "--ro-bind"
	if p.Unlimited {
		base = "--bind"
	}
	args = append(args, base, "/", "/", "--dev", "/dev")
	if o.hostProc {
		args = append(args, "--ro-bind", "/proc", "/proc")
	} else {
		args = append(args, "--proc", "/proc")
		// What belongs to the whole machine stays read-only: to root's own files root needs no capability.
		for _, name := range []string{"sys", "sysrq-trigger", "irq", "bus", "fs", "acpi", "mtrr"} {
			args = append(args, "--ro-bind-try", "/proc/"+name, "/proc/"+name)
		}
	}
	if !p.Network.UnixSockets {
		args = append(args, "--tmpfs", "/run") // where daemons have their sockets
		for _, dir := range []string{"/run/current-system", "/run/wrappers", "/run/opengl-driver"} {
			args = append(args, "--ro-bind-try", dir, dir)
		}
	}
	if !p.Unlimited {
		for _, dir := range []string{"/tmp", "/var/tmp"} {
			if isDir(dir) {
				args = append(args, "--bind", o.temp, dir)
			}
		}
	}
	var last []string
	for _, m := range p.mounts() {
		now, later := bindArgs(m, o.hidden)
		args, last = append(args, now...), append(last, later...)
	}
	args = append(args, last...)
	target := helperPath
	if p.Network.UnixSockets {
		target = o.program // /run is the real one there: nothing can be put into it
		args = append(args, "--ro-bind", o.program, o.program)
	} else {
		args = append(args, "--ro-bind", o.program, helperPath, "--remount-ro", "/run")
	}
	return append(args, "--chdir", o.dir, "--", target, HelperName)
}

// bindArgs are the arguments for one path, and those that must come after all others.
func bindArgs(m mount, hidden string) (now, later []string) {
	switch m.kind {
	case writable:
		return []string{"--bind", m.path, m.path}, nil
	case readOnly, kept:
		return []string{"--ro-bind", m.path, m.path}, nil
	}
	if isDir(m.path) {
		// Those below that are shown need a way; nothing can be listed.
		return []string{"--perms", "0111", "--tmpfs", m.path}, []string{"--remount-ro", m.path}
	}
	return []string{"--ro-bind", hidden, m.path}, nil
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// whyBwrapFails turns what bubblewrap prints into what to do.
func whyBwrapFails(text string) string {
	text = strings.TrimSpace(text)
	hint := ""
	switch {
	case strings.Contains(text, "mount proc"):
		hint = "; in a container that hides parts of /proc, set sandbox.enableWeakerNestedSandbox, or start the container with --security-opt systempaths=unconfined"
	case strings.Contains(text, "namespace") || strings.Contains(text, "uid map") || strings.Contains(text, "Operation not permitted") || strings.Contains(text, "Permission denied"):
		hint = "; the kernel refuses user namespaces: on Ubuntu give bwrap an AppArmor profile that allows userns (or set kernel.apparmor_restrict_unprivileged_userns=0), elsewhere check user.max_user_namespaces; in a container allow them in its seccomp profile"
	}
	if text == "" {
		text = "it ended without a word"
	}
	return "bubblewrap does not work here: " + text + hint
}
