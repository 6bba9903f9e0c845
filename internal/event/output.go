package event

import (
	"io"
	"sync"
)

// Output writes the lines of a protocol in the order in which they are put. Whoever puts one does not wait for the other
// side to read: who reads its requests must go on, however little it reads, or an interrupt would never be seen. Who
// tells of what happens calls Flush now and then, so that no more waits than the other side has asked for.
type Output struct {
	to io.Writer

	mu      sync.Mutex
	idle    sync.Cond // the writer's goroutine has ended
	writing bool      // it runs
	lines   []byte    // that wait
	err     error     // of the first write that failed; nothing is written after it
}

// NewOutput returns an output that writes to w.
func NewOutput(w io.Writer) *Output {
	o := &Output{to: w}
	o.idle.L = &o.mu
	return o
}

// Put takes a line without its end.
func (o *Output) Put(line []byte) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.err != nil {
		return
	}
	o.lines = append(append(o.lines, line...), '\n')
	if !o.writing {
		o.writing = true
		go o.write()
	}
}

// Flush waits until everything is written, and returns the error of the first write that failed.
func (o *Output) Flush() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	for o.writing {
		o.idle.Wait()
	}
	return o.err
}

// write writes what waits, and ends when nothing does.
func (o *Output) write() {
	o.mu.Lock()
	defer o.mu.Unlock()
	var spare []byte
	for len(o.lines) > 0 && o.err == nil {
		now := o.lines
		o.lines = spare[:0]
		o.mu.Unlock()
		_, err := o.to.Write(now)
		o.mu.Lock()
		o.err = err
		if spare = now; cap(spare) > 1<<20 {
			spare = nil
		}
	}
	if o.err != nil || cap(o.lines) > 1<<20 {
		o.lines = nil
	}
	o.writing = false
	o.idle.Broadcast()
}
