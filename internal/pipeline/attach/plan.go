package attach

import (
	"context"

	"lathe/internal/tool/plan"
	"lathe/internal/turn"
)

// Plan attaches the plan while one is active: after it changed, and after a compaction; before, the call that put it to
// the user holds it. active
// returns the plan's file and text, ok false while there is none; it must be quick.
func Plan(active func() (path, text string, ok bool)) Source {
	const name = "plan"
	key := func(path, text string) string { return path + " #" + shortHash(text) }
	return Source{
		Name: name, Budget: 32 << 10,
		When: func(t *turn.Turn, _ Seen) bool {
			path, text, ok := active()
			return ok && lastKey(t.Messages, name, "") != key(path, text) && !plan.Shown(t.Messages, text)
		},
		Collect: func(_ context.Context, _ *turn.Turn, seen Seen) ([]Item, error) {
			path, text, ok := active()
			if !ok {
				return nil, nil
			}
			from := ""
			if path != "" {
				from = ", from " + path
			}
			head := "The plan that is being carried out" + from + ". Keep to it:\n"
			if seen.Any(name) {
				head = "The plan has changed. It is now" + from + ":\n"
			}
			return []Item{{Key: fresh(seen, name, key(path, text)), Text: head + text}}, nil
		},
	}
}
