package cli

import (
	"context"
	"os"
	"os/signal"
	"sync"
	"syscall"

	"lathe/internal/app"
	"lathe/internal/event"
)

// signals interrupts the turn at the first SIGINT and ends the program at the second. SIGTERM and SIGHUP kill
// every child and end at once: the turn stays unfinished in the transcript, which is valid at every moment.
// SIGPIPE is caught so that a closed pipe is an error of a write, and not the end of us. A SIGHUP that whoever
// started us ignores (nohup) stays ignored.
func signals(s *app.Session, conn event.Conn) (interrupted func() bool, stop func()) {
	ch := make(chan os.Signal, 4)
	caught := []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGPIPE}
	if !signal.Ignored(syscall.SIGHUP) {
		caught = append(caught, syscall.SIGHUP)
	}
	signal.Notify(ch, caught...)
	done := make(chan struct{})
	var mu sync.Mutex
	seen := false
	go func() {
		for {
			select {
			case sig := <-ch:
				switch sig {
				case syscall.SIGPIPE:
					continue
				case os.Interrupt:
					mu.Lock()
					again := seen
					seen = true
					mu.Unlock()
					if !again {
						_ = conn.Send(context.Background(), event.Interrupt{DropQueued: true})
						_ = conn.Send(context.Background(), event.Close{}) // the prompt may have been waiting still: no turn comes then
						continue
					}
					die(s, exitInterrupted)
				default:
					die(s, exitTerminated)
				}
			case <-done:
				return
			}
		}
	}()
	interrupted = func() bool { mu.Lock(); defer mu.Unlock(); return seen }
	return interrupted, func() { signal.Stop(ch); close(done) }
}

// die ends the process at once, with every child.
func die(s *app.Session, code int) {
	s.Halt()
	s.Kill()
	os.Exit(code)
}
