//go:build unix

package term

import (
	"errors"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// reader reads the terminal until it is closed. A read from a terminal cannot be cancelled, so it waits with poll for
// the terminal or for a pipe of its own.
type reader struct {
	wake *os.File
	done chan struct{}
	once sync.Once
}

func startReader(in *os.File, out chan<- Event) *reader {
	r := &reader{done: make(chan struct{})}
	stop, wake, err := os.Pipe()
	if err != nil {
		out <- Closed{err}
		close(r.done)
		return r
	}
	r.wake = wake
	go func() {
		defer close(r.done)
		defer stop.Close()
		r.loop(int(in.Fd()), stop, out)
	}()
	return r
}

func (r *reader) close() {
	r.once.Do(func() {
		if r.wake != nil {
			_ = r.wake.Close()
		}
		<-r.done
	})
}

func (r *reader) loop(fd int, stop *os.File, out chan<- Event) {
	var d Decoder
	buf := make([]byte, 64<<10)
	fds := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}, {Fd: int32(stop.Fd()), Events: unix.POLLIN}}
	stopped := func() bool { return fds[1].Revents != 0 }
	send := func(list []Event) bool {
		for _, e := range list {
			for sent := false; !sent; {
				select {
				case out <- e:
					sent = true
				case <-time.After(20 * time.Millisecond): // whoever closes us may read no more
					if n, _ := unix.Poll(fds[1:], 0); n > 0 {
						return false
					}
				}
			}
		}
		return true
	}
	for {
		wait := -1
		if d.Pending() {
			wait = int(escapeWait / time.Millisecond)
		}
		n, err := unix.Poll(fds, wait)
		switch {
		case errors.Is(err, syscall.EINTR):
			continue
		case err != nil:
			send([]Event{Closed{err}})
			return
		case stopped():
			return
		case n == 0:
			if !send(d.Flush()) {
				return
			}
			continue
		}
		got, err := unix.Read(fd, buf)
		if errors.Is(err, syscall.EINTR) || errors.Is(err, syscall.EAGAIN) {
			continue
		}
		if err != nil || got == 0 {
			send([]Event{Closed{err}})
			return
		}
		if !send(d.Feed(buf[:got])) {
			return
		}
	}
}

// watchSize tells of each new size.
func watchSize(t *Terminal) (stop func()) {
	ch := make(chan os.Signal, 1)
	done := make(chan struct{})
	signal.Notify(ch, syscall.SIGWINCH)
	go func() {
		for {
			select {
			case <-ch:
				w, h := t.Size()
				select {
				case t.events <- Resize{w, h}:
				case <-done:
					return
				}
			case <-done:
				return
			}
		}
	}()
	return func() { signal.Stop(ch); close(done) }
}

// Suspend stops the process as Ctrl+Z does, with the terminal as it was found, and takes the terminal back when the
// process goes on.
func (t *Terminal) Suspend() error {
	return t.Lend(func() error {
		goOn := make(chan os.Signal, 1)
		signal.Notify(goOn, syscall.SIGCONT)
		defer signal.Stop(goOn)
		if err := syscall.Kill(0, syscall.SIGSTOP); err != nil {
			return err
		}
		<-goOn // the stop may reach this thread late
		return nil
	})
}
