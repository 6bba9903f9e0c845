package app

import (
	"strings"
	"testing"
)

// No more sub-agents run at once than the limit says; one that has ended makes room.
func TestAgentSlots(t *testing.T) {
	for limit, most := range map[string]int{"": agentMost, "2": 2, "1": 1} {
		t.Setenv("CLAUDE_CODE_MAX_CONCURRENT_SUBAGENTS", limit)
		r := testRun(t, Options{})
		var release func()
		for i := range most {
			var err error
			if release, err = r.agentSlot(); err != nil {
				t.Fatalf("limit %q: the agent %d: %v", limit, i+1, err)
			}
		}
		if _, err := r.agentSlot(); err == nil || !strings.Contains(err.Error(), "which is the limit") {
			t.Errorf("limit %q: one more: %v", limit, err)
		}
		release()
		if _, err := r.agentSlot(); err != nil {
			t.Errorf("limit %q: there is room: %v", limit, err)
		}
	}
}
