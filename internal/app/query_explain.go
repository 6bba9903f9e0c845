package app

import (
	"context"
	"encoding/json"

	"lathe/internal/event"
	"lathe/internal/perm"
	"lathe/internal/tool"
)

// explainQuery is the payload of the query "explain_call".
type explainQuery struct {
	Tool  string          `json:"tool"`
	Input json.RawMessage `json:"input"`
}

// explainCall tells a person what a call would do, in the folders and under the mode of this moment. Nothing is run, and no
// model is asked.
func (r *run) explainCall(ctx context.Context, q explainQuery) (any, error) {
	env := r.env()
	r.place.Care(&env, q.Tool)
	req := perm.Request{Tool: q.Tool, Input: q.Input}
	if t, ok := r.tools.registry.Get(q.Tool); ok {
		if plan, err := t.Plan(ctx, tool.Call{Input: q.Input}); err == nil { // a plan changes nothing
			req.ReadOnly = plan.ReadOnly
		}
	}
	effects, risk := perm.Explain(req, env)
	list := make([]map[string]any, 0, len(effects))
	for _, e := range effects {
		list = append(list, map[string]any{"part": event.Inert(e.Part), "does": event.InertLine(e.Does), "risk": e.Risk.String()})
	}
	return map[string]any{"risk": risk.String(), "effects": list}, nil
}
