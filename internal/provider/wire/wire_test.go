package wire

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"lathe/internal/msg"
	"lathe/internal/provider"
)

func TestAppendRequest(t *testing.T) {
	req := &provider.Request{
		Model: "m", MaxTokens: 100, Effort: "high",
		System:   []msg.Block{msg.Text("one"), msg.Text("two")},
		Tools:    []msg.ToolDef{{Name: "T", Description: "d", InputSchema: json.RawMessage(`{"type":"object"}`)}},
		Thinking: provider.Thinking{Type: "adaptive", Display: "summarized", OnMismatch: "drop_block"},
		Messages: []provider.Message{
			{Role: msg.RoleUser, Content: []msg.Block{msg.Text("a <b>"), msg.Text("c")}},
			{Role: msg.RoleAssistant, Content: []msg.Block{{Type: msg.TypeThinking, Signature: "s"}, msg.ToolUse("i", "T", json.RawMessage(`{"x":1}`))}},
		},
		Breakpoints: []provider.Breakpoint{
			{At: provider.AtTool},
			{At: provider.AtSystem, Index: 1, OneHour: true},
			{At: provider.AtMessage, Index: 0, Block: 1},
		},
		Extra: map[string]json.RawMessage{
			"zeta": json.RawMessage(`{ "a": 1 }`), "metadata": json.RawMessage(`{"user_id":"u"}`),
			"output_config": json.RawMessage(`{"format": {"type":"json_schema"}, "effort":"low"}`),
			"temperature":   json.RawMessage(`0`), "tool_choice": json.RawMessage(`{"type":"any"}`), "model": json.RawMessage(`"x"`),
		},
	}
	want := `{"model":"m","max_tokens":100,"stream":true,` +
		`"thinking":{"type":"adaptive","display":"summarized","block_binding":{"prefix_mismatch_behavior":"drop_block"}},` +
		`"output_config":{"effort":"high","format":{"type":"json_schema"}},"metadata":{"user_id":"u"},"zeta":{"a":1},` +
		`"tools":[{"name":"T","description":"d","input_schema":{"type":"object"},"cache_control":{"type":"ephemeral"}}],` +
		`"system":[{"type":"text","text":"one"},{"type":"text","text":"two","cache_control":{"type":"ephemeral","ttl":"1h"}}],` +
		`"messages":[{"role":"user","content":[{"type":"text","text":"a <b>"},{"type":"text","text":"c","cache_control":{"type":"ephemeral"}}]},` +
		`{"role":"assistant","content":[{"type":"thinking","thinking":"","signature":"s"},{"type":"tool_use","id":"i","name":"T","input":{"x":1}}]}]}`
	if diff := cmp.Diff(want, string(AppendRequest(nil, req))); diff != "" {
		t.Errorf("body (-want +got):\n%s", diff)
	}
	req = &provider.Request{Model: "m", MaxTokens: 1, NoStream: true, Thinking: provider.Thinking{Type: "enabled", Budget: 1024}}
	want = `{"model":"m","max_tokens":1,"thinking":{"type":"enabled","budget_tokens":1024},"messages":[]}`
	if diff := cmp.Diff(want, string(AppendRequest(nil, req))); diff != "" {
		t.Errorf("body (-want +got):\n%s", diff)
	}
}

// The hand-written reader of deltas gives what the full parser gives, for whatever it accepts.
func checkFast(t *testing.T, data []byte) {
	fast, ok := fastDelta(data)
	if !ok {
		return
	}
	var ev event
	if err := json.Unmarshal(data, &ev); err != nil {
		t.Fatalf("accepted %q, which is no JSON: %v", data, err)
	}
	slow := provider.Chunk{Kind: provider.ChunkBlockDelta, Index: ev.Index, Raw: data}
	if err := setDelta(&slow, ev.Delta); err != nil {
		t.Fatalf("accepted %q: %v", data, err)
	}
	if diff := cmp.Diff(slow, fast); diff != "" {
		t.Fatalf("%q (-slow +fast):\n%s", data, diff)
	}
}

