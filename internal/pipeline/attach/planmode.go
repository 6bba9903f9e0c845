package attach

import (
	"context"
	"slices"

	"lathe/internal/msg"
	"lathe/internal/tool/plan"
	"lathe/internal/turn"
)

// planModeSource is the name of the source that tells of plan mode.
const planModeSource = "plan_mode"

// The keys of what it attaches.
const (
	planOn  = "on"
	planOff = "off"
)

// planModeOff is told when plan mode ended without an approved plan.
const planModeOff = "Plan mode is off: you may make changes again, as far as the permissions go."

// PlanMode tells the model when plan mode is on, with how to plan, and when the user has ended it. on is the mode of
// the moment; text is what is told, and must stay the same within a session.
func PlanMode(on func() bool, text func(t *turn.Turn) string) Source {
	return Source{
		Name: planModeSource, Budget: 32 << 10,
		When: func(t *turn.Turn, _ Seen) bool { return on() != toldPlanMode(t.Messages) },
		Collect: func(_ context.Context, t *turn.Turn, seen Seen) ([]Item, error) {
			if !on() {
				return []Item{{Key: fresh(seen, planModeSource, planOff), Text: planModeOff}}, nil
			}
			return []Item{{Key: fresh(seen, planModeSource, planOn), Text: text(t)}}, nil
		},
	}
}

// toldPlanMode reports whether the model takes plan mode to be on.
func toldPlanMode(messages []msg.Message) bool {
	at := 0
	for i, m := range slices.Backward(messages) {
		if m.Kind == msg.KindSystem && m.Subtype == msg.SubCompactBoundary {
			break
		}
		if m.Kind == msg.KindAttachment && m.Source == planModeSource {
			if m.Key[:min(len(m.Key), len(planOff))] == planOff {
				return false
			}
			at = i + 1
			break
		}
	}
	return at > 0 && !plan.Left(messages[at:])
}
