package app

import (
	"strings"
	"testing"

	"lathe/internal/msg"
	"lathe/internal/provider"
	"lathe/internal/token"
)

// A count that was kept from an earlier request must be the one that counting anew gives.
func TestSizerAgreesWithCounting(t *testing.T) {
	var s sizer
	text := func(words int) provider.Message {
		return provider.Message{Role: msg.RoleUser, Content: []msg.Block{msg.Text(strings.Repeat("some words ", words))}}
	}
	req := &provider.Request{System: []msg.Block{msg.Text("You are a tool.")}}
	for step, ms := range [][]provider.Message{
		{text(5)}, {text(5), text(7)}, {text(5), text(7), text(2)}, {text(4), text(7), text(2)}, {text(4)}, {},
	} {
		req.Messages = ms
		for _, newTokenizer := range []bool{step%2 == 0, true} {
			c := token.Counter{New: newTokenizer}
			want := c.Blocks(req.System) + c.Tools(nil)
			for _, m := range ms {
				want += c.Blocks(m.Content)
			}
			if got := s.size(req, newTokenizer); got != want {
				t.Errorf("step %d: %d tokens, want %d", step, got, want)
			}
		}
	}
}
