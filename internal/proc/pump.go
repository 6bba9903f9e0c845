package proc

import (
	"io"
	"os"
	"sync"
	"time"
)

// pump carries one output of a child to its writer until the last holder of the pipe closes it.
type pump struct {
	r    *os.File
	w    io.Writer
	proc *Proc
	size int64

	once    sync.Once
	settled chan struct{} // closed when all that the direct child wrote was taken in
	eof     chan struct{} // closed at the end
}

func (p *pump) run() {
	defer p.settleNow() // after eof is closed: who waits for this asks for that next
	defer close(p.eof)
	defer func() { _ = p.r.Close() }()
	buf := make([]byte, 64<<10)
	for {
		n, err := p.r.Read(buf)
		p.take(buf[:n])
		if err == nil {
			continue
		}
		if !os.IsTimeout(err) {
			return
		}
		// The direct child has ended. Whatever it wrote is in the pipe: take that without waiting for more,
		// then go on for the sake of those that still write, whom a closed pipe would kill.
		_ = p.r.SetReadDeadline(time.Time{})
		rest, ended := sweep(p.r, 1<<20)
		p.take(rest)
		if ended {
			return
		}
		p.settleNow()
	}
}

func (p *pump) take(b []byte) {
	if len(b) == 0 {
		return
	}
	p.size += int64(len(b))
	limit := p.proc.spec.MaxOutput
	if limit <= 0 {
		limit = maxOutput
	}
	if p.size > limit {
		if p.proc.overflow.CompareAndSwap(false, true) {
			p.proc.group.wg.Go(func() { p.proc.Stop(quickGrace) })
		}
		return
	}
	if p.w != nil {
		_, _ = p.w.Write(b) // a writer that fails must not block the child
	}
}

func (p *pump) settleNow() { p.once.Do(func() { close(p.settled) }) }

// settle asks the pump to be settled at the given time, or earlier at the end of the output.
func (p *pump) settle(at time.Time) {
	if p.ended() {
		return
	}
	if p.r.SetReadDeadline(at) != nil { // no deadlines on this system's pipes
		select {
		case <-p.eof:
		case <-time.After(time.Until(at)):
			p.settleNow()
		}
	}
}

func (p *pump) ended() bool {
	select {
	case <-p.eof:
		return true
	default:
		return false
	}
}
