package engine

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"lathe/internal/event"
	"lathe/internal/session"
	"lathe/internal/turn"
)

// host answers calls by kind until its context ends.
func host(ctx context.Context, c *Conn, heard chan<- event.Event) {
	for env, err := range c.Events(ctx) {
		if err != nil {
			return
		}
		heard <- env.Event
		if call, ok := env.Event.(event.Call); ok {
			switch call.Kind {
			case "echo":
				_ = c.Send(ctx, event.Return{ID: call.ID, Value: call.Payload})
			case "refuse":
				_ = c.Send(ctx, event.Return{ID: call.ID, Err: "no"})
			}
		}
	}
}

func TestCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ids := make(chan string, 10)
		for _, id := range []string{"a", "b", "c", "d", "e"} {
			ids <- id
		}
		s := New(Config{
			Log: session.None("s1"), Ready: func() event.Ready { return event.Ready{} }, NewID: func() string { return <-ids }, Now: time.Now,
			CanCall: func(kind string) bool { return kind != "unknown" },
		})
		ctx := t.Context()
		if _, err := s.Call(ctx, "echo", "", 1); !errors.Is(err, turn.ErrNobody) {
			t.Errorf("before anybody is connected: %v", err)
		}
		c := s.Connect(ctx)
		hostCtx, leave := context.WithCancel(ctx)
		heard := make(chan event.Event, 100)
		go func() { // a call before the first subscriber waits for it
			synctest.Wait()
			host(hostCtx, c, heard)
		}()
		v, err := s.Call(ctx, "echo", "call1", map[string]int{"n": 1})
		if err != nil || string(v) != `{"n":1}` {
			t.Errorf("echo: %s, %v", v, err)
		}
		if e, ok := (<-heard).(event.Call); !ok || e.CallID != "call1" {
			t.Errorf("the host heard %+v", e)
		}
		if _, err := s.Call(ctx, "refuse", "", nil); !errors.Is(err, ErrRefused) || err.Error() != "the host refused: no" {
			t.Errorf("refuse: %v", err)
		}
		if _, err := s.Call(ctx, "unknown", "", nil); !errors.Is(err, turn.ErrNobody) {
			t.Errorf("a kind that nobody answers: %v", err)
		}
		<-heard
		short, cancel := context.WithCancelCause(ctx)
		gaveUp := errors.New("gave up")
		go func() { <-heard; cancel(gaveUp) }()
		if _, err := s.Call(short, "silence", "", nil); !errors.Is(err, gaveUp) {
			t.Errorf("withdrawn: %v", err)
		}
		if e, ok := (<-heard).(event.CallCancelled); !ok || e.ID != "d" {
			t.Errorf("after a withdrawal the host heard %+v", e)
		}
		go func() { <-heard; leave() }()
		if _, err := s.Call(ctx, "silence", "", nil); !errors.Is(err, turn.ErrNobody) {
			t.Errorf("the host left: %v", err)
		}
		if len(s.calls.open) != 0 {
			t.Errorf("%d calls are remembered", len(s.calls.open))
		}
		c.stop()
		c.Wait()
	})
}

// A question that is asked within a turn comes after what the turn has told before, and before what it tells then.
func TestCallInItsPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const before = ahead + ahead/2 // more than a reader has room for, less than the turn may run ahead
		s := counting(Config{CanCall: func(string) bool { return true }})
		s.Use([]turn.Stage{{Name: "only", When: turn.Once, Run: func(ctx context.Context, t *turn.Turn) error {
			t.Done = true
			for range before {
				if err := t.Emit(event.Notice{Text: "before"}); err != nil {
					return err
				}
			}
			if _, err := s.Call(ctx, "echo", "", 1); err != nil {
				return err
			}
			return t.Emit(event.Notice{Text: "after"})
		}}})
		c := s.Connect(t.Context())
		heard := make(chan event.Event)
		ctx, leave := context.WithCancel(t.Context())
		if err := c.Send(ctx, event.Prompt{Text: "go"}); err != nil {
			t.Fatal(err)
		}
		if err := c.Send(ctx, event.Close{}); err != nil {
			t.Fatal(err)
		}
		go func() { host(ctx, c, heard); close(heard) }()
		go func() { c.Wait(); synctest.Wait(); leave() }()
		synctest.Wait() // the turn has asked, and nobody has read yet
		n, asked := 0, false
		for e := range heard {
			switch e := e.(type) {
			case event.Notice:
				if n++; (e.Text == "after") != asked {
					t.Errorf("notice %d, %q: was the question asked before it? %t", n, e.Text, asked)
				}
			case event.Call:
				asked = true
			}
		}
		if n != before+1 || !asked {
			t.Errorf("%d notices, asked: %t", n, asked)
		}
	})
}
