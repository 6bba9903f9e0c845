package model

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"lathe/internal/event"
	"lathe/internal/msg"
	"lathe/internal/provider"
	"lathe/internal/turn"
)

func cmpLog(t *testing.T, w *world, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, w.log()); diff != "" {
		t.Errorf("log (-want +got):\n%s", diff)
	}
	w.checkDisk(t)
}

// shape is a stream of events in short, to compare their order.
func (w *world) shape() []string {
	var out []string
	for _, e := range w.events {
		switch e := e.(type) {
		case event.Stream:
			var ev struct{ Type string }
			_ = json.Unmarshal(e.Raw, &ev)
			out = append(out, strings.TrimSpace(ev.Type+" "+e.Text))
		case event.Message:
			out = append(out, "message "+e.Msg.ID)
		case event.Requesting:
			out = append(out, "requesting "+e.Model)
		}
	}
	return out
}

func TestAnswer(t *testing.T) {
	w := newWorld(t, step1{events: seq(start("msg_1"), thinkBlock(0, "hm", "sig"), textBlock(1, "he", "llo"), textBlock(2, " \n"),
		toolBlock(3, "toolu_1", "Read", `{"a": 1}`), `{"type":"weather","x":1}`, finish("tool_use"))})
	var startedCalls []string
	w.deps.StartTool = func(_ context.Context, _ *turn.Turn, b msg.Block) bool {
		startedCalls = append(startedCalls, b.ID)
		return true
	}
	if err := w.run(t.Context()); err != nil {
		t.Fatal(err)
	}
	cmpLog(t, w, `assistant msg_1 think(hm,sig)`, `assistant msg_1 "hello"`, `assistant msg_1 toolu_1=Read{"a":1} stop=tool_use`)
	want := []string{
		"requesting m", "message_start",
		"content_block_start", "content_block_delta hm", "content_block_delta", "message m1", "content_block_stop",
		"content_block_start", "content_block_delta he", "content_block_delta llo", "message m2", "content_block_stop",
		"content_block_start", "content_block_delta", "content_block_stop",
		"content_block_start", "content_block_delta", "weather", "message m3", "content_block_stop",
		"message_delta", "message_stop",
	}
	if diff := cmp.Diff(want, trimAll(w.shape())); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"toolu_1"}, startedCalls); diff != "" {
		t.Errorf("started calls (-want +got):\n%s", diff)
	}
	usage := msg.Usage{Input: 10, Output: 7}
	wantReply := &turn.Reply{
		APIID: "msg_1", StopReason: "tool_use", Usage: usage,
		Message: msg.Message{
			ID: "m3", Kind: msg.KindAssistant, APIID: "msg_1", Model: "m", StopReason: "tool_use", Usage: &usage,
			Blocks: []msg.Block{
				{Type: msg.TypeThinking, Text: "hm", Signature: "sig"},
				msg.Text("hello"),
				msg.ToolUse("toolu_1", "Read", json.RawMessage(`{"a":1}`)),
			},
		},
	}
	if diff := cmp.Diff(wantReply, w.t.Reply); diff != "" {
		t.Errorf("reply (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(usage, w.t.Usage); diff != "" {
		t.Errorf("usage of the turn (-want +got):\n%s", diff)
	}
}

func trimAll(in []string) []string {
	for i := range in {
		in[i] = strings.TrimSpace(in[i])
	}
	return in
}

