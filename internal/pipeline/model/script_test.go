package model

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"sync"
	"testing"
	"time"

	"lathe/internal/event"
	"lathe/internal/msg"
	"lathe/internal/provider"
	"lathe/internal/provider/wire"
	"lathe/internal/turn"
)

// script is a provider that plays one step for each call.
type script struct {
	t     testing.TB
	steps []step1
	mu    sync.Mutex
	reqs  []provider.Request
	at    []time.Duration // since the first call
	begin time.Time
}

// step1 is one scripted answer: events in Messages API form, then an error, silence, or nothing.
type step1 struct {
	events []string
	err    error
	hang   bool
	pings  int // one a minute, after the events
}

func (s *script) Stream(ctx context.Context, req *provider.Request) iter.Seq2[provider.Chunk, error] {
	return func(yield func(provider.Chunk, error) bool) {
		s.mu.Lock()
		n := len(s.reqs)
		if n == 0 {
			s.begin = time.Now()
		}
		s.reqs = append(s.reqs, *req)
		s.at = append(s.at, time.Since(s.begin))
		s.mu.Unlock()
		if n >= len(s.steps) {
			yield(provider.Chunk{}, &provider.Error{Kind: provider.Replay, Message: fmt.Sprintf("call %d is not in the script", n+1)})
			return
		}
		st := s.steps[n]
		for _, e := range st.events {
			c, err := wire.Decode([]byte(e))
			if err != nil {
				yield(c, err)
				return
			}
			if !yield(c, nil) || c.Kind == provider.ChunkStop {
				return
			}
		}
		for range st.pings {
			time.Sleep(time.Minute)
			if !yield(provider.Chunk{Kind: provider.ChunkPing}, nil) {
				return
			}
		}
		if st.hang {
			<-ctx.Done()
			yield(provider.Chunk{}, ctx.Err())
			return
		}
		if st.err == nil {
			st.err = &provider.Error{Kind: provider.Truncated, Message: "cut"}
		}
		e := *apiError(st.err)
		yield(provider.Chunk{}, &e)
	}
}

// Events of an answer.
func start(id string) string {
	return `{"type":"message_start","message":{"id":"` + id + `","model":"m","usage":{"input_tokens":10,"output_tokens":1}}}`
}

func textBlock(i int, pieces ...string) []string {
	out := []string{fmt.Sprintf(`{"type":"content_block_start","index":%d,"content_block":{"type":"text","text":""}}`, i)}
	for _, p := range pieces {
		out = append(out, fmt.Sprintf(`{"type":"content_block_delta","index":%d,"delta":{"type":"text_delta","text":%s}}`, i, quote(p)))
	}
	return append(out, blockStop(i))
}

func thinkBlock(i int, text, sig string) []string {
	return []string{
		fmt.Sprintf(`{"type":"content_block_start","index":%d,"content_block":{"type":"thinking","thinking":"","signature":""}}`, i),
		fmt.Sprintf(`{"type":"content_block_delta","index":%d,"delta":{"type":"thinking_delta","thinking":%s}}`, i, quote(text)),
		fmt.Sprintf(`{"type":"content_block_delta","index":%d,"delta":{"type":"signature_delta","signature":%s}}`, i, quote(sig)),
		blockStop(i),
	}
}

func toolBlock(i int, id, name, input string) []string {
	out := []string{fmt.Sprintf(`{"type":"content_block_start","index":%d,"content_block":{"type":"tool_use","id":"%s","name":"%s","input":{}}}`, i, id, name)}
	if input != "" {
		out = append(out, fmt.Sprintf(`{"type":"content_block_delta","index":%d,"delta":{"type":"input_json_delta","partial_json":%s}}`, i, quote(input)))
	}
	return append(out, blockStop(i))
}

func blockStop(i int) string { return fmt.Sprintf(`{"type":"content_block_stop","index":%d}`, i) }

func finish(reason string) []string {
	return []string{`{"type":"message_delta","delta":{"stop_reason":"` + reason + `"},"usage":{"output_tokens":7}}`, `{"type":"message_stop"}`}
}

func seq(parts ...any) []string {
	var out []string
	for _, p := range parts {
		switch p := p.(type) {
		case string:
			out = append(out, p)
		case []string:
			out = append(out, p...)
		}
	}
	return out
}

func says(id, text string) step1 {
	return step1{events: seq(start(id), textBlock(0, text), finish("end_turn"))}
}

