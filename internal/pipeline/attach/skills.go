package attach

import (
	"context"

	"lathe/internal/turn"
)

// Skills attaches the listing of skills with the first prompt, and at the start of a turn after it changed, or earlier
// where news says so. listing returns it within its budget, "" when there are none; how says how one is loaded. news may
// be nil.
func Skills(listing func() string, how string, news func() bool) Source {
	const name = "skill_listing"
	return Source{
		Name: name, Budget: 64 << 10,
		When: func(t *turn.Turn, seen Seen) bool { return t.Step <= 1 || !seen.Any(name) || news != nil && news() },
		Collect: func(_ context.Context, t *turn.Turn, seen Seen) ([]Item, error) {
			text := listing()
			key := shortHash(text)
			switch {
			case text == "" && !seen.Any(name):
				return nil, nil
			case lastKey(t.Messages, name, "") == key:
				return nil, nil
			case text == "":
				return []Item{{Key: fresh(seen, name, key), Text: "There are no skills any more."}}, nil
			case seen.Any(name):
				return []Item{{Key: fresh(seen, name, key), Text: "The skills have changed. " + how + " There are now:\n" + text}}, nil
			}
			return []Item{{Key: key, Text: "Skills are instructions for kinds of tasks. " + how + " There are:\n" + text}}, nil
		},
	}
}
