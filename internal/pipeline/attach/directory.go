package attach

import (
	"context"
	"fmt"

	"lathe/internal/turn"
)

// Directory attaches the working directory when a session goes on in another one than the model was told of: the
// system prompt, which names the first, stays as it was sent. told is what that says; empty: it names none.
func Directory(work, told string) Source {
	const name = "directory"
	return Source{
		Name: name, Budget: 8 << 10,
		When: func(t *turn.Turn, _ Seen) bool { return t.Step == 1 && told != "" && work != told },
		Collect: func(_ context.Context, t *turn.Turn, _ Seen) ([]Item, error) {
			from := told
			told = work
			text := fmt.Sprintf("The session goes on in another working directory: %s (before: %s). Relative paths and commands start there now.", work, from)
			return []Item{{Key: t.ID + " " + work, Text: text}}, nil
		},
	}
}
