package inspect

import (
	"fmt"
	"strings"
	"time"

	"lathe/internal/msg"
)

// long is a session of n requests, with compactions, cache misses, sub-agents, one of them with one of its own, and calls
// beside the conversation.
func long(n int) *Session {
	in := Input{
		ID: "0b3c1f6e-long", Dir: "/home/me/a/project", Title: "Make the parser faster, and test it",
		Cost: func(_ string, u msg.Usage) float64 {
			return float64(u.Input+u.CacheWrite)*4e-6 + float64(u.CacheRead)*2e-7 + float64(u.Output)*2e-5
		},
		Count:  func(_ string, m msg.Message) int { return len(m.Text())/4 + 5 },
		Missed: func(prev, next msg.Usage) bool { return next.CacheRead < prev.CacheRead },
		Explain: func(prev, next func() Sent) *Miss {
			a, b := prev().Usage, next().Usage
			if b.CacheRead > 2000 {
				return nil
			}
			return &Miss{Cause: "setting", Text: "output_config changed: the effort was set to another level", Was: `"effort":"high"`, IsNow: `"effort":"low"`, Byte: 120, Expected: a.Prompt(), Lost: a.Prompt() - b.CacheRead, Cost: 0.04}
		},
	}
	w := &writer{now: noon, size: 9000}
	in.Messages = w.conversation("m", n)
	for i := 5; i < n; i += max(9, n/12) {
		call := fmt.Sprintf("m%d-call", i)
		id := fmt.Sprintf("x%d", i)
		sub := &writer{now: in.Messages[0].Time.Add(time.Duration(i) * time.Minute), size: 4000}
		kinds := []string{"Explore", "general-purpose", "reviewer"}
		in.Agents = append(in.Agents, AgentInput{ID: id, Type: kinds[i%3], Task: "look for what reads the table", Call: call, Messages: sub.conversation(id+"-", 3+i%5)})
		if i%2 == 0 {
			deep := &writer{now: sub.now.Add(-2 * time.Minute), size: 3000}
			in.Agents = append(in.Agents, AgentInput{ID: id + "d", Type: "Explore", Task: "the tests only", Call: id + "-1-call", Parent: id, Messages: deep.conversation(id+"d-", 2)})
		}
	}
	in.Kept.Cost = 0
	in.Kept.Side = []Part{{Kind: PartSide, Purpose: "summary", Calls: 2, Usage: msg.Usage{Input: 90_000, Output: 2000}, Cost: 0.4}, {Kind: PartSide, Purpose: "permission", Calls: 7, Usage: msg.Usage{Input: 9000}, Cost: 0.01}}
	return Build(in)
}

// writer writes a conversation.
type writer struct {
	now  time.Time
	size int
}

func (w *writer) conversation(prefix string, n int) []msg.Message {
	var out []msg.Message
	say := func(m msg.Message, bytes int) {
		m.Time = w.now
		if bytes > 0 {
			m.Blocks = append(m.Blocks, msg.Text(strings.Repeat("word ", bytes/5)))
			w.size += bytes / 4
		}
		out = append(out, m)
	}
	say(msg.Message{Kind: msg.KindAttachment, Source: "memory"}, 6000)
	say(msg.Message{Kind: msg.KindAttachment, Source: "skill_listing"}, 3000)
	cached := 0
	for i := range n {
		w.now = w.now.Add(time.Minute)
		if i%7 == 0 {
			say(msg.Message{Kind: msg.KindUser, Blocks: []msg.Block{msg.Text(fmt.Sprintf("step %d: please go on with what is left of the work, and tell me what you find ", i/7+1))}}, 400)
		}
		if i > 0 && i%40 == 0 {
			say(msg.Message{Kind: msg.KindSystem, Subtype: msg.SubCompactBoundary}, 0)
			w.size, cached = 9000, 3000
			say(msg.Message{Kind: msg.KindSummary}, 5000)
		}
		if i%23 == 22 {
			cached = 1500
		}
		u := msg.Usage{CacheRead: cached, CacheWrite: w.size - cached, Output: 150 + i*37%900}
		cached = w.size
		answer := msg.Message{Kind: msg.KindAssistant, APIID: fmt.Sprintf("%s%d", prefix, i), Model: "claude-opus-5-5", Usage: &u, StopReason: "tool_use"}
		answer.Blocks = []msg.Block{{Type: msg.TypeToolUse, ID: fmt.Sprintf("%s%d-call", prefix, i), Name: "Agent"}}
		say(answer, 600+i*53%2000)
		say(msg.Message{Kind: msg.KindUser, SourceAssistant: "a", ToolOutput: []byte("{}")}, 2000+i*977%9000)
	}
	return out
}
