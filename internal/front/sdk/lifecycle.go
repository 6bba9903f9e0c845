package sdk

import (
	"maps"
	"slices"

	"lathe/internal/event"
	"lathe/internal/msg"
)

// The states of a message that the host named by a uuid of its own.
const (
	queued    = "queued"
	started   = "started"
	completed = "completed"
	dropped   = "cancelled"
)

func (s *server) isNamed(id string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, ok := s.named[id]
	return ok
}

// mark notes the state of a named message and tells the host, once for each state.
func (s *server) mark(session, id, state string) {
	s.mu.Lock()
	was, known := s.named[id]
	if known = known || state == queued; known {
		s.named[id] = state
	}
	if state == completed || state == dropped {
		delete(s.named, id)
	}
	s.mu.Unlock()
	if known && was != state {
		s.line(event.Encode(map[string]any{
			"type": "command_lifecycle", "command_uuid": id, "state": state, "session_id": session, "uuid": s.o.Encoder.NewID(),
		}))
	}
}

// follow sees which named messages a turn takes up.
func (s *server) follow(env event.Envelope) {
	if env.Parent != "" {
		return
	}
	switch e := env.Event.(type) {
	case event.TurnStarted:
		s.mark(env.Session, e.Prompt.ID, started)
	case event.Message:
		if e.Msg.Kind == msg.KindUser && !e.Msg.Meta {
			s.mark(env.Session, e.Msg.ID, started)
		}
	}
}

// settle ends what the finished turn had taken up.
func (s *server) settle(env event.Envelope) {
	s.mu.Lock()
	var over []string
	for id, state := range s.named {
		if state == started {
			over = append(over, id)
		}
	}
	s.mu.Unlock()
	slices.Sort(over)
	for _, id := range over {
		s.mark(env.Session, id, completed)
	}
}

// waiting are the named messages that no turn has taken up.
func (s *server) waiting() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []string
	for _, id := range slices.Sorted(maps.Keys(s.named)) {
		if s.named[id] == queued {
			out = append(out, id)
		}
	}
	return out
}
