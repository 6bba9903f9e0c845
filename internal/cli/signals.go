package cli

import (
	"context"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"

	"lathe/internal/app"
	"lathe/internal/event"
)

// catch handles the signals that end programs, one after the other. SIGPIPE is caught so that a closed pipe is an error of a
// write, and not the end of us. A SIGHUP that whoever started us ignores (nohup) stays ignored.
func catch(handle func(os.Signal)) (stop func()) {
	ch := make(chan os.Signal, 4)
	caught := []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGPIPE}
	if !signal.Ignored(syscall.SIGHUP) {
		caught = append(caught, syscall.SIGHUP)
	}
	signal.Notify(ch, caught...)
	done := make(chan struct{})
	go func() {
		for {
			select {
			case sig := <-ch:
				if sig != syscall.SIGPIPE {
					handle(sig)
				}
			case <-done:
				return
			}
		}
	}()
	return func() { signal.Stop(ch); close(done) }
}

// signals interrupts the turn at the first SIGINT and ends the program at the second. SIGTERM and SIGHUP kill every child and
// end at once: the turn stays unfinished in the transcript, which is valid at every moment.
func signals(s *app.Session, conn event.Conn) (interrupted func() bool, stop func()) {
	var seen atomic.Bool
	stop = catch(func(sig os.Signal) {
		switch {
		case sig != os.Interrupt:
			die(s, exitTerminated)
		case seen.Swap(true):
			die(s, exitInterrupted)
		}
		_ = conn.Send(context.Background(), event.Interrupt{DropQueued: true})
		_ = conn.Send(context.Background(), event.Close{}) // the prompt may have been waiting still: no turn comes then
	})
	return seen.Load, stop
}

// die ends the process at once, with every child.
func die(s *app.Session, code int) {
	s.Halt()
	s.Kill()
	os.Exit(code)
}
