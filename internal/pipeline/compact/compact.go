package compact

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"lathe/internal/event"
	"lathe/internal/msg"
	"lathe/internal/price"
	"lathe/internal/token"
	"lathe/internal/turn"
)

// reserve is how many tokens below the window a call is refused when nothing may be compacted.
const reserve = 3000

// Deps is what the stage needs. All but Info may be nil.
type Deps struct {
	Info   func(model string) price.Info
	Budget *Budget // of tool results; nil: there is none
	NewID  func() string
	// Summarise asks the model of the turn for an answer to view and one more user message, with the same system
	// prompt and tools, and returns its text. Nil: there is no autocompact.
	Summarise func(ctx context.Context, t *turn.Turn, view []msg.Message, instruction string) (string, error)
	// TooLong reports an error that says that the view does not fit.
	TooLong func(err error) bool
	// ReadFile reads a text file again, as the model would; an error leaves it out.
	ReadFile func(ctx context.Context, path string) (string, error)
	Todos    func() string // the to-do list in words, "" when there is nothing to do
	Tasks    func() string // what runs in the background, "" for nothing
	// Before is asked before a compaction (trigger auto or manual); a block prevents it. After is told of it.
	Before     func(ctx context.Context, t *turn.Turn, trigger, focus string) turn.Hooked
	After      func(ctx context.Context, t *turn.Turn, trigger, summary string) turn.Hooked
	Transcript func() string                 // where the whole conversation is kept, "" for nowhere
	Earlier    func() ([]msg.Message, error) // what stands before the conversation in memory, for undo
	Guard      Guard                         // as it was kept last
	KeepGuard  func(Guard) error             // stores it with the session, so that the next process goes on alike
}

// Config are the stage's settings.
type Config struct {
	Off     []string // names of steps that are switched off
	Always  []string // names of steps that are taken whatever they cost, on each pass; for comparison
	Reserve int      // 0: 3,000 tokens

	Auto       bool // compact when the window forces it; without it nothing is left out of the view
	AutoWindow int  // tokens; takes the place of the model's window where it is smaller; 0: the model's
	Percent    int  // of the window at which to compact, if that is earlier; 0: as the window says

	NoCache  bool          // requests have no cache marks
	Lifetime time.Duration // of what is cached: 5 minutes or 1 hour; 0: by price, turn by turn
	Pins     []string      // texts that mark a user message as pinned, beside #pin
}

// Stage is stage 5 of one session.
type Stage struct {
	deps  Deps
	cfg   Config
	steps []Step // without the boundary and those that are off

	mu      sync.Mutex
	guard   Guard
	told    string // what was said last of a context that cannot be made smaller
	blocked string // turn in which a hook did not want a compaction
}

// NewStage returns the stage of a session.
func NewStage(d Deps, cfg Config) *Stage {
	if cfg.Reserve == 0 {
		cfg.Reserve = reserve
	}
	steps := slices.DeleteFunc(Steps(), func(s Step) bool { return s.Name == "boundary" || slices.Contains(cfg.Off, s.Name) })
	return &Stage{deps: d, cfg: cfg, steps: steps, guard: d.Guard}
}

// Budget is the budget of tool results; nil when there is none.
func (s *Stage) Budget() *Budget { return s.deps.Budget }

// Threshold is the number of tokens from which on the conversation is compacted.
func (c Config) Threshold(window int) int {
	w := window
	if c.AutoWindow > 0 {
		w = min(w, c.AutoWindow)
	}
	limit := w - min(13_000, w/10)
	if c.Percent > 0 && c.Percent < 100 {
		limit = min(limit, w*c.Percent/100)
	}
	return limit
}

// sight is what one pass sees of the conversation.
type sight struct {
	whole []msg.Message // what follows the last boundary
	view  []msg.Message // the same with the edits that were kept
	set   Settings
	info  price.Info
	of    func(model string) price.Info
	size  int // tokens, with system prompt and tools
	limit int // from which on to compact

	counted bool // the provider's count is in size
}

// look derives the view from the conversation: what follows the last boundary, with the edits that were kept.
func (s *Stage) look(t *turn.Turn) sight {
	info := s.deps.Info(t.Model)
	c := token.Counter{New: info.NewTokenizer}
	v := sight{info: info, of: s.deps.Info, limit: s.cfg.Threshold(info.Window), set: Settings{
		Window: info.Window, Counter: c, Pins: s.cfg.Pins, Recent: 6, Overhead: c.Blocks(t.System) + c.Tools(t.Tools), known: map[sizeKey]int{},
	}}
	v.set.Target = v.limit * 6 / 10
	v.view = t.Messages[:len(t.Messages):len(t.Messages)]
	if !slices.Contains(s.cfg.Off, "boundary") {
		var r Report
		if v.view, r = Boundary(v.view, v.set); r.FirstChanged >= 0 {
			t.Note("boundary: %d tokens instead of %d", r.TokensAfter, r.TokensBefore)
		}
	}
	v.whole = v.view
	v.view = Edited(v.view)
	v.size, v.counted = size(v.view, c)
	if !v.counted {
		v.size += v.set.Overhead
	}
	if t.Step > 1 && v.size >= v.limit/2 {
		v.set.Running = v.size / 4
	}
	return v
}