var deltas = []string{
	`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"hi"}}`,
	`{"type":"content_block_delta","index":12,"delta":{"type":"input_json_delta","partial_json":"{\"a\": \"\\u00e9\\n\"}"}  }  `,
	`{ "type" : "content_block_delta" , "index" : 0 , "delta" : { "type" : "thinking_delta" , "thinking" : "é \ud83d\ude00 \ud83d \/ \b\f\t" } }`,
	`{"type":"content_block_delta","index":01,"delta":{"type":"text_delta","text":"hi"}}`,
	`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"hi","text":"ho"}}`,
	"{\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"\xff\"}}",
	`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"a\x"}}`,
	`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"a\`,
}

func TestFastDelta(t *testing.T) {
	for _, d := range deltas {
		checkFast(t, []byte(d))
	}
	far := []byte(`{"type":"content_block_delta","index":36893488147419103232,"delta":{"type":"text_delta","text":"x"}}`)
	if c, ok := fastDelta(far); ok { // it would be 0
		t.Errorf("an index that is no number here: %d", c.Index)
	}
	for _, d := range deltas[:3] {
		if _, ok := fastDelta([]byte(d)); !ok {
			t.Errorf("%s was left to the slow reader", d)
		}
	}
}

func FuzzDecode(f *testing.F) {
	for _, d := range deltas {
		f.Add([]byte(d))
	}
	f.Add([]byte(`{"type":"error","error":{"type":"overloaded_error","message":"x"}}`))
	f.Add([]byte(`{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"a","name":"b","input":{},"caller":{}}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		checkFast(t, data)
		_, _ = Decode(data)
		_, _ = Answer(data)
	})
}

func TestDecode(t *testing.T) {
	tests := []struct {
		in   string
		want provider.Chunk
	}{
		{
			`{"type":"message_start","message":{"id":"msg_1","model":"m","usage":{"input_tokens":3,"service_tier":null}}}`,
			provider.Chunk{
				Kind: provider.ChunkStart, Meta: &provider.Meta{ID: "msg_1", Model: "m"},
				Usage: &msg.Usage{Input: 3}, UsageRaw: json.RawMessage(`{"input_tokens":3,"service_tier":null}`),
			},
		},
		{
			`{"type":"content_block_start","index":2,"content_block":{"type":"text","text":""}}`,
			provider.Chunk{Kind: provider.ChunkBlockStart, Index: 2, Block: &msg.Block{Type: "text"}},
		},
		{
			`{"type":"content_block_delta","index":2,"delta":{"type":"signature_delta","signature":"s"}}`,
			provider.Chunk{Kind: provider.ChunkBlockDelta, Index: 2, Delta: provider.DeltaSignature, Text: "s"},
		},
		{
			`{"type":"content_block_delta","index":2,"delta":{"type":"hologram_delta","text":5}}`,
			provider.Chunk{Kind: provider.ChunkBlockDelta, Index: 2, Delta: provider.DeltaOther},
		},
		{`{"type":"content_block_stop","index":2}`, provider.Chunk{Kind: provider.ChunkBlockEnd, Index: 2}},
		{
			`{"type":"message_delta","delta":{"stop_reason":"refusal","stop_sequence":null,"stop_details":{"a":1}},"usage":{"output_tokens":4}}`,
			provider.Chunk{
				Kind: provider.ChunkDelta, StopReason: "refusal", StopDetails: json.RawMessage(`{"a":1}`),
				Usage: &msg.Usage{Output: 4}, UsageRaw: json.RawMessage(`{"output_tokens":4}`),
			},
		},
		{`{"type":"message_stop"}`, provider.Chunk{Kind: provider.ChunkStop}},
		{`{"type": "ping"}`, provider.Chunk{Kind: provider.ChunkPing}},
		{`{"type":"weather","index":"x"}`, provider.Chunk{Kind: provider.ChunkUnknown}},
		{`[DONE]`, provider.Chunk{Kind: provider.ChunkUnknown}},
	}
	for _, tt := range tests {
		got, err := Decode([]byte(tt.in))
		if err != nil {
			t.Errorf("%s: %v", tt.in, err)
			continue
		}
		if diff := cmp.Diff(tt.want, got, cmpopts.IgnoreFields(provider.Chunk{}, "Raw")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.in, diff)
		}
	}
}

