package attach

import (
	"context"

	"lathe/internal/event"
	"lathe/internal/msg"
	"lathe/internal/turn"
)

// Queued adds prompts that came while the turn runs, as the user's own messages. It looks from the second pass
// on: what waits before the first pass starts a turn of its own. waiting returns those that may join the turn, oldest
// first, and is quick; blocks is what one says to the model, an error leaves it for a turn of its own; take takes one out
// of the queue, and reports whether it was still there.
func Queued(waiting func() []event.Prompt, blocks func(event.Prompt) ([]msg.Block, error), take func(id string) bool) Source {
	return Source{
		Name: "queued_prompt",
		When: func(t *turn.Turn, _ Seen) bool { return t.Step > 1 && len(waiting()) > 0 },
		Collect: func(_ context.Context, _ *turn.Turn, _ Seen) ([]Item, error) {
			var out []Item
			for _, p := range waiting() {
				said, err := blocks(p)
				if err != nil {
					break // those behind it do not overtake it
				}
				out = append(out, Item{User: true, ID: p.ID, Blocks: said, Take: func() bool { return take(p.ID) }})
			}
			return out, nil
		},
	}
}
