package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"lathe/internal/msg"
	"lathe/internal/session"
	"lathe/internal/trace"
	"lathe/internal/turn"
)

// ErrBusy says that something was not done because a turn runs.
var ErrBusy = errors.New("a turn is running; interrupt it or wait for its end")

// settle is how long Between waits for a turn whose result was told already.
const settle = 2 * time.Second

// Between runs fn while no turn does, and lets none begin meanwhile. It waits shortly for a turn that is ending; while
// one goes on it returns ErrBusy.
func (s *Session) Between(ctx context.Context, fn func() error) error {
	ctx, cancel := context.WithTimeout(ctx, settle)
	defer cancel()
	select {
	case s.gate <- struct{}{}:
	case <-ctx.Done():
		return ErrBusy
	}
	defer func() { <-s.gate }()
	return fn()
}

// Rewind makes the conversation go on behind the message with the id after, "" for its beginning: what came later is
// not part of it any more. earlier is what stands before the messages that the session has in memory. Nothing is taken
// out of the log: the messages of notes are appended to it, as the beginning of the new branch; without one the log's
// readers would take the old branch for the newest. t is the running turn, where a command of it calls; else Rewind is
// called within Between. It returns how many messages are left out.
func (s *Session) Rewind(t *turn.Turn, earlier []msg.Message, after string, notes ...msg.Message) (left int, err error) {
	if len(notes) == 0 {
		return 0, errors.New("a rewind needs a note to begin the new branch with")
	}
	all := s.Messages()
	if t != nil {
		all = t.Messages
	}
	if slices.IndexFunc(all, func(m msg.Message) bool { return m.ID == after }) < 0 {
		all = append(slices.Clip(earlier), all...)
	}
	keep := slices.IndexFunc(all, func(m msg.Message) bool { return m.ID == after }) + 1
	if keep == 0 && after != "" {
		return 0, fmt.Errorf("there is no message %s in the conversation", after)
	}
	kept := all[:keep:keep]
	s.mu.Lock()
	was := s.last
	s.last = after
	s.mu.Unlock()
	if t != nil {
		messages := t.Messages
		t.Messages = kept
		if err = t.Append(notes...); err != nil {
			t.Messages = messages
		}
	} else {
		var stored []msg.Message
		if stored, err = s.persist(notes...); err == nil {
			s.mu.Lock()
			s.messages = append(kept, stored...)
			s.mu.Unlock()
		}
	}
	if err != nil {
		s.mu.Lock()
		s.last = was
		s.mu.Unlock()
		return 0, err
	}
	return len(all) - keep, nil
}

// Become makes the session another conversation, from within the running turn t, which ends with this: what the
// conversation starts from is in st, and the log that the session was given has become another one already. Prompts
// that wait stay in the queue.
func (s *Session) Become(t *turn.Turn, st session.State, model string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.messages, s.frozen, s.last, s.model = st.Messages, st.Frozen, "", model
	if n := len(st.Messages); n > 0 {
		s.last = st.Messages[n-1].ID
	}
	t.Messages, t.Session = st.Messages, s.cfg.Log.ID()
	t.System, t.Tools, t.Static = nil, nil, 0
}

// Trace changes where records go from the next turn on; nil: nowhere.
func (s *Session) Trace(r trace.Recorder) {
	s.tracer = nil
	if r != nil {
		s.tracer = turn.NewTracer(r)
	}
}

// Note appends messages while no turn runs; t is as for Rewind.
func (s *Session) Note(t *turn.Turn, notes ...msg.Message) error {
	if t != nil {
		return t.Append(notes...)
	}
	stored, err := s.persist(notes...)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.messages = append(slices.Clip(s.messages), stored...)
	return nil
}
