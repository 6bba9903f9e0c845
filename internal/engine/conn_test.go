package engine

import (
	"context"
	"errors"
	"testing"

	"lathe/internal/event"
	"lathe/internal/session"
	"lathe/internal/turn"
)

// An interrupt that comes after a prompt was taken from the queue, and before its turn has begun, stops that turn.
func TestInterruptBeforeTheTurnBegins(t *testing.T) {
	s := New(Config{Log: session.None("s1"), NewID: func() string { return "id" }})
	c := s.Connect(t.Context()) // the loop waits for a subscriber
	if err := c.Send(t.Context(), event.Prompt{Text: "hi"}); err != nil {
		t.Fatal(err)
	}
	p, ctx, cancel := c.next()
	if cancel == nil || p.Text != "hi" {
		t.Fatalf("took %+v", p)
	}
	defer cancel(nil)
	if err := c.Send(t.Context(), event.Interrupt{}); err != nil {
		t.Fatal(err)
	}
	if err := context.Cause(ctx); !errors.Is(err, turn.ErrInterrupted) {
		t.Errorf("the turn's context ended with %v", err)
	}
	c.stop()
	c.Wait()
}
