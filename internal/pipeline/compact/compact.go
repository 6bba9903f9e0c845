package compact

import (
	"context"
	"fmt"
	"slices"

	"lathe/internal/event"
	"lathe/internal/price"
	"lathe/internal/token"
	"lathe/internal/turn"
)

// reserve is how many tokens below the window a call is refused.
const reserve = 3000

// Deps is what the stage needs.
type Deps struct {
	Info   func(model string) price.Info
	Budget *Budget // of tool results; nil: there is none
}

// Config are the stage's settings.
type Config struct {
	Off     []string // names of steps that are switched off
	Reserve int      // 0: 3,000 tokens
}

// New returns the stage. It reads the turn's messages and model, and writes View.
func New(d Deps, cfg Config) func(ctx context.Context, t *turn.Turn) error {
	if cfg.Reserve == 0 {
		cfg.Reserve = reserve
	}
	steps := slices.DeleteFunc(Steps(), func(s Step) bool { return slices.Contains(cfg.Off, s.Name) })
	return func(_ context.Context, t *turn.Turn) error {
		if d.Budget != nil {
			d.Budget.next()
		}
		info := d.Info(t.Model)
		s := Settings{Window: info.Window, Counter: token.Counter{New: info.NewTokenizer}}
		view := t.Messages[:len(t.Messages):len(t.Messages)]
		for _, step := range steps {
			var r Report
			if view, r = step.Apply(view, s); r.FirstChanged >= 0 {
				t.Note("%s: %d tokens instead of %d, changed from message %d on", step.Name, r.TokensAfter, r.TokensBefore, r.FirstChanged)
			}
		}
		t.View = view
		return cfg.fits(t, s)
	}
}

// fits refuses a call that would not fit. Nothing is lost: the conversation stays as it is.
func (c Config) fits(t *turn.Turn, s Settings) error {
	n, counted := size(t.View, s.Counter)
	if !counted {
		n += s.Counter.Blocks(t.System) + s.Counter.Tools(t.Tools)
	}
	t.Note("about %d of %d tokens", n, s.Window)
	if n < s.Window-c.Reserve {
		return nil
	}
	text := fmt.Sprintf("Context full: the conversation has about %d tokens and the window of %s holds %d. Nothing was sent and nothing is lost: "+
		"start a new session, resume with a model that has a larger window, or attach less.", n, t.Model, s.Window)
	return &turn.Stop{Subtype: event.ErrDuring, Terminal: "blocking_limit", Errors: []string{text}}
}
