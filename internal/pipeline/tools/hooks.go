package tools

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"time"

	"lathe/internal/msg"
	"lathe/internal/perm"
	"lathe/internal/tool"
	"lathe/internal/turn"
)

// Hooks are the user's own programs around tool calls.
type Hooks interface {
	// Guards reports whether one wants to see calls of the tool before they run. It must be quick.
	Guards(tool string) bool
	// Before may refuse a call, ask for it, allow it or change its input.
	Before(ctx context.Context, t *turn.Turn, c HookCall) turn.Hooked
	// Answers reports whether one wants to answer questions about calls of the tool. It must be quick.
	Answers(tool string) bool
	// Asked may answer in the person's place.
	Asked(ctx context.Context, t *turn.Turn, c HookCall, d perm.Decision) turn.Hooked
	// Refused sees a call that the classifier of mode auto refused.
	Refused(ctx context.Context, t *turn.Turn, c HookCall, d perm.Decision) turn.Hooked
	// After sees what a call did.
	After(ctx context.Context, t *turn.Turn, c HookCall, res tool.Result, took time.Duration) turn.Hooked
	// Batch sees all calls of an answer; a block ends the turn.
	Batch(ctx context.Context, t *turn.Turn, calls []HookCall) turn.Hooked
}

// HookCall is a call as hooks see it.
type HookCall struct {
	ID, Tool string
	Input    json.RawMessage // canonical
	ReadOnly bool
	Result   []msg.Block // what the model is told, once that is known
}

func (c *call) hookCall() HookCall {
	return HookCall{ID: c.block.ID, Tool: c.block.Name, Input: c.input, ReadOnly: c.plan.ReadOnly}
}

// guard lets the hooks see the calls of a batch, beside each other, before anybody is asked.
// It returns a call that they defer: only one that was made alone can be; others are asked about.
func (s *Stage) guard(ctx context.Context, t *turn.Turn, batch []*call) (later *call) {
	if s.Hooks == nil {
		return nil
	}
	var wg sync.WaitGroup
	said := make([]turn.Hooked, len(batch))
	for i, c := range batch {
		if c.err == nil && s.Hooks.Guards(c.block.Name) {
			wg.Go(func() { said[i] = s.Hooks.Before(ctx, t, c.hookCall()) })
		}
	}
	wg.Wait()
	for i, c := range batch {
		s.heed(ctx, c, said[i])
		if said[i].Deferred {
			later = c
		}
	}
	return later
}

// heed applies what hooks said before a call. A changed input is understood and judged like a new one. An allow
// counts as much as a rule that allows the tool would: it lifts no deny or ask rule, and no question about what is
// protected.
func (s *Stage) heed(ctx context.Context, c *call, h turn.Hooked) {
	c.said, c.halt = append(c.said, h.Messages...), h.Stop
	if h.Input != nil {
		c.answered(ctx, h.Input, s.Decide)
		if c.err != nil {
			c.err = fmt.Errorf("a PreToolUse hook changed the input of this call, and it cannot be used so: %w", c.err)
			return
		}
	}
	d := h.Decision
	switch {
	case d == nil:
	case d.Verdict == perm.Deny, d.Verdict == perm.Ask && c.decision.Verdict != perm.Deny:
		c.decision = *d
	case d.Verdict == perm.Allow && c.byPerson():
		if h.Input != nil && c.decision.Verdict == perm.Ask && !personOnly(c.decision) {
			c.decision = *d // the input is the answer
		}
	case d.Verdict == perm.Allow && c.decision.Verdict != perm.Allow && s.Covered != nil:
		req := c.request()
		if s.Covered(req).Verdict == perm.Allow {
			c.decision = *d
		}
	}
}

// heard takes what the hooks said to a question. It reports whether that decides it.
func (s *Stage) heard(ctx context.Context, t *turn.Turn, c *call, h turn.Hooked) bool {
	c.said = append(c.said, h.Messages...)
	if h.Decision == nil {
		return false
	}
	if h.Blocked() {
		c.decision, c.stop = *h.Decision, h.Stop
		return true
	}
	if h.Decision.Verdict != perm.Allow || personOnly(c.decision) || c.byPerson() && h.Input == nil {
		return false
	}
	if h.Input != nil {
		c.answered(ctx, h.Input, s.Decide)
		if c.err != nil || c.decision.Verdict == perm.Deny {
			return true
		}
		if personOnly(c.decision) {
			return false
		}
	}
	s.update(t, h.Updates)
	c.decision = *h.Decision
	return true
}

// personOnly marks the questions that no program may answer: critical removals, and what the organisation's own
// rules want asked.
func personOnly(d perm.Decision) bool {
	is := func(s perm.Source) bool {
		return s.Kind == "critical" || s.Kind == "interaction" || s.Scope == "managed"
	}
	for _, p := range d.Parts {
		if p.Verdict == perm.Ask && is(p.Source) {
			return true
		}
	}
	return is(d.Source)
}

// after lets the hooks see what a call did, and takes their words over.
func (s *Stage) after(ctx context.Context, t *turn.Turn, c *call, o *outcome, took time.Duration) {
	if s.Hooks == nil || ctx.Err() != nil {
		return
	}
	hc := c.hookCall()
	hc.Result = o.result.Blocks
	h := s.Hooks.After(ctx, t, hc, o.result, took)
	o.said = h.Messages
	if h.Stop != nil {
		o.stop = h.Stop
	}
	if h.Output != nil {
		o.result.Blocks, o.result.Output = replaced(h.Output), h.Output
	}
}

// finished lets the hooks see all calls of an answer.
func (s *Stage) finished(ctx context.Context, t *turn.Turn, done []HookCall) error {
	if s.Hooks == nil || len(done) == 0 {
		return nil
	}
	h := s.Hooks.Batch(ctx, t, done)
	if err := t.Append(h.Messages...); err != nil {
		return err
	}
	if h.Stop != nil {
		return h.Stop
	}
	if h.Blocked() {
		return turn.StoppedByHook(h.Decision.Reason)
	}
	return nil
}

// halted is the result of a call that a hook kept from running by ending the turn.
func halted(stop *turn.Stop) tool.Result {
	return failed(strings.TrimSuffix("not run: a hook ended the turn: "+stop.Text, ": "))
}
