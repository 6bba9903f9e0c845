package app

import (
	"fmt"
	"time"

	"lathe/internal/cache"
	"lathe/internal/event"
	"lathe/internal/msg"
	"lathe/internal/price"
	"lathe/internal/provider"
	"lathe/internal/provider/wire"
	"lathe/internal/turn"
)

// keeper knows what was sent last and what of it the prompt cache holds. When an answer shows that much less was read
// than was there, it tells the person why. As long as nothing was missed it costs a comparison of two numbers.
type keeper struct {
	prices *price.Table
	last   sent
}

// sent is a request with what the stages made it from. All of it is shared with the session, nothing is copied.
type sent struct {
	req      *provider.Request
	at       time.Time
	usage    msg.Usage
	messages []msg.Message
	view     []msg.Message
}

// answered is told of each whole answer of the main loop.
func (k *keeper) answered(t *turn.Turn, req *provider.Request, at time.Time, u msg.Usage) {
	now, last := sent{req: req, at: at, usage: u, messages: t.Messages, view: t.View}, k.last
	k.last = now
	if last.req == nil || !cache.Counts(cache.Expected(last.usage), u.CacheRead) {
		return
	}
	m := cache.Explain(last.sent(), now.sent())
	m.Blame(last.lists(), now.lists())
	cost := k.prices.Cost(req.Model, u) - k.prices.Cost(req.Model, cache.Instead(u, m.Lost))
	text := fmt.Sprintf("prompt cache: %d of %d tokens were not read again (about $%.4f): %s", m.Lost, m.Expected, cost, m.Text)
	t.Note("%s", text)
	_ = t.Emit(event.Notice{Level: "info", Text: text})
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
