package keeper

import (
	"fmt"
	"slices"
	"sync"
	"time"

	"lathe/internal/cache"
	"lathe/internal/event"
	"lathe/internal/msg"
	"lathe/internal/price"
	"lathe/internal/provider"
	"lathe/internal/provider/wire"
	"lathe/internal/turn"
)

// Keeper knows what was sent last and what of it the prompt cache holds. When an answer shows that much less was read
// than was there, it tells the person why. As long as nothing was missed it costs a comparison of two numbers.
type Keeper struct {
	Prices *price.Table

	mu   sync.Mutex
	last sent
}

// sent is a request with what the stages made it from. All of it is shared with the session, nothing is copied.
type sent struct {
	req      *provider.Request
	at       time.Time
	usage    msg.Usage
	messages []msg.Message
	view     []msg.Message
}

// Forget is for a conversation that begins.
func (k *Keeper) Forget() {
	k.mu.Lock()
	k.last = sent{}
	k.mu.Unlock()
}

// Answered is told of each whole answer of the main loop.
func (k *Keeper) Answered(t *turn.Turn, req *provider.Request, at time.Time, u msg.Usage) {
	now := sent{req: req, at: at, usage: u, messages: t.Messages, view: t.View}
	k.mu.Lock()
	last := k.last
	k.last = now
	k.mu.Unlock()
	if last.req == nil || !cache.Counts(cache.Expected(last.usage), u.CacheRead) {
		return
	}
	m := cache.Explain(last.sent(), now.sent())
	m.Blame(last.lists(), now.lists())
	cost := k.Prices.Cost(req.Model, u) - k.Prices.Cost(req.Model, cache.Instead(u, m.Lost))
	text := fmt.Sprintf("prompt cache: %d of %d tokens were not read again (about $%.4f): %s", m.Lost, m.Expected, cost, m.Text)
	t.Note("%s", text)
	if m.Stage != "compact" { // that one has told what it left out, and why
		_ = t.Emit(event.Notice{Level: "info", Text: text})
	}
}

// costly is the price from which on a person is warned of a change that loses the cache, in USD.
const costly = 0.05

// Loss is what a change to model, or to fast mode or out of it, which makes everything in the cache useless, would cost at the next request: how many
// tokens must be written again, and what that costs more than to read them, in USD. It is zero where nothing is cached
// any more.
func (k *Keeper) Loss(now time.Time, model string, fast bool) (tokens int, usd float64) {
	k.mu.Lock()
	last := k.last
	k.mu.Unlock()
	if last.req == nil {
		return 0, 0
	}
	life := 5 * time.Minute
	if slices.ContainsFunc(last.req.Breakpoints, func(b provider.Breakpoint) bool { return b.OneHour }) {
		life = time.Hour
	}
	if now.Sub(last.at) >= life {
		return 0, 0
	}
	n, speed := cache.Expected(last.usage), ""
	if fast {
		speed = msg.SpeedFast
	}
	return n, k.Prices.Cost(model, msg.Usage{CacheWrite: n, Speed: speed}) - k.Prices.Cost(model, msg.Usage{CacheRead: n, Speed: speed})
}

// Warning says what a change to model costs, where that is much.
func (k *Keeper) Warning(now time.Time, model string, fast bool) string {
	tokens, usd := k.Loss(now, model, fast)
	if usd < costly {
		return ""
	}
	return fmt.Sprintf("The prompt cache of this session is of no use after that: the next request writes about %d tokens again, which costs about "+
		"$%.2f more. To change back before it is sent costs nothing.", tokens, usd)
}

func (s sent) sent() cache.Sent {
	return cache.Sent{Body: wire.AppendRequest(nil, s.req), At: s.at, Model: s.req.Model, Usage: s.usage}
}

func (s sent) lists() cache.Lists {
	l := cache.Lists{Messages: keys(s.messages), View: keys(s.view)}
	for _, m := range s.req.Messages {
		l.Request = append(l.Request, string(msg.AppendBlocks(nil, m.Content)))
	}
	return l
}

func keys(ms []msg.Message) []string {
	out := make([]string, len(ms))
	for i, m := range ms {
		out[i] = m.ID + string(msg.AppendBlocks(nil, m.Blocks))
	}
	return out
}
