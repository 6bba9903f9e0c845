package normalize

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"lathe/internal/event"
	"lathe/internal/msg"
	"lathe/internal/price"
	"lathe/internal/provider"
	"lathe/internal/turn"
)

func testTurn(model string, view ...msg.Message) (*turn.Turn, *[]event.Event) {
	var events []event.Event
	t := turn.New("t", "s1", event.Prompt{}, nil, turn.Services{
		Emit: func(e event.Event) error { events = append(events, e); return nil }, Now: time.Now,
	})
	t.Model, t.View = model, view
	t.System, t.Static = []msg.Block{msg.Text("static"), msg.Text("dynamic")}, 1
	t.Tools = []msg.ToolDef{{Name: "Bash", InputSchema: json.RawMessage(`{"type":"object"}`)}}
	return t, &events
}

func TestStage(t *testing.T) {
	deps := Deps{Info: price.Default().Info, ID: price.Default().Resolve}
	tn, events := testTurn("opus[1m]", user(msg.Text("hi")))
	if err := New(deps, Config{})(context.Background(), tn); err != nil {
		t.Fatal(err)
	}
	want := &provider.Request{
		Model: "claude-opus-5-5", MaxTokens: 32_000, System: tn.System, Tools: tn.Tools, SessionID: "s1", Effort: "medium",
		Thinking: provider.Thinking{Type: "adaptive"},
		Messages: []provider.Message{{Role: msg.RoleUser, Content: []msg.Block{msg.Text("hi")}}},
		Breakpoints: []provider.Breakpoint{
			{At: provider.AtSystem, Index: 0}, {At: provider.AtSystem, Index: 1}, {At: provider.AtMessage, Index: 0, Block: 0},
		},
	}
	if diff := cmp.Diff(want, tn.Request); diff != "" {
		t.Error(diff)
	}
	if len(*events) != 0 {
		t.Errorf("events: %v", *events)
	}
}

