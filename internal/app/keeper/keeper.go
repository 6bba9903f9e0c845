package keeper

import (
	"bytes"
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
	told := func(lost, expected int, why string) string {
		cost := k.Prices.Cost(req.Model, u) - k.Prices.Cost(req.Model, cache.Instead(u, lost))
		return fmt.Sprintf("prompt cache: %d of %d tokens were not read again (about $%.4f): %s", lost, expected, cost, why)
	}
	if now.cutFrom(last) { // compact has told what it left out, and why: the bodies need not be compared for that
		expected := cache.Expected(last.usage)
		t.Note("%s", told(expected-u.CacheRead, expected, "the view was cut (stage compact)"))
		return
	}
	m := cache.Explain(last.sent(), now.sent())
	m.Blame(last.lists(), now.lists())
	text := told(m.Lost, m.Expected, m.Text)
	t.Note("%s", text)
	if m.Stage != "compact" {
		_ = t.Emit(event.Notice{Level: "info", Text: text})
	}
}

// cutFrom reports whether all that changed since was is that compaction left out some of the same conversation, while the
// cache still held it.
func (s sent) cutFrom(was sent) bool {
	return s.req.Model == was.req.Model && s.req.Fast == was.req.Fast && s.at.Sub(was.at) < was.life() && extends(was.messages, s.messages) && !extends(was.view, s.view)
}

// extends reports whether next begins with prev. Messages are shared, so most are compared by their place alone.
func extends(prev, next []msg.Message) bool {
	if len(next) < len(prev) {
		return false
	}
	for i, a := range prev {
		b := next[i]
		if a.ID != b.ID || len(a.Blocks) != len(b.Blocks) {
			return false
		}
		if len(a.Blocks) > 0 && &a.Blocks[0] != &b.Blocks[0] && !bytes.Equal(msg.AppendBlocks(nil, a.Blocks), msg.AppendBlocks(nil, b.Blocks)) {
			return false
		}
	}
	return true
}

// life is how long the cache holds what the request put there.
func (s sent) life() time.Duration {
	if slices.ContainsFunc(s.req.Breakpoints, func(b provider.Breakpoint) bool { return b.OneHour }) {
		return time.Hour
	}
	return 5 * time.Minute
}

// costly is the price from which on a person is warned of a change that loses the cache, in USD.
const costly = 0.05

// Loss is what a change to model, or to fast mode or out of it, would cost at the next request, since it makes everything in
// the cache useless: how many tokens must be written again, and what that costs more than to read them, in USD. It is zero
// where nothing is cached any more.
func (k *Keeper) Loss(now time.Time, model string, fast bool) (tokens int, usd float64) {
	k.mu.Lock()
	last := k.last
	k.mu.Unlock()
	if last.req == nil {
		return 0, 0
	}
	if now.Sub(last.at) >= last.life() {
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
