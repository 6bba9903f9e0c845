package engine_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"lathe/internal/engine"
	"lathe/internal/event"
	"lathe/internal/msg"
	"lathe/internal/session"
	"lathe/internal/turn"
)

// memLog keeps what was written.
type memLog struct {
	written []msg.Message
	fail    error
}

func (l *memLog) ID() string   { return "s1" }
func (l *memLog) Path() string { return "" }
func (l *memLog) Append(m ...msg.Message) error {
	if l.fail != nil {
		return l.fail
	}
	l.written = append(l.written, m...)
	return nil
}
func (l *memLog) Freeze(session.Frozen) error { return nil }
func (l *memLog) Keep(string, any) error      { return nil }
func (l *memLog) Close() error                { return nil }

func newSession(log *memLog, canAsk bool, stages ...turn.Stage) *engine.Session {
	n := 0
	s := engine.New(engine.Config{
		Log: log, Ready: func() event.Ready { return event.Ready{Session: "s1"} }, CanAsk: canAsk,
		NewID: func() string { n++; return fmt.Sprint("id", n) }, Now: func() time.Time { return time.Unix(0, 0) },
	})
	s.Use(append(stages, turn.Stage{Name: "account", When: turn.Last, Run: func(_ context.Context, t *turn.Turn) error {
		r := event.Result{Subtype: event.Success, Text: t.Text}
		if t.Stop != nil {
			r = event.Result{Subtype: t.Stop.Subtype, Terminal: t.Stop.Terminal, IsError: true}
		}
		return t.Emit(event.TurnDone{Result: r})
	}}))
	return s
}

func echo(_ context.Context, t *turn.Turn) error {
	t.Done, t.Text = true, t.Input.Text
	return t.Append(msg.Message{Kind: msg.KindUser, Blocks: []msg.Block{msg.Text(t.Input.Text)}})
}

func names(envs []event.Envelope) []string {
	var out []string
	for _, e := range envs {
		out = append(out, strings.TrimPrefix(fmt.Sprintf("%T", e.Event), "event."))
	}
	return out
}

func TestSubmit(t *testing.T) {
	log := &memLog{}
	s := newSession(log, false, turn.Stage{Name: "input", When: turn.Once, Run: echo})
	var got []event.Envelope
	for env, err := range s.Submit(context.Background(), event.Prompt{Text: "hi"}) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, env)
	}
	if diff := cmp.Diff([]string{"Ready", "TurnStarted", "Message", "TurnDone"}, names(got)); diff != "" {
		t.Error(diff)
	}
	for i, e := range got {
		if e.Seq != uint64(i+1) {
			t.Errorf("event %d has number %d", i, e.Seq)
		}
	}
	if len(log.written) != 1 || len(s.Messages()) != 1 {
		t.Errorf("written %d, kept %d", len(log.written), len(s.Messages()))
	}
}

func TestMessagesAreChained(t *testing.T) {
	log := &memLog{}
	s := newSession(log, false, turn.Stage{Name: "input", When: turn.Once, Run: echo})
	for range 3 {
		for range s.Submit(context.Background(), event.Prompt{Text: "x"}) {
		}
	}
	for i, m := range log.written {
		want := ""
		if i > 0 {
			want = log.written[i-1].ID
		}
		if m.Parent != want {
			t.Errorf("message %d has parent %q, want %q", i, m.Parent, want)
		}
	}
}

// A write that fails ends the turn before anything is shown as done.
func TestNothingIsShownThatIsNotKept(t *testing.T) {
	log := &memLog{fail: errors.New("disk full")}
	s := newSession(log, false, turn.Stage{Name: "input", When: turn.Once, Run: echo})
	var got []event.Envelope
	for env := range s.Submit(context.Background(), event.Prompt{Text: "hi"}) {
		got = append(got, env)
	}
	if diff := cmp.Diff([]string{"Ready", "TurnStarted", "TurnDone"}, names(got)); diff != "" {
		t.Error(diff)
	}
	if r := got[2].Event.(event.TurnDone).Result; !r.IsError {
		t.Errorf("result %+v", r)
	}
}

// Leaving the loop interrupts the turn, and Submit returns only when it has ended.
func TestLeavingInterrupts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var cause error
		s := newSession(&memLog{}, false, turn.Stage{Name: "input", When: turn.Once, Run: func(ctx context.Context, _ *turn.Turn) error {
			<-ctx.Done()
			cause = context.Cause(ctx)
			return cause
		}})
		for env := range s.Submit(context.Background(), event.Prompt{}) {
			if _, ok := env.Event.(event.TurnStarted); ok {
				break
			}
		}
		if !errors.Is(cause, turn.ErrInterrupted) {
			t.Errorf("cause = %v", cause)
		}
	})
}

func TestAskAndAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSession(&memLog{}, true, turn.Stage{Name: "input", When: turn.Once, Run: func(ctx context.Context, t *turn.Turn) error {
			a, err := t.Ask(ctx, event.Ask{ID: "q"})
			t.Done, t.Text = true, fmt.Sprint(a.Allow, " ", a.Message, " ", err)
			return nil
		}})
		c := s.Connect(t.Context())
		_ = c.Send(t.Context(), event.Prompt{Text: "x"})
		for env, err := range c.Events(t.Context()) {
			if err != nil {
				t.Fatal(err)
			}
			switch e := env.Event.(type) {
			case event.Ask:
				_ = c.Send(t.Context(), event.Answer{ID: "unknown"})
				_ = c.Send(t.Context(), event.Answer{ID: e.ID, Allow: true, Message: "go"})
			case event.TurnDone:
				if e.Result.Text != "true go <nil>" {
					t.Errorf("answer: %s", e.Result.Text)
				}
				_ = c.Send(t.Context(), event.Close{})
			}
		}
		c.Wait()
		if err := c.Send(t.Context(), event.Prompt{}); !errors.Is(err, engine.ErrClosed) {
			t.Errorf("send after close: %v", err)
		}
	})
}

// The first subscriber gets everything, however late it comes; prompts run one after the other.
func TestFirstSubscriberMissesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSession(&memLog{}, false, turn.Stage{Name: "input", When: turn.Once, Run: echo})
		c := s.Connect(t.Context())
		for _, p := range []string{"a", "b"} {
			_ = c.Send(t.Context(), event.Prompt{Text: p})
		}
		_ = c.Send(t.Context(), event.Close{})
		time.Sleep(time.Hour) // fake time: nothing may happen until somebody listens
		var texts []string
		for env := range c.Events(t.Context()) {
			if d, ok := env.Event.(event.TurnDone); ok {
				texts = append(texts, d.Result.Text)
			}
		}
		if diff := cmp.Diff([]string{"a", "b"}, texts); diff != "" {
			t.Error(diff)
		}
		c.Wait()
	})
}

// The turn may end while its last events still wait for a slow reader, who gets them all, in order.
func TestSlowReaderMissesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const burst = 300
		s := newSession(&memLog{}, false, turn.Stage{Name: "input", When: turn.Once, Run: func(_ context.Context, t *turn.Turn) error {
			t.Done = true
			for i := range burst {
				if err := t.Emit(event.Notice{Text: fmt.Sprint(i)}); err != nil {
					return err
				}
			}
			return nil
		}})
		c := s.Connect(t.Context())
		_ = c.Send(t.Context(), event.Prompt{Text: "go"})
		_ = c.Send(t.Context(), event.Close{})
		seen, last := 0, ""
		for env := range c.Events(t.Context()) {
			time.Sleep(time.Second) // fake time: the turn runs ahead as far as it may
			if n, ok := env.Event.(event.Notice); ok {
				if n.Text != fmt.Sprint(seen) {
					t.Fatalf("notice %s, want %d", n.Text, seen)
				}
				seen++
			}
			if _, ok := env.Event.(event.State); !ok {
				last = fmt.Sprintf("%T", env.Event)
			}
		}
		if seen != burst || last != "event.TurnDone" {
			t.Errorf("%d notices, and %s at the end", seen, last)
		}
		c.Wait()
	})
}

func TestInterruptOp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSession(&memLog{}, false, turn.Stage{Name: "input", When: turn.Once, Run: func(ctx context.Context, _ *turn.Turn) error {
			<-ctx.Done()
			return context.Cause(ctx)
		}})
		c := s.Connect(t.Context())
		_ = c.Send(t.Context(), event.Prompt{})
		for env := range c.Events(t.Context()) {
			switch e := env.Event.(type) {
			case event.TurnStarted:
				_ = c.Send(t.Context(), event.Interrupt{})
			case event.TurnDone:
				if e.Result.Subtype != event.ErrDuring {
					t.Errorf("result %+v", e.Result)
				}
				_ = c.Send(t.Context(), event.Close{})
			}
		}
		c.Wait()
	})
}