func TestParameters(t *testing.T) {
	type params struct {
		MaxTokens int
		Thinking  provider.Thinking
		Effort    string
		Betas     []string
	}
	adaptive := provider.Thinking{Type: "adaptive"}
	budget := func(n int) provider.Thinking { return provider.Thinking{Type: "enabled", Budget: n} }
	tests := []struct {
		name, model string
		cfg         Config
		deps        Deps
		ultra       bool
		want        params
	}{
		{"always thinks", "claude-fable-5-2", Config{Thinking: ThinkOff}, Deps{}, false, params{32_000, adaptive, "high", nil}},
		{"can be off", "claude-opus-5", Config{Thinking: ThinkOff, Effort: "max"}, Deps{}, false, params{32_000, provider.Thinking{Type: "disabled"}, "high", nil}},
		{"is off", "claude-opus-4-8", Config{Thinking: ThinkOff}, Deps{}, false, params{32_000, provider.Thinking{}, "high", nil}},
		{"is on by us", "claude-opus-4-8", Config{}, Deps{}, false, params{32_000, adaptive, "high", nil}},
		{"omitted", "claude-opus-5-5", Config{Thinking: ThinkOmit, Display: "summarized"}, Deps{}, false, params{32_000, provider.Thinking{}, "medium", nil}},
		{"display", "claude-opus-5-5", Config{Display: "summarized"}, Deps{}, false, params{32_000, provider.Thinking{Type: "adaptive", Display: "summarized"}, "medium", nil}},
		{"budget", "claude-haiku-4-5", Config{Effort: "max"}, Deps{}, false, params{32_000, budget(16_000), "", nil}},
		{"interleaved", "claude-sonnet-4-5", Config{Betas: []string{"x"}}, Deps{}, false, params{32_000, budget(16_000), "", []string{"x", "interleaved-thinking-2025-05-14"}}},
		{"ultra", "claude-haiku-4-5", Config{}, Deps{}, true, params{32_000, budget(31_999), "", nil}},
		{"budget too large", "claude-haiku-4-5", Config{Budget: 90_000, MaxTokens: 8000}, Deps{}, false, params{8000, budget(7999), "", nil}},
		{"budget too small", "claude-haiku-4-5", Config{Budget: 5}, Deps{}, false, params{32_000, budget(1024), "", nil}},
		{"no room", "claude-haiku-4-5", Config{MaxTokens: 1000}, Deps{}, false, params{1000, provider.Thinking{}, "", nil}},
		{"either", "claude-opus-4-6", Config{NoAdaptive: true}, Deps{}, false, params{32_000, budget(16_000), "high", nil}},
		{"model's own limit", "claude-3-5-haiku-20241022", Config{}, Deps{}, false, params{8192, provider.Thinking{}, "", nil}},
		{"unknown claude", "claude-next-9", Config{MaxTokens: 100_000}, Deps{}, false, params{32_000, adaptive, "", nil}},
		{"local model", "qwen3:8b", Config{Effort: "high"}, Deps{}, false, params{32_000, provider.Thinking{}, "", nil}},
		{
			"mismatch", "claude-opus-5-5",
			Config{},
			Deps{DropMismatch: func() bool { return true }},
			false,
			params{32_000, provider.Thinking{Type: "adaptive", OnMismatch: "drop_block"}, "medium", nil},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.deps.Info = price.Default().Info
			tn, _ := testTurn(tt.model, user(msg.Text("hi")))
			tn.Ultra = tt.ultra
			if err := New(tt.deps, tt.cfg)(context.Background(), tn); err != nil {
				t.Fatal(err)
			}
			r := tn.Request
			if diff := cmp.Diff(tt.want, params{r.MaxTokens, r.Thinking, r.Effort, r.Betas}); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestLastResort: a fault that Normalize cannot repair (here one that lies in a block's raw form) does not end the
// session, and is told.
func TestLastResort(t *testing.T) {
	odd := msg.Block{Type: "web_search_tool_result", ToolUseID: "s1", Raw: json.RawMessage(`{"type":"other","tool_use_id":"s1"}`)}
	call := raw(`{"type":"server_tool_use","id":"s1","name":"web_search","input":{}}`)
	tn, events := testTurn("opus", user(msg.Text("hi")), answer("a", call, odd, use("1")), user(result("1", "out")))
	if err := New(Deps{Info: price.Default().Info}, Config{})(context.Background(), tn); err != nil {
		t.Fatal(err)
	}
	if err := Check(tn.Request); err != nil {
		t.Error(err)
	}
	want := []string{"U | hi", `A | [Called the tool Bash with {"command":"x"}]`, "U | [Result of the tool call:] | out"}
	if diff := cmp.Diff(want, short(tn.Request.Messages)); diff != "" {
		t.Error(diff)
	}
	if len(*events) != 1 || !strings.Contains((*events)[0].(event.Notice).Text, "plain text") {
		t.Errorf("events: %+v", *events)
	}
}

func BenchmarkStage(b *testing.B) {
	var view []msg.Message
	out := strings.Repeat("a line of output\n", 500)
	for i := range 500 {
		id := "toolu_" + string(rune('a'+i%26)) + strings.Repeat("x", i/26)
		view = append(view, user(msg.Text("go on")), answer(id, thinking("", strings.Repeat("s", 500)), use(id)), user(result(id, out)))
	}
	tn, _ := testTurn("opus", view...)
	stage := New(Deps{Info: price.Default().Info}, Config{})
	for b.Loop() {
		if err := stage(context.Background(), tn); err != nil {
			b.Fatal(err)
		}
	}
}

func TestRetarget(t *testing.T) {
	deps := Deps{Info: price.Default().Info, ID: price.Default().Resolve}
	tn, _ := testTurn("opus", user(msg.Text("hi")))
	if err := New(deps, Config{})(context.Background(), tn); err != nil {
		t.Fatal(err)
	}
	req := *tn.Request
	Retarget(deps, Config{})(tn, &req, "claude-haiku-4-5")
	want := *tn.Request
	want.Model, want.Effort, want.Thinking = "claude-haiku-4-5", "", provider.Thinking{Type: "enabled", Budget: 16_000}
	if diff := cmp.Diff(want, req); diff != "" {
		t.Error(diff)
	}
}

// A fault that is not of the history is left to the API to name; the history is sent as it is.
func TestFaultOutsideTheHistory(t *testing.T) {
	view := []msg.Message{user(msg.Text("hi")), answer("a", use("1")), user(result("1", "out"))}
	tn, events := testTurn("opus", view...)
	good, _ := testTurn("opus", view...)
	tn.Tools[0].InputSchema = json.RawMessage(`{"type":"array"}`)
	stage := New(Deps{Info: price.Default().Info}, Config{})
	for _, turn := range []*turn.Turn{tn, good} {
		if err := stage(context.Background(), turn); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(good.Request.Messages, tn.Request.Messages); diff != "" || len(*events) > 0 {
		t.Errorf("events %+v, messages %s", *events, diff)
	}
}

// Fast mode is asked for where the model has it, with the feature header that it needs there.
func TestFastMode(t *testing.T) {
	type params struct {
		Fast  bool
		Betas []string
	}
	for model, want := range map[string]params{
		"claude-opus-5-5":   {true, []string{"own"}},
		"claude-opus-5":     {true, []string{"own", "fast-mode-2026-02-01"}},
		"claude-opus-4-8":   {false, []string{"own"}},
		"claude-sonnet-5-5": {false, []string{"own"}},
	} {
		for _, on := range []bool{true, false} {
			deps := Deps{Info: price.Default().Info, Fast: func() bool { return on }}
			req := &provider.Request{}
			deps.parameters(Config{Betas: []string{"own"}}, &turn.Turn{}, req, model)
			if !on {
				want = params{false, []string{"own"}}
			}
			if diff := cmp.Diff(want, params{req.Fast, req.Betas}); diff != "" {
				t.Errorf("%s, %t: %s", model, on, diff)
			}
		}
	}
}
