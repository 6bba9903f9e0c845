package model

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"lathe/internal/event"
	"lathe/internal/msg"
	"lathe/internal/provider"
	"lathe/internal/turn"
)

func TestInterruptKeepsText(t *testing.T) {
	w := newWorld(t, step1{events: seq(start("msg_1"), thinkBlock(0, "hm", "s"), textBlock(1, "half")[:2], toolBlock(2, "a", "A", `{"x":`)[:2]), hang: true})
	ctx, cancel := context.WithCancelCause(t.Context())
	w.onEmit = func(e event.Event) error {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if s, ok := e.(event.Stream); ok && strings.Contains(string(s.Raw), "partial_json") {
			cancel(turn.ErrInterrupted)
		}
		return nil
	}
	err := w.run(ctx)
	var stop *turn.Stop
	if !errors.As(err, &stop) || stop.Terminal != "aborted_streaming" {
		t.Fatalf("error %v", err)
	}
	cmpLog(t, w, `assistant msg_1 think(hm,s)`, `assistant msg_1 "half" aborted`)
	if got := len(w.t.Messages); got != 2 {
		t.Errorf("%d messages in the turn, want 2", got)
	}
}

// A log that cannot be written ends the turn before anything is shown as done.
func TestDiskFull(t *testing.T) {
	w := newWorld(t, says("msg_1", "x"))
	full := errors.New("no space left on device")
	w.t = turn.New("turn", "s", event.Prompt{}, nil, turn.Services{
		Now: time.Now, Emit: func(e event.Event) error { w.events = append(w.events, e); return nil },
		Persist: func(...msg.Message) ([]msg.Message, error) { return nil, full },
	})
	w.t.Request = &provider.Request{Model: "m"}
	if err := w.run(t.Context()); !errors.Is(err, full) {
		t.Errorf("error %v, want %v", err, full)
	}
	for _, e := range w.events {
		if _, ok := e.(event.Message); ok {
			t.Error("a message was shown")
		}
	}
}

func TestBefore(t *testing.T) {
	w := newWorld(t, says("x", "never asked for"))
	want := &turn.Stop{Subtype: event.ErrMaxTurns}
	w.deps.Before = func(context.Context, *turn.Turn) error { return want }
	if err := w.run(t.Context()); !errors.Is(err, error(want)) {
		t.Errorf("error %v", err)
	}
	if len(w.events) != 0 {
		t.Errorf("events %v", w.events)
	}
}

// Some gateways give all answers one id. Blocks are put together by it, so each answer gets one of its own.
func TestAnswersOfOneID(t *testing.T) {
	call := func(id string) step1 {
		return step1{events: seq(start("chatcmpl"), textBlock(0, "I look."), toolBlock(1, id, "Read", `{"a": 1}`), finish("tool_use"))}
	}
	w := newWorld(t, call("toolu_1"), call("toolu_2"), call("toolu_3"))
	for range 3 {
		if err := w.run(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	cmpLog(t, w, `assistant chatcmpl "I look."`, `assistant chatcmpl toolu_1=Read{"a":1} stop=tool_use`,
		`assistant chatcmpl-2 "I look."`, `assistant chatcmpl-2 toolu_2=Read{"a":1} stop=tool_use`,
		`assistant chatcmpl-3 "I look."`, `assistant chatcmpl-3 toolu_3=Read{"a":1} stop=tool_use`)
}
