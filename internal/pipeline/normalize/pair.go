package normalize

import (
	"slices"
	"strconv"

	"lathe/internal/msg"
)

// pair sees to it that ids are unique and every call has exactly one result, first thing in the user message
// after it, in the order of the calls (rules 1 and 4).
func (b *builder) pair() {
	var calls []*call
	for i := 0; i < len(b.groups); i++ {
		g := b.groups[i]
		if g.role == msg.RoleUser {
			b.answer(g, calls)
			calls = nil
			continue
		}
		b.resume(i)
		calls = b.calls(g)
		if len(calls) > 0 && (i+1 == len(b.groups) || b.groups[i+1].role == msg.RoleAssistant) {
			b.groups = slices.Insert(b.groups, i+1, &group{role: msg.RoleUser})
		}
	}
}

// resume joins an answer that the API paused, while its own tools ran, with the answers that go on with it.
func (b *builder) resume(i int) {
	g := b.groups[i]
	client := func(it item) bool { return it.Type == msg.TypeToolUse }
	for {
		g.pause = g.pause && !slices.ContainsFunc(g.items, client)
		paused := g.pause
		b.pairServer(g)
		if paused && !g.pause { // it ends in something else: its open calls stay open
			b.pairServer(g)
		}
		if i+1 == len(b.groups) || !g.pause {
			return
		}
		next := b.groups[i+1]
		if next.role == msg.RoleUser {
			g.pause = false
			continue
		}
		g.items, g.pause = append(g.items, next.items...), next.pause
		b.groups = slices.Delete(b.groups, i+1, i+2)
	}
}

// call is a tool call that waits for its result.
type call struct {
	was    string // id as stored, which the result names
	id     string // id as sent
	result *item
}

// calls collects an answer's calls and gives each an id that the request does not have yet.
func (b *builder) calls(g *group) []*call {
	var out []*call
	for i := range g.items {
		it := &g.items[i]
		if it.Type != msg.TypeToolUse {
			continue
		}
		id := b.unique(it.ID)
		out = append(out, &call{was: it.ID, id: id})
		if id != it.ID {
			b.note(4, it.from, "the call id %q was taken or is not valid: sent as %s", shorten(it.ID), id)
			it.ID, it.Raw = id, nil
		}
	}
	return out
}

func (b *builder) unique(id string) string {
	base := cleanName(id, 64)
	if base == "" {
		base = "call"
	}
	id = base
	for n := 2; b.used[id] || b.server[id] != nil; n++ {
		id = base + "_" + strconv.Itoa(n)
	}
	b.used[id] = true
	return id
}

// answer puts the results of calls at the head of the user message g, in the order of the calls.
func (b *builder) answer(g *group, calls []*call) {
	var rest []item
	for _, it := range g.items {
		if it.Type != msg.TypeToolResult {
			rest = append(rest, it)
			continue
		}
		c := waiting(calls, it.ToolUseID)
		if c == nil {
			b.note(4, it.from, "dropped a result that answers no open call of the answer before it")
			continue
		}
		it.ToolUseID = c.id
		c.result = &it
	}
	items := make([]item, 0, len(calls)+len(rest))
	for _, c := range calls {
		if c.result == nil {
			b.note(4, "", "the call %s has no result: supplied one", c.id)
			c.result = &item{Block: msg.ToolResult(c.id, true, msg.Text(lostResult))}
		}
		items = append(items, *c.result)
	}
	g.items = append(items, rest...)
}

func waiting(calls []*call, id string) *call {
	for _, c := range calls {
		if c.was == id && c.result == nil {
			return c
		}
	}
	return nil
}

// pairServer drops calls and results of the provider's own tools that lack their other half; both stand in one
// answer. Only a paused answer may end with an open call.
func (b *builder) pairServer(g *group) {
	done := map[string]int{}
	for i, it := range g.items {
		if serverSide(it.Type) && !serverCall(it.Type) {
			done[it.ToolUseID] = i
		}
	}
	open := map[string]bool{}
	kept := g.items[:0:0]
	for i, it := range g.items {
		ok := true
		switch {
		case serverCall(it.Type):
			at, answered := done[it.ID]
			owner := b.server[it.ID]
			ok = it.ID != "" && cleanName(it.ID, 64) == it.ID && !b.used[it.ID] && !open[it.ID] &&
				(owner == nil || owner == g) && (answered && at > i || g.pause)
			if ok {
				b.server[it.ID], open[it.ID] = g, true
			}
		case serverSide(it.Type):
			ok = open[it.ToolUseID]
			delete(open, it.ToolUseID)
		}
		if !ok {
			b.note(4, it.from, "dropped a %s block without its other half", shorten(it.Type))
			continue
		}
		kept = append(kept, it)
	}
	g.items = kept
	g.pause = g.pause && len(kept) > 0 && serverSide(kept[len(kept)-1].Type)
}