// B001: a call that the output limit cut never runs; it is answered and asked for in smaller steps, and a second
// cut of the same call ends the turn.
func TestCutCall(t *testing.T) {
	cut := step1{events: seq(start("msg_1"), toolBlock(0, "toolu_1", "Write", `{"file_path":"/tmp/a"`), finish("max_tokens"))}
	t.Run("once", func(t *testing.T) {
		w := newWorld(t, cut, step1{events: seq(start("msg_2"), toolBlock(0, "toolu_2", "Write", `{"file_path":"/tmp/a","content":"x"}`), finish("tool_use"))})
		if err := w.run(t.Context()); err != nil {
			t.Fatal(err)
		}
		cmpLog(t, w, `assistant msg_1 toolu_1=Write{} stop=max_tokens`, `user result(toolu_1,true)`,
			`assistant msg_2 toolu_2=Write{"file_path":"/tmp/a","content":"x"} stop=tool_use`)
		calls := w.t.Reply.Message.Blocks
		if len(calls) != 1 || calls[0].ID != "toolu_2" || w.t.Reply.StopReason != "tool_use" {
			t.Errorf("reply %+v", w.t.Reply)
		}
		second := w.script.reqs[1]
		if second.MaxTokens != 64_000 || len(second.Messages) != 3 {
			t.Errorf("second call: limit %d, %d messages", second.MaxTokens, len(second.Messages))
		}
		if text := second.Messages[2].Content[0].Content[0].Text; !strings.Contains(text, "output limit") || !strings.Contains(text, "smaller steps") {
			t.Errorf("the model is told: %s", text)
		}
	})
	t.Run("twice", func(t *testing.T) {
		again := step1{events: seq(start("msg_2"), toolBlock(0, "toolu_2", "Write", `{"file_path":"/tmp/a","con`), finish("max_tokens"))}
		w := newWorld(t, cut, again, says("x", "never asked for"))
		var stop *turn.Stop
		if err := w.run(t.Context()); !errors.As(err, &stop) || !strings.Contains(stop.Text, "same Write call twice") {
			t.Fatalf("error %v", err)
		}
		if len(w.script.reqs) != 2 {
			t.Errorf("%d calls, want 2", len(w.script.reqs))
		}
		log := w.log()
		if got := log[3]; got != `user result(toolu_2,true)` || !strings.HasSuffix(log[4], "error=max_output_tokens") {
			t.Errorf("log %v", log)
		}
	})
	t.Run("nothing of the input came", func(t *testing.T) {
		w := newWorld(t, step1{events: seq(start("msg_1"), toolBlock(0, "toolu_1", "Write", ""), finish("max_tokens"))}, says("msg_2", "ok"))
		if err := w.run(t.Context()); err != nil {
			t.Fatal(err)
		}
		cmpLog(t, w, `assistant msg_1 toolu_1=Write{} stop=max_tokens`, `user result(toolu_1,true)`, `assistant msg_2 "ok" stop=end_turn`)
	})
	t.Run("further than before", func(t *testing.T) {
		w := newWorld(t, step1{events: seq(start("msg_1"), toolBlock(0, "toolu_1", "Write", ""), finish("max_tokens"))}, cut, says("msg_2", "ok"))
		if err := w.run(t.Context()); err != nil || w.t.Reply.Message.Text() != "ok" {
			t.Errorf("%v, %+v", err, w.t.Reply)
		}
	})
	t.Run("beside a whole call without input, in streams that are mixed", func(t *testing.T) {
		a, b := toolBlock(0, "a", "ls", ""), toolBlock(1, "b", "Write", `{"c":`)
		w := newWorld(t, step1{events: seq(start("msg_1"), a[0], b[:2], a[1], b[2], finish("max_tokens"))})
		if err := w.run(t.Context()); err != nil {
			t.Fatal(err)
		}
		cmpLog(t, w, `assistant msg_1 a=ls{}`, `assistant msg_1 b=Write{} stop=max_tokens`, `user result(b,true)`)
	})
	t.Run("beside a whole call", func(t *testing.T) {
		w := newWorld(t, step1{events: seq(start("msg_1"), toolBlock(0, "a", "Read", `{"p":1}`), toolBlock(1, "b", "Write", `{"c":`), finish("max_tokens"))})
		if err := w.run(t.Context()); err != nil {
			t.Fatal(err)
		}
		cmpLog(t, w, `assistant msg_1 a=Read{"p":1}`, `assistant msg_1 b=Write{} stop=max_tokens`, `user result(b,true)`)
		if r := w.t.Reply; r.StopReason != "tool_use" || len(r.Message.Blocks) != 1 {
			t.Errorf("reply %+v", r)
		}
	})
}

func TestCutText(t *testing.T) {
	part := func(i int) step1 {
		return step1{events: seq(start(fmt.Sprint("msg_", i)), textBlock(0, fmt.Sprint("part", i, " ")), finish("max_tokens"))}
	}
	w := newWorld(t, part(1), part(2), part(3), part(4), says("x", "never asked for"))
	w.deps.MaxOutput = func(string) int { return 500 }
	if err := w.run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := w.t.Reply.Message.Text(); got != "part1 part2 part3 part4 " || w.t.Reply.StopReason != "max_tokens" {
		t.Errorf("reply %q %s", got, w.t.Reply.StopReason)
	}
	if n := len(w.script.reqs); n != 4 || w.script.reqs[3].MaxTokens != 500 || len(w.script.reqs[3].Messages) != 7 {
		t.Errorf("%d calls; the last has %d messages, limit %d", n, len(w.script.reqs[n-1].Messages), w.script.reqs[n-1].MaxTokens)
	}
	if len(w.t.Request.Messages) != 1 || w.t.Request.MaxTokens != 100 {
		t.Error("the turn's own request was changed")
	}
	if w.t.Usage.Output != 28 {
		t.Errorf("usage %+v, want the sum of four answers", w.t.Usage)
	}
}

