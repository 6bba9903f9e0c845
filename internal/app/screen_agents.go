package app

import (
	"encoding/json"

	"lathe/internal/agent"
	"lathe/internal/inspect"
	"lathe/internal/msg"
	"lathe/internal/session/jsonl"
)

// agentWork is what a sub-agent did for one tool use.
type agentWork struct {
	Call     string        `json:"call"`
	Messages []msg.Message `json:"messages"`
}

// shownAgents are the messages of the session's sub-agents that a person sees, by what set each to work. What cannot be
// read is left out.
func (r *run) shownAgents() []agentWork {
	out := []agentWork{}
	path := r.conv.Log.Path()
	if path == "" {
		return out
	}
	messages := map[string][]msg.Message{"": r.session.Messages()} // of each conversation
	began := map[string]map[string]string{}                        // the first use of each sub-agent, by the conversation that made it
	for _, id := range jsonl.Agents(path) {
		state, err := jsonl.Read(jsonl.SubagentPath(path, id), "")
		if err != nil {
			continue
		}
		list := state.Messages
		if state.Earlier != nil {
			if earlier, err := state.Earlier(); err == nil {
				list = append(earlier, list...)
			}
		}
		var rec agent.Record
		_ = json.Unmarshal(state.Kept[agent.RecordKind], &rec) // other programs keep none
		messages[id] = list
		if began[rec.Parent] == nil {
			began[rec.Parent] = map[string]string{}
		}
		began[rec.Parent][id] = rec.Call
	}
	for parent, first := range began {
		for id, uses := range inspect.SetToWork(messages[parent], first) {
			out = append(out, byUse(uses, messages[id])...)
		}
	}
	return out
}

// byUse cuts what a sub-agent did into what each use had it do.
func byUse(uses []inspect.Use, list []msg.Message) []agentWork {
	out := make([]agentWork, len(uses))
	for i, u := range uses {
		out[i].Call = u.ID
	}
	at := 0
	for _, m := range list {
		for at+1 < len(uses) && !m.Time.Before(uses[at+1].At) {
			at++
		}
		if !m.Meta && m.Kind != msg.KindAttachment {
			out[at].Messages = append(out[at].Messages, m)
		}
	}
	return out
}
