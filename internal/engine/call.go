package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"lathe/internal/event"
	"lathe/internal/turn"
)

// ErrRefused is wrapped by the error of a Call that the host answered with an error.
var ErrRefused = errors.New("the host refused")

// calls are the questions to the host that wait for an answer.
type calls struct {
	mu      sync.Mutex
	open    map[string]chan event.Return
	publish func(context.Context, event.Event) bool // nil while nobody is connected; false: nobody took it
	gone    <-chan struct{}                         // closed when the connection has ended
}

func (c *calls) connect(ctx context.Context, publish func(context.Context, event.Event) bool) {
	c.mu.Lock()
	c.gone, c.publish = ctx.Done(), publish
	c.mu.Unlock()
}

// abandon answers whatever is open: those who were asked have left.
func (c *calls) abandon() {
	c.mu.Lock()
	open := c.open
	c.open = nil
	c.mu.Unlock()
	for id, ch := range open {
		ch <- event.Return{ID: id, Err: event.HostGone}
	}
}

func (c *calls) answer(r event.Return) {
	c.mu.Lock()
	ch := c.open[r.ID]
	delete(c.open, r.ID)
	c.mu.Unlock()
	if ch != nil { // else it was withdrawn
		ch <- r
	}
}

// begin registers a question. It returns nil when nobody is connected.
func (c *calls) begin(id string) (answer chan event.Return, publish func(context.Context, event.Event) bool, gone <-chan struct{}) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.publish == nil {
		return nil, nil, nil
	}
	if c.open == nil {
		c.open = map[string]chan event.Return{}
	}
	answer = make(chan event.Return, 1)
	c.open[id] = answer
	return answer, c.publish, c.gone
}

// Call asks the host and waits for its answer: turn.ErrNobody when no host answers this kind, an error that wraps
// ErrRefused when it answers with one. When ctx ends first the question is withdrawn. callID names the tool use that
// the question belongs to, if any. It may be called at any time after Connect, inside a turn and outside.
func (s *Session) Call(ctx context.Context, kind, callID string, payload any) (json.RawMessage, error) {
	if s.cfg.CanCall == nil || !s.cfg.CanCall(kind) {
		return nil, turn.ErrNobody
	}
	id := s.cfg.NewID()
	answer, publish, gone := s.calls.begin(id)
	if answer == nil {
		return nil, turn.ErrNobody
	}
	defer s.calls.answer(event.Return{ID: id}) // forgets it, however this ends
	if !publish(ctx, event.Call{ID: id, Kind: kind, Payload: event.Encode(payload), CallID: callID}) {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		return nil, turn.ErrNobody
	}
	select {
	case r := <-answer:
		switch r.Err {
		case "":
			return r.Value, nil
		case event.HostGone:
			return nil, turn.ErrNobody
		default:
			return nil, fmt.Errorf("%w: %s", ErrRefused, r.Err)
		}
	case <-ctx.Done():
		publish(context.WithoutCancel(ctx), event.CallCancelled{ID: id})
		return nil, context.Cause(ctx)
	case <-gone:
		return nil, ErrClosed
	}
}