// A model that refuses the raised limit is asked with the old one.
func TestRaisedLimitRefused(t *testing.T) {
	cut := step1{events: seq(start("msg_1"), textBlock(0, "one "), finish("max_tokens"))}
	w := newWorld(t, cut, fails(provider.Invalid, 400, "max_tokens: 64000 > 8192, which is the maximum"), cut, says("msg_3", "two"))
	if err := w.run(t.Context()); err != nil {
		t.Fatal(err)
	}
	var limits []int
	for _, r := range w.script.reqs {
		limits = append(limits, r.MaxTokens)
	}
	if diff := cmp.Diff([]int{100, 64_000, 100, 100}, limits); diff != "" {
		t.Errorf("limits (-want +got):\n%s", diff)
	}
	if got := w.t.Reply.Message.Text(); got != "one one two" {
		t.Errorf("reply %q", got)
	}
}

// A call that comes twice as it is, id and input and all, runs once.
func TestStutteredCall(t *testing.T) {
	w := newWorld(t, step1{events: seq(start("msg_1"), toolBlock(0, "a", "Bash", `{"command":"rm x"}`), toolBlock(1, "a", "Bash", `{"command": "rm x"}`), finish("tool_use"))})
	if err := w.run(t.Context()); err != nil {
		t.Fatal(err)
	}
	cmpLog(t, w, `assistant msg_1 a=Bash{"command":"rm x"}`, `assistant msg_1 stop=tool_use`)
	if n := len(w.t.Reply.Message.Blocks); n != 1 {
		t.Errorf("%d calls in the reply, want 1", n)
	}
}

func TestCutThinking(t *testing.T) {
	cut := step1{events: seq(start("msg_1"), thinkBlock(0, "hm", ""), finish("max_tokens"))}
	w := newWorld(t, cut, says("msg_2", "ok"))
	if err := w.run(t.Context()); err != nil {
		t.Fatal(err)
	}
	cmpLog(t, w, `assistant msg_2 "ok" stop=end_turn`)
	if len(w.script.reqs[1].Messages) != 1 || w.script.reqs[1].MaxTokens != 64_000 {
		t.Errorf("second call: %+v", w.script.reqs[1])
	}
}

// Thinking that the limit cut before its signature came is not sent back, whatever stands before it.
func TestCutThinkingBehindText(t *testing.T) {
	cut := step1{events: seq(start("msg_1"), textBlock(0, "so far "), thinkBlock(1, "hm", ""), finish("max_tokens"))}
	w := newWorld(t, cut, says("msg_2", "ok"))
	if err := w.run(t.Context()); err != nil {
		t.Fatal(err)
	}
	cmpLog(t, w, `assistant msg_1 "so far "`, `assistant msg_1 stop=max_tokens`, `user "`+goOnText+`" meta`, `assistant msg_2 "ok" stop=end_turn`)
	for _, m := range w.script.reqs[1].Messages {
		if slices.ContainsFunc(m.Content, msg.Block.IsThinking) {
			t.Errorf("sent again: %+v", m.Content)
		}
	}
}

// B004: a call without parameters comes without any input and runs with {}.
func TestCallWithoutInput(t *testing.T) {
	w := newWorld(t, step1{events: seq(start("msg_1"), toolBlock(0, "toolu_1", "ls", ""), finish("tool_use"))})
	if err := w.run(t.Context()); err != nil {
		t.Fatal(err)
	}
	cmpLog(t, w, `assistant msg_1 toolu_1=ls{} stop=tool_use`)
	if b := w.t.Reply.Message.Blocks; len(b) != 1 || string(b[0].Input) != "{}" {
		t.Errorf("reply %+v", b)
	}
}

