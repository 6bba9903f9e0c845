package engine

import (
	"sync"
	"time"

	"lathe/internal/event"
)

// Background is the work of a session that goes on outside its turns: sub-agents and commands. Its methods are safe
// for concurrent use, and call no method of the session but Relay and Wake.
type Background interface {
	// Next returns the prompt of the turn that ended work asks for, with its Origin set.
	Next() (event.Prompt, bool)
	// Busy reports whether something works that will ask for a turn: until then the session is not idle.
	Busy() bool
	// Linger is asked when the session was closed and has no turn to run. It returns how long to wait at most before it
	// is asked again; 0 ends the session. closed is how long that has been so.
	Linger(closed time.Duration) time.Duration
	// Stop ends all of it.
	Stop()
}

// Wake makes a connected session look again at what there is to do.
func (s *Session) Wake() {
	s.outlet.mu.RLock()
	wake := s.outlet.wake
	s.outlet.mu.RUnlock()
	if wake != nil {
		wake()
	}
}

// works reports whether background work keeps the session from being idle.
func (s *Session) works() bool { return s.cfg.Background != nil && s.cfg.Background.Busy() }

// Relay passes an event on that is no part of a turn's own work: what a sub-agent does, or how background work goes. It
// keeps the event's Parent and Agent. While a turn runs the event takes its place among the turn's; else it goes to
// whoever is connected, or to the session whose sub-agent this is. Without either it is lost.
func (s *Session) Relay(e event.Envelope) error {
	s.standStill()
	s.outlet.mu.RLock()
	if s.outlet.turn != nil {
		defer s.outlet.mu.RUnlock() // the turn's channel is not closed before
		return s.outlet.turn(e)
	}
	direct, taken := s.outlet.direct, s.outlet.taken
	s.outlet.mu.RUnlock()
	if taken != nil {
		<-taken // what the turn has told before comes first
	}
	switch {
	case direct != nil:
		direct(e)
	case s.cfg.Parent != nil:
		return s.cfg.Parent.Relay(e)
	}
	return nil
}

// outlet is where events from outside the turn's own goroutines go.
type outlet struct {
	mu     sync.RWMutex
	turn   func(event.Envelope) error // while a turn runs
	taken  chan struct{}              // closed when all events of the last turn were taken; nil before the first
	direct func(event.Envelope)       // while somebody is connected
	wake   func()
}

// open lets events take their places among those of a turn until shut. The caller closes what it returns when the last
// of these was taken.
func (o *outlet) open(turn func(event.Envelope) error) (taken chan struct{}) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.turn, o.taken = turn, make(chan struct{})
	return o.taken
}

func (o *outlet) shut() {
	o.mu.Lock()
	o.turn = nil
	o.mu.Unlock()
}

func (o *outlet) connect(c *Conn) {
	o.mu.Lock()
	o.direct, o.wake = c.pass, c.wake
	o.mu.Unlock()
}
