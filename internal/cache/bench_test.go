package cache

import (
	"fmt"
	"strings"
	"testing"

	"lathe/internal/msg"
	"lathe/internal/provider"
	"lathe/internal/provider/wire"
)

// BenchmarkExplain finds a difference in the middle of a body of 1.4 MB.
func BenchmarkExplain(b *testing.B) {
	body := func(changed string) []byte {
		req := &provider.Request{Model: "m", System: []msg.Block{msg.Text("system")}, Breakpoints: []provider.Breakpoint{{At: provider.AtMessage, Index: 399}}}
		for i := range 400 {
			role := msg.RoleUser
			if i%2 == 1 {
				role = msg.RoleAssistant
			}
			text := strings.Repeat("a line of code with \"quotes\"\n", 120) + fmt.Sprint(i)
			if i == 200 {
				text += changed
			}
			req.Messages = append(req.Messages, provider.Message{Role: role, Content: []msg.Block{msg.Text(text)}})
		}
		return wire.AppendRequest(nil, req)
	}
	prev, next := Sent{Body: body(""), Usage: msg.Usage{CacheWrite: 9000}}, Sent{Body: body("x")}
	b.SetBytes(int64(len(prev.Body) + len(next.Body)))
	for b.Loop() {
		if m := Explain(prev, next); m.Where != "messages[200].content[0]" {
			b.Fatalf("%+v", m)
		}
	}
}
