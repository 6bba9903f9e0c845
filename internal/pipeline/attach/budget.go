package attach

import (
	"context"
	"fmt"

	"lathe/internal/turn"
)

// Budget tells the model what is left of the dollar budget, when half and when a tenth of it is left.
func Budget(limit float64, spent func() float64) Source {
	const name = "budget"
	level := func() string {
		switch left := limit - spent(); {
		case limit <= 0 || left > limit/2:
			return ""
		case left > limit/10:
			return "half"
		}
		return "tenth"
	}
	return Source{
		Name: name, Budget: 200,
		When: func(_ *turn.Turn, seen Seen) bool { l := level(); return l != "" && !seen.Has(name, l) },
		Collect: func(_ context.Context, _ *turn.Turn, _ Seen) ([]Item, error) {
			return []Item{{Key: level(), Text: fmt.Sprintf("Less than %s of the budget of $%.2f is left. Come to an end in time.",
				map[string]string{"half": "half", "tenth": "a tenth"}[level()], limit)}}, nil
		},
	}
}
