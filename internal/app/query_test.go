package app

import (
	"testing"

	"lathe/internal/app/conversation"
)

// No two files answer one query: the later one would take the place of the other unseen.
func TestQueriesOnce(t *testing.T) {
	seen := map[string]bool{}
	for _, part := range (&run{common: &common{o: &Options{Which: conversation.Which{Entry: EntryTerminal}}}}).queryParts() {
		for name := range part {
			if seen[name] {
				t.Errorf("two answers for %q", name)
			}
			seen[name] = true
		}
	}
	if !seen["shell"] || !seen["background_tasks"] || !seen["seed_read_state"] {
		t.Errorf("queries are missing among %d", len(seen))
	}
}
