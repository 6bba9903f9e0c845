package engine

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"lathe/internal/event"
	"lathe/internal/session"
	"lathe/internal/turn"
)

// chores is background work that asks for one turn when it is done.
type chores struct {
	mu             sync.Mutex
	busy, news     bool
	asked, stopped int
}

func (c *chores) Next() (event.Prompt, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.news {
		return event.Prompt{}, false
	}
	c.news = false
	return event.Prompt{Text: "it has ended", Origin: "task-notification"}, true
}

func (c *chores) Busy() bool { c.mu.Lock(); defer c.mu.Unlock(); return c.busy }

func (c *chores) Linger(time.Duration) time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.asked++
	if c.busy {
		return time.Hour
	}
	return 0
}

func (c *chores) Stop() { c.mu.Lock(); c.stopped++; c.busy = false; c.mu.Unlock() }

// Work that ends after the session was closed still gets its turn, the session is not idle before, and events from
// outside the turns take their places.
func TestBackgroundAsksForATurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		work := &chores{busy: true}
		n := 0
		s := New(Config{
			Log: session.None("s1"), Ready: func() event.Ready { return event.Ready{} }, NewID: func() string { n++; return fmt.Sprint(n) }, Now: time.Now,
			Background: work,
		})
		s.Use([]turn.Stage{{Name: "only", When: turn.Once, Run: func(_ context.Context, t *turn.Turn) error {
			t.Done = true
			if err := s.Relay(event.Envelope{Parent: "call", Agent: event.Agent{ID: "a1"}, Event: event.Notice{Text: "inside"}}); err != nil {
				return err
			}
			return t.Emit(event.Notice{Text: "said by " + t.Input.Text})
		}}})
		c := s.Connect(t.Context())
		if err := c.Send(t.Context(), event.Prompt{Text: "first"}); err != nil {
			t.Fatal(err)
		}
		if err := c.Send(t.Context(), event.Close{}); err != nil {
			t.Fatal(err)
		}
		time.AfterFunc(time.Minute, func() {
			_ = s.Relay(event.Envelope{Event: event.TaskDone{ID: "t1"}})
			work.mu.Lock()
			work.busy, work.news = false, true
			work.mu.Unlock()
			s.Wake()
		})
		var got []string
		for env, err := range c.Events(t.Context()) {
			if err != nil {
				t.Fatal(err)
			}
			switch e := env.Event.(type) {
			case event.Notice:
				got = append(got, e.Text+env.Parent+env.Agent.ID)
			case event.TaskDone:
				got = append(got, "done "+e.ID)
			case event.TurnStarted:
				got = append(got, "turn "+e.Prompt.Origin)
			case event.State:
				got = append(got, e.State)
			}
		}
		c.Wait()
		want := []string{"running", "turn ", "insidecalla1", "said by first", "done t1", "turn task-notification", "insidecalla1", "said by it has ended", "idle"}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("got %q\nwant %q", got, want)
		}
		if err := c.Send(t.Context(), event.Prompt{}); err != ErrClosed {
			t.Errorf("a prompt after the end: %v", err)
		}
	})
}

// An interrupt that drops what waits stops background work too, also of a session that was closed.
func TestInterruptStopsBackground(t *testing.T) {
	work := &chores{busy: true}
	s := New(Config{Log: session.None("s1"), NewID: func() string { return "id" }, Now: time.Now, Background: work})
	c := s.Connect(t.Context())
	for _, op := range []event.Op{event.Close{}, event.Interrupt{}, event.Interrupt{DropQueued: true}} {
		if err := c.Send(t.Context(), op); err != nil {
			t.Fatal(err)
		}
	}
	if work.stopped != 1 {
		t.Errorf("stopped %d times", work.stopped)
	}
	c.stop()
	c.Wait()
}

// A question of a sub-agent is answered at the outermost session, with its own id; one that is not answered in time is
// taken back.
func TestAgentAsksAbove(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		top := New(Config{Log: session.None("s1"), NewID: func() string { return "id" }, Now: time.Now, CanAsk: true})
		mid := New(Config{Log: session.None("s1"), NewID: func() string { return "id" }, Now: time.Now, Parent: top, Agent: event.Agent{ID: "m"}})
		low := New(Config{Log: session.None("s1"), NewID: func() string { return "id" }, Now: time.Now, Parent: mid, Agent: event.Agent{ID: "l"}})
		heard := make(chan event.Event, 4)
		ask := low.asker(func(e event.Event) error { heard <- e; return nil })
		go func() {
			a := (<-heard).(event.Ask)
			top.Answer(event.Answer{ID: a.ID, Allow: a.AgentID == "l" && a.ID == "q-l"})
		}()
		if a, err := ask(t.Context(), event.Ask{ID: "q"}); err != nil || !a.Allow {
			t.Errorf("%+v, %v", a, err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := ask(ctx, event.Ask{ID: "q"}); err == nil {
			t.Error("nobody answered, and it was answered")
		}
		<-heard
		if w, ok := (<-heard).(event.AskWithdrawn); !ok || w.ID != "q-l" {
			t.Errorf("withdrawn: %+v", w)
		}
	})
}
