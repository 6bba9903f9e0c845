package turn

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"lathe/internal/event"
	"lathe/internal/trace"
)

// Phase says how often a stage runs.
type Phase int

// The phases of a turn.
const (
	Once     Phase = iota + 1 // per prompt
	EachStep                  // per model call
	Last                      // when the turn is done, whatever ended it
)

// Stage is a row of the pipeline's table.
type Stage struct {
	Name   string
	When   Phase
	Writes []string // fields of Turn that it may change
	// Tools says that tools of the model run here: an interrupt ends them, and no answer.
	Tools bool
	Run   func(ctx context.Context, t *Turn) error
}

// Runner walks a turn through the stages.
type Runner struct {
	Stages []Stage
	Trace  *Tracer // nil: nothing is recorded
	Tell   bool    // emit StageDone events
	Now    func() time.Time
	// Step is called before each model call but the first. Nil: nothing is done.
	Step func(t *Turn)
	// Check, set in tests, sees the turn before and after each stage.
	Check func(s Stage, before, after *Turn)
}

// grace is how long the last stages may take after the turn's context ended.
const grace = 5 * time.Second

// Run walks t through the table: the Once stages, then the EachStep stages until the turn is done, then the
// Last stages. A stage's error ends the loop; the Last stages always run, with a context that an interrupt does
// not end, and see the cause in t.Stop. When they clear Done (a stop hook that demands more), the loop goes on.
func (r *Runner) Run(ctx context.Context, t *Turn) error {
	t.interrupted, t.unread = ctx.Done(), r.unwatched()
	t.tracer = r.Trace
	if r.Trace != nil {
		r.Trace.begin()
		defer r.Trace.end()
	}
	at, err := r.phase(ctx, t, Once)
	for {
		for err == nil && !t.Done {
			if err = context.Cause(ctx); err != nil {
				break
			}
			if t.Step++; t.Step > 1 && r.Step != nil {
				r.Step(t)
			}
			at, err = r.phase(ctx, t, EachStep)
		}
		t.Done = true
		if err != nil {
			t.Stop = asStop(ctx, at, err)
		}
		last, cancel := outlive(ctx)
		_, lastErr := r.phase(last, t, Last)
		cancel()
		if lastErr != nil {
			return lastErr
		}
		if t.Done || err != nil {
			return nil
		}
	}
}

// outlive returns a context that ends a grace after its parent did.
func outlive(ctx context.Context) (context.Context, context.CancelFunc) {
	last, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		timer := time.NewTimer(grace)
		defer timer.Stop()
		select {
		case <-timer.C:
			cancel()
		case <-last.Done():
		}
	})
	return last, func() { stop(); cancel() }
}

// phase runs the stages of a phase, and returns the one that it came to.
func (r *Runner) phase(ctx context.Context, t *Turn, p Phase) (at Stage, err error) {
	for _, s := range r.Stages {
		if s.When != p {
			continue
		}
		if t.Done && p != Last {
			return at, nil
		}
		at = s
		if err := r.stage(ctx, t, s); err != nil {
			return at, err
		}
	}
	return at, nil
}

// unwatched reports whether nobody wants to know what the stages do.
func (r *Runner) unwatched() bool { return r.Trace == nil && !r.Tell && r.Check == nil }

func (r *Runner) stage(ctx context.Context, t *Turn, s Stage) error {
	if r.unwatched() {
		return s.Run(ctx, t)
	}
	t.notes = nil
	before := *t
	var traced *Turn
	if r.Trace != nil {
		traced = copyOf(t)
	}
	rec := trace.Record{Session: t.Session, Turn: t.ID, Stage: s.Name, Step: t.Step, Start: r.Now()}
	start := time.Now()
	err := s.Run(ctx, t)
	rec.Dur = time.Since(start)
	if err != nil {
		rec.Err = err.Error()
	}
	if r.Check != nil {
		r.Check(s, &before, t)
	}
	if r.Trace != nil {
		for _, n := range t.notes {
			rec.Notes = append(rec.Notes, trace.Note{Text: n})
		}
		r.Trace.stage(rec, traced, copyOf(t), s.Writes)
	}
	if r.Tell {
		done := event.StageDone{Stage: s.Name, Step: t.Step, Dur: rec.Dur, Notes: t.notes, Err: rec.Err}
		if emitErr := t.Emit(done); err == nil {
			err = emitErr
		}
	}
	return err
}

// asStop turns whatever ended the loop, in or behind a stage, into a Stop. What went wrong beside it is told too.
func asStop(ctx context.Context, at Stage, err error) *Stop {
	cause := context.Cause(ctx)
	var stop *Stop
	switch {
	case errors.As(err, &stop):
		c := *stop
		stop = &c
	case cause != nil:
		reason := "aborted_streaming"
		if at.Tools {
			reason = "aborted_tools"
		}
		stop = &Stop{Subtype: event.ErrDuring, Terminal: reason, Errors: []string{cause.Error()}, Err: cause}
	default:
		return &Stop{Subtype: event.ErrDuring, Terminal: "error", Errors: []string{fmt.Sprint(err)}, Err: err}
	}
	if other := beside(err, cause); other != nil {
		if stop.Fine || stop.Subtype == event.Success { // it did not end well after all
			*stop = Stop{Subtype: event.ErrDuring, Terminal: "error", Errors: []string{stop.Error()}, Status: stop.Status, Err: stop.Err}
		}
		stop.Errors = append(slices.Clip(stop.Errors), other.Error())
		stop.Err = errors.Join(stop.Err, other)
	}
	return stop
}

// beside is what of an error is neither a Stop nor the end of the turn's context.
func beside(err, cause error) error {
	var stop *Stop
	ends := cause != nil && (errors.Is(err, cause) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded))
	if err == nil || !ends && !errors.As(err, &stop) {
		return err
	}
	if _, ok := err.(*Stop); ok {
		return nil
	}
	if list, ok := err.(interface{ Unwrap() []error }); ok {
		var rest []error
		for _, e := range list.Unwrap() {
			rest = append(rest, beside(e, cause))
		}
		return errors.Join(rest...)
	}
	return beside(errors.Unwrap(err), cause)
}
