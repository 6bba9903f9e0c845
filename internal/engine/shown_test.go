package engine

import (
	"context"
	"testing"

	"lathe/internal/event"
	"lathe/internal/msg"
	"lathe/internal/turn"
)

// Words that may be shown otherwise are not shown while they come; thoughts and the raw events are.
func TestWithheld(t *testing.T) {
	holds := false
	s := New(Config{Holds: func() bool { return holds }})
	words, thought := event.Stream{Raw: []byte("{}"), Text: "a"}, event.Stream{Text: "b", Think: true}
	if got := s.withheld(words).(event.Stream); got.Text != "a" {
		t.Errorf("without a reason: %+v", got)
	}
	holds = true
	if got := s.withheld(words).(event.Stream); got.Text != "" || string(got.Raw) != "{}" {
		t.Errorf("words: %+v", got)
	}
	if got := s.withheld(thought).(event.Stream); got.Text != "b" {
		t.Errorf("thoughts: %+v", got)
	}
}

// What front ends see of a message may be other words; what is stored and sent stays as it is.
func TestShown(t *testing.T) {
	s := counting(Config{Shown: func(_ *turn.Turn, m msg.Message) msg.Message {
		m.Blocks = []msg.Block{msg.Text("shown")}
		return m
	}})
	var written []msg.Message
	s.cfg.Kept = func(ms []msg.Message) { written = append(written, ms...) }
	s.Use([]turn.Stage{{Name: "input", When: turn.Once, Run: func(_ context.Context, t *turn.Turn) error {
		t.Done = true
		return t.Append(msg.Message{Kind: msg.KindUser, Blocks: []msg.Block{msg.Text("said")}})
	}}})
	for env, err := range s.Submit(t.Context(), event.Prompt{Text: "hi"}) {
		if err != nil {
			t.Fatal(err)
		}
		if m, ok := env.Event.(event.Message); ok && m.Msg.Text() != "shown" {
			t.Errorf("shown: %q", m.Msg.Text())
		}
	}
	if len(written) != 1 || written[0].Text() != "said" || len(s.Messages()) != 1 || s.Messages()[0].Text() != "said" {
		t.Errorf("kept: %v, %v", written, s.Messages())
	}
}
