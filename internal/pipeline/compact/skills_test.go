package compact

import (
	"encoding/json"
	"strings"
	"testing"

	"lathe/internal/msg"
	"lathe/internal/price"
	"lathe/internal/token"
)

// Skills that the model has loaded are carried over a compaction, each once and as it was last, and over the next one too.
func TestSkillsAreCarried(t *testing.T) {
	var view []msg.Message
	load := func(id, name, text string) {
		in, _ := json.Marshal(map[string]string{"skill": name})
		view = append(view,
			msg.Message{ID: "a" + id, Kind: msg.KindAssistant, Blocks: []msg.Block{{Type: msg.TypeToolUse, ID: id, Name: "Skill", Input: in}}},
			msg.Message{ID: "r" + id, Kind: msg.KindUser, Blocks: []msg.Block{msg.ToolResult(id, false, msg.Text(text))}})
	}
	load("1", "release", "Tag first.")
	load("2", "review", strings.Repeat("Look at each line of it with care.\n", 3000))
	load("3", "release", "Test first, then tag.")
	of := func(messages []msg.Message) sight {
		return sight{whole: messages, view: messages, info: price.Info{Window: 200_000}, set: Settings{Counter: token.Counter{}}}
	}
	first := of(view).skills(100_000)
	if len(first) != 2 || first[0].Key != "release" || !strings.Contains(first[0].Text(), "Test first, then tag.") || !strings.Contains(first[1].Text(), "[cut here]") {
		t.Fatalf("carried %d: %v", len(first), first)
	}
	if n := (token.Counter{}).Messages(first[1:]); n > skillTokens+200 {
		t.Errorf("a skill takes %d tokens", n)
	}
	second := of(first).skills(100_000)
	if len(second) != 2 || second[0].Text() != first[1].Text() || second[1].Text() != first[0].Text() {
		t.Errorf("the second time: %v", second)
	}
	if small := of(first).skills(1000); len(small) != 1 || small[0].Key != "release" {
		t.Errorf("with little room: %v", small)
	}
	if none := of(view).skills(100); len(none) != 0 {
		t.Errorf("without room: %d", len(none))
	}
}
