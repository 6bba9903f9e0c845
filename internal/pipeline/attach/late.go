package attach

import (
	"context"

	"lathe/internal/turn"
)

// Late attaches what hooks in the background said after their moment had passed. take returns the texts since it
// was last called, each with a key of its own.
func Late(waiting func() bool, take func(t *turn.Turn) []Item) Source {
	return Source{
		Name: "hook", Budget: 64 << 10,
		When:    func(*turn.Turn, Seen) bool { return waiting() },
		Collect: func(_ context.Context, t *turn.Turn, _ Seen) ([]Item, error) { return take(t), nil },
	}
}
