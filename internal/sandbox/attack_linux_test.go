package sandbox

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// attack is what the test binary does inside the sandbox: tries to get out, told on standard output. Every
// success prints ESCAPED.
func attack(args []string) {
	runtime.LockOSThread()
	for one := range strings.SplitSeq(strings.Join(args, " "), " , ") {
		what, arg, _ := strings.Cut(one, " ")
		if err := tries()[what](arg); err != nil {
			fmt.Printf("%s: refused: %v\n", what, err)
			continue
		}
		fmt.Printf("%s: ESCAPED\n", what)
	}
}

func tries() map[string]func(string) error {
	call := func(nr uintptr, args ...uintptr) error {
		var a [6]uintptr
		copy(a[:], args)
		if _, _, e := unix.Syscall6(nr, a[0], a[1], a[2], a[3], a[4], a[5]); e != 0 {
			return e
		}
		return nil
	}
	return map[string]func(string) error{
		"ptrace": func(pid string) error {
			n, _ := strconv.Atoi(pid)
			return unix.PtraceSeize(n)
		},
		"vm-read": func(pid string) error {
			n, _ := strconv.Atoi(pid)
			buf := make([]byte, 8)
			_, err := unix.ProcessVMReadv(n, []unix.Iovec{{Base: &buf[0], Len: 8}}, []unix.RemoteIovec{{Base: uintptr(unsafe.Pointer(&buf[0])), Len: 8}}, 0)
			return err
		},
		"mount":       func(string) error { return unix.Mount("none", "/tmp", "tmpfs", 0, "") },
		"bind":        func(string) error { return unix.Mount("/", "/tmp", "", unix.MS_BIND|unix.MS_REC, "") },
		"remount":     func(string) error { return unix.Mount("none", "/", "", unix.MS_REMOUNT|unix.MS_BIND, "") },
		"umount":      func(dir string) error { return unix.Unmount(dir, unix.MNT_DETACH) },
		"open-tree":   func(string) error { return call(unix.SYS_OPEN_TREE, ^uintptr(99), 0, 1) },
		"fsopen":      func(string) error { _, err := unix.Fsopen("tmpfs", 0); return err },
		"chroot":      func(string) error { return unix.Chroot("/tmp") },
		"unshare":     func(string) error { return unix.Unshare(unix.CLONE_NEWUSER) },
		"unshare-net": func(string) error { return unix.Unshare(unix.CLONE_NEWNET) },
		"setns": func(string) error {
			fd, err := unix.Open("/proc/self/ns/net", unix.O_RDONLY, 0)
			if err != nil {
				return err
			}
			return unix.Setns(fd, 0)
		},
		"clone":  func(string) error { return call(unix.SYS_CLONE, unix.CLONE_NEWUSER|uintptr(unix.SIGCHLD)) },
		"clone3": func(string) error { return call(unix.SYS_CLONE3, 0, 0) },
		"io-uring": func(string) error {
			p := make([]byte, 120)
			return call(unix.SYS_IO_URING_SETUP, 8, uintptr(unsafe.Pointer(&p[0])))
		},
		"keyring": func(string) error { _, err := unix.KeyctlGetKeyringID(unix.KEY_SPEC_SESSION_KEYRING, true); return err },
		"bpf": func(string) error {
			a := make([]byte, 128)
			return call(unix.SYS_BPF, 0, uintptr(unsafe.Pointer(&a[0])), 128)
		},
		"perf": func(string) error {
			a := unix.PerfEventAttr{Size: 112}
			_, err := unix.PerfEventOpen(&a, 0, -1, -1, 0)
			return err
		},
		"handle": func(string) error {
			_, err := unix.OpenByHandleAt(-100, unix.NewFileHandle(1, make([]byte, 8)), 0)
			return err
		},
		"tiocsti": func(string) error {
			b := byte('x')
			return call(unix.SYS_IOCTL, 0, unix.TIOCSTI, uintptr(unsafe.Pointer(&b)))
		},
		"packet": func(string) error { _, err := unix.Socket(unix.AF_PACKET, unix.SOCK_RAW, 0); return err },
		"vsock":  func(string) error { _, err := unix.Socket(unix.AF_VSOCK, unix.SOCK_STREAM, 0); return err },
		"netlink": func(string) error {
			_, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_KOBJECT_UEVENT)
			return err
		},
		"unix":      func(path string) error { c, err := net.Dial("unix", path); _ = use(c); return err },
		"unix-self": func(string) error { _, err := unix.Socket(unix.AF_UNIX, unix.SOCK_DGRAM, 0); return err },
		"tcp":       func(addr string) error { c, err := net.DialTimeout("tcp", addr, 3*time.Second); _ = use(c); return err },
		"udp": func(addr string) error {
			c, err := net.Dial("udp", addr)
			if err == nil {
				_, err = c.Write([]byte("ESCAPED"))
			}
			return errors.Join(err, errors.New("only what arrives counts"))
		},
		"dns":  func(host string) error { _, err := net.LookupHost(host); return err },
		"kill": func(pid string) error { n, _ := strconv.Atoi(pid); return unix.Kill(n, unix.SIGKILL) },
		"descriptors": func(string) error {
			for fd := 3; fd < 64; fd++ {
				if name, err := os.Readlink("/proc/self/fd/" + strconv.Itoa(fd)); err == nil && fd != 4 && unix.FcntlFlock(uintptr(fd), unix.F_GETLK, &unix.Flock_t{}) != unix.EBADF {
					if flags, _ := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0); flags&unix.FD_CLOEXEC == 0 {
						fmt.Println("open:", fd, name)
						return nil
					}
				}
			}
			return errors.New("nothing is open")
		},
		"loopback": func(string) error { // allowed: a server of the command's own
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				return err
			}
			_, err = net.Dial("tcp", l.Addr().String())
			return err
		},
		"get": func(url string) error {
			res, err := http.Get(url)
			if err != nil {
				return err
			}
			defer func() { _ = res.Body.Close() }()
			body, _ := io.ReadAll(res.Body)
			fmt.Printf("status %d: %s\n", res.StatusCode, body)
			return nil
		},
	}
}

func use(c net.Conn) error {
	if c != nil {
		_, _ = c.Write([]byte("ESCAPED"))
		return c.Close()
	}
	return nil
}
