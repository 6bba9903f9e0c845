package attach

import (
	"context"

	"lathe/internal/event"
	"lathe/internal/msg"
	"lathe/internal/turn"
)

// Queued adds prompts that came while the turn runs, as the user's own messages. It looks from the second pass
// on: what waits before the first pass starts a turn of its own.
func Queued(waiting func() bool, take func() []event.Prompt) Source {
	return Source{
		Name: "queued_prompt",
		When: func(t *turn.Turn, _ Seen) bool { return t.Step > 1 && waiting() },
		Collect: func(_ context.Context, _ *turn.Turn, _ Seen) ([]Item, error) {
			var out []Item
			for _, p := range take() {
				blocks := append([]msg.Block{}, p.Blocks...)
				if p.Text != "" {
					blocks = append(blocks, msg.Text(p.Text))
				}
				out = append(out, Item{User: true, ID: p.ID, Blocks: blocks})
			}
			return out, nil
		},
	}
}
