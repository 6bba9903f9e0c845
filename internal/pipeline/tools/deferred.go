package tools

import (
	"context"
	"fmt"

	"lathe/internal/event"
	"lathe/internal/msg"
	"lathe/internal/turn"
)

// deferred ends the turn before a call, which stays unanswered.
func (s *Stage) deferred(c *call) error {
	if s.Defer != nil {
		if err := s.Defer(c.block.ID); err != nil {
			return err
		}
	}
	return &turn.Stop{
		Subtype: event.Success, Terminal: "tool_deferred", Fine: true,
		Deferred: &turn.Deferred{ID: c.block.ID, Name: c.block.Name, Input: c.input},
	}
}

// Resume takes up the call that an earlier turn left because a hook deferred it: it goes through hooks, rules and
// questions anew, and its result takes its place before the prompt. It reports whether there was one. Deferred again,
// or with a tool that is not there any more, it ends the turn.
func (s *Stage) Resume(ctx context.Context, t *turn.Turn) (bool, error) {
	if s.Deferred == nil {
		return false, nil
	}
	m, call := open(t.Messages, s.Deferred())
	if call == nil {
		return false, nil
	}
	if _, ok := s.Registry.Get(call.Name); !ok {
		return true, &turn.Stop{
			Subtype: event.Success, Terminal: "tool_deferred_unavailable",
			Text:     fmt.Sprintf("the deferred call cannot be taken up: there is no tool named %s now", call.Name),
			Deferred: &turn.Deferred{ID: call.ID, Name: call.Name, Input: call.Input},
		}
	}
	t.Note("the deferred call %s is taken up", call.ID)
	t.Reply = &turn.Reply{Message: m, StopReason: "tool_use"}
	err := s.Run(ctx, t)
	t.Reply = nil
	return true, err
}

// open finds a call that nothing has answered and no prompt has passed by.
func open(ms []msg.Message, id string) (msg.Message, *msg.Block) {
	for i := len(ms) - 1; i >= 0 && id != ""; i-- {
		switch ms[i].Kind {
		case msg.KindUser, msg.KindSummary:
			return msg.Message{}, nil
		case msg.KindAssistant:
			for _, b := range ms[i].ToolUses() {
				if b.ID == id {
					return ms[i], &b
				}
			}
		}
	}
	return msg.Message{}, nil
}
