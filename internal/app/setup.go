package app

import (
	"context"

	"lathe/internal/event"
	"lathe/internal/hook"
	"lathe/internal/msg"
	"lathe/internal/turn"
)

// setUp runs the Setup hooks that --init or --maintenance asks for, once, before the first turn.
func (h *hooks) setUp(ctx context.Context, t *turn.Turn) []msg.Message {
	trigger := h.r.o.setup
	if trigger == "" {
		return nil
	}
	if h.bus.Has(hook.Setup, trigger) {
		h.r.prepareEnvFile()
	}
	_, out := h.fire(ctx, t, hook.Payload{Event: hook.Setup, Match: trigger, Fields: map[string]any{"trigger": trigger}})
	return out.Messages
}

// runSetup runs the hooks of Setup and SessionStart and ends (--init-only).
func runSetup(o *options, st Streams) int {
	r, err := newRun(o, st)
	if err != nil {
		return report(st, err)
	}
	defer r.close()
	r.tellNotes()
	if r.hooks == nil {
		return exitOK
	}
	ctx, code := context.Background(), exitOK
	for _, p := range []hook.Payload{
		{Event: hook.Setup, Match: o.setup, Fields: map[string]any{"trigger": o.setup}},
		{Event: hook.SessionStart, Match: "startup", Fields: map[string]any{"source": "startup", "model": r.session.Model()}},
	} {
		r.prepareEnvFile()
		out := r.hooks.bus.Fire(ctx, p)
		r.hooks.tell(out)
		for _, ran := range out.Ran {
			if ran.Outcome == hook.Failed {
				code = exitFailed
			}
			if ran.Stdout != "" {
				_, _ = st.Out.Write([]byte(event.Inert(ran.Stdout)))
			}
		}
	}
	return code
}
