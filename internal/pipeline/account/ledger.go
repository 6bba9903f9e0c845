package account

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"sync"
	"time"

	"lathe/internal/event"
	"lathe/internal/msg"
	"lathe/internal/price"
	"lathe/internal/provider"
	"lathe/internal/token"
	"lathe/internal/turn"
)

// KeepKind is the kind of the state record that holds the totals (see session.Log.Keep).
const KeepKind = "cost"

// outputAllowance is what an answer is taken to cost before it came, in tokens: less than most, so that a budget
// is used up rather than left.
const outputAllowance = 500

// Deps is what the ledger needs.
type Deps struct {
	Price *price.Table
	Keep  func(kind string, v any) error // nil: nothing is kept
	// Stop is asked before a turn ends with an answer; again says that it has made the turn go on before. A block
	// makes it go on, its reason being the model's next instruction. Nil: nobody is asked.
	Stop func(ctx context.Context, t *turn.Turn, again bool) turn.Hooked
	// Failed is told of a turn that an API failure ended. Nil: nobody is.
	Failed func(ctx context.Context, t *turn.Turn) turn.Hooked
	// Fast is the state of fast mode, for the result. Nil: there is none.
	Fast func() string
}

// Config are the limits of this run of the program.
type Config struct {
	MaxTurns  int     // model calls in a turn; 0: no limit
	MaxBudget float64 // USD; 0: no limit. What a resumed session cost before does not count.
	NoCache   bool    // requests carry no cache marks
	StopCap   int     // how often Stop may make a turn go on; 0: eight times
	// TaskBudget is how many output tokens a turn is meant to use; 0: none. It goes on while it has used less than
	// nine tenths of them, as long as that leads to anything.
	TaskBudget int
}

// Totals are the sums of a session, over all its turns and runs. Their JSON form is kept with the session.
type Totals struct {
	Cost    float64               `json:"cost_usd"`
	API     time.Duration         `json:"api_ns"`
	Wall    time.Duration         `json:"wall_ns"`
	Added   int                   `json:"lines_added"`
	Removed int                   `json:"lines_removed"`
	Models  map[string]ModelTotal `json:"models,omitempty"` // by requested model
	Side    map[string]SideTotal  `json:"side,omitempty"`   // what of it were calls outside the conversations, by purpose
	Last    string                `json:"last,omitempty"`   // API id of the newest answer that is counted
	At      time.Time             `json:"at,omitzero"`      // when they were kept: what sub-agents did until then is counted
}

// ModelTotal is what one model was used for.
type ModelTotal struct {
	Input      int     `json:"input"`
	Output     int     `json:"output"`
	CacheRead  int     `json:"cache_read"`
	CacheWrite int     `json:"cache_write"`
	WebSearch  int     `json:"web_search,omitempty"`
	Cost       float64 `json:"cost_usd"`
}

// SideTotal is what calls of one purpose outside the conversations came to.
type SideTotal struct {
	Calls int `json:"calls"`
	ModelTotal
}

// Ledger counts for one session. It is safe for concurrent use.
type Ledger struct {
	deps   Deps
	cfg    Config
	parent *Ledger // of a sub-agent's: what it counts counts there too

	mu       sync.Mutex
	totals   Totals
	before   float64 // cost when this run of the program began
	restored bool    // the totals began with a kept record
	turns    map[string]int
	promised float64            // USD of the budget that calls which are being made will cost, as predicted; of the session's ledger
	calls    map[string]float64 // what of that is for the call of a turn
	held     map[string]int     // how often Stop made each turn go on
	tasks    map[string]*task
	refused  []event.Denial // calls of sub-agents, until a result tells of them
	warned   int            // the highest share of the dollar budget that was warned of, in percent
	last     lastCall
}

// lastCall is what the prompt cache holds, as far as we know.
type lastCall struct {
	model string
	at    time.Time
	usage msg.Usage
}

// New returns a ledger that has counted nothing.
func New(d Deps, cfg Config) *Ledger {
	return &Ledger{deps: d, cfg: cfg, turns: map[string]int{}, calls: map[string]float64{}, held: map[string]int{}, tasks: map[string]*task{}, totals: Totals{Models: map[string]ModelTotal{}}}
}

// Sub returns the ledger of a sub-agent's conversation. It has limits, sums and hooks of its own; what is spent and
// changed counts in l too, and the dollar budget is the one of the session.
func (l *Ledger) Sub(d Deps, cfg Config) *Ledger {
	s := New(d, cfg)
	s.parent = l
	return s
}