func fails(kind provider.Kind, status int, message string) step1 {
	return step1{err: &provider.Error{Kind: kind, Status: status, Message: message}}
}

// world is a turn with a log in memory.
type world struct {
	t      *turn.Turn
	script *script
	deps   Deps
	conf   Config

	mu     sync.Mutex
	disk   []msg.Message
	events []event.Event
	onEmit func(e event.Event) error
	slowed string // what the stage told of fast mode
}

func newWorld(t testing.TB, steps ...step1) *world {
	w := &world{script: &script{t: t, steps: steps}}
	w.deps = Deps{Provider: w.script, Rand: func() float64 { return 0 }}
	n := 0
	w.t = turn.New("turn", "session", event.Prompt{Text: "hi"}, nil, turn.Services{
		Now: time.Now,
		Emit: func(e event.Event) error {
			w.mu.Lock()
			defer w.mu.Unlock()
			if w.onEmit != nil {
				if err := w.onEmit(e); err != nil {
					return err
				}
			}
			w.events = append(w.events, e)
			return nil
		},
		Persist: func(ms ...msg.Message) ([]msg.Message, error) {
			for i := range ms {
				n++
				ms[i].ID = fmt.Sprintf("m%d", n)
			}
			w.disk = append(w.disk, ms...)
			return ms, nil
		},
	})
	w.t.Model = "m"
	w.t.Request = &provider.Request{
		Model: "m", MaxTokens: 100,
		Messages: []provider.Message{{Role: msg.RoleUser, Content: []msg.Block{msg.Text("hi")}}},
	}
	return w
}

func (w *world) run(ctx context.Context) error { return New(w.deps, w.conf)(ctx, w.t) }

// log is the conversation in short, one line a message; withdrawn ones are left out.
func (w *world) log() []string {
	gone := map[string]bool{}
	for _, m := range w.disk {
		for _, id := range m.Withdraws {
			gone[id] = true
		}
	}
	var out []string
	for _, m := range w.disk {
		if gone[m.ID] || m.Kind == msg.KindTombstone {
			continue
		}
		line := string(m.Kind)
		if m.Kind == msg.KindAssistant {
			line += " " + m.APIID
		}
		for _, b := range m.Blocks {
			line += " " + short(b)
		}
		for _, f := range []struct {
			on   bool
			text string
		}{{m.StopReason != "", "stop=" + m.StopReason}, {m.Aborted, "aborted"}, {m.APIError != "", "error=" + m.APIError}, {m.Meta, "meta"}} {
			if f.on {
				line += " " + f.text
			}
		}
		out = append(out, line)
	}
	return out
}

func short(b msg.Block) string {
	switch b.Type {
	case msg.TypeToolUse:
		return fmt.Sprintf("%s=%s%s", b.ID, b.Name, b.Input)
	case msg.TypeToolResult:
		return fmt.Sprintf("result(%s,%v)", b.ToolUseID, b.IsError)
	case msg.TypeThinking:
		return fmt.Sprintf("think(%s,%s)", b.Text, b.Signature)
	}
	return fmt.Sprintf("%q", b.Text)
}

// told is what a person sees of the retries, in short.
func (w *world) told() []string {
	var out []string
	for _, e := range w.events {
		switch e := e.(type) {
		case event.Retry:
			out = append(out, fmt.Sprintf("retry %d/%d %s %d %s", e.Attempt, e.Max, e.Delay, e.Status, e.Category))
		case event.ModelChanged:
			out = append(out, "model "+e.Model)
		case event.Discarded:
			out = append(out, fmt.Sprintf("discarded %s %v", e.APIID, e.IDs))
		case event.Notice:
			out = append(out, e.Level)
		}
	}
	return out
}

// checkStream looks at what every run must hold: what was told as a message is on disk, and no block on disk may
// make a request invalid.
func (w *world) checkDisk(t *testing.T) {
	t.Helper()
	ids := map[string]bool{}
	for _, m := range w.disk {
		for _, b := range m.Blocks {
			if !json.Valid(msg.AppendBlock(nil, b, nil)) {
				t.Errorf("block of %s is no JSON", m.ID)
			}
			if b.Type == msg.TypeText && len(bytes.TrimSpace([]byte(b.Text))) == 0 {
				t.Errorf("message %s has an empty text block", m.ID)
			}
			if b.Type == msg.TypeToolUse {
				if ids[b.ID] {
					t.Errorf("call id %s is there twice", b.ID)
				}
				ids[b.ID] = true
			}
		}
	}
}
