package app

import (
	"context"

	"lathe/internal/hook"
	"lathe/internal/msg"
	"lathe/internal/turn"
)

// setUp runs the Setup hooks that --init or --maintenance asks for, once, before the first turn.
func (h *hooks) setUp(ctx context.Context, t *turn.Turn) []msg.Message {
	trigger := h.r.o.Setup
	if trigger == "" {
		return nil
	}
	if h.bus.Has(hook.Setup, trigger) {
		h.r.prepareEnvFile()
	}
	_, out := h.fire(ctx, t, hook.Payload{Event: hook.Setup, Match: trigger, Fields: map[string]any{"trigger": trigger}})
	return out.Messages
}

// SetUp runs the hooks of Setup and SessionStart and nothing else. What they print goes to show; ok is false where one
// failed.
func (s *Session) SetUp(ctx context.Context, show func(text string)) (ok bool) {
	r := s.run
	r.tellNotes()
	ok = true
	if r.hooks == nil {
		return ok
	}
	for _, p := range []hook.Payload{
		{Event: hook.Setup, Match: r.o.Setup, Fields: map[string]any{"trigger": r.o.Setup}},
		{Event: hook.SessionStart, Match: "startup", Fields: map[string]any{"source": "startup", "model": r.session.Model()}},
	} {
		r.prepareEnvFile()
		out := r.hooks.bus.Fire(ctx, p)
		r.hooks.tell(out)
		for _, ran := range out.Ran {
			ok = ok && ran.Outcome != hook.Failed
			if ran.Stdout != "" {
				show(ran.Stdout)
			}
		}
	}
	return ok
}
