package engine

import (
	"context"
	"encoding/json"
	"testing"
	"testing/synctest"
	"time"

	"lathe/internal/event"
	"lathe/internal/session"
)

// A query that is withdrawn ends what it waits for and has no reply; one that is answered, or unknown, is not touched.
func TestWithdraw(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ended := make(chan error, 1)
		s := New(Config{
			Log: session.None("s1"), NewID: func() string { return "id" }, Now: time.Now,
			Query: func(ctx context.Context, kind string, _ json.RawMessage) (any, error) {
				if kind == "wait" {
					<-ctx.Done()
					ended <- ctx.Err()
				}
				return kind, nil
			},
		})
		ctx, stop := context.WithCancel(t.Context())
		c := s.Connect(ctx)
		send := func(op event.Op) {
			t.Helper()
			if err := c.Send(ctx, op); err != nil {
				t.Fatal(err)
			}
		}
		var replies []string
		go func() {
			for e := range c.Events(ctx) {
				if r, ok := e.Event.(event.Reply); ok {
					replies = append(replies, r.ID+" "+string(r.Value))
				}
			}
		}()
		send(event.Withdraw{ID: "a"}) // before there is anything
		send(event.Query{ID: "a", Kind: "wait"})
		synctest.Wait()
		send(event.Withdraw{ID: "a"})
		if err := <-ended; err == nil {
			t.Error("the query went on")
		}
		send(event.Query{ID: "b", Kind: "now"})
		synctest.Wait()
		send(event.Withdraw{ID: "b"})
		synctest.Wait()
		if len(replies) != 1 || replies[0] != `b "now"` {
			t.Errorf("replies %q", replies)
		}
		stop()
		c.Wait()
	})
}
