package wire

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"lathe/internal/msg"
	"lathe/internal/provider"
)

// Whatever happens to a conversation between two calls, a body that is made out of the last one is the body.
func TestBodyIsWhatAppendRequestGives(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var body Body
		req := &provider.Request{Model: "m", MaxTokens: 5}
		for step := range rapid.IntRange(1, 12).Draw(t, "steps") {
			next := *req
			next.Messages = slices.Clone(req.Messages)
			change(t, &next, step)
			req = &next
			if got, want := string(body.Encode(req)), string(AppendRequest(nil, req)); got != want {
				t.Fatalf("step %d:\n got %s\nwant %s", step, got, want)
			}
			if rapid.Bool().Draw(t, "sum") && body.Sum() != Checksum(AppendRequest(nil, req)) {
				t.Fatalf("step %d: the hash is another one", step)
			}
		}
	})
}

func change(t *rapid.T, req *provider.Request, step int) {
	n := len(req.Messages)
	switch what := rapid.IntRange(0, 9).Draw(t, "what"); {
	case what == 0:
		req.Model += "x"
	case what == 1:
		req.System = []msg.Block{msg.Text(fmt.Sprint("system ", step))}
	case what == 2 && n > 0:
		req.Messages = req.Messages[:rapid.IntRange(0, n-1).Draw(t, "cut")]
	case what == 3 && n > 0:
		i := rapid.IntRange(0, n-1).Draw(t, "edit")
		req.Messages[i].Content = append(slices.Clone(req.Messages[i].Content), msg.Text("more"))
	case what == 4 && n > 0:
		i := rapid.IntRange(0, n-1).Draw(t, "swap")
		req.Messages[i].Role = msg.RoleUser
	default:
		req.Messages = append(req.Messages,
			provider.Message{Role: msg.RoleUser, Content: []msg.Block{msg.ToolResult("t", false, msg.Text("result\n"))}},
			provider.Message{Role: msg.RoleAssistant, Content: []msg.Block{msg.Text("a"), msg.ToolUse("t", "Read", json.RawMessage(`{"step":1}`))}})
	}
	n = len(req.Messages)
	req.Breakpoints = nil
	for range rapid.IntRange(0, 4).Draw(t, "marks") {
		req.Breakpoints = append(req.Breakpoints, provider.Breakpoint{
			At: provider.AtMessage, Index: rapid.IntRange(0, n).Draw(t, "index"), Block: rapid.IntRange(0, 1).Draw(t, "block"),
			OneHour: rapid.Bool().Draw(t, "hour"),
		})
	}
}

// BenchmarkBody is one more step of a conversation of 1.5 MB.
func BenchmarkBody(b *testing.B) {
	req := &provider.Request{Model: "m"}
	for i := range 120 {
		text := fmt.Sprint(i, slices.Repeat([]string{"\tif err != nil {\n"}, 700))
		req.Messages = append(req.Messages, provider.Message{Role: msg.RoleUser, Content: []msg.Block{msg.Text(text)}})
	}
	var body Body
	size := len(body.Encode(req))
	b.SetBytes(int64(size))
	for b.Loop() {
		next := *req
		next.Messages = append(slices.Clone(req.Messages), req.Messages[0])
		body.Encode(&next)
	}
}