// Restore takes up the totals of a resumed session: the kept record, and the answers that came after it was
// written (all of them, when there is none). Several records of one answer count once, the last one's usage. What this
// run of the program has spent before still counts against its budget.
func (l *Ledger) Restore(kept json.RawMessage, messages []msg.Message) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	t := Totals{}
	var err error
	if len(kept) > 0 {
		if err = json.Unmarshal(kept, &t); err != nil {
			t, err = Totals{}, fmt.Errorf("read the kept cost: %w", err)
		}
	}
	if t.Models == nil {
		t.Models = map[string]ModelTotal{}
	}
	spent := l.totals.Cost - l.before
	l.totals, l.restored = t, len(kept) > 0 && err == nil
	from := 0
	if t.Last != "" {
		from = len(messages) // not found: another branch, or behind a compaction; the record covers more than this
	}
	for i, m := range messages {
		if t.Last != "" && m.APIID == t.Last {
			from = i + 1
		}
	}
	last := t.Last
	if id := l.addAnswers(messages[from:], func(m msg.Message) bool { return m.APIID != last }); id != "" {
		l.totals.Last = id
	}
	l.before = l.totals.Cost - spent
	return err
}

// RestoreAgents counts the answers of sub-agents that came after the kept record was written: a crash leaves them in
// their transcripts only. It follows Restore.
func (l *Ledger) RestoreAgents(messages []msg.Message) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.totals.At.IsZero() && l.restored {
		return // a record of a version that did not say when
	}
	spent := l.totals.Cost - l.before
	l.addAnswers(messages, func(m msg.Message) bool { return m.Time.After(l.totals.At) })
	l.before = l.totals.Cost - spent
}

// addAnswers counts the answers that count, each once, by what its last message says, and returns the id of the last one.
func (l *Ledger) addAnswers(messages []msg.Message, counts func(msg.Message) bool) (last string) {
	usage := map[string]msg.Message{}
	var order []string
	for _, m := range messages {
		if m.Kind != msg.KindAssistant || m.Usage == nil || m.APIID == "" || !counts(m) {
			continue
		}
		if _, ok := usage[m.APIID]; !ok {
			order = append(order, m.APIID)
		}
		usage[m.APIID] = m
	}
	for _, id := range order {
		l.add(usage[id].Model, *usage[id].Usage)
		last = id
	}
	return last
}

// Totals returns a copy of the sums so far.
func (l *Ledger) Totals() Totals {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.copy()
}

func (l *Ledger) copy() Totals {
	t := l.totals
	t.Models = make(map[string]ModelTotal, len(l.totals.Models))
	for k, v := range l.totals.Models {
		t.Models[k] = v
	}
	t.Side = maps.Clone(l.totals.Side)
	return t
}

// Spent counts an answer of the main loop, also one that was withdrawn. It fits the model stage's dependency.
func (l *Ledger) Spent(t *turn.Turn, model string, u msg.Usage) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.add(model, u)
	l.settle(t.ID)
	l.last = lastCall{model: model, at: t.Now(), usage: u}
}

// Side counts a call outside the main loop, such as one for a summary. purpose says in few words what it is for.
func (l *Ledger) Side(purpose, model string, u msg.Usage, took time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.add(model, u)
	l.aside(purpose, model, u)
	l.took(took)
}

// aside counts a call with others of its purpose. The caller holds the lock.
func (l *Ledger) aside(purpose, model string, u msg.Usage) {
	if p := l.parent; p != nil {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.aside(purpose, model, u)
	}
	if l.totals.Side == nil {
		l.totals.Side = map[string]SideTotal{}
	}
	s := l.totals.Side[purpose]
	s.Calls++
	s.ModelTotal = s.with(u, l.deps.Price.Cost(model, u))
	l.totals.Side[purpose] = s
}

// took counts time spent in model calls. The caller holds the lock.
func (l *Ledger) took(d time.Duration) {
	l.totals.API += d
	if p := l.parent; p != nil {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.took(d)
	}
}

// budget is the dollar limit of the session and what was spent of it. The caller holds the lock.
func (l *Ledger) budget() (limit, spent float64) {
	if p := l.parent; p != nil {
		p.mu.Lock()
		defer p.mu.Unlock()
		return p.budget()
	}
	return l.cfg.MaxBudget, l.totals.Cost - l.before
}

// promise sets the predicted price of a call aside, so that calls that are made side by side do not each count on the
// same rest of the budget. It reports false, and sets nothing aside, where the budget is too small. The caller holds the
// lock.
func (l *Ledger) promise(usd float64) bool {
	if p := l.parent; p != nil {
		p.mu.Lock()
		defer p.mu.Unlock()
		return p.promise(usd)
	}
	if limit := l.cfg.MaxBudget; limit > 0 && l.totals.Cost-l.before+l.promised+usd > limit {
		return false
	}
	l.promised += usd
	return true
}

