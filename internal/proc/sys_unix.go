//go:build unix

package proc

import (
	"errors"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// tree is a child with all that is in its process group. The child leads the group, so its pid is the group's id.
type tree struct {
	pgid   int
	reaped func() bool
}

func newTree(p *os.Process, reaped func() bool) *tree { return &tree{pgid: p.Pid, reaped: reaped} }

// ours is false when the group's number belongs to somebody else by now. As long as anything lives in the group,
// the system gives its number to no new process; so a process of that number after ours was reaped is a stranger.
func (t *tree) ours() bool {
	return !t.reaped() || errors.Is(syscall.Kill(t.pgid, 0), syscall.ESRCH)
}

// known reports that the system still knows the group, be it for a zombie that nobody has waited for.
func (t *tree) known() bool {
	err := syscall.Kill(-t.pgid, 0)
	return (err == nil || errors.Is(err, syscall.EPERM)) && t.ours()
}

// alive reports that something lives in the group.
func (t *tree) alive() bool { return t.known() && anyLives(t.pgid) }

func (t *tree) signal(s syscall.Signal) {
	if t.ours() {
		_ = syscall.Kill(-t.pgid, s) // nobody left is the normal case
	}
}

func (t *tree) term() {
	t.signal(syscall.SIGTERM)
	t.signal(syscall.SIGCONT) // a stopped process takes TERM only when it goes on
}

func (t *tree) kill() { t.signal(syscall.SIGKILL) }

func (t *tree) close() {}

func status(s *os.ProcessState) (code int, signal string) {
	if s == nil {
		return -1, ""
	}
	if ws, ok := s.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		return 128 + int(ws.Signal()), ws.Signal().String()
	}
	return s.ExitCode(), ""
}

// sweep reads what is in the pipe now, without waiting, up to about limit bytes. ended says that nobody holds the
// other end any more.
func sweep(f *os.File, limit int) (data []byte, ended bool) {
	conn, err := f.SyscallConn()
	if err != nil {
		return nil, false
	}
	buf := make([]byte, 64<<10)
	_ = conn.Read(func(fd uintptr) bool {
		for len(data) < limit {
			n, err := unix.Read(int(fd), buf)
			if errors.Is(err, unix.EINTR) {
				continue
			}
			if n <= 0 || err != nil {
				ended = n == 0 && err == nil
				break
			}
			data = append(data, buf[:n]...)
		}
		return true
	})
	return data, ended
}
