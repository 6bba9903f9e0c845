package attach

import (
	"context"
	"fmt"

	"lathe/internal/turn"
)

// Budget tells the model what is left of the dollar budget, when half and when a tenth of it is left. The budget is one
// of this run: what an earlier one told of its own does not count.
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
	told := map[string]string{} // keys of this run, by level
	return Source{
		Name: name, Budget: 200,
		When: func(_ *turn.Turn, seen Seen) bool {
			l := level()
			return l != "" && !seen.Has(name, told[l])
		},
		Collect: func(_ context.Context, _ *turn.Turn, seen Seen) ([]Item, error) {
			l := level()
			key := fresh(seen, name, l)
			return []Item{{
				Key: key, Take: func() bool { told[l] = key; return true },
				Text: fmt.Sprintf("Less than %s of the budget of $%.2f is left. Come to an end in time.",
					map[string]string{"half": "half", "tenth": "a tenth"}[l], limit),
			}}, nil
		},
	}
}
