package sandbox

import (
	"errors"
	"fmt"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Offsets in the kernel's struct seccomp_data. Both supported architectures are little-endian, so the low half of
// an argument comes first.
const (
	dataNr   = 0
	dataArch = 4
	dataArgs = 16
)

const namespaceFlags = unix.CLONE_NEWNS | unix.CLONE_NEWUSER | unix.CLONE_NEWPID | unix.CLONE_NEWNET | unix.CLONE_NEWIPC |
	unix.CLONE_NEWUTS | unix.CLONE_NEWCGROUP | unix.CLONE_NEWTIME

// filterOptions say which sockets a command may open.
type filterOptions struct {
	unixSockets bool // named and abstract Unix sockets
	internet    bool // IPv4 and IPv6: only where the network is one of its own
}

// errArch is returned where there is no table of system calls for the machine.
var errArch = errors.New("the system call filter knows amd64 and arm64 only, this is " + runtime.GOARCH)

// program assembles BPF.
type program []unix.SockFilter

func (p *program) op(code uint16, jt, jf uint8, k uint32) {
	*p = append(*p, unix.SockFilter{Code: code, Jt: jt, Jf: jf, K: k})
}

func (p *program) load(offset uint32) { p.op(unix.BPF_LD|unix.BPF_W|unix.BPF_ABS, 0, 0, offset) }

func (p *program) ret(action uint32) { p.op(unix.BPF_RET|unix.BPF_K, 0, 0, action) }

func errno(e unix.Errno) uint32 { return unix.SECCOMP_RET_ERRNO | uint32(e) }

// call adds rules for one system call, which end with a return; skipped for every other call.
func (p *program) call(nr uint32, body program) {
	p.op(unix.BPF_JMP|unix.BPF_JEQ|unix.BPF_K, 0, uint8(len(body)), nr)
	*p = append(*p, body...)
}

// deny refuses a call whatever its arguments.
func (p *program) deny(nr uint32, e unix.Errno) {
	var body program
	body.ret(errno(e))
	p.call(nr, body)
}

// filter builds the program: what could trace others, change the view of the files, make namespaces, or reach
// around the checks is refused; everything else is allowed.
func filter(o filterOptions) (program, error) {
	t, ok := archTable()
	if !ok {
		return nil, errArch
	}
	var p program
	p.load(dataArch)
	p.op(unix.BPF_JMP|unix.BPF_JEQ|unix.BPF_K, 1, 0, t.audit)
	p.ret(unix.SECCOMP_RET_KILL_PROCESS) // calls of another architecture have other numbers
	p.load(dataNr)
	if t.x32 > 0 {
		var body program
		body.ret(errno(unix.ENOSYS))
		p.op(unix.BPF_JMP|unix.BPF_JGE|unix.BPF_K, 0, uint8(len(body)), t.x32)
		p = append(p, body...)
	}
	for _, nr := range append(deniedCalls(), t.denied...) {
		p.deny(nr, unix.EPERM)
	}
	p.deny(unix.SYS_CLONE3, unix.ENOSYS) // its flags are out of a filter's sight; libraries fall back to clone
	p.call(unix.SYS_CLONE, argMask(0, namespaceFlags))
	p.call(unix.SYS_IOCTL, argIs(1, unix.TIOCSTI, unix.TIOCLINUX))
	p.call(unix.SYS_SOCKET, sockets(o))
	p.call(unix.SYS_SOCKETPAIR, allowOnly(0, unix.AF_UNIX))
	p.ret(unix.SECCOMP_RET_ALLOW)
	return p, nil
}

// deniedCalls have the same constants on every architecture.
func deniedCalls() []uint32 {
	return []uint32{
		unix.SYS_PTRACE, unix.SYS_PROCESS_VM_READV, unix.SYS_PROCESS_VM_WRITEV, unix.SYS_PIDFD_GETFD, unix.SYS_KCMP, unix.SYS_PERF_EVENT_OPEN,
		unix.SYS_PROCESS_MADVISE,
		unix.SYS_MOUNT, unix.SYS_UMOUNT2, unix.SYS_PIVOT_ROOT, unix.SYS_CHROOT, unix.SYS_MOVE_MOUNT, unix.SYS_OPEN_TREE, unix.SYS_FSOPEN,
		unix.SYS_FSCONFIG, unix.SYS_FSMOUNT, unix.SYS_FSPICK, unix.SYS_MOUNT_SETATTR, unix.SYS_OPEN_TREE_ATTR,
		unix.SYS_UNSHARE, unix.SYS_SETNS,
		unix.SYS_ADD_KEY, unix.SYS_REQUEST_KEY, unix.SYS_KEYCTL,
		unix.SYS_IO_URING_SETUP, unix.SYS_IO_URING_ENTER, unix.SYS_IO_URING_REGISTER,
		unix.SYS_BPF, unix.SYS_USERFAULTFD, unix.SYS_OPEN_BY_HANDLE_AT,
		unix.SYS_INIT_MODULE, unix.SYS_FINIT_MODULE, unix.SYS_DELETE_MODULE, unix.SYS_KEXEC_LOAD, unix.SYS_KEXEC_FILE_LOAD,
		unix.SYS_REBOOT, unix.SYS_SWAPON, unix.SYS_SWAPOFF, unix.SYS_ACCT, unix.SYS_QUOTACTL, unix.SYS_SYSLOG,
		unix.SYS_SETTIMEOFDAY, unix.SYS_CLOCK_SETTIME, unix.SYS_VHANGUP,
	}
}

func loadArg(n int) uint32 { return dataArgs + 8*uint32(n) }

// argMask refuses a call when an argument has one of the bits.
func argMask(n int, bits uint32) (p program) {
	p.load(loadArg(n))
	p.op(unix.BPF_JMP|unix.BPF_JSET|unix.BPF_K, 0, 1, bits)
	p.ret(errno(unix.EPERM))
	p.ret(unix.SECCOMP_RET_ALLOW)
	return p
}

// argIs refuses a call when an argument is one of the values.
func argIs(n int, values ...uint32) (p program) {
	p.load(loadArg(n))
	for _, v := range values {
		p.op(unix.BPF_JMP|unix.BPF_JEQ|unix.BPF_K, 0, 1, v)
		p.ret(errno(unix.EPERM))
	}
	p.ret(unix.SECCOMP_RET_ALLOW)
	return p
}

// allowOnly refuses a call unless an argument is one of the values.
func allowOnly(n int, values ...uint32) (p program) {
	p.load(loadArg(n))
	for _, v := range values {
		p.op(unix.BPF_JMP|unix.BPF_JEQ|unix.BPF_K, 0, 1, v)
		p.ret(unix.SECCOMP_RET_ALLOW)
	}
	p.ret(errno(unix.EPERM))
	return p
}

// sockets allows families by their number; of netlink only routes, which name lookups list.
func sockets(o filterOptions) (p program) {
	var families []uint32
	if o.unixSockets {
		families = append(families, unix.AF_UNIX)
	}
	if o.internet {
		families = append(families, unix.AF_INET, unix.AF_INET6)
	}
	p.load(loadArg(0))
	for _, f := range families {
		p.op(unix.BPF_JMP|unix.BPF_JEQ|unix.BPF_K, 0, 1, f)
		p.ret(unix.SECCOMP_RET_ALLOW)
	}
	p.op(unix.BPF_JMP|unix.BPF_JEQ|unix.BPF_K, 0, 3, unix.AF_NETLINK)
	p.load(loadArg(2))
	p.op(unix.BPF_JMP|unix.BPF_JEQ|unix.BPF_K, 0, 1, unix.NETLINK_ROUTE)
	p.ret(unix.SECCOMP_RET_ALLOW)
	p.ret(errno(unix.EPERM))
	return p
}

// install puts the filter on this thread, for good. No new privileges must have been set before.
func (p program) install() error {
	fprog := unix.SockFprog{Len: uint16(len(p)), Filter: &p[0]}
	_, _, e := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, 0, uintptr(unsafe.Pointer(&fprog)))
	if e != 0 {
		return fmt.Errorf("install the system call filter: %w", e)
	}
	return nil
}

type archInfo struct {
	audit  uint32
	x32    uint32 // numbers from here are a second interface of the same architecture
	denied []uint32
}
