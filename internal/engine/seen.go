package engine

import (
	"bytes"

	"lathe/internal/event"
	"lathe/internal/turn"
)

// seen is an event as front ends see it where the words of an answer may be changed.
func (s *Session) seen(t *turn.Turn, e event.Event) event.Event {
	if s.cfg.Holds == nil || !s.cfg.Holds() {
		return e
	}
	switch e := e.(type) {
	case event.TurnDone:
		if s.cfg.ShownResult != nil {
			e.Result = s.cfg.ShownResult(e.Result)
		}
		return e
	case event.Stream:
		if e.Text == "" || e.Think {
			if bytes.Contains(e.Raw, []byte(`"content_block_start"`)) {
				s.mu.Lock()
				s.coming = "" // another block is another message
				s.mu.Unlock()
			}
			return e
		}
		text := e.Text
		if e.Text = ""; s.cfg.ShownPart != nil {
			e.Text = s.cfg.ShownPart(t, s.comingID(), text)
		}
		return e
	}
	return e
}

// comingID is the id of the message whose text comes.
func (s *Session) comingID() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.coming == "" {
		s.coming = s.cfg.NewID()
	}
	return s.coming
}
