package attach

import (
	"context"

	"lathe/internal/turn"
)

// Environment attaches where the session runs, once: for sessions whose system prompt does not tell it, so that the same
// one serves many users and directories. An empty text attaches nothing.
func Environment(text func(ctx context.Context) string) Source {
	const name = "environment"
	return Source{
		Name: name,
		When: func(_ *turn.Turn, seen Seen) bool { return !seen.Has(name, name) },
		Collect: func(ctx context.Context, _ *turn.Turn, _ Seen) ([]Item, error) {
			if s := text(ctx); s != "" {
				return []Item{{Key: name, Text: s}}, nil
			}
			return nil, nil
		},
	}
}
