package turn

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"lathe/internal/event"
)

// walk runs a turn through stages and returns the names of those that ran, and what was told.
func walk(t *testing.T, ctx context.Context, r *Runner) (ran []string, told []event.Event, tn *Turn, err error) {
	t.Helper()
	r.Now = time.Now
	for i, s := range r.Stages {
		run := s.Run
		r.Stages[i].Run = func(ctx context.Context, t *Turn) error {
			ran = append(ran, s.Name)
			if run == nil {
				return nil
			}
			return run(ctx, t)
		}
	}
	tn = New("t", "s", event.Prompt{}, nil, Services{Now: time.Now, Emit: func(e event.Event) error { told = append(told, e); return nil }})
	err = r.Run(ctx, tn)
	return ran, told, tn, err
}

func TestRun(t *testing.T) {
	done := func(_ context.Context, t *Turn) error { t.Done = true; return nil }
	third := func(_ context.Context, t *Turn) error { t.Done = t.Step == 3; return nil }
	boom := errors.New("boom")
	fails := func(context.Context, *Turn) error { return boom }
	again := func(_ context.Context, t *Turn) error { t.Done = t.Step > 1; return nil }
	for name, c := range map[string]struct {
		once, each, last func(context.Context, *Turn) error
		ran              string
		stop             *Stop
		err              error
	}{
		"until it is done":             {each: third, ran: "once each after each after each last"},
		"done before the first pass":   {once: done, ran: "once last"},
		"a stage fails":                {each: fails, ran: "once each last", stop: &Stop{Subtype: event.ErrDuring, Terminal: "error", Errors: []string{"boom"}, Err: boom}},
		"a stage stops it":             {each: func(context.Context, *Turn) error { return &Stop{Terminal: "x"} }, ran: "once each last", stop: &Stop{Terminal: "x"}},
		"the last one demands more":    {each: done, last: again, ran: "once each last each last"},
		"no more after a failure":      {each: fails, last: func(_ context.Context, t *Turn) error { t.Done = false; return nil }, ran: "once each last", stop: &Stop{Subtype: event.ErrDuring, Terminal: "error", Errors: []string{"boom"}, Err: boom}},
		"the last one cannot be saved": {each: done, last: fails, ran: "once each last", err: boom},
	} {
		t.Run(name, func(t *testing.T) {
			ran, _, tn, err := walk(t, t.Context(), &Runner{Stages: []Stage{
				{Name: "once", When: Once, Run: c.once}, {Name: "each", When: EachStep, Run: c.each}, {Name: "after", When: EachStep}, {Name: "last", When: Last, Run: c.last},
			}})
			if diff := cmp.Diff(c.ran, strings.Join(ran, " ")); diff != "" {
				t.Error(diff)
			}
			if !errors.Is(err, c.err) {
				t.Errorf("error %v, want %v", err, c.err)
			}
			got := tn.Stop
			if (got == nil) != (c.stop == nil) || got != nil && got.Error() != c.stop.Error() {
				t.Errorf("stop %+v, want %+v", got, c.stop)
			}
		})
	}
}

// An interrupt ends the loop; the last stages still run, with a context that has not ended, and can see it.
func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	stages := []Stage{
		{Name: "each", When: EachStep, Run: func(context.Context, *Turn) error { cancel(ErrInterrupted); return nil }},
		{Name: "last", When: Last, Run: func(ctx context.Context, tn *Turn) error {
			<-tn.Interrupted()
			return ctx.Err()
		}},
	}
	ran, _, tn, err := walk(t, ctx, &Runner{Stages: stages})
	if diff := cmp.Diff([]string{"each", "last"}, ran); diff != "" || err != nil {
		t.Errorf("%v, %s", err, diff)
	}
	if tn.Stop == nil || !errors.Is(tn.Stop, ErrInterrupted) {
		t.Errorf("stop %+v", tn.Stop)
	}
}

