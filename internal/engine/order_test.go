package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"lathe/internal/event"
	"lathe/internal/msg"
	"lathe/internal/session"
	"lathe/internal/turn"
)

// counting returns a session whose ids are numbers.
func counting(c Config) *Session {
	var n atomic.Int64
	c.Log, c.Now = session.None("s1"), time.Now
	c.NewID = func() string { return fmt.Sprint(n.Add(1)) }
	c.Ready = func() event.Ready { return event.Ready{} }
	return New(c)
}

// Events that several goroutines tell come to each reader in the order of their numbers.
func TestEventsComeInOrder(t *testing.T) {
	const each = 2000
	s := counting(Config{Query: func(context.Context, string, json.RawMessage) (any, error) { return 1, nil }})
	s.Use([]turn.Stage{{Name: "only", When: turn.Once, Run: func(_ context.Context, t *turn.Turn) error {
		t.Done = true
		for range each {
			if err := t.Emit(event.Notice{Text: "turn"}); err != nil {
				return err
			}
		}
		return nil
	}}})
	c := s.Connect(t.Context())
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	send := func(op event.Op) {
		if err := c.Send(t.Context(), op); err != nil {
			t.Error(err)
		}
	}
	send(event.Prompt{Text: "go"})
	var from sync.WaitGroup
	var before uint64
	replies, told, idle := 0, 0, false
	for env, err := range c.Events(ctx) {
		if err != nil {
			break
		}
		if before == 0 { // somebody reads now
			for i := range each {
				send(event.Query{ID: fmt.Sprint(i)})
			}
			for range 4 {
				from.Go(func() {
					for range each / 4 {
						_ = s.Relay(event.Envelope{Event: event.TaskDone{}})
					}
				})
			}
		}
		if env.Seq != before+1 {
			t.Fatalf("event %d came after %d", env.Seq, before)
		}
		before = env.Seq
		switch e := env.Event.(type) {
		case event.Reply:
			replies++
		case event.TaskDone:
			told++
		case event.State:
			idle = e.State == "idle"
		}
		if replies == each && told == each && idle {
			stop()
		}
	}
	from.Wait()
	c.stop()
	c.Wait()
}

// What is told from outside a turn right after its end does not overtake what was told during the turn.
func TestRelayKeepsItsPlaceAtTheEndOfATurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const starts = ahead + ahead/2
		s := counting(Config{})
		ended := make(chan struct{})
		s.Use([]turn.Stage{{Name: "only", When: turn.Once, Run: func(_ context.Context, t *turn.Turn) error {
			t.Done = true
			for range starts { // more than one of the two queues before the reader holds, and less than both
				if err := s.Relay(event.Envelope{Event: event.TaskStarted{}}); err != nil {
					return err
				}
			}
			return nil
		}}})
		s.cfg.AfterTurn = func(*turn.Turn) { time.AfterFunc(time.Second, func() { close(ended) }) }
		c := s.Connect(t.Context())
		if err := c.Send(t.Context(), event.Prompt{Text: "go"}); err != nil {
			t.Fatal(err)
		}
		go func() {
			<-ended // the turn is over, and its reader still sleeps
			_ = s.Relay(event.Envelope{Event: event.TaskDone{}})
			_ = c.Send(t.Context(), event.Close{})
		}()
		started, slept := 0, false
		for env, err := range c.Events(t.Context()) {
			if err != nil {
				t.Fatal(err)
			}
			switch env.Event.(type) {
			case event.TurnStarted:
				if !slept {
					slept = true
					time.Sleep(time.Minute)
				}
			case event.TaskStarted:
				started++
			case event.TaskDone:
				if started != starts {
					t.Errorf("the end came after %d of %d starts", started, starts)
				}
			}
		}
		c.Wait()
	})
}

// A question whose asker does not wait any longer ends, also when nobody has come yet who could answer it.
func TestCallBeforeAnybodyCame(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := counting(Config{CanCall: func(string) bool { return true }})
		c := s.Connect(t.Context())
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		began := time.Now()
		if _, err := s.Call(ctx, "hook", "", nil); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("it ended with %v", err)
		}
		if took := time.Since(began); took != time.Second {
			t.Errorf("it took %s", took)
		}
		c.stop()
		c.Wait()
	})
}

// What was stored is told, in the order in which it was, and nothing that was not.
func TestKept(t *testing.T) {
	var kept []string
	log := &failing{Log: session.None("s1")}
	s := counting(Config{Kept: func(ms []msg.Message) {
		for _, m := range ms {
			kept = append(kept, m.Text())
		}
	}})
	s.cfg.Log = log
	say := func(text string) error { return s.Note(nil, msg.Message{Blocks: []msg.Block{msg.Text(text)}}) }
	if err := say("one"); err != nil {
		t.Fatal(err)
	}
	log.full = true
	if say("two") == nil {
		t.Error("a full disk is no error")
	}
	log.full = false
	if err := say("three"); err != nil {
		t.Fatal(err)
	}
	if fmt.Sprint(kept) != "[one three]" {
		t.Errorf("kept %v", kept)
	}
}

// failing is a log on a disk that may be full.
type failing struct {
	session.Log
	full bool
}

func (f *failing) Append(ms ...msg.Message) error {
	if f.full {
		return errors.New("no space left")
	}
	return f.Log.Append(ms...)
}
