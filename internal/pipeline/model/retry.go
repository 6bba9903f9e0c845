package model

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"lathe/internal/event"
	"lathe/internal/msg"
	"lathe/internal/provider"
	"lathe/internal/turn"
)

// The retry table. What a failure leads to depends on its class and on how often it came already:
//
//	rate        429                               retry-after, else back-off; 4 tries
//	overloaded  529                               longer back-off; 6 tries; then the next fall-back model
//	server      5xx, no connection                back-off; 8 tries
//	absent      no server at an address of the    back-off; 4 tries, some 3 s: it may be starting, but is more
//	            user's that never answered        likely not running, or the address is wrong
//	broken      a stream that ended or made no    once more; then once more without streaming
//	            sense after it began
//	silent      nothing for the idle limit        once more without streaming
//	fast        one of fast mode alone: its limit,    the standard speed, once
//	            or that the API does not take it
//	auth        401                               a new key, once
//	long        the prompt does not fit           smaller, once
//	thinking    a 400 about a thinking block      once with what no longer fits dropped by the API; once without
//	final       everything else                   no retry

type class int

const (
	final class = iota
	rate
	overloaded
	server
	absent
	broken
	silent
	auth
	long
	thinking
)

// tries is how often a class is tried in all.
var tries = map[class]int{rate: 4, overloaded: 6, server: 8, absent: 4, broken: 3, silent: 2}

// total bounds the retries of one answer, whatever their mixture.
const total = 10

func classOf(e *provider.Error, got bool) class {
	switch e.Kind {
	case provider.RateLimit:
		return rate
	case provider.Overloaded:
		return overloaded
	case provider.Server:
		return server
	case provider.Network:
		if got {
			return broken
		}
		return server
	case provider.Absent:
		return absent
	case provider.Truncated, provider.Malformed:
		return broken
	case provider.Idle:
		return silent
	case provider.Auth:
		return auth
	case provider.TooLong, provider.TooLarge:
		return long
	case provider.Thinking400:
		return thinking
	case provider.Invalid:
		if aboutMedia(e) {
			return long
		}
	}
	return final
}

// history is what was tried for one answer.
type history struct {
	failed    map[class]int
	retries   int
	calls     int
	refreshed bool
	stripped  bool
	dropping  bool // the API was asked to drop blocks
	lowered   bool
}

// answer calls the provider until there is an answer, or a failure that no retry can mend.
func (p *pass) answer(ctx context.Context) error {
	p.req.NoStream = false
	h := &history{failed: map[class]int{}}
	for last := (step{}); ; {
		h.calls++
		a := &attempt{p: p, n: h.calls, waited: last.wait, why: last.text}
		p.cur = a
		err := a.run(ctx)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err == nil {
			if h.dropping && p.deps.DropMismatch != nil {
				p.deps.DropMismatch(p.t) // it helped
			}
			p.blocks = append(p.blocks, a.blocks...)
			return nil
		}
		e := apiError(err)
		if e == nil {
			return err // ours: the disk, a front end
		}
		if a.started {
			return p.goOn(a, e)
		}
		plan, ok, err := p.plan(ctx, h, e, a.got)
		if err != nil {
			return err
		}
		if !ok {
			return e
		}
		if err := p.again(ctx, a, e, plan); err != nil {
			return err
		}
		last = plan
		if last.text == "" {
			last.text = string(e.Kind)
		}
	}
}

// step is what comes before the next try.
type step struct {
	wait         time.Duration
	attempt, max int // as shown
	text         string
}

// plan decides what a failure leads to. It changes the request where the next try differs. ok is false when
// there is no next try.
func (p *pass) plan(ctx context.Context, h *history, e *provider.Error, got bool) (s step, ok bool, err error) {
	c := classOf(e, got)
	h.failed[c]++
	if s, ok := p.planStandard(h, c, e); ok {
		return s, true, nil
	}
	switch c {
	case auth:
		return p.planAuth(ctx, h)
	case long:
		return p.planLong(ctx, h, e)
	case thinking:
		return p.planThinking(h, e)
	case final:
		if h.dropping && e.Kind == provider.Invalid {
			return p.planThinking(h, e) // it does not know how to drop them
		}
		return p.planLower(e)
	}
	n := h.failed[c]
	limit := p.limit(c)
	if e.NoRetry || n > limit || h.retries >= p.budget() || e.After > p.conf.MaxWait {
		return p.planFallback(h, c)
	}
	h.retries++
	s = step{attempt: n, max: limit, wait: p.delay(c, n, e.After)}
	if c == silent || c == broken && n >= 2 {
		if !p.conf.StreamOnly {
			p.req.NoStream = true
			s.text, s.wait = "asking once more without streaming", 0
		}
	}
	return s, true, nil
}

