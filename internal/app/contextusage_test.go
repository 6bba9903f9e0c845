package app

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"lathe/internal/msg"
	"lathe/internal/token"
)

// Whatever fills the window, the picture has all of its squares, and one at least for what is there.
func TestContextPicture(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		u := &contextSize{window: rapid.SampledFrom([]int{1000, 200_000, 1_000_000}).Draw(t, "window")}
		for i, name := range []string{"a", "b", "c", "d", "e", "f"} {
			u.add(name, name, "", rune('A'+i), rapid.IntRange(0, 300_000).Draw(t, name))
		}
		u.threshold = rapid.IntRange(0, u.window).Draw(t, "threshold")
		u.fill()
		squares := u.squares()
		if len(u.categories) > 0 && len(squares) != gridRows*gridColumns {
			t.Fatalf("%d squares", len(squares))
		}
		for i, c := range u.categories {
			if c.kind == usedKind && !slices.Contains(squares, i) {
				t.Fatalf("%s has no square", c.name)
			}
		}
		u.text(true)
		u.payload()
	})
}

func TestContextMeasure(t *testing.T) {
	u := &contextSize{window: 1000, attachments: map[string]int{}, calls: map[string]callSize{}}
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
