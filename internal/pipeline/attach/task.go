package attach

import (
	"context"

	"lathe/internal/turn"
)

// TaskSource is the name of the source of Tasks.
const TaskSource = "task_context"

// Tasks attaches the state of background tasks when it changed. news returns one text for each change that the
// conversation does not tell of yet, with a key that is unique to the change. It must be quick.
func Tasks(news func() []Item) Source {
	return Source{
		Name: TaskSource, Budget: 16 << 10,
		When:    func(_ *turn.Turn, _ Seen) bool { return len(news()) > 0 },
		Collect: func(_ context.Context, _ *turn.Turn, _ Seen) ([]Item, error) { return news(), nil },
	}
}
