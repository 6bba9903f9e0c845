package model

import (
	"context"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"lathe/internal/event"
	"lathe/internal/msg"
	"lathe/internal/provider"
	"lathe/internal/turn"
)

func longAnswer(n int) string {
	var b strings.Builder
	put := func(events ...string) {
		for _, e := range events {
			fmt.Fprintf(&b, "event: x\ndata: %s\n\n", e)
		}
	}
	put(start("msg_1"))
	put(`{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`)
	for i := range n {
		put(fmt.Sprintf(`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":" word%d\n"}}`, i))
	}
	put(blockStop(0))
	put(finish("end_turn")...)
	return b.String()
}

func runLong(tb testing.TB, body string) int {
	tb.Helper()
	client := bodyClient(tb, func() io.Reader { return strings.NewReader(body) })
	deltas := 0
	t := turn.New("t", "s", event.Prompt{}, nil, turn.Services{
		Now: time.Now,
		Emit: func(e event.Event) error {
			if _, ok := e.(event.Stream); ok {
				deltas++
			}
			return nil
		},
		Persist: func(m ...msg.Message) ([]msg.Message, error) { return m, nil },
	})
	t.Request = &provider.Request{Model: "m", MaxTokens: 10}
	if err := New(Deps{Provider: client}, Config{})(context.Background(), t); err != nil {
		tb.Fatal(err)
	}
	return deltas
}

// The cost of an answer grows with its length, not faster.
func TestLongAnswerIsLinear(t *testing.T) {
	if n := runLong(t, longAnswer(20000)); n != 20005 {
		t.Errorf("%d events, want 20005", n)
	}
}

// 20,000 deltas from the bytes of the body through client, stage and Emit.
func BenchmarkDeltas(b *testing.B) {
	body := longAnswer(20000)
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		runLong(b, body)
	}
}
