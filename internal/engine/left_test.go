package engine

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"lathe/internal/event"
	"lathe/internal/msg"
	"lathe/internal/session"
)

// A rewind that could not be stored changes nothing: what comes next follows on what was there.
func TestRewindThatFails(t *testing.T) {
	log := &failing{Log: session.None("s1")}
	s := counting(Config{})
	s.cfg.Log = log
	say := func(text string) error {
		return s.Note(nil, msg.Message{Kind: msg.KindUser, Blocks: []msg.Block{msg.Text(text)}})
	}
	if err := errors.Join(say("one"), say("two")); err != nil {
		t.Fatal(err)
	}
	before := s.Messages()
	log.full = true
	if _, err := s.Rewind(nil, nil, before[0].ID, msg.Message{Kind: msg.KindAttachment}); err == nil {
		t.Fatal("a full disk is no error")
	}
	log.full = false
	if err := say("three"); err != nil {
		t.Fatal(err)
	}
	all := s.Messages()
	if len(all) != 3 || all[2].Parent != before[1].ID {
		t.Errorf("%d messages; the last follows %q, not %q", len(all), all[len(all)-1].Parent, before[1].ID)
	}
}

// A question whose asker has gone is forgotten, and an answer that comes then disturbs nobody.
func TestCallsAreForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := counting(Config{CanCall: func(string) bool { return true }})
		c := s.Connect(t.Context())
		heard := make(chan string, 4)
		go func() {
			for env, err := range c.Events(t.Context()) {
				if err != nil {
					return
				}
				switch e := env.Event.(type) {
				case event.Call:
					heard <- e.ID
				case event.CallCancelled:
					heard <- "withdrawn " + e.ID
				}
			}
		}()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := s.Call(ctx, "hook", "", nil); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("it ended with %v", err)
		}
		id := <-heard
		if got := <-heard; got != "withdrawn "+id {
			t.Errorf("heard %q", got)
		}
		if n := len(s.calls.open); n != 0 {
			t.Errorf("%d questions are kept", n)
		}
		_ = c.Send(t.Context(), event.Return{ID: id})
		c.stop()
		c.Wait()
	})
}
