package session

import (
	"sync"

	"lathe/internal/msg"
)

// Switch is a Log that can become another one, for a program that leaves one session and goes on with another. It is
// safe for concurrent use.
type Switch struct {
	mu  sync.RWMutex
	log Log
}

var (
	_ Log    = (*Switch)(nil)
	_ Syncer = (*Switch)(nil)
)

// NewSwitch returns a Switch that is l.
func NewSwitch(l Log) *Switch { return &Switch{log: l} }

// To makes it another log, and returns the one that it was, which the caller closes.
func (s *Switch) To(l Log) (old Log) {
	s.mu.Lock()
	defer s.mu.Unlock()
	old, s.log = s.log, l
	return old
}

func (s *Switch) now() Log {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.log
}

// ID is that of the log of the moment, as are all the others.
func (s *Switch) ID() string { return s.now().ID() }

// Path implements Log.
func (s *Switch) Path() string { return s.now().Path() }

// Append implements Log.
func (s *Switch) Append(m ...msg.Message) error { return s.now().Append(m...) }

// Freeze implements Log.
func (s *Switch) Freeze(f Frozen) error { return s.now().Freeze(f) }

// Keep implements Log.
func (s *Switch) Keep(kind string, v any) error { return s.now().Keep(kind, v) }

// Close implements Log.
func (s *Switch) Close() error { return s.now().Close() }

// Sync implements Syncer; a log that cannot do it does nothing.
func (s *Switch) Sync() error {
	if l, ok := s.now().(Syncer); ok {
		return l.Sync()
	}
	return nil
}