// limit is how many retries a class has.
func (p *pass) limit(c class) int {
	switch n := p.conf.MaxRetries; {
	case n < 0:
		return 0
	case n > 0 && c != broken && c != silent:
		return n
	}
	return tries[c] - 1
}

func (p *pass) budget() int {
	switch n := p.conf.MaxRetries; {
	case n < 0:
		return 0
	case n > 0:
		return n
	}
	return total
}

// delay is the wait before retry n of a class: what the server asks for, else exponential with jitter.
func (p *pass) delay(c class, n int, after time.Duration) time.Duration {
	if after > 0 {
		return after
	}
	base, longest := p.conf.Base, 32*time.Second
	switch c {
	case rate:
		base *= 2
	case overloaded:
		base, longest = p.conf.OverloadedBase, p.conf.OverloadedMax
	}
	d := min(base<<min(n-1, 20), longest)
	return d - time.Duration(p.deps.Rand()*float64(d)/4)
}

// fastPatience is the longest wait that is kept to in fast mode: to change the speed loses the prompt cache twice.
const fastPatience = 20 * time.Second

// planStandard asks at the standard speed where fast mode is what was refused.
func (p *pass) planStandard(h *history, c class, e *provider.Error) (step, bool) {
	limit := c == rate && (e.After > fastPatience || h.failed[rate] > 1)
	if !p.req.Fast || !limit && !(e.Kind == provider.Invalid && aboutSpeed(e)) {
		return step{}, false
	}
	p.req.Fast = false
	p.req.Betas = slices.DeleteFunc(slices.Clone(p.req.Betas), func(b string) bool { return strings.HasPrefix(b, "fast-mode-") }) // it may be what was refused
	delete(h.failed, c)
	if p.deps.Slow != nil {
		p.deps.Slow(p.t, limit, e.After)
	}
	p.t.Note("fast mode was refused: the standard speed from here on")
	text := "fast mode is not to be had here: going on at the standard speed"
	if limit {
		text = "the limit of fast mode is reached: going on at the standard speed for now"
	}
	return step{attempt: 1, max: 1, text: text}, true
}

// aboutSpeed reports whether a refusal names the speed, or the feature that it needs.
func aboutSpeed(e *provider.Error) bool {
	m := strings.ToLower(e.Message)
	return strings.Contains(m, "speed") || strings.Contains(m, "fast mode") || strings.Contains(m, "fast-mode")
}

// planAuth gets a new key, once.
func (p *pass) planAuth(ctx context.Context, h *history) (step, bool, error) {
	if h.refreshed || p.deps.Refresh == nil {
		return step{}, false, nil
	}
	h.refreshed = true
	can, err := p.deps.Refresh(ctx)
	if err != nil {
		if ctx.Err() != nil {
			return step{}, false, context.Cause(ctx)
		}
		p.t.Note("no new key: %v", err)
		return step{}, false, nil
	}
	return step{attempt: 1, max: 1, text: "trying again with a new key from the key helper"}, can, nil
}

// planLong makes room, once: by a lower output limit where that is what does not fit, else by compaction.
func (p *pass) planLong(ctx context.Context, h *history, e *provider.Error) (step, bool, error) {
	if n := roomFor(e.Message); !h.lowered && n > p.req.Thinking.Budget && n >= 1024 && n < p.req.MaxTokens {
		h.lowered = true
		p.req.MaxTokens = n
		return step{attempt: 1, max: 1, text: fmt.Sprintf("trying again with an output limit of %d tokens", n)}, true, nil
	}
	if aboutMedia(e) {
		if done, err := p.dropMedia(ctx); done || err != nil {
			return step{attempt: 1, max: 1, text: "images and documents were left out; trying again"}, done, err
		}
		if e.Kind == provider.Invalid {
			return step{}, false, nil
		}
	}
	done, err := p.shrink(ctx, promptOf(e.Message))
	return step{attempt: 1, max: 1, text: "the conversation was compacted; trying again"}, done, err
}

// planLower goes back to the output limit that was asked for first, when the model refuses the raised one.
func (p *pass) planLower(e *provider.Error) (step, bool, error) {
	if p.lower == 0 || e.Kind != provider.Invalid || !strings.Contains(e.Message, "max_tokens") {
		return step{}, false, nil
	}
	p.req.MaxTokens, p.lower, p.refused = p.lower, 0, true
	return step{attempt: 1, max: 1, text: fmt.Sprintf("trying again with the output limit of %d tokens", p.req.MaxTokens)}, true, nil
}

