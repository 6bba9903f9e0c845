package tools

import (
	"context"
	"errors"

	"lathe/internal/msg"
	"lathe/internal/perm"
	"lathe/internal/tool"
	"lathe/internal/turn"
)

// Host makes a call that a host asks for by itself, outside of the conversation: understood, judged and shown to the
// hooks like a call of the model. The host's wish stands in for the yes that the mode would ask for; where a
// rule, a hook or the tool itself wants a person to be asked, it is refused, as nobody is. What hooks say to the model is
// dropped. t takes the events. An error says why nothing ran; a call that ran and failed is a result.
func (s *Stage) Host(ctx context.Context, t *turn.Turn, block msg.Block) (tool.Result, error) {
	c := s.prepare(ctx, block)
	if s.guard(ctx, t, []*call{c}) != nil && c.decision.Verdict != perm.Deny {
		return tool.Result{}, errors.New("not run: a hook wants it to be decided on later")
	}
	switch d := c.decision; {
	case c.err != nil:
		return tool.Result{}, c.err
	case c.halt != nil:
		return tool.Result{}, errors.New(text(halted(c.halt)))
	case d.Verdict == perm.Ask && d.Source.Kind != "rule" && d.Source.Kind != "hook" && !c.plan.Person:
		c.decision.Verdict = perm.Allow
	}
	if c.decision.Verdict != perm.Allow {
		return tool.Result{}, errors.New(c.decision.Reason)
	}
	return s.run(ctx, t, c).result, nil
}

func text(r tool.Result) string {
	if len(r.Blocks) == 0 {
		return ""
	}
	return r.Blocks[0].Text
}
