package attach

import (
	"context"

	"lathe/internal/turn"
)

// Plan attaches the plan while one is active: when it begins, after it changed, and after a compaction. active
// returns the plan's file and text, ok false while there is none; it must be quick.
func Plan(active func() (path, text string, ok bool)) Source {
	const name = "plan"
	key := func(path, text string) string { return path + " #" + shortHash(text) }
	return Source{
		Name: name, Budget: 32 << 10,
		When: func(t *turn.Turn, _ Seen) bool {
			path, text, ok := active()
			return ok && lastKey(t.Messages, name, "") != key(path, text)
		},
		Collect: func(_ context.Context, _ *turn.Turn, seen Seen) ([]Item, error) {
			path, text, ok := active()
			if !ok {
				return nil, nil
			}
			head := "The plan that is being carried out, from " + path + ". Keep to it:\n"
			if seen.Any(name) {
				head = "The plan has changed. It is now, from " + path + ":\n"
			}
			return []Item{{Key: fresh(seen, name, key(path, text)), Text: head + text}}, nil
		},
	}
}