// Run is the stage.
func (s *Stage) Run(ctx context.Context, t *turn.Turn) error {
	if s.deps.Budget != nil {
		s.deps.Budget.next()
	}
	v := s.look(t)
	defer func() { t.View = v.view }()
	s.chooseLife(t, v)
	if !s.auto() {
		return s.fits(t, v)
	}
	if err := s.optional(t, &v); err != nil {
		return err
	}
	t.Note("about %d of %d tokens, compacted from %d on", v.size, v.info.Window, v.limit)
	if v.size < v.limit {
		return nil
	}
	if err := s.forced(ctx, t, &v); err != nil {
		return err
	}
	if !s.auto() || v.size > v.info.Window*11/10 { // by more than an estimate may err
		return s.fits(t, v)
	}
	return nil
}

// chooseLife sets how long the prompt cache keeps what this turn adds.
func (s *Stage) chooseLife(t *turn.Turn, v sight) {
	switch {
	case s.cfg.NoCache || t.Step > 1:
	case s.cfg.Lifetime != 0:
		t.CacheHour = s.cfg.Lifetime >= longLife
	default:
		var why string
		t.CacheHour, why = v.hour(s.steps, v.rates())
		t.Note("cache for an hour: %t (%s)", t.CacheHour, why)
	}
}

// auto reports whether anything may be left out without being asked.
func (s *Stage) auto() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.cfg.Auto && s.deps.Summarise != nil && !s.guard.Off()
}

// fits refuses a call that would not fit. Nothing is lost: the conversation stays as it is.
func (s *Stage) fits(t *turn.Turn, v sight) error {
	t.Note("about %d of %d tokens", v.size, v.info.Window)
	if v.size < v.info.Window-s.cfg.Reserve {
		return nil
	}
	text := fmt.Sprintf("Context full: the conversation has about %d tokens and the window of %s holds %d. Nothing was sent and nothing is lost: "+
		"use /compact, start a new session, resume with a model that has a larger window, or attach less. %s", v.size, t.Model, v.info.Window, v.largest(t))
	return &turn.Stop{Subtype: event.ErrDuring, Terminal: "blocking_limit", Errors: []string{text}}
}

// optional takes the steps that are always taken, and then those that pay: now and then, since to look costs time too.
func (s *Stage) optional(t *turn.Turn, v *sight) error {
	if err := s.always(t, v); err != nil {
		return err
	}
	if t.Step > 1 && t.Step%8 != 0 && v.set.Running == 0 {
		return nil
	}
	if p := s.best(t, *v); p != nil {
		return s.follow(t, v, p)
	}
	return nil
}

func (s *Stage) always(t *turn.Turn, v *sight) error {
	defer func(n int) { v.set.Running = n }(v.set.Running)
	v.set.Running = 0 // the results of a running turn go by price only
	for _, step := range s.steps {
		if !slices.Contains(s.cfg.Always, step.Name) {
			continue
		}
		p := s.plan(t, *v, []Step{step})
		if p == nil || p.price.Saved <= 0 {
			continue
		}
		p.why = "It is always taken."
		if err := s.follow(t, v, p); err != nil {
			return err
		}
	}
	return nil
}

// take keeps an edit with the conversation and goes on with the view that it makes.
func (s *Stage) take(t *turn.Turn, v *sight, out []msg.Message, r Report, p Price, why string) error {
	e := *r.Edit
	e.Why, e.Price, e.Saved = why, &p, p.Saved
	if t.Step > 1 && !v.info.Binds && v.info.Thinking.Extended && !v.info.Thinking.Adaptive {
		e.KeepFrom = runningTurn(v.view)
		out, _ = e.apply(v.view, len(v.view))
	}
	m, err := e.record()
	if err != nil {
		return err
	}
	if err := t.Append(m); err != nil {
		return err
	}
	v.view = append(slices.Clip(out), t.Messages[len(t.Messages)-1])
	v.size = max(v.size-e.Saved, 0)
	return s.showTodos(t, v)
}

// runningTurn is the id of the first answer of the turn that runs; models without prefix binding want its thinking.
func runningTurn(view []msg.Message) string {
	id := ""
	for i := len(view) - 1; i >= 0 && !typed(view[i]); i-- {
		if view[i].Kind == msg.KindAssistant {
			id = view[i].ID
		}
	}
	return id
}

// isTodoWrite reports whether a call shows the whole list.
func isTodoWrite(b msg.Block) bool {
	return b.Type == msg.TypeToolUse && (b.Name == "TodoWrite" || b.Name == "TaskList")
}

// showTodos attaches the to-do list when the view has lost it.
func (s *Stage) showTodos(t *turn.Turn, v *sight) error {
	if s.deps.Todos == nil {
		return nil
	}
	text := s.deps.Todos()
	if text == "" {
		return nil
	}
	for _, m := range slices.Backward(t.Messages) {
		if m.Kind == msg.KindAttachment && m.Source == "todo" || slices.ContainsFunc(m.Blocks, isTodoWrite) {
			if indexOf(v.view, m.ID) >= 0 { // an older one that is left would be out of date
				return nil
			}
			break
		}
	}
	if err := t.Append(attachment("todo", fmt.Sprintf("%s %d", t.ID, t.Step), todoHead+text)); err != nil {
		return err
	}
	v.view = append(slices.Clip(v.view), t.Messages[len(t.Messages)-1])
	return nil
}
