package fakeapi

import (
	"net"
	"net/http"
	"time"
)

// write performs the steps. With split > 0 the body leaves in pieces of so many bytes, each flushed by itself.
func (x *exchange) write(steps []step, split int) {
	flush := http.NewResponseController(x.w)
	_ = flush.Flush()
	begun := time.Now()
	for i, s := range steps {
		if wait := max(s.wait, s.at-time.Since(begun)); wait > 0 && !x.stall(wait) {
			return
		}
		due := s.act == actNone && i+1 < len(steps) && steps[i+1].at > 0 && steps[i+1].at <= time.Since(begun) // leaves with the next
		data := s.data
		for len(data) > 0 {
			n := len(data)
			if split > 0 {
				n = min(split, n)
			}
			if _, err := x.w.Write(data[:n]); err != nil {
				return
			}
			if !due || split > 0 {
				if err := flush.Flush(); err != nil {
					return
				}
			}
			data = data[n:]
		}
		if s.event != "" {
			x.s.update(func() { x.rec.Sent++ })
		}
		switch s.act {
		case actReset:
			x.reset()
			return
		case actAbort:
			panic(http.ErrAbortHandler)
		case actEnd:
			return
		case actStall:
			if !x.stall(s.stall) {
				return
			}
		}
	}
}

// stall waits so long, or with 0 until Release. It returns false when the client or the server went away.
func (x *exchange) stall(d time.Duration) bool {
	x.s.mu.Lock()
	release := x.s.release
	x.s.mu.Unlock()
	var after <-chan time.Time
	if d > 0 {
		t := time.NewTimer(d)
		defer t.Stop()
		after, release = t.C, nil
	}
	select {
	case <-after:
		return true
	case <-release:
		return true
	case <-x.r.Context().Done():
	case <-x.s.closed:
	}
	return false
}

// reset makes the client see a connection reset.
func (x *exchange) reset() {
	conn, _, err := http.NewResponseController(x.w).Hijack()
	if err != nil {
		panic(http.ErrAbortHandler) // no TCP below: the nearest that can be had
	}
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	_ = conn.Close()
}

func (d Duration) std() time.Duration { return time.Duration(d) }
