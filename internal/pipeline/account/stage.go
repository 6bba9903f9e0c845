package account

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"lathe/internal/event"
	"lathe/internal/msg"
	"lathe/internal/turn"
)

// Run is the stage. It runs whatever ended the turn, and does all its parts even if one fails: the stop hooks, the
// interruption note, the totals, the result, the event.
func (l *Ledger) Run(ctx context.Context, t *turn.Turn) error {
	var errs []error
	goOn, err := l.task(t)
	if !goOn && err == nil {
		goOn, err = l.hooks(ctx, t)
	}
	if goOn {
		return err
	}
	if err != nil {
		errs = append(errs, err)
	}
	if err := note(t); err != nil {
		errs = append(errs, err)
	}
	if err := l.warn(t); err != nil {
		errs = append(errs, err)
	}
	r := l.result(t)
	l.parent.refuse(r.Denials)
	if l.deps.Keep != nil {
		if err := l.deps.Keep(KeepKind, l.Totals()); err != nil {
			errs = append(errs, fmt.Errorf("keep the cost: %w", err))
		}
	}
	t.Result = &r
	if err := t.Emit(event.TurnDone{Result: r}); err != nil {
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// refuse takes over the denials of a sub-agent's turn for the next result. A nil ledger is nobody's.
func (l *Ledger) refuse(denials []event.Denial) {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.refused = append(l.refused, denials...)
}

// note tells the model, in the conversation, that it was interrupted, so that the next request makes sense to it.
// Nothing is told when nothing had been asked yet.
func note(t *turn.Turn) error {
	if t.Stop == nil || t.Step == 0 {
		return nil
	}
	text := ""
	switch t.Stop.Terminal {
	case "aborted_streaming":
		text = msg.Interrupted
	case "aborted_tools":
		text = msg.InterruptedTools
	default:
		return nil
	}
	return t.Append(msg.Message{Kind: msg.KindUser, Blocks: []msg.Block{msg.Text(text)}})
}

// result closes the turn's accounts and builds its result.
func (l *Ledger) result(t *turn.Turn) event.Result {
	l.mu.Lock()
	defer l.mu.Unlock()
	r := event.Result{
		Subtype: event.Success, Terminal: "completed", Text: answerText(t),
		Turns: l.turns[t.ID], Dur: t.Now().Sub(t.Started), APIDur: t.APIDur, TTFT: t.TTFT,
		Origin: t.Input.Origin, Usage: t.Usage, Denials: t.Denials, Structured: t.Structured,
	}
	r.Denials, l.refused = slices.Concat(r.Denials, l.refused), nil
	if t.Reply != nil {
		r.StopReason = t.Reply.StopReason
	}
	stop := t.Stop
	if limit, spent := l.budget(); stop == nil && limit > 0 && spent > limit {
		stop = overBudget(limit) // the last answer went over it
	}
	if stop != nil {
		ended(&r, stop)
	}
	l.settle(t.ID)
	delete(l.turns, t.ID)
	delete(l.held, t.ID)
	delete(l.tasks, t.ID)
	l.took(t.APIDur)
	l.totals.Wall += r.Dur
	for i := len(t.Messages) - 1; i >= 0; i-- {
		if m := t.Messages[i]; m.Kind == msg.KindAssistant && m.APIID != "" && m.APIError == "" {
			l.totals.Last = m.APIID
			break
		}
	}
	l.totals.At = t.Now()
	if l.deps.Fast != nil {
		r.Fast = l.deps.Fast()
	}
	r.Cost, r.LinesAdded, r.LinesRemoved = l.totals.Cost, l.totals.Added, l.totals.Removed
	r.ModelUsage = make(map[string]event.ModelUsage, len(l.totals.Models))
	for name, m := range l.totals.Models {
		info := l.deps.Price.Info(name)
		r.ModelUsage[name] = event.ModelUsage{
			Input: m.Input, Output: m.Output, CacheRead: m.CacheRead, CacheWrite: m.CacheWrite,
			WebSearch: m.WebSearch, Cost: m.Cost, Window: info.Window, MaxOutput: info.MaxOutput,
		}
	}
	return r
}

// ended puts the reason for which the turn was stopped into the result.
func ended(r *event.Result, stop *turn.Stop) {
	if stop.Fine {
		r.Terminal = stop.Terminal
		if stop.Deferred != nil {
			r.Deferred, r.StopReason = stop.Deferred, stop.Terminal
		}
		return
	}
	if stop.Deferred != nil {
		r.Deferred, r.StopReason = stop.Deferred, stop.Terminal
	}
	if stop.Reason != "" {
		r.StopReason = stop.Reason
	}
	r.IsError, r.Subtype, r.Terminal, r.APIStatus = true, stop.Subtype, stop.Terminal, stop.Status
	if r.Subtype == "" {
		r.Subtype = event.ErrDuring
	}
	if r.Subtype == event.Success { // a failed call: the text says why
		r.Text = stop.Error()
		return
	}
	if r.Errors = stop.Errors; len(r.Errors) == 0 {
		r.Errors = []string{stop.Error()}
	}
}

// answerText is the text of the last answer, or of what ran instead of a model.
func answerText(t *turn.Turn) string {
	if t.Text != "" || t.Reply == nil {
		return t.Text
	}
	return t.Reply.Message.Text()
}
