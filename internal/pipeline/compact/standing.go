package compact

import (
	"slices"
	"strings"

	"lathe/internal/msg"
	toolplan "lathe/internal/tool/plan"
)

// latestCounts reports context that tells how things stand: of each source, only what was attached last counts.
func latestCounts(m msg.Message) bool {
	return m.Kind == msg.KindAttachment &&
		slices.Contains([]string{"date", "plan", planMode, "skill_listing", "directory", "environment", "mcp", "rewind"}, m.Source)
}

const planMode = "plan_mode"

// standing finds the messages of a view that tell how things stand, by index: the newest of each source. It is not
// attached again while the conversation has it, so no step may take it out.
func standing(view []msg.Message) map[int]bool {
	newest := map[string]int{}
	for i, m := range view {
		if latestCounts(m) {
			newest[m.Source] = i
		}
	}
	out := map[int]bool{}
	for source, i := range newest {
		// That plan mode is on counts until an approved plan has ended it.
		if source != planMode || !strings.HasPrefix(view[i].Key, "on") || !toolplan.Left(view[i+1:]) {
			out[i] = true
		}
	}
	return out
}