// shrink has the conversation compacted, once a pass, and takes up the new request.
func (p *pass) shrink(ctx context.Context, counted int) (bool, error) {
	if p.shrunk || p.deps.Reduce == nil {
		return false, nil
	}
	p.shrunk = true
	changed, err := p.deps.Reduce(ctx, p.t, counted)
	if err != nil || !changed {
		var stop *turn.Stop
		switch {
		case ctx.Err() != nil:
			return false, context.Cause(ctx)
		case errors.As(err, &stop):
			return false, err
		}
		p.t.Note("compaction did not help: %v", err)
		return false, nil
	}
	p.load()
	return true, nil
}

// planThinking has the API drop the blocks that no longer fit, where it can; else, and where that does not help, it
// drops all thinking blocks itself: only those from the first bad one on would leave the others to fail next. Either
// way once, and for the rest of the session.
func (p *pass) planThinking(h *history, e *provider.Error) (step, bool, error) {
	if think := p.req.Thinking; !h.dropping && !h.stripped && think.OnMismatch == "" && p.deps.DropMismatch != nil &&
		(think.Type == "adaptive" || think.Type == "enabled") && aboutBlock(e) {
		h.dropping = true
		p.req.Thinking.OnMismatch = "drop_block"
		return step{attempt: 1, max: 1, text: "trying again, the earlier thinking that no longer fits being dropped"}, true, nil
	}
	if h.stripped {
		return step{}, false, nil
	}
	if h.dropping {
		p.req.Thinking.OnMismatch, h.dropping = "", false
	}
	h.stripped = true
	p.req.Messages = withoutThinking(p.req.Messages)
	if p.deps.DropThinking != nil {
		p.deps.DropThinking(p.t)
	}
	return step{attempt: 1, max: 1, text: "trying again without the earlier thinking"}, true, nil
}

// aboutBlock reports whether the API speaks of a block that does not fit its prefix. One that was changed is refused
// whatever the API may drop.
func aboutBlock(e *provider.Error) bool {
	m := strings.ToLower(e.Message)
	return !strings.Contains(m, "cannot be modified") && !strings.Contains(m, "signature")
}

// withoutThinking returns the messages without thinking blocks. Messages keep their places, since breakpoints
// count them: one that was thinking alone says so in a few words.
func withoutThinking(ms []provider.Message) []provider.Message {
	out := make([]provider.Message, len(ms))
	for i, m := range ms {
		out[i] = provider.Message{Role: m.Role}
		for _, b := range m.Content {
			if !b.IsThinking() {
				out[i].Content = append(out[i].Content, b)
			}
		}
		if len(out[i].Content) == 0 {
			out[i].Content = []msg.Block{msg.Text("(thinking only)")}
		}
	}
	return out
}

// planFallback changes to the next model when this one stays overloaded. Where it stands in the list is told by the
// turn's model; the request's may be spelt otherwise.
func (p *pass) planFallback(h *history, c class) (step, bool, error) {
	if c != overloaded {
		return step{}, false, nil
	}
	at := -1 // its last place: a list may name a model twice, and must end all the same
	for i, m := range p.deps.Fallback {
		if m == p.t.Model {
			at = i
		}
	}
	if at+1 >= len(p.deps.Fallback) {
		return step{}, false, nil
	}
	next := p.deps.Fallback[at+1]
	from := p.req.Model
	p.req.Model, p.t.Model = next, next
	if p.deps.Retarget != nil {
		p.deps.Retarget(p.t, p.req, next)
	}
	clear(h.failed)
	h.retries = 0
	p.t.Note("%s is overloaded: %s answers from here on", from, next)
	if err := p.t.Emit(event.ModelChanged{Model: next, Reason: from + " is overloaded"}); err != nil {
		return step{}, false, err
	}
	return step{attempt: 1, max: 1, text: "changing to " + next}, true, nil
}

// again withdraws what came of the failed attempt, tells the person what happens, and waits.
func (p *pass) again(ctx context.Context, a *attempt, e *provider.Error, s step) error {
	if err := p.withdraw(a, e.Error()); err != nil {
		return err
	}
	ev := event.Retry{Attempt: s.attempt, Max: s.max, Delay: s.wait, Status: e.Status, Category: category(e.Kind), Text: e.Error()}
	if s.text != "" {
		ev.Text += ": " + s.text
	}
	p.t.Note("attempt failed (%s): %s", e.Kind, ev.Line())
	err := p.t.Emit(ev)
	if err != nil || s.wait <= 0 {
		return err
	}
	return p.deps.Sleep(ctx, s.wait)
}

// goOn takes what is whole of a broken answer as the answer: a call of it runs already, and asking again would
// run it twice.
func (p *pass) goOn(a *attempt, e *provider.Error) error {
	p.t.Note("the stream broke after a call was started: %s", e.Error())
	err := a.keepPartial()
	a.asm.stop = "tool_use"
	p.blocks = append(p.blocks, a.blocks...)
	notice := p.notice("warning", "The answer broke off ("+e.Error()+"). The tool calls that were complete go on.")
	return errors.Join(err, notice)
}
