package fakeapi

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"slices"
	"time"
)

// position is one place where the prompt cache can hold a prefix: a tool, a system block or a content block.
type position struct {
	state  chain  // hash of the whole prefix up to and including this block
	tokens int    // of the whole prefix
	ttl    string // lifetime of the breakpoint here, "" without one
}

const bytesPerToken = 4

// lookback is how many positions a breakpoint checks for an earlier write, itself included.
const lookback = 20

// flatten lays the request out in the order of the cache: tools, system, messages. Between the sections it mixes in
// the settings whose change loses the cache from there on.
func (c *checker) flatten(st thinkingState) []position {
	var out []position
	var s chain
	tokens := 0
	add := func(role string, b *node) {
		s = s.next(role, b)
		tokens += estimate(b)
		out = append(out, position{state: s, tokens: tokens, ttl: ttlOf(b.get("cache_control"))})
	}
	s = s.next("model "+c.model.ID, nil)
	for _, t := range c.body.get("tools").items() {
		if t.get("defer_loading").isTrue() {
			continue
		}
		add("tool", t)
	}
	s = s.next("speed "+c.body.str("speed"), nil)
	for _, b := range contentBlocks(c.body.get("system")) {
		add("system", b)
	}
	s = s.next(c.messageSettings(), nil)
	keepFrom := c.thinkingKeptFrom()
	for i, m := range c.body.get("messages").items() {
		s = s.next("role "+m.str("role"), nil)
		for _, b := range contentBlocks(m.get("content")) {
			if isThinking(b) && (st.dropped[b] != "" || i < keepFrom) {
				continue
			}
			add("", b)
		}
	}
	if n := c.body.get("cache_control"); n != nil && len(out) > 0 {
		if last := &out[len(out)-1]; last.ttl == "" {
			last.ttl = ttlOf(n)
		}
	}
	return out
}

// messageSettings are the settings whose change loses the cache of the messages.
func (c *checker) messageSettings() string {
	thinking := c.body.get("thinking")
	budget, _ := thinking.get("budget_tokens").integer()
	choice := c.body.get("tool_choice")
	on, _ := c.thinks()
	images := slices.ContainsFunc(c.body.get("messages").items(), func(m *node) bool {
		return slices.ContainsFunc(m.get("content").items(), func(b *node) bool { return b.str("type") == "image" })
	})
	return fmt.Sprintf("thinking %v %s %d effort %s choice %s %s images %v", on, thinking.str("type"), budget, c.effort(),
		choice.str("type"), choice.str("name"), images)
}

// thinkingKeptFrom is the first message whose thinking the server keeps: the last user turn on old models.
func (c *checker) thinkingKeptFrom() int {
	if c.model.KeepsAll {
		return 0
	}
	msgs := c.body.get("messages").items()
	for i := len(msgs) - 1; i > 0; i-- {
		if msgs[i].str("role") == "user" && !hasResult(msgs[i]) {
			return i
		}
	}
	return 0
}

func ttlOf(n *node) string {
	switch {
	case n == nil:
		return ""
	case n.str("ttl") == "1h":
		return "1h"
	}
	return "5m"
}

// estimate is the fixed estimate of a block's tokens: a quarter of its bytes, and the public formula for images.
func estimate(b *node) int {
	if b.str("type") == "image" {
		return imageTokens(b.get("source"))
	}
	if inner := b.get("content"); b.str("type") == "tool_result" && inner.is('a') {
		total := 0
		for _, in := range inner.items() {
			total += estimate(in)
		}
		return total + 8
	}
	size := len(b.raw)
	if n := b.get("cache_control"); n != nil {
		size -= len(n.raw) + len(`,"cache_control":`)
	}
	if isThinking(b) {
		size = len(b.str("thinking"))
	}
	return (size + bytesPerToken - 1) / bytesPerToken
}

func imageTokens(src *node) int {
	const fallback, most = 1500, 4784
	if src.str("type") != "base64" {
		return fallback
	}
	data, err := base64.StdEncoding.DecodeString(src.str("data"))
	if err != nil {
		return fallback
	}
	cfg, err := imageConfig(src.str("media_type"), data)
	if err != nil {
		return fallback
	}
	return min(most, ((cfg.Width+27)/28)*((cfg.Height+27)/28))
}

// entry is one written prefix.
type entry struct {
	ttl     time.Duration
	expires time.Time
}

// cache simulates the prompt cache of all workspaces. Callers hold the server's lock.
type cache struct {
	entries map[string]entry
	sweep   time.Time
}

// plan is what the cache will do for one request; commit makes it so once the answer starts.
type plan struct {
	usage   Usage
	total   int
	hit     int // positions read, 0 for none
	touched []string
	written map[string]time.Duration
	start   time.Time
}

func cacheKey(workspace string, s chain) string { return workspace + "/" + hex.EncodeToString(s[:]) }

// plan prices the request without changing the cache.
func (k *cache) plan(workspace string, pos []position, minTokens int, now time.Time) plan {
	p := plan{written: map[string]time.Duration{}, start: now}
	if len(pos) > 0 {
		p.total = pos[len(pos)-1].tokens
	}
	alive := func(i int) bool {
		e, ok := k.entries[cacheKey(workspace, pos[i].state)]
		return ok && now.Before(e.expires)
	}
	for i, b := range pos {
		if b.ttl == "" {
			continue
		}
		for back := i; back >= 0 && back > i-lookback; back-- {
			if alive(back) {
				p.hit = max(p.hit, back+1)
				break
			}
		}
	}
	tokensAt := func(n int) int {
		if n == 0 {
			return 0
		}
		return pos[n-1].tokens
	}
	read := tokensAt(p.hit)
	long, end := read, read // ends of the part written for an hour, and of all that is cached
	for i, b := range pos {
		switch key := cacheKey(workspace, b.state); {
		case i < p.hit && (b.ttl != "" && alive(i) || i == p.hit-1):
			p.touched = append(p.touched, key)
		case i < p.hit || b.ttl == "" || b.tokens < minTokens:
		case b.ttl == "1h":
			p.written[key] = time.Hour
			long, end = b.tokens, b.tokens
		default:
			p.written[key] = 5 * time.Minute
			end = b.tokens
		}
	}
	p.usage = Usage{Read: read, Write1h: long - read, Write5m: end - long, Input: p.total - end}
	return p
}

// commit refreshes what was read and adds what was written. Lifetimes count from the start of the request.
func (k *cache) commit(p plan) {
	if k.entries == nil {
		k.entries = map[string]entry{}
	}
	for _, key := range p.touched {
		if e, ok := k.entries[key]; ok {
			e.expires = p.start.Add(e.ttl)
			k.entries[key] = e
		}
	}
	for key, ttl := range p.written {
		k.entries[key] = entry{ttl, p.start.Add(ttl)}
	}
	if p.start.Sub(k.sweep) > time.Hour {
		k.sweep = p.start
		for key, e := range k.entries {
			if p.start.After(e.expires) {
				delete(k.entries, key)
			}
		}
	}
}
