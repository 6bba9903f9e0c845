package attach

import (
	"context"

	"lathe/internal/turn"
)

// Date attaches today's date, with the first prompt and when the day changed.
func Date() Source {
	const name = "date"
	today := func(t *turn.Turn) string { return t.Now().Format("2006-01-02") }
	return Source{
		Name: name, Budget: 200,
		When: func(t *turn.Turn, seen Seen) bool { return !seen.Has(name, today(t)) },
		Collect: func(_ context.Context, t *turn.Turn, _ Seen) ([]Item, error) {
			return []Item{{Key: today(t), Text: "Today is " + today(t) + "."}}, nil
		},
	}
}
