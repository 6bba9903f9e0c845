package place

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"lathe/internal/msg"
	"lathe/internal/redact"
)

// What comes from outside is redacted; what the person typed and the model said stays as it is, byte for byte.
func TestCleanMessage(t *testing.T) {
	p := &Place{Redact: redact.New(true)}
	p.Redact.Add("KEY", "some-secret-1")
	const s, x = "a some-secret-1 b", "a [redacted: KEY] b"
	text := func(s string) []msg.Block { return []msg.Block{msg.Text(s)} }
	raw := func(s string) json.RawMessage { return json.RawMessage(`{"v":"` + s + `"}`) }
	result := func(s string) []msg.Block {
		return []msg.Block{msg.ToolResult("id", false, msg.Text(s), msg.Block{Type: "odd", Raw: raw(s)})}
	}
	doc := func(s string) []msg.Block {
		return []msg.Block{{Type: msg.TypeDocument, Source: &msg.Source{Type: "text", Data: s}}}
	}
	said := []msg.Block{{Type: msg.TypeThinking, Text: s, Signature: s}, msg.Text(s), msg.ToolUse("id", "Bash", raw(s))}
	tests := []struct {
		name     string
		in, want msg.Message
	}{
		{"typed", msg.Message{Kind: msg.KindUser, Blocks: text(s)}, msg.Message{Kind: msg.KindUser, Blocks: text(s)}},
		{"said", msg.Message{Kind: msg.KindAssistant, Blocks: said}, msg.Message{Kind: msg.KindAssistant, Blocks: said}},
		{"summary", msg.Message{Kind: msg.KindSummary, Blocks: text(s)}, msg.Message{Kind: msg.KindSummary, Blocks: text(s)}},
		{
			"result",
			msg.Message{Kind: msg.KindUser, Blocks: result(s), ToolOutput: raw(s)},
			msg.Message{Kind: msg.KindUser, Blocks: result(x), ToolOutput: raw(x)},
		},
		{
			"result and typed text",
			msg.Message{Kind: msg.KindUser, Blocks: append(result(s), text(s)...)},
			msg.Message{Kind: msg.KindUser, Blocks: append(result(x), text(s)...)},
		},
		{"made by the program", msg.Message{Kind: msg.KindUser, Meta: true, Blocks: text(s)}, msg.Message{Kind: msg.KindUser, Meta: true, Blocks: text(x)}},
		{"attachment", msg.Message{Kind: msg.KindAttachment, Blocks: doc(s)}, msg.Message{Kind: msg.KindAttachment, Blocks: doc(x)}},
		{
			"notice",
			msg.Message{Kind: msg.KindSystem, Blocks: text(s), Extra: raw(s)},
			msg.Message{Kind: msg.KindSystem, Blocks: text(x), Extra: raw(x)},
		},
		{
			"failure of the API",
			msg.Message{Kind: msg.KindAssistant, APIError: "x", Blocks: text(s)},
			msg.Message{Kind: msg.KindAssistant, APIError: "x", Blocks: text(x)},
		},
	}
	for _, tc := range tests {
		before, _ := json.Marshal(tc.in)
		if d := cmp.Diff(tc.want, p.Clean(tc.in)); d != "" {
			t.Errorf("%s: %s", tc.name, d)
		}
		if after, _ := json.Marshal(tc.in); string(after) != string(before) {
			t.Errorf("%s: the message itself was changed", tc.name)
		}
	}
}
