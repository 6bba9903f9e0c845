package engine

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"lathe/internal/event"
	"lathe/internal/msg"
	"lathe/internal/turn"
)

// Words that may be shown otherwise are shown while they come only as they are given; thoughts and the raw events as they are.
func TestSeen(t *testing.T) {
	holds := false
	n := 0
	s := New(Config{Holds: func() bool { return holds }, NewID: func() string { n++; return fmt.Sprint(n) }})
	words, thought := event.Stream{Raw: []byte("{}"), Text: "a"}, event.Stream{Text: "b", Think: true}
	if got := s.seen(nil, words).(event.Stream); got.Text != "a" {
		t.Errorf("without a reason: %+v", got)
	}
	holds = true
	if got := s.seen(nil, words).(event.Stream); got.Text != "" || string(got.Raw) != "{}" {
		t.Errorf("words: %+v", got)
	}
	if got := s.seen(nil, thought).(event.Stream); got.Text != "b" {
		t.Errorf("thoughts: %+v", got)
	}
	var ids []string
	s.cfg.ShownPart = func(_ *turn.Turn, id, text string) string { ids = append(ids, id); return strings.ToUpper(text) }
	for _, e := range []event.Stream{words, words, {Raw: []byte(`{"type":"content_block_start"}`)}, words} {
		if got := s.seen(nil, e).(event.Stream); got.Text != strings.ToUpper(e.Text) {
			t.Errorf("%+v is shown as %+v", e, got)
		}
	}
	if len(ids) != 3 || ids[0] != ids[1] || ids[1] == ids[2] {
		t.Errorf("ids %v", ids)
	}
	s.cfg.ShownResult = func(r event.Result) event.Result { r.Shown = &r.Text; return r }
	if got := s.seen(nil, event.TurnDone{}).(event.TurnDone); got.Result.Shown == nil {
		t.Error("the result is not worded")
	}
}

// A message that could not be stored at once is the one whose words have been shown.
func TestWordsAreShownOnceWhereTheDiskIsFull(t *testing.T) {
	var ids []string
	s := counting(Config{Holds: func() bool { return true }, ShownPart: func(_ *turn.Turn, id, _ string) string { ids = append(ids, id); return "" }})
	log := &failing{Log: s.cfg.Log, full: true}
	s.cfg.Log = log
	_ = s.seen(nil, event.Stream{Text: "a"})
	answer := msg.Message{Kind: msg.KindAssistant, Blocks: []msg.Block{msg.Text("a")}}
	if _, err := s.write([]msg.Message{answer}); err == nil {
		t.Fatal("a full disk is no error")
	}
	log.full = false
	if out, err := s.write([]msg.Message{answer}); err != nil || out[0].ID != ids[0] {
		t.Errorf("%+v, %v; shown as %v", out, err, ids)
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
