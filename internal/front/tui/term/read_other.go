//go:build !unix

package term

import (
	"errors"
	"os"
	"time"
)

// reader reads the terminal until the process ends; a read cannot be cancelled here.
type reader struct{}

func startReader(in *os.File, out chan<- Event) *reader {
	go func() {
		var d Decoder
		buf := make([]byte, 64<<10)
		for {
			n, err := in.Read(buf)
			if err != nil {
				out <- Closed{err}
				return
			}
			for _, e := range d.Feed(buf[:n]) {
				out <- e
			}
			for _, e := range d.Flush() { // a console hands over whole sequences
				out <- e
			}
		}
	}()
	return &reader{}
}

func (*reader) close() {}

// watchSize looks for a new size twice a second.
func watchSize(t *Terminal) (stop func()) {
	done := make(chan struct{})
	go func() {
		w, h := t.Size()
		tick := time.NewTicker(500 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				if nw, nh := t.Size(); nw != w || nh != h {
					w, h = nw, nh
					t.events <- Resize{w, h}
				}
			case <-done:
				return
			}
		}
	}()
	return func() { close(done) }
}

// Suspend is not possible here.
func (t *Terminal) Suspend() error { return errors.New("this system cannot suspend a program") }
