package compact

import (
	"fmt"
	"slices"
	"time"

	"lathe/internal/msg"
	"lathe/internal/price"
)

// Price is what the planner reckoned about one edit.
type Price struct {
	Saved     int     `json:"saved_tokens"`
	First     int     `json:"first_changed"`           // position in the view
	Behind    int     `json:"tokens_behind"`           // what must be written to the cache again
	Rewrite   float64 `json:"rewrite_usd"`             // what that costs more than to read it from the cache
	Gain      float64 `json:"gain_usd"`                // what the saved tokens would have cost in the calls to come
	Calls     int     `json:"expected_calls"`          // how many calls are expected still
	Thinking  int     `json:"thinking_tokens_lost"`    // of blocks that are no longer valid
	Cold      bool    `json:"cache_cold,omitempty"`    // nothing is lost: the prefix is not in the cache
	Forced    bool    `json:"window_forces,omitempty"` // the view does not fit without an edit
	Summary   float64 `json:"summary_usd,omitempty"`   // what autocompact would cost instead
	TurnStart bool    `json:"at_turn_start,omitempty"`
}

func (p Price) String() string {
	state := "warm"
	if p.Cold {
		state = "cold"
	}
	s := fmt.Sprintf("saves %d tokens from message %d on, rewrites %d (cache %s): $%.4f against $%.4f over %d expected calls, %d tokens of thinking go",
		p.Saved, p.First, p.Behind, state, p.Rewrite, p.Gain, p.Calls, p.Thinking)
	if p.Summary > 0 {
		s += fmt.Sprintf("; a summary would cost $%.4f", p.Summary)
	}
	return s
}

// market is what edits are priced by: the model's rates, the state of the cache, and the calls to come.
type market struct {
	read, write, input, output float64 // USD a token
	scale                      float64 // of estimates, so that they agree with what the provider counted
	cold                       bool
	calls                      int
}

const million = 1e6

// wholeContext is the size in tokens below which answered turns stay whole, or a third of a smaller window. What the
// lossy steps leave out is gone for the model, and a session that is taken up again must be whole as long as it fits
// well: a lower price alone is no reason to forget.
const wholeContext = 150_000

// wholeBelow is that size for a window that is compacted at limit: half of a very small one, which a few results fill.
func wholeBelow(limit int) int {
	if limit < 2*wholeContext/3 {
		return limit / 2
	}
	return min(limit/3, wholeContext)
}

// newMarket looks at the view as it was last sent. The cache is cold when its lifetime has passed since the last
// answer, when another model made that, or when nothing is cached at all.
func newMarket(v sight, model string, now time.Time, c Config) market {
	view, info, size, limit := v.view, v.info, v.size, v.limit
	r := v.rates()
	m := market{read: r.Read / million, write: r.Write5m / million, input: r.Input / million, output: r.Output / million, cold: true, scale: 1}
	if estimated := v.set.tokens(view) + v.set.Overhead; v.counted && estimated > 0 {
		m.scale = max(0.3, min(float64(size)/float64(estimated), 2))
	}
	life := lived(view)
	if life == longLife {
		m.write = r.Write1h / million
	}
	if c.NoCache {
		m.read, m.write = m.input, m.input
	}
	calls := 0
	last := ""
	var asked time.Time // of the last call: a lifetime counts from its start
	for i, x := range v.whole {
		if x.Kind != msg.KindAssistant || x.APIError != "" {
			continue
		}
		if x.APIID != last || last == "" {
			calls++
			asked = x.Time
			if i > 0 && !v.whole[i-1].Time.IsZero() {
				asked = v.whole[i-1].Time
			}
		}
		last = x.APIID
		m.cold = x.Model != "" && x.Model != model && info.ID != v.of(x.Model).ID
	}
	m.cold = m.cold || c.NoCache || calls == 0 || now.Sub(asked) >= life
	// As many calls again as there were: without knowing more, the best guess. A full window ends them sooner.
	m.calls = max(calls, 3)
	if calls > 0 && size > 0 {
		m.calls = min(m.calls, max(1, (limit-size)*calls/size))
	}
	return m
}

// rates are the prices of a request of this size.
func (v sight) rates() price.Rates {
	if v.info.Above != nil && v.size > v.info.Above.Prompt {
		return v.info.Above.Price
	}
	return v.info.Price
}

// price reckons an edit that turns view into out.
func (m market) price(view, out []msg.Message, r Report, s Settings) Price {
	p := Price{Saved: m.scaled(r.TokensBefore - r.TokensAfter), First: r.FirstChanged, Calls: m.calls, Cold: m.cold}
	p.Behind = m.scaled(s.tokens(out[min(r.FirstChanged, len(out)):]))
	p.Thinking = m.scaled(thinkingTokens(view, s) - thinkingTokens(out, s))
	saved := float64(p.Saved)
	if m.cold {
		p.Gain = saved * (m.write + m.read*float64(m.calls-1))
		return p
	}
	p.Rewrite = float64(p.Behind) * (m.write - m.read)
	p.Gain = saved * m.read * float64(m.calls)
	return p
}

// scaled brings an estimate to the provider's measure.
func (m market) scaled(n int) int { return int(float64(n) * m.scale) }

// net is what an edit brings in all, in USD.
func (p Price) net() float64 { return p.Gain - p.Rewrite }

// summary reckons what autocompact costs: one more call that reads all, its answer, and a new beginning.
func (m market) summary(size int) float64 {
	answer, begin := float64(2500), float64(min(size, 12_000))
	read := m.read
	if m.cold {
		read = m.input
	}
	return float64(size)*read + answer*m.output + begin*m.write
}

func thinkingTokens(view []msg.Message, s Settings) int {
	n := 0
	for _, m := range view {
		if m.Kind != msg.KindAssistant {
			continue
		}
		for _, b := range m.Blocks {
			if b.IsThinking() {
				n += s.Counter.Block(b)
			}
		}
	}
	return n
}

// lossy reports whether the plan leaves out what no later message has.
func (p *plan) lossy() bool {
	return slices.ContainsFunc(p.steps, func(s Step) bool { return s.Name != "microcompact" })
}

// worth reports whether a plan that the window does not force should be followed, and why (not).
func (p *plan) worth(size, limit int) (bool, string) {
	lossy := p.lossy()
	switch r := p.price; {
	case r.Saved < minSaving:
		return false, "It saves too little."
	case lossy && size < wholeBelow(limit):
		return false, "The context is small, so answered turns stay whole."
	case lossy && !r.Cold && r.Saved < size/20:
		return false, "It saves less than a twentieth."
	case lossy && !r.Cold && !r.TurnStart && r.Saved < size/3: // rarely, so that the cache is kept for long
		return false, "It saves less than a third, and the turn runs."
	case r.Cold && (r.TurnStart || r.Thinking == 0):
		return true, "The cache is cold anyway."
	case r.Gain > r.Rewrite*1.2 && r.TurnStart:
		return true, "What it saves over the expected calls is more than the rewrite costs."
	case r.Gain > r.Rewrite*2 && r.Thinking == 0:
		return true, "What it saves over the expected calls is far more than the rewrite costs."
	case r.Gain > r.Rewrite*2 && r.Saved >= size/3 && size >= limit/2:
		return true, "Half of the window is full: what it saves over the expected calls is far more than the rewrite costs."
	}
	return false, "The rewrite costs more than it saves."
}
