package load

import (
	"cmp"
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"slices"

	"lathe/internal/agent"
	"lathe/internal/cache"
	"lathe/internal/inspect"
	"lathe/internal/msg"
	"lathe/internal/pipeline/account"
	"lathe/internal/price"
	"lathe/internal/session"
	"lathe/internal/session/jsonl"
	"lathe/internal/token"
	"lathe/internal/trace"
)

// Session reads a session with its sub-agents, and their traces, and prices it by a table. Close it after use.
func Session(meta session.Meta, prices *price.Table) (*inspect.Session, error) {
	state, err := jsonl.Read(meta.Path, "")
	if err != nil {
		return nil, err
	}
	why := new(cache.Explainer)
	in := inspect.Input{
		ID: meta.ID, Path: meta.Path, Dir: meta.Dir, Title: cmp.Or(meta.Title, meta.Prompt),
		Cost: prices.Cost,
		Count: func(model string, m msg.Message) int {
			return token.Counter{New: prices.Info(model).NewTokenizer}.Blocks(m.Blocks)
		},
		Missed:  func(prev, next msg.Usage) bool { return cache.Counts(cache.Expected(prev), next.CacheRead) },
		Explain: func(prev, next func() inspect.Sent) *inspect.Miss { return explain(why, prices, prev(), next()) },
	}
	if in.Messages, in.Trace, err = loadConversation(meta.Path, state); err != nil {
		return nil, err
	}
	in.Agents = loadAgents(meta.Path)
	keptTotals(&in, prices, meta.Path, state)
	return inspect.Build(in), nil
}

// loadConversation reads the whole conversation of a transcript, what was compacted too, and its trace, nil where there
// is none.
func loadConversation(path string, state *session.State) ([]msg.Message, *trace.Trace, error) {
	messages := state.Messages
	if state.Earlier != nil {
		earlier, err := state.Earlier()
		if err != nil {
			return nil, nil, err
		}
		messages = append(earlier, messages...)
	}
	t, err := trace.Read(trace.Dir(path))
	if errors.Is(err, fs.ErrNotExist) {
		return messages, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	blocks, err := jsonl.Contents(path)
	if err != nil {
		return nil, nil, errors.Join(err, t.Close())
	}
	t.Content = func(id string) json.RawMessage {
		if b := blocks(id); b != nil {
			return msg.AppendBlocks(nil, b)
		}
		return nil
	}
	return messages, t, nil
}

// loadAgents reads the sub-agents of the session in a file. One that cannot be read is left out: the account of the
// session has its cost.
func loadAgents(path string) []inspect.AgentInput {
	var out []inspect.AgentInput
	for _, id := range jsonl.Agents(path) {
		file := jsonl.SubagentPath(path, id)
		state, err := jsonl.Read(file, "")
		if err != nil {
			continue
		}
		var rec agent.Record
		_ = json.Unmarshal(state.Kept[agent.RecordKind], &rec) // other programs keep none
		a := inspect.AgentInput{ID: id, Type: cmp.Or(rec.Type, "sub-agent"), Name: rec.Name, Task: rec.Task, Call: rec.Call, Parent: rec.Parent}
		if a.Messages, a.Trace, err = loadConversation(file, state); err == nil {
			out = append(out, a)
		}
	}
	return out
}

// keptTotals takes over what the session's own account says, as a resume does.
func keptTotals(in *inspect.Input, prices *price.Table, path string, state *session.State) {
	l := account.New(account.Deps{Price: prices}, account.Config{})
	_ = l.Restore(state.Kept[account.KeepKind], state.Messages) // what cannot be read of it is not told
	l.RestoreAgents(jsonl.AgentAnswers(path, l.Totals().At))
	t := l.Totals()
	in.Kept.Cost = t.Cost
	for _, m := range t.Models {
		in.Kept.Usage = in.Kept.Usage.Add(usageOf(m))
	}
	for _, purpose := range slices.Sorted(maps.Keys(t.Side)) {
		s := t.Side[purpose]
		in.Kept.Side = append(in.Kept.Side, inspect.Part{Kind: inspect.PartSide, Purpose: purpose, Calls: s.Calls, Usage: usageOf(s.ModelTotal), Cost: s.Cost})
	}
}

func usageOf(m account.ModelTotal) msg.Usage {
	return msg.Usage{Input: m.Input, Output: m.Output, CacheRead: m.CacheRead, CacheWrite: m.CacheWrite}
}

// explain says why the prompt cache missed, by what was recorded.
func explain(why *cache.Explainer, prices *price.Table, prev, next inspect.Sent) *inspect.Miss {
	of := func(s inspect.Sent) (cache.Sent, cache.Lists) {
		return cache.Sent{Body: s.Body, At: s.At, Model: s.Model, Usage: s.Usage}, cache.Lists{Messages: s.Messages, Summary: s.Summary, View: s.View, Request: s.Request}
	}
	a, from := of(prev)
	b, to := of(next)
	m := why.Explain(a, b)
	if m.Cause == cache.None {
		return nil
	}
	m.Blame(from, to)
	return &inspect.Miss{
		Cause: m.Cause, Text: m.Text, Stage: m.Stage, Where: m.Where, Byte: m.Byte, BodyAt: m.BodyAt, Was: m.Before, IsNow: m.After,
		Expected: m.Expected, Read: m.Read, Lost: m.Lost,
		Cost: prices.Cost(next.Model, next.Usage) - prices.Cost(next.Model, cache.Instead(next.Usage, m.Lost)),
	}
}
