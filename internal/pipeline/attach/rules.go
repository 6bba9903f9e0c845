package attach

import (
	"context"

	"lathe/internal/memory"
	"lathe/internal/turn"
)

const ruleName = "conditional_rule"

// Rules attaches the rules whose paths match a file when one is first touched, and again when one is touched after
// the rule changed or a compaction took it away. The functions are those of Memory; l must be a loader of its own.
func Rules(l *memory.Loader, touched func() []string, notice func(string), loaded func(f memory.File, reason string)) Source {
	if loaded == nil {
		loaded = func(memory.File, string) {}
	}
	var at recent
	return Source{
		Name: ruleName, Budget: 256 << 10,
		When: func(t *turn.Turn, _ Seen) bool {
			return at.any(t, touched()) || t.Step <= 1 && len(t.Mentions) > 0
		},
		Collect: func(_ context.Context, t *turn.Turn, seen Seen) ([]Item, error) {
			out := fileItems(ruleName, l.Matching(at.take(t, touched())...), t.Messages, seen, func(f memory.File) { loaded(f, "path_glob_match") })
			tell(l, notice)
			return out, nil
		},
	}
}
