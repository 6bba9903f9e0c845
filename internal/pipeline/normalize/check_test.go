package normalize

import (
	"encoding/json"
	"strings"
	"testing"

	"lathe/internal/msg"
	"lathe/internal/provider"
)

// TestCheck breaks one rule at a time in a request that is right.
func TestCheck(t *testing.T) {
	good := func() *provider.Request {
		out, bps, _ := Normalize([]msg.Message{
			user(msg.Text("go")), answer("a", thinking("", "s"), use("1")), user(result("1", "r")), answer("b", msg.Text("x")), user(msg.Text("on")),
		}, testRules())
		return requestOf(out, bps)
	}
	if err := Check(good()); err != nil {
		t.Fatal(err)
	}
	content := func(r *provider.Request, i int, blocks ...msg.Block) { r.Messages[i].Content = blocks }
	tests := []struct {
		name string
		bad  func(*provider.Request)
		want string
	}{
		{"model", func(r *provider.Request) { r.Model = "" }, "model"},
		{"max_tokens", func(r *provider.Request) { r.MaxTokens = 0 }, "max_tokens"},
		{"no messages", func(r *provider.Request) { r.Messages = nil }, "messages"},
		{"thinking type", func(r *provider.Request) { r.Thinking.Type = "on" }, "thinking"},
		{"budget", func(r *provider.Request) { r.Thinking = provider.Thinking{Type: "enabled", Budget: 1000} }, "budget"},
		{"effort", func(r *provider.Request) { r.Effort = "extreme" }, "effort"},
		{"system", func(r *provider.Request) { r.System[0].Text = " " }, "system.0"},
		{"sampling", func(r *provider.Request) { r.Extra = map[string]json.RawMessage{"temperature": nil} }, "temperature"},
		{"tool twice", func(r *provider.Request) { r.Tools[1] = r.Tools[0] }, "tools.1"},
		{"schema", func(r *provider.Request) { r.Tools[0].InputSchema = json.RawMessage(`{"type":"array"}`) }, "tools.0"},
		{"schema root", func(r *provider.Request) { r.Tools[0].InputSchema = json.RawMessage(`{"type":"object","anyOf":[]}`) }, "anyOf"},
		{"roles", func(r *provider.Request) { r.Messages[1].Role = msg.RoleUser }, "messages.1"},
		{"first", func(r *provider.Request) { r.Messages = r.Messages[1:] }, "messages.0"},
		{"prefill", func(r *provider.Request) { r.Messages = r.Messages[:4]; r.Breakpoints = nil }, "prefill"},
		{"empty", func(r *provider.Request) { content(r, 0) }, "no content"},
		{"blank", func(r *provider.Request) { content(r, 0, msg.Text("\n")) }, "blanks"},
		{"ends in thinking", func(r *provider.Request) { content(r, 3, thinking("x", "s")) }, "final block"},
		{"unsigned", func(r *provider.Request) { content(r, 3, thinking("x", ""), msg.Text("x")) }, "signature"},
		{"thinking of the user", func(r *provider.Request) { content(r, 4, thinking("x", "s")) }, "thinking"},
		{"no result", func(r *provider.Request) { content(r, 2, msg.Text("hi")) }, "no tool_result"},
		{"late result", func(r *provider.Request) { content(r, 2, msg.Text("hi"), result("1", "r")) }, "after other content"},
		{"two results", func(r *provider.Request) { content(r, 2, result("1", "r"), result("1", "r")) }, "without a tool_use"},
		{"orphan", func(r *provider.Request) { content(r, 4, result("9", "r")) }, "without a tool_use"},
		{"id twice", func(r *provider.Request) { content(r, 1, use("1"), use("1")) }, "not unique"},
		{"id", func(r *provider.Request) { content(r, 1, use("a.b")) }, "id"},
		{"input", func(r *provider.Request) { content(r, 1, msg.ToolUse("1", "Bash", json.RawMessage("[]"))) }, "input"},
		{"call of the user", func(r *provider.Request) { content(r, 4, use("2")) }, "tool_use"},
		{"error with image", func(r *provider.Request) { content(r, 2, msg.ToolResult("1", true, msg.Image("image/png", tinyPNG))) }, "in an error"},
		{"empty error", func(r *provider.Request) { content(r, 2, msg.ToolResult("1", true)) }, "error"},
		{"image type", func(r *provider.Request) { content(r, 4, msg.Image("image/bmp", "aa")) }, "image"},
		{"image of the model", func(r *provider.Request) { content(r, 3, msg.Image("image/png", tinyPNG)) }, "image"},
		{"raw lies", func(r *provider.Request) {
			content(r, 4, msg.Block{Type: msg.TypeText, Text: "x", Raw: json.RawMessage(`{"type":"text","text":""}`)})
		}, "text"},
		{"unknown", func(r *provider.Request) { content(r, 4, raw(`{"type":"hologram"}`)) }, "hologram"},
		{"no tools", func(r *provider.Request) { r.Tools, r.Breakpoints = nil, nil }, "without tools"},
		{"five marks", func(r *provider.Request) { r.Breakpoints = append(r.Breakpoints, r.Breakpoints...) }, "marks"},
		{"mark outside", func(r *provider.Request) { r.Breakpoints[3].Index = 9 }, "cache_control"},
		{"mark on thinking", func(r *provider.Request) { r.Breakpoints[2].Index, r.Breakpoints[2].Block = 1, 0 }, "cache_control"},
		{"lifetimes", func(r *provider.Request) { r.Breakpoints[3].OneHour = true }, "one hour"},
	}
	for _, tt := range tests {
		r := good()
		tt.bad(r)
		if err := Check(r); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q in it", tt.name, err, tt.want)
		}
	}
	if Check(nil) == nil {
		t.Error("nil passes")
	}
}
