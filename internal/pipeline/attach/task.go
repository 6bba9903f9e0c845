package attach

import (
	"context"

	"lathe/internal/turn"
)

// Tasks attaches the state of background tasks when it changed. news returns one text for each change since it
// was last called, with a key that is unique to the change; changed says whether there is any.
func Tasks(changed func() bool, news func() []Item) Source {
	return Source{
		Name: "task_context", Budget: 16 << 10,
		When:    func(_ *turn.Turn, _ Seen) bool { return changed() },
		Collect: func(_ context.Context, _ *turn.Turn, _ Seen) ([]Item, error) { return news(), nil },
	}
}
