package app

import "context"

// changeCost answers the query "change_cost": what a change of the model (none: of another setting that requests carry,
// such as the effort) would cost at the next request, for a screen that warns before it is made.
func (r *run) changeCost(_ context.Context, in struct {
	Model string `json:"model"`
	Fast  *bool  `json:"fast"` // a change to fast mode, or out of it
},
) (any, error) {
	id := r.session.Model()
	if in.Model != "" {
		id = r.resolveFor(in.Model, r.session.Mode())
	}
	now, fast := r.place.Sys.Now(), r.fastState(id) == fastOn
	if in.Fast != nil {
		fast = *in.Fast
	}
	tokens, usd := r.keeper.Loss(now, id, fast)
	return map[string]any{"tokens": tokens, "usd": usd, "warning": r.keeper.Warning(now, id, fast)}, nil
}

// withWarning adds a warning to a command's answer.
func withWarning(text, warning string) string {
	if warning == "" {
		return text
	}
	return text + "\n" + warning
}