// B010: each call has an id of its own, in one answer and against the conversation before.
func TestSameCallID(t *testing.T) {
	raw := `{"type":"content_block_start","index":2,"content_block":{"type":"tool_use","id":"toolu_1","name":"C","input":{},"caller":{"type":"direct"}}}`
	w := newWorld(t, step1{events: seq(start("msg_1"), toolBlock(0, "toolu_1", "A", `{"x":1}`), toolBlock(1, "toolu_1", "B", `{"x":2}`),
		raw, blockStop(2), toolBlock(3, "old", "D", ""), toolBlock(4, "", "E", ""), finish("tool_use"))})
	w.t.Request.Messages = append(w.t.Request.Messages,
		provider.Message{Role: msg.RoleAssistant, Content: []msg.Block{msg.ToolUse("old", "D", nil)}},
		provider.Message{Role: msg.RoleUser, Content: []msg.Block{msg.ToolResult("old", false)}})
	if err := w.run(t.Context()); err != nil {
		t.Fatal(err)
	}
	cmpLog(t, w, `assistant msg_1 toolu_1=A{"x":1}`, `assistant msg_1 toolu_1_2=B{"x":2}`, `assistant msg_1 toolu_1_3=C{}`,
		`assistant msg_1 old_2=D{}`, `assistant msg_1 toolu_2=E{} stop=tool_use`)
	want := `{"type":"tool_use","id":"toolu_1_3","name":"C","input":{},"caller":{"type":"direct"}}`
	if got := string(msg.AppendBlock(nil, w.t.Reply.Message.Blocks[2], nil)); got != want {
		t.Errorf("block %s, want %s", got, want)
	}
}

// B016: an answer that is thinking alone leaves no empty text behind, nor does one of blanks.
func TestNoEmptyText(t *testing.T) {
	w := newWorld(t, step1{events: seq(start("msg_1"), thinkBlock(0, "hm", "s"), textBlock(1, ""), finish("end_turn"))})
	if err := w.run(t.Context()); err != nil {
		t.Fatal(err)
	}
	cmpLog(t, w, `assistant msg_1 think(hm,s)`, `assistant msg_1 stop=end_turn`)
	w = newWorld(t, step1{events: seq(start("msg_1"), finish("end_turn"))})
	if err := w.run(t.Context()); err != nil {
		t.Fatal(err)
	}
	cmpLog(t, w, `assistant msg_1 stop=end_turn`)
}

func TestBrokenInput(t *testing.T) {
	bad := func(id string) step1 {
		return step1{events: seq(start("msg_"+id), toolBlock(0, id, "Read", `{"a":`), finish("tool_use"))}
	}
	w := newWorld(t, bad("a"), says("msg_2", "ok"))
	if err := w.run(t.Context()); err != nil {
		t.Fatal(err)
	}
	cmpLog(t, w, `assistant msg_a a=Read{} stop=tool_use`, `user result(a,true)`, `assistant msg_2 "ok" stop=end_turn`)
	w = newWorld(t, bad("a"), bad("b"), bad("c"), bad("d"), bad("e"))
	var stop *turn.Stop
	if err := w.run(t.Context()); !errors.As(err, &stop) || stop.Terminal != "malformed_tool_use_exhausted" {
		t.Errorf("error %v", err)
	}
}

func TestPauseTurn(t *testing.T) {
	w := newWorld(t, step1{events: seq(start("msg_1"), textBlock(0, "one "), finish("pause_turn"))},
		step1{events: seq(start("msg_2"), textBlock(0, "two "), finish("pause_turn"))}, says("msg_3", "three"))
	if err := w.run(t.Context()); err != nil {
		t.Fatal(err)
	}
	want := []provider.Message{
		{Role: msg.RoleUser, Content: []msg.Block{msg.Text("hi")}},
		{Role: msg.RoleAssistant, Content: []msg.Block{msg.Text("one "), msg.Text("two ")}},
	}
	if diff := cmp.Diff(want, w.script.reqs[2].Messages); diff != "" {
		t.Errorf("third call (-want +got):\n%s", diff)
	}
	if got := w.t.Reply.Message.Text(); got != "one two three" {
		t.Errorf("reply %q", got)
	}
}

// Calls of a paused answer run first.
func TestPauseWithACall(t *testing.T) {
	w := newWorld(t, step1{events: seq(start("msg_1"), textBlock(0, "one "), toolBlock(1, "a", "Read", `{"p":1}`), finish("pause_turn"))})
	if err := w.run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if r := w.t.Reply; r.StopReason != "tool_use" || len(r.Message.ToolUses()) != 1 || len(w.script.reqs) != 1 {
		t.Errorf("after %d calls: %+v", len(w.script.reqs), r)
	}
}

// polite is a provider that ends with its context, as one on a network does.
type polite struct{ provider.Provider }

func (s polite) Stream(ctx context.Context, req *provider.Request) iter.Seq2[provider.Chunk, error] {
	return func(yield func(provider.Chunk, error) bool) {
		for c, err := range s.Provider.Stream(ctx, req) {
			if ctx.Err() != nil {
				c, err = provider.Chunk{}, ctx.Err()
			}
			if !yield(c, err) || err != nil {
				return
			}
		}
	}
}

