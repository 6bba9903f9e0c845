package engine_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"lathe/internal/engine"
	"lathe/internal/event"
	"lathe/internal/msg"
	"lathe/internal/turn"
)

func TestBetweenTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		s := newSession(&memLog{}, false, turn.Stage{Name: "input", When: turn.Once, Run: func(_ context.Context, t *turn.Turn) error {
			t.Done = true
			<-release
			return nil
		}})
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			for range s.Submit(t.Context(), event.Prompt{Text: "x"}) {
			}
		}()
		synctest.Wait()
		if err := s.Between(t.Context(), func() error { t.Error("a turn runs"); return nil }); !errors.Is(err, engine.ErrBusy) {
			t.Errorf("while a turn runs: %v", err)
		}
		go func() { time.Sleep(time.Second); close(release) }() // it ends while Between waits for it
		ran := false
		if err := s.Between(t.Context(), func() error { ran = true; return nil }); err != nil || !ran {
			t.Errorf("after the turn: %v", err)
		}
		<-ended
	})
}

func TestRewindOfTheConversation(t *testing.T) {
	log := &memLog{}
	s := newSession(log, false, turn.Stage{Name: "input", When: turn.Once, Run: echo})
	say := func(text string) {
		t.Helper()
		for _, err := range s.Submit(t.Context(), event.Prompt{Text: text}) {
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	texts := func() (out []string) {
		for _, m := range s.Messages() {
			out = append(out, m.Text())
		}
		return out
	}
	note := msg.Message{Kind: msg.KindAttachment, Meta: true, Blocks: []msg.Block{msg.Text("note")}}
	for _, text := range []string{"one", "two", "three"} {
		say(text)
	}
	was := s.Messages()
	left, err := s.Rewind(nil, nil, was[0].ID, note)
	if err != nil || left != 2 {
		t.Fatalf("%d %v", left, err)
	}
	say("four")
	if got := texts(); !slices.Equal(got, []string{"one", "note", "four"}) {
		t.Errorf("%q", got)
	}
	if was[1].Text() != "two" {
		t.Error("messages that others hold were changed")
	}
	n := len(log.written)
	if log.written[n-2].Parent != was[0].ID || log.written[n-1].Parent != log.written[n-2].ID {
		t.Errorf("the branch begins behind %s: %+v", was[0].ID, log.written[n-2:])
	}
	if _, err := s.Rewind(nil, nil, "unknown", note); err == nil {
		t.Error("a message that is not there")
	}
	log.fail = errors.New("full")
	if _, err := s.Rewind(nil, nil, "", note); err == nil || !slices.Equal(texts(), []string{"one", "note", "four"}) {
		t.Errorf("a rewind that cannot be kept: %v %q", err, texts())
	}
	log.fail = nil
	if _, err := s.Rewind(nil, nil, "", note); err != nil || !slices.Equal(texts(), []string{"note"}) {
		t.Errorf("to the beginning: %v %q", err, texts())
	}
}