// free takes a promise back: the call is counted, or will not come. The caller holds the lock.
func (l *Ledger) free(usd float64) {
	if p := l.parent; p != nil {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.free(usd)
		return
	}
	if l.promised -= usd; l.promised < 1e-12 { // the rest of sums of fractions
		l.promised = 0
	}
}

// settle frees what is set aside for the call of a turn. The caller holds the lock.
func (l *Ledger) settle(turnID string) {
	if usd, ok := l.calls[turnID]; ok {
		delete(l.calls, turnID)
		l.free(usd)
	}
}

func (l *Ledger) add(model string, u msg.Usage) {
	if p := l.parent; p != nil {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.add(model, u)
	}
	usd := l.deps.Price.Cost(model, u)
	l.totals.Models[model] = l.totals.Models[model].with(u, usd)
	l.totals.Cost += usd
}

// with adds the usage of a call.
func (m ModelTotal) with(u msg.Usage, usd float64) ModelTotal {
	m.Input += u.Input
	m.Output += u.Output
	m.CacheRead += u.CacheRead
	m.CacheWrite += u.CacheWrite
	if u.ServerTools != nil {
		m.WebSearch += u.ServerTools.WebSearch
	}
	m.Cost += usd
	return m
}

// Changed counts changed lines. It fits the tools stage's dependency.
func (l *Ledger) Changed(added, removed int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.totals.Added += added
	l.totals.Removed += removed
	if l.parent != nil {
		l.parent.Changed(added, removed)
	}
}

// Guard is asked before each pass. It returns a *turn.Stop when the turn has used up its calls, or when what was
// spent, what calls that are under way will cost and the price of the request about to be made are over the budget. That
// price is set aside until the answer is counted, or the turn has ended without one.
func (l *Ledger) Guard(_ context.Context, t *turn.Turn) error {
	if err := l.warn(t); err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if n := l.cfg.MaxTurns; n > 0 && l.turns[t.ID] >= n {
		return &turn.Stop{
			Subtype: event.ErrMaxTurns, Terminal: "max_turns",
			Errors: []string{fmt.Sprintf("Reached maximum number of turns (%d)", n)},
		}
	}
	l.settle(t.ID) // of a call that failed
	if limit, spent := l.budget(); limit > 0 {
		next := l.predict(t.Now(), t.Request)
		t.Note("spent $%.4f of $%s, the next call is about $%.4f", spent, dollars(limit), next)
		if !l.promise(next) {
			return overBudget(limit)
		}
		l.calls[t.ID] = next
	}
	l.turns[t.ID]++
	return nil
}

func overBudget(limit float64) *turn.Stop {
	return &turn.Stop{
		Subtype: event.ErrMaxBudget, Terminal: "budget_exhausted",
		Errors: []string{"Reached maximum budget ($" + dollars(limit) + ")"},
	}
}

func dollars(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

// predict is the price of a request of the session. What the last call sent is taken to be in the cache while it lives;
// the answer to it and what came since is new.
func (l *Ledger) predict(now time.Time, req *provider.Request) float64 {
	if req == nil {
		return 0
	}
	info := l.deps.Price.Info(req.Model)
	c := token.Counter{New: info.NewTokenizer}
	call := price.Call{Fast: req.Fast, Output: min(outputAllowance, req.MaxTokens), Write: !l.cfg.NoCache, Hour: slices.ContainsFunc(req.Breakpoints, hour)}
	life := 5 * time.Minute
	if call.Hour {
		life = time.Hour
	}
	n := len(req.Messages)
	if l.last.model == req.Model && now.Sub(l.last.at) < life && n > 0 && l.last.usage.Prompt() > 0 {
		call.Cached = l.last.usage.Prompt()
		call.Fresh = l.last.usage.Output + c.Blocks(req.Messages[n-1].Content)
		if l.cfg.NoCache {
			call.Cached, call.Fresh = 0, call.Cached+call.Fresh
		}
		return l.deps.Price.Estimate(req.Model, call)
	}
	call.Fresh = c.Blocks(req.System) + c.Tools(req.Tools)
	for _, m := range req.Messages {
		call.Fresh += c.Blocks(m.Content)
	}
	call.Write = call.Write && call.Fresh >= info.MinCache
	return l.deps.Price.Estimate(req.Model, call)
}

// names returns the models, the most expensive first.
func (t Totals) names() []string {
	out := make([]string, 0, len(t.Models))
	for name := range t.Models {
		out = append(out, name)
	}
	slices.SortFunc(out, func(a, b string) int {
		if ca, cb := t.Models[a].Cost, t.Models[b].Cost; ca != cb {
			if ca > cb {
				return -1
			}
			return 1
		}
		if a < b {
			return -1
		}
		return 1
	})
	return out
}

func hour(b provider.Breakpoint) bool { return b.OneHour }