func TestError(t *testing.T) {
	body := func(typ, message string) string {
		return `{"type":"error","error":{"type":"` + typ + `","message":"` + message + `"},"request_id":"req_1"}`
	}
	tests := []struct {
		status int
		body   string
		kind   provider.Kind
		text   string
	}{
		{0, body("invalid_request_error", "bad tools"), provider.Invalid, "bad tools"},
		{0, body("overloaded_error", "Overloaded"), provider.Overloaded, "Overloaded"},
		{0, body("new_error", "x"), provider.Server, "x"},
		{400, body("invalid_request_error", "prompt is too long: 210000 tokens > 200000 maximum"), provider.TooLong, "prompt is too long: 210000 tokens > 200000 maximum"},
		{400, body("invalid_request_error", "messages.1.content.0: Invalid `signature` in `thinking` block"), provider.Thinking400, "messages.1.content.0: Invalid `signature` in `thinking` block"},
		{400, body("invalid_request_error", "Your credit balance is too low"), provider.Billing, "Your credit balance is too low"},
		{401, body("authentication_error", "invalid x-api-key"), provider.Auth, "invalid x-api-key"},
		{402, body("billing_error", "pay"), provider.Billing, "pay"},
		{403, body("permission_error", "no"), provider.Forbidden, "no"},
		{404, body("not_found_error", "model: x"), provider.NotFound, "model: x"},
		{413, body("request_too_large", "Request exceeds the maximum size"), provider.TooLarge, "Request exceeds the maximum size"},
		{413, body("invalid_request_error", "Request exceeds the maximum size"), provider.TooLarge, "Request exceeds the maximum size"},
		{429, body("rate_limit_error", "slow down"), provider.RateLimit, "slow down"},
		{429, body("rate_limit_error", "spend limit reached"), provider.Billing, "spend limit reached"},
		{500, `{"error":"boom"}`, provider.Server, "boom"},
		{502, "<html>Bad</html>", provider.Server, "Bad Gateway"},
		{504, "upstream timed out", provider.Server, "upstream timed out"},
		{529, "", provider.Overloaded, "no message"},
		{418, "", provider.Invalid, "I'm a teapot"},
		{302, "", provider.Malformed, "Found"},
	}
	for _, tt := range tests {
		got := Error(tt.status, []byte(tt.body))
		want := &provider.Error{Kind: tt.kind, Status: tt.status, Message: tt.text}
		if strings.Contains(tt.body, "req_1") {
			want.RequestID = "req_1"
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%d %s (-want +got):\n%s", tt.status, tt.body, diff)
		}
	}
}

func TestAnswer(t *testing.T) {
	in := `{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[{"type":"thinking","thinking":"t","signature":"s"},` +
		`{"type":"text","text":"hi"},{"type":"tool_use","id":"i","name":"T","input":{"a":1}},{"type":"hologram","x":1}],` +
		`"stop_reason":"tool_use","stop_sequence":null,"usage":{"input_tokens":1,"output_tokens":2}}`
	chunks, err := Answer([]byte(in))
	if err != nil {
		t.Fatal(err)
	}
	var raw []string
	for _, c := range chunks {
		raw = append(raw, string(c.Raw))
	}
	want := []string{
		`{"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":1,"output_tokens":2}}}`,
		`{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}`,
		`{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"t"}}`,
		`{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"s"}}`,
		`{"type":"content_block_stop","index":0}`,
		`{"type":"content_block_start","index":1,"content_block":{"type":"text","text":""}}`,
		`{"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"hi"}}`,
		`{"type":"content_block_stop","index":1}`,
		`{"type":"content_block_start","index":2,"content_block":{"type":"tool_use","id":"i","name":"T","input":{}}}`,
		`{"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":"{\"a\":1}"}}`,
		`{"type":"content_block_stop","index":2}`,
		`{"type":"content_block_start","index":3,"content_block":{"type":"hologram","x":1}}`,
		`{"type":"content_block_stop","index":3}`,
		`{"type":"message_delta","delta":{"stop_reason":"tool_use","stop_sequence":null},"usage":{"input_tokens":1,"output_tokens":2}}`,
		`{"type":"message_stop"}`,
	}
	if diff := cmp.Diff(want, raw); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	for _, bad := range []string{`{}`, `[]`, `{"ok":true}`, `{"type":"error","error":{"type":"api_error","message":"x"}}`} {
		if _, err := Answer([]byte(bad)); err == nil {
			t.Errorf("%s was taken as an answer", bad)
		}
	}
}

func BenchmarkDecode(b *testing.B) {
	data := []byte(deltas[1])
	for b.Loop() {
		_, _ = Decode(data)
	}
}
