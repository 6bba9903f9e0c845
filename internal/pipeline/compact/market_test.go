package compact

import (
	"testing"
	"time"

	"lathe/internal/msg"
	"lathe/internal/price"
	"lathe/internal/token"
)

// The cache stays warm for another name of the same model, as the run's own table has it.
func TestMarketKnowsTheNamesOfTheRun(t *testing.T) {
	now := time.Unix(100_000, 0)
	view := session()
	for i := range view {
		view[i].Time = now.Add(-time.Minute)
		if view[i].Kind == msg.KindAssistant {
			view[i].Model = "proxy-opus"
		}
	}
	for id, cold := range map[string]bool{"claude-opus-5-5": false, "claude-haiku-4-5": true} {
		of := func(string) price.Info { return price.Default().Info(id) }
		v := sight{whole: view, view: view, of: of, info: price.Default().Info("claude-opus-5-5"), size: 10_000, limit: 187_000}
		if m := newMarket(v, "claude-opus-5-5", now, Config{}); m.cold != cold {
			t.Errorf("%s: cold %v", id, m.cold)
		}
	}
}

// A chain ends at the answer of a call whose result counts on, also where the call itself stands before it.
func TestChainEndsAtWhatCountsOn(t *testing.T) {
	for name, want := range map[string]bool{"Read": true, "Skill": false, "AskUserQuestion": false, "ExitPlanMode": false} {
		view := []msg.Message{
			{ID: "a", Kind: msg.KindAssistant, StopReason: "tool_use", Blocks: []msg.Block{{Type: msg.TypeToolUse, ID: "t", Name: name}}},
			{ID: "r", Kind: msg.KindUser, Blocks: []msg.Block{{Type: msg.TypeToolResult, ToolUseID: "t", Content: []msg.Block{msg.Text("x")}}}},
		}
		a := study(view, Settings{Counter: token.Counter{}})
		if call, result := a.inChain(0), a.inChain(1); call != want || result != want {
			t.Errorf("%s: call %v, result %v", name, call, result)
		}
	}
}
