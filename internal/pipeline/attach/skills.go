package attach

import (
	"context"

	"lathe/internal/turn"
)

// Skills attaches the listing of skills with the first prompt, and at the start of a turn after it changed, or earlier
// where changed says so. listing returns it within its budget, "" when there are none; how says how one is loaded. changed may
// be nil.
func Skills(listing func() string, how string, changed func() bool) Source {
	const name = "skill_listing"
	return Source{
		Name: name, Budget: 64 << 10,
		When: func(t *turn.Turn, seen Seen) bool {
			return t.Step <= 1 || !seen.Any(name) || changed != nil && changed()
		},
		Collect: func(_ context.Context, t *turn.Turn, seen Seen) ([]Item, error) {
			return news(t, seen, name, listing(), "Skills are instructions for kinds of tasks. "+how+" There are:\n",
				"The skills have changed. "+how+" There are now:\n", "There are no skills any more."), nil
		},
	}
}
