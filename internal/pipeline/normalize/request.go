package normalize

import (
	"context"
	"encoding/json"
	"slices"

	"lathe/internal/event"
	"lathe/internal/msg"
	"lathe/internal/price"
	"lathe/internal/provider"
	"lathe/internal/turn"
)

// Thinking says how a session wants the model to think.
type Thinking int

// The choices. Models that always think do so whatever is chosen.
const (
	ThinkDefault Thinking = iota // as the model's table says: adaptive where it can be, else with a budget
	ThinkOff
	ThinkOmit // send no thinking parameter at all
)

// DefaultMaxTokens is the answer's limit where the model allows so much. It is far above what an answer needs,
// and far below the limit of current models, so that a run-away answer ends. The model stage raises it when an
// answer was cut.
const DefaultMaxTokens = 32_000

// The thinking budgets of models that need one, in tokens.
const (
	minBudget     = 1024
	defaultBudget = 16_000
	ultraBudget   = 31_999
)

// Config are the session's settings for requests.
type Config struct {
	MaxTokens int // of the answer; 0: DefaultMaxTokens. The model's own limit holds.

	Thinking     Thinking
	Budget       int    // thinking tokens for models with a budget; 0: a default
	Display      string // of thinking: "", summarized, omitted
	NoAdaptive   bool   // use a budget where the model takes both
	NoInterleave bool   // do not ask for thinking between calls on models that need a feature header for it
	Effort       string // "": what the model's table says; a turn's own effort wins

	NoCache bool // no cache marks
	Limits  Limits
	Betas   []string
	Extra   map[string]json.RawMessage

	memo *memo
}

// Deps is what the stage needs from the session. A nil function means no.
type Deps struct {
	Info func(model string) price.Info // what is known of a model
	// ID turns a model's name into the id to send. nil: the name is the id.
	ID func(model string) string
	// DropMismatch reports that the API refused thinking of this session once, so that it is asked to drop what
	// no longer fits; DropThinking, that no thinking is to be sent at all.
	DropMismatch func() bool
	// Adjust changes the settings of a request that is about to be made, as a host wants it now. Nil: nothing is changed.
	Adjust func(c *Config)
	// NoThinking reports that the person switched thinking off for now.
	NoThinking func() bool
	// Fast reports that the person wants fast mode now, where the model has it.
	Fast         func() bool
	DropThinking func() bool
	// Foreign reports messages that another provider made.
	Foreign func(m msg.Message) bool
}

// New returns the stage for one session. It reads the turn's view, system prompt, tools, model and effort, and writes Request.
func New(d Deps, cfg Config) func(ctx context.Context, t *turn.Turn) error {
	cfg.memo = newMemo()
	return func(_ context.Context, t *turn.Turn) error {
		req, changes := build(d, cfg, t, false)
		for _, c := range changes {
			t.Note("%s", c)
		}
		t.Request = req
		fault := Check(req)
		if fault == nil {
			return nil
		}
		flat, _ := build(d, cfg, t, true)
		if Check(flat) != nil { // the history is not to blame: the API has the last word on what the request is
			t.Note("the request breaks a rule: %v", fault)
			return nil
		}
		t.Request = flat
		t.Note("the request broke a rule (%v): tool calls are sent as text", fault)
		return t.Emit(event.Notice{Level: "warning", Text: "The history of this session breaks a rule of the API in a way that could not be repaired (" +
			fault.Error() + "). It is sent as plain text; nothing in the session file was changed."})
	}
}

func build(d Deps, cfg Config, t *turn.Turn, flatten bool) (*provider.Request, []Change) {
	info := d.Info(t.Model)
	r := Rules{
		Model: info, Limits: cfg.Limits, Foreign: d.Foreign, Flatten: flatten,
		DropThinking: d.DropThinking != nil && d.DropThinking(),
		System:       len(t.System), Static: t.Static, NoCache: cfg.NoCache, OneHour: t.CacheHour, memo: cfg.memo,
	}
	for _, def := range t.Tools {
		r.Tools = append(r.Tools, def.Name)
	}
	req := &provider.Request{System: t.System, Tools: t.Tools, SessionID: t.Session, Extra: cfg.Extra}
	d.parameters(cfg, t, req, t.Model)
	var changes []Change
	req.Messages, req.Breakpoints, changes = Normalize(t.View, r)
	return req, changes
}

// Retarget returns a function that changes a request to another model, for the model stage's fall-back: what the
// model takes differs, the conversation stays what it is.
func Retarget(d Deps, cfg Config) func(t *turn.Turn, req *provider.Request, model string) {
	return func(t *turn.Turn, req *provider.Request, model string) { d.parameters(cfg, t, req, model) }
}

// parameters sets what depends on the model.
func (d Deps) parameters(cfg Config, t *turn.Turn, req *provider.Request, model string) {
	info := d.Info(model)
	if d.Adjust != nil {
		d.Adjust(&cfg)
	}
	req.Model, req.MaxTokens, req.Betas = model, cfg.maxTokens(info), cfg.Betas
	if d.ID != nil {
		req.Model = d.ID(model)
	}
	effort := cfg.Effort
	if t.Effort != "" {
		effort = t.Effort
	}
	req.Effort = info.Clamp(effort)
	if cfg.Thinking == ThinkDefault && d.NoThinking != nil && d.NoThinking() {
		cfg.Thinking = ThinkOff
	}
	req.Thinking = cfg.thinking(info, req.MaxTokens, t.Ultra)
	if req.Thinking.Type == "disabled" && (req.Effort == "xhigh" || req.Effort == "max") {
		req.Effort = info.Clamp("high") // the higher levels are refused without thinking
	}
	if sends := req.Thinking.Type == "adaptive" || req.Thinking.Type == "enabled"; sends && d.DropMismatch != nil && d.DropMismatch() {
		req.Thinking.OnMismatch = "drop_block"
	}
	if req.Fast = info.Quick() && d.Fast != nil && d.Fast(); req.Fast && info.Fast.Beta != "" {
		req.Betas = append(slices.Clone(cfg.Betas), info.Fast.Beta)
	}
	if req.Thinking.Type == "enabled" && info.Thinking.Interleave && !cfg.NoInterleave {
		req.Betas = append(slices.Clone(req.Betas), "interleaved-thinking-2025-05-14")
	}
}

func (c Config) maxTokens(m price.Info) int {
	n := c.MaxTokens
	if n <= 0 {
		n = DefaultMaxTokens
	}
	return min(n, m.MaxOutput)
}

// thinking picks the parameter that the model takes; sending a kind that it does not take is an error there.
func (c Config) thinking(m price.Info, maxTokens int, ultra bool) provider.Thinking {
	can := m.Thinking
	switch {
	case c.Thinking == ThinkOmit:
		return provider.Thinking{}
	case c.Thinking == ThinkOff && !can.Always:
		if can.On {
			return provider.Thinking{Type: "disabled"}
		}
		return provider.Thinking{}
	case can.Adaptive && !(c.NoAdaptive && can.Extended):
		return provider.Thinking{Type: "adaptive", Display: c.Display}
	case can.Extended:
		budget := c.Budget
		if budget <= 0 {
			budget = defaultBudget
		}
		if ultra {
			budget = max(budget, ultraBudget)
		}
		budget = max(min(budget, maxTokens-1), minBudget)
		if budget >= maxTokens {
			return provider.Thinking{} // no room to think
		}
		return provider.Thinking{Type: "enabled", Budget: budget, Display: c.Display}
	}
	return provider.Thinking{}
}
