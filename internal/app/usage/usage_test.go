package usage

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"lathe/internal/msg"
	"lathe/internal/token"
)

// Whatever fills the window, the picture has all of its squares, as many of them filled as it is full.
func TestContextPicture(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		u := &Size{window: rapid.SampledFrom([]int{1000, 200_000, 1_000_000}).Draw(t, "window")}
		for i, name := range []string{"a", "b", "c", "d", "e", "f"} {
			u.add(name, name, "", rune('A'+i), rapid.IntRange(0, 300_000).Draw(t, name))
		}
		u.threshold = rapid.IntRange(0, u.window).Draw(t, "threshold")
		u.fill()
		squares := u.squares()
		if len(u.categories) > 0 && len(squares) != gridRows*gridColumns {
			t.Fatalf("%d squares", len(squares))
		}
		filled := 0
		for _, i := range squares {
			if u.categories[i].kind == usedKind {
				filled++
			}
		}
		want := 100 * float64(u.total) / float64(max(1, u.window, u.total))
		if off := float64(filled) - want; filled > 1 && (off > 1 || off < -1) || filled == 0 && u.total > 0 {
			t.Fatalf("%d squares for %.1f %%", filled, want)
		}
		u.Text(true)
		u.Payload()
	})
}

func TestContextMeasure(t *testing.T) {
	u := &Size{window: 1000, attachments: map[string]int{}, calls: map[string]callSize{}}
	u.measure(token.Counter{}, []msg.Message{
		{Kind: msg.KindUser, Blocks: []msg.Block{msg.Text(strings.Repeat("gone ", 500))}},
		{Kind: msg.KindSystem, Subtype: msg.SubCompactBoundary},
		{Kind: msg.KindUser, Blocks: []msg.Block{msg.Text("what is in a.go?")}},
		{Kind: msg.KindAttachment, Source: "memory", Blocks: []msg.Block{msg.Text("be brief")}},
		{Kind: msg.KindAssistant, Blocks: []msg.Block{{Type: msg.TypeToolUse, ID: "1", Name: "Read", Input: []byte(`{"file_path":"a.go"}`)}}, Usage: &msg.Usage{Input: 7}},
		{Kind: msg.KindUser, SourceAssistant: "x", Blocks: []msg.Block{{Type: msg.TypeToolResult, ToolUseID: "1", Content: []msg.Block{msg.Text(strings.Repeat("text ", 50))}}}},
	})
	if u.user > 60 || u.attachments["memory"] == 0 || u.calls["Read"].asked == 0 || u.calls["Read"].answered < 40 || u.counted.Input != 7 {
		t.Errorf("%+v", u)
	}
}