// A front end or a disk that is slow is not the provider's silence.
func TestSlowFrontEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, step1{events: seq(start("msg_1"), textBlock(0, "one ", "two"), finish("end_turn"))})
		w.deps.Provider, w.conf.Idle = polite{w.script}, time.Minute
		w.onEmit = func(e event.Event) error {
			if s, ok := e.(event.Stream); ok && s.Text == "one " {
				time.Sleep(time.Hour)
			}
			return nil
		}
		if err := w.run(t.Context()); err != nil || w.t.Reply.Message.Text() != "one two" {
			t.Errorf("%v, %+v", err, w.t.Reply)
		}
	})
}

func TestContextWindowExceeded(t *testing.T) {
	full := step1{events: seq(start("msg_1"), textBlock(0, "part"), finish("model_context_window_exceeded"))}
	w := newWorld(t, full, says("msg_2", "ok"))
	w.deps.Reduce = func(context.Context, *turn.Turn, int) (bool, error) { return true, nil }
	if err := w.run(t.Context()); err != nil {
		t.Fatal(err)
	}
	cmpLog(t, w, `assistant msg_2 "ok" stop=end_turn`)
	if got := w.t.Reply.Message.Text(); got != "ok" {
		t.Errorf("reply %q", got)
	}
	w = newWorld(t, full)
	var stop *turn.Stop
	if err := w.run(t.Context()); !errors.As(err, &stop) || stop.Terminal != "prompt_too_long" {
		t.Fatalf("error %v", err)
	}
	if log := w.log(); len(log) != 2 || log[0] != `assistant msg_1 "part" stop=model_context_window_exceeded` {
		t.Errorf("log %v", log)
	}
}

// A second message_start voids what came before it.
func TestSecondStart(t *testing.T) {
	w := newWorld(t, step1{events: seq(start("msg_1"), textBlock(0, "old"), toolBlock(1, "a", "A", `{}`), start("msg_2"), textBlock(0, "new"), finish("end_turn"))})
	if err := w.run(t.Context()); err != nil {
		t.Fatal(err)
	}
	cmpLog(t, w, `assistant msg_2 "new" stop=end_turn`)
	if diff := cmp.Diff([]string{"discarded msg_1 [m1]"}, w.told()); diff != "" {
		t.Errorf("told (-want +got):\n%s", diff)
	}
}

// A completed call that was started early is never asked for again: what is whole of the answer is the answer.
func TestBreakAfterStartedCall(t *testing.T) {
	w := newWorld(t, step1{events: seq(start("msg_1"), textBlock(0, "look"), toolBlock(1, "a", "Read", `{}`), textBlock(2, "hal")[:2])}, says("x", "never asked for"))
	w.deps.StartTool = func(context.Context, *turn.Turn, msg.Block) bool { return true }
	if err := w.run(t.Context()); err != nil {
		t.Fatal(err)
	}
	cmpLog(t, w, `assistant msg_1 "look"`, `assistant msg_1 a=Read{}`, `assistant msg_1 "hal" aborted`)
	if r := w.t.Reply; r.StopReason != "tool_use" || len(w.script.reqs) != 1 {
		t.Errorf("reply %+v after %d calls", r, len(w.script.reqs))
	}
	// Nor does a server that begins anew have it run twice.
	w = newWorld(t, step1{events: seq(start("msg_1"), toolBlock(0, "a", "Read", `{}`), textBlock(1, "look")[0], start("msg_2"), toolBlock(0, "a", "Read", `{"x":1}`), finish("tool_use"))})
	w.deps.StartTool = func(context.Context, *turn.Turn, msg.Block) bool { return true }
	if err := w.run(t.Context()); err != nil {
		t.Fatal(err)
	}
	cmpLog(t, w, `assistant msg_1 a=Read{}`)
	// Not started: withdrawn whole, and asked for again.
	w = newWorld(t, step1{events: seq(start("msg_1"), toolBlock(0, "a", "Read", `{}`), textBlock(1, "hal")[:2])},
		step1{events: seq(start("msg_2"), toolBlock(0, "a", "Read", `{}`), finish("tool_use"))})
	w.conf.Base = time.Millisecond
	if err := w.run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{`assistant msg_2 a=Read{} stop=tool_use`}, w.log()); diff != "" {
		t.Errorf("log (-want +got):\n%s", diff)
	}
}