// An interrupt is named by the stage that it met, and hides nothing else that went wrong.
func TestStopsAreNamed(t *testing.T) {
	full := fmt.Errorf("write the transcript: %w", errors.New("no space left"))
	late := &Stop{Subtype: event.ErrDuring, Terminal: "aborted_streaming", Errors: []string{"interrupted"}, Err: ErrInterrupted}
	said := []string{"interrupted"}
	for name, c := range map[string]struct {
		met      string // the stage
		err      func(ctx context.Context) error
		terminal string
		errs     []string
		full     bool
	}{
		"before the first pass":     {met: "once", err: context.Cause, terminal: "aborted_streaming", errs: said},
		"in attachments":            {met: "attach", err: context.Cause, terminal: "aborted_streaming", errs: said},
		"behind attachments":        {met: "attach", err: func(context.Context) error { return nil }, terminal: "aborted_streaming", errs: said},
		"in a call of its own":      {met: "attach", err: func(ctx context.Context) error { return fmt.Errorf("ask: %w", ctx.Err()) }, terminal: "aborted_streaming", errs: said},
		"in tools":                  {met: "tools", err: context.Cause, terminal: "aborted_tools", errs: said},
		"behind tools":              {met: "tools", err: func(context.Context) error { return nil }, terminal: "aborted_tools", errs: said},
		"a stop":                    {met: "tools", err: func(context.Context) error { return late }, terminal: "aborted_streaming", errs: said},
		"a full disk":               {met: "attach", err: func(context.Context) error { return full }, terminal: "aborted_streaming", errs: append(said, full.Error()), full: true},
		"a full disk and its cause": {met: "tools", err: func(ctx context.Context) error { return errors.Join(full, context.Cause(ctx)) }, terminal: "aborted_tools", errs: append(said, full.Error()), full: true},
		"both, wrapped": {
			met: "tools", err: func(ctx context.Context) error { return fmt.Errorf("tools: %w", errors.Join(ctx.Err(), full)) },
			terminal: "aborted_tools", errs: append(said, full.Error()), full: true,
		},
		"a stop and a full disk": {met: "tools", err: func(context.Context) error { return errors.Join(full, late) }, terminal: "aborted_streaming", errs: append(said, full.Error()), full: true},
		"a failed answer and a full disk": {
			met: "tools", err: func(context.Context) error {
				return errors.Join(full, &Stop{Subtype: event.Success, Terminal: "api_error", Text: "refused"})
			},
			terminal: "error", errs: []string{"refused", full.Error()}, full: true,
		},
		"a good end and a full disk": {
			met: "tools", err: func(context.Context) error {
				return errors.Join(full, &Stop{Subtype: event.Success, Terminal: "hook_stopped", Text: "enough", Fine: true})
			},
			terminal: "error", errs: []string{"enough", full.Error()}, full: true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			stages := []Stage{{Name: "once", When: Once}, {Name: "attach", When: EachStep}, {Name: "tools", When: EachStep, Tools: true}}
			for i, s := range stages {
				stages[i].Run = func(ctx context.Context, tn *Turn) error {
					if s.Name != c.met {
						return nil
					}
					cancel(ErrInterrupted)
					return c.err(ctx)
				}
			}
			if c.met == "attach" { // nothing comes behind it
				stages = stages[:2]
			}
			_, _, tn, err := walk(t, ctx, &Runner{Stages: stages})
			if err != nil || tn.Stop == nil {
				t.Fatalf("%v, stop %+v", err, tn.Stop)
			}
			if d := cmp.Diff(c.errs, tn.Stop.Errors); d != "" || tn.Stop.Terminal != c.terminal || tn.Stop.Subtype != event.ErrDuring || tn.Stop.Fine {
				t.Errorf("%+v %s", tn.Stop, d)
			}
			if errors.Is(tn.Stop, full) != c.full || !errors.Is(tn.Stop, ErrInterrupted) && c.terminal != "error" {
				t.Errorf("its error: %v", tn.Stop.Err)
			}
		})
	}
	if len(late.Errors) != 1 || late.Err != ErrInterrupted {
		t.Errorf("a stage's own stop was changed: %+v", late)
	}
}

// Who does not hear of a stage any more ends the turn.
func TestStageThatNobodyHearsOf(t *testing.T) {
	gone := errors.New("nobody reads")
	var ran []string
	note := func(name string) func(context.Context, *Turn) error {
		return func(_ context.Context, tn *Turn) error {
			ran, tn.Done = append(ran, name), name == "last"
			return nil
		}
	}
	r := &Runner{Tell: true, Now: time.Now, Stages: []Stage{
		{Name: "first", When: EachStep, Run: note("first")}, {Name: "second", When: EachStep, Run: note("second")}, {Name: "last", When: Last, Run: note("last")},
	}}
	tn := New("t", "s", event.Prompt{}, nil, Services{Now: time.Now, Emit: func(event.Event) error { return gone }})
	err := r.Run(t.Context(), tn)
	if diff := cmp.Diff([]string{"first", "last"}, ran); diff != "" || !errors.Is(err, gone) || tn.Stop == nil || !errors.Is(tn.Stop, gone) {
		t.Errorf("%v, stop %+v, %s", err, tn.Stop, diff)
	}
}

// counted tells how often it was written out.
type counted struct{ n *int }

func (c counted) String() string { *c.n++; return "x" }

// Notes reach whoever watches the stages, and cost nothing where nobody does.
func TestNotes(t *testing.T) {
	for _, tell := range []bool{true, false} {
		written := 0
		note := func(_ context.Context, t *Turn) error {
			t.Note("note %s", counted{&written})
			t.Done = true
			return nil
		}
		_, told, _, err := walk(t, t.Context(), &Runner{Tell: tell, Stages: []Stage{{Name: "each", When: EachStep, Run: note}}})
		if err != nil {
			t.Fatal(err)
		}
		if !tell {
			if written != 0 || len(told) != 0 {
				t.Errorf("written %d times, told %+v", written, told)
			}
			continue
		}
		d, ok := told[0].(event.StageDone)
		if !ok || d.Stage != "each" || d.Step != 1 || !cmp.Equal(d.Notes, []string{"note x"}) {
			t.Errorf("told %+v", told)
		}
	}
}
