package engine

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"time"

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

// A session whose context has ended takes nothing any more: a prompt would be lost, a query would outlive it.
func TestSendAfterTheContextEnded(t *testing.T) {
	asked := false
	s := New(Config{
		Log: session.None("s1"), NewID: func() string { return "id" },
		Query: func(context.Context, string, json.RawMessage) (any, error) { asked = true; return nil, nil },
	})
	ctx, cancel := context.WithCancel(t.Context())
	c := s.Connect(ctx)
	cancel()
	c.Wait()
	for _, op := range []event.Op{event.Prompt{Text: "hi"}, event.Query{ID: "1", Kind: "x"}} {
		if err := c.Send(t.Context(), op); !errors.Is(err, ErrClosed) {
			t.Errorf("%T: %v", op, err)
		}
	}
	c.queries.Wait()
	if asked || s.Waiting() {
		t.Error("it was taken all the same")
	}
}

// A prompt that waits when the context ends stays in the queue: its turn could do nothing with it.
func TestAPromptOutlivesTheContext(t *testing.T) {
	s := New(Config{Log: session.None("s1"), NewID: func() string { return "id" }})
	ctx, cancel := context.WithCancel(t.Context())
	c := s.Connect(ctx)
	if err := c.Send(t.Context(), event.Prompt{Text: "hi"}); err != nil {
		t.Fatal(err)
	}
	cancel()
	c.Wait()
	if p, _, begun := c.next(); begun != nil || !s.Waiting() {
		t.Errorf("a turn of %q was begun; in the queue: %v", p.Text, s.Waiting())
	}
}

// A prompt that came between the loop's last look and Close is still answered.
func TestAPromptBeforeClose(t *testing.T) {
	s := New(Config{Log: session.None("s1"), NewID: func() string { return "id" }})
	c := s.Connect(t.Context()) // the loop waits for a subscriber
	for _, op := range []event.Op{event.Prompt{Text: "hi"}, event.Close{}} {
		if err := c.Send(t.Context(), op); err != nil {
			t.Fatal(err)
		}
	}
	var closed time.Time
	if !c.pause(&closed) {
		t.Error("the session is over, and a prompt waits")
	}
	s.TakeQueued()
	if c.pause(&closed) {
		t.Error("it goes on, and nothing waits")
	}
	c.stop()
	c.Wait()
}

// noFreeze is a log that cannot store what is frozen.
type noFreeze struct{ session.Log }

func (noFreeze) Freeze(session.Frozen) error { return errors.New("full") }

// What is not on the disk is not sent by a later turn.
func TestFreezeFails(t *testing.T) {
	s := New(Config{Log: noFreeze{session.None("s1")}})
	if err := s.Freeze(session.Frozen{Model: "m"}); err == nil || s.Frozen() != nil {
		t.Errorf("%v, %+v", err, s.Frozen())
	}
}
