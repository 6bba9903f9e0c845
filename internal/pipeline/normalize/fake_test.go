package normalize

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"lathe/internal/fakeapi"
	"lathe/internal/msg"
	"lathe/internal/price"
	"lathe/internal/provider/wire"
)

// TestAnotherJudge holds the encoded request against the fake API's rules, which were written apart from ours.
func TestAnotherJudge(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		view := rapid.SliceOfN(anyMessage([]string{"", "a", "b", "c"}), 0, 12).Draw(t, "view")
		out, bps, _ := Normalize(view, anyRules(t))
		req := requestOf(out, bps)
		req.Model = "claude-opus-5-5"
		header := http.Header{"X-Api-Key": {"k"}, "Anthropic-Version": {"2023-06-01"}, "Content-Type": {"application/json"}}
		body := wire.AppendRequest(nil, req)
		if bad := fakeapi.Check(header, body); len(bad) > 0 {
			t.Fatalf("%v\n%s", bad, body)
		}
	})
}

// TestThinkingOfEveryModel: whatever is wished of thinking and effort, each model of the API is sent a kind that it takes.
func TestThinkingOfEveryModel(t *testing.T) {
	for _, m := range fakeapi.Models() {
		for _, think := range []Thinking{ThinkDefault, ThinkOff, ThinkOmit} {
			for _, effort := range []string{"", "low", "xhigh", "max"} {
				for _, cfg := range []Config{
					{},
					{Budget: 5000},
					{Display: "summarized", NoAdaptive: true},
					{MaxTokens: 1500, Display: "omitted", NoInterleave: true},
				} {
					for _, drop := range []bool{false, true} {
						cfg.Thinking, cfg.Effort = think, effort
						thinkingOf(t, m.ID, cfg, drop)
					}
				}
			}
		}
	}
}

func thinkingOf(t *testing.T, model string, cfg Config, drop bool) {
	t.Helper()
	tn, _ := testTurn(model, user(msg.Text("hi")))
	tn.Ultra = drop
	d := Deps{Info: price.Default().Info, ID: price.Default().Resolve, DropMismatch: func() bool { return drop }}
	if err := New(d, cfg)(context.Background(), tn); err != nil {
		t.Fatal(err)
	}
	header := http.Header{"X-Api-Key": {"k"}, "Anthropic-Version": {"2023-06-01"}, "Content-Type": {"application/json"}}
	betas := append([]string(nil), tn.Request.Betas...)
	if tn.Request.Thinking.OnMismatch != "" {
		betas = append(betas, "thinking-binding-controls-2026-08-01")
	}
	if len(betas) > 0 {
		header.Set("Anthropic-Beta", strings.Join(betas, ","))
	}
	body := wire.AppendRequest(nil, tn.Request)
	if bad := fakeapi.Check(header, body); len(bad) > 0 {
		t.Errorf("%s, %+v: %v\n%s", model, cfg, bad, body)
	}
}
