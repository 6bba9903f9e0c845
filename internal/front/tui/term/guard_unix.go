//go:build unix

package term

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"syscall"

	"golang.org/x/sys/unix"
)

// guard is a process that restores the terminal when we cannot: after a crash, or after kill -9. It waits on a pipe for
// our end, and does nothing when we said that all is well.
type guard struct {
	pipe *os.File
}

// startGuard starts it with a process group of its own, so that keys do not reach it. Without one
// the program works all the same.
func startGuard(command []string, in, out *os.File) *guard {
	r, w, err := os.Pipe()
	if err != nil {
		return nil
	}
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Stdin, cmd.Stdout = in, out
	cmd.ExtraFiles = []*os.File{r}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	g := &guard{pipe: w}
	err = cmd.Start()
	_ = r.Close()
	if err != nil {
		_ = w.Close()
		return nil
	}
	go func() { _ = cmd.Wait() }() // ends at the latest with us
	return g
}

// dismiss tells the guard that the terminal is in order.
func (g *guard) dismiss() {
	if g != nil {
		_, _ = g.pipe.Write([]byte{'k'})
		_ = g.pipe.Close()
	}
}

// Guard is the guard process's main function: standard input and output are the terminal, descriptor 3 is the pipe.
func Guard() int {
	signal.Ignore(syscall.SIGINT, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGTERM, syscall.SIGTTOU, syscall.SIGTTIN, syscall.SIGTSTP)
	said, _ := io.ReadAll(bufio.NewReader(os.NewFile(3, "pipe")))
	if len(said) > 0 {
		return 0
	}
	_, _ = io.WriteString(os.Stdout, altOff+modesOff+"\r\n")
	if err := cooked(int(os.Stdin.Fd())); err != nil {
		return 1
	}
	return 0
}

// cooked brings a terminal back to lines, echo and signals, as a shell expects to find it.
func cooked(fd int) error {
	t, err := unix.IoctlGetTermios(fd, getTermios)
	if err != nil {
		return err
	}
	t.Iflag |= unix.BRKINT | unix.ICRNL | unix.IXON
	t.Oflag |= unix.OPOST
	t.Lflag |= unix.ECHO | unix.ICANON | unix.ISIG | unix.IEXTEN
	return unix.IoctlSetTermios(fd, setTermios, t)
}
