package inspect

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"lathe/internal/msg"
	"lathe/internal/trace"
)

// Use is a tool use that set a sub-agent to work: it began it, or a message had it go on.
type Use struct {
	ID string
	At time.Time // when it was made
}

// SetToWork finds in a conversation what set sub-agents to work, by their ids, the oldest first. began are the uses that
// sub-agents say they began with, by their ids; results tell of others.
func SetToWork(messages []msg.Message, began map[string]string) map[string][]Use {
	made := map[string]time.Time{}
	out := map[string][]Use{}
	add := func(agent, use string) {
		at, ok := made[use]
		if ok && !slices.ContainsFunc(out[agent], func(u Use) bool { return u.ID == use }) {
			out[agent] = append(out[agent], Use{use, at})
		}
	}
	for _, m := range messages {
		for _, b := range m.ToolUses() {
			made[b.ID] = m.Time
		}
		if !bytes.Contains(m.ToolOutput, []byte(`"agentId"`)) {
			continue
		}
		var said struct {
			AgentID string `json:"agentId"`
			Status  string `json:"status"`  // of the tool that begins one
			Resumed bool   `json:"resumed"` // of the tool that sends a message
		}
		if json.Unmarshal(m.ToolOutput, &said) != nil || said.AgentID == "" || said.Status == "" && !said.Resumed {
			continue
		}
		for _, b := range m.Blocks {
			if b.Type == msg.TypeToolResult {
				add(said.AgentID, b.ToolUseID)
			}
		}
	}
	for agent, use := range began {
		add(agent, use) // it runs still, or was cut off
	}
	for _, list := range out {
		slices.SortStableFunc(list, func(a, b Use) int { return a.At.Compare(b.At) })
	}
	return out
}

// makers are the requests of a conversation by the tool uses that their answers made.
func makers(messages []msg.Message, requests []*Request) map[string]*Request {
	out := map[string]*Request{}
	byAPI := map[string]*Request{}
	for _, r := range requests {
		byAPI[r.APIID] = r
		for _, t := range r.Tools {
			out[t.ID] = r
		}
	}
	for _, m := range messages {
		for _, b := range m.ToolUses() {
			if r := byAPI[m.APIID]; r != nil {
				out[b.ID] = r
			}
		}
	}
	return out
}

// addAgents adds the sub-agents that made requests, each request with what set the sub-agent to work.
func (in Input) addAgents(s *Session) {
	byID := map[string]*Agent{"": {Requests: s.Requests}}
	given := map[string]AgentInput{"": {Messages: in.Messages}}
	for _, a := range in.Agents {
		own := in
		own.Messages, own.Trace = a.Messages, a.Trace
		out := &Agent{ID: a.ID, Type: a.Type, Name: a.Name, Task: a.Task, Call: a.Call, Requests: own.requests()}
		if len(out.Requests) > 0 {
			s.Agents = append(s.Agents, out)
			byID[a.ID], given[a.ID] = out, a
		}
	}
	slices.SortFunc(s.Agents, func(a, b *Agent) int {
		return cmp.Or(a.Requests[0].At.Compare(b.Requests[0].At), cmp.Compare(a.ID, b.ID))
	})
	for i, a := range s.Agents {
		a.N = i + 1
		for _, r := range a.Requests {
			r.Agent, r.Label = a.N, fmt.Sprintf("a%d.%d", a.N, r.N)
		}
	}
	for id, of := range byID { // each conversation, and what it has set to work
		began := map[string]string{}
		for _, a := range s.Agents {
			if given[a.ID].Parent == id {
				began[a.ID] = a.Call
			}
		}
		made := makers(given[id].Messages, of.Requests)
		uses := SetToWork(given[id].Messages, began)
		for _, a := range s.Agents {
			if given[a.ID].Parent == id {
				a.place(uses[a.ID], began[a.ID], made)
			}
		}
	}
	for _, a := range s.Agents {
		a.Depth = 1
		for up := given[a.ID].Parent; up != "" && a.Depth < len(s.Agents); up = given[up].Parent {
			a.Depth++
		}
	}
}

// place says of each request of a sub-agent which of the uses that set it to work it belongs to. A use that no message has
// (on a branch that was left) may be in the trace.
func (a *Agent) place(uses []Use, began string, made map[string]*Request) {
	if r := made[began]; r != nil && !slices.ContainsFunc(uses, func(u Use) bool { return u.ID == began }) {
		uses = slices.Insert(uses, 0, Use{began, r.At})
	}
	uses = slices.DeleteFunc(uses, func(u Use) bool { return made[u.ID] == nil })
	if len(uses) == 0 {
		return
	}
	a.Call, a.Under = uses[0].ID, made[uses[0].ID].Label
	for _, r := range a.Requests {
		by := uses[0]
		for _, u := range uses[1:] {
			if u.At.Before(r.At) {
				by = u
			}
		}
		r.Under, r.By = made[by.ID].Label, by.ID
	}
}

// addSide adds the calls outside the conversations that were traced.
func (in Input) addSide(s *Session) {
	add := func(t *trace.Trace, agent int) {
		if t == nil {
			return
		}
		s.traces = append(s.traces, t)
		for _, rec := range t.Records {
			if rec.Stage == trace.SideStage && rec.Call != nil {
				r := &Request{Traced: true, trace: t, Agent: agent, For: rec.Call.Purpose, records: []trace.Record{rec}}
				in.addCall(r, rec)
				s.Side = append(s.Side, r)
			}
		}
	}
	add(in.Trace, 0)
	for _, a := range in.Agents {
		i := slices.IndexFunc(s.Agents, func(x *Agent) bool { return x.ID == a.ID })
		add(a.Trace, i+1)
	}
	slices.SortStableFunc(s.Side, func(a, b *Request) int { return a.At.Compare(b.At) })
	for i, r := range s.Side {
		r.N, r.Label = i+1, fmt.Sprintf("s%d", i+1)
	}
}

// Close ends the use of the traces that the session was made from.
func (s *Session) Close() error {
	var errs []error
	for _, t := range s.traces {
		errs = append(errs, t.Close())
	}
	return errors.Join(errs...)
}

// All are the requests as people read them: each of the conversation, followed by those of the sub-agents that its
// answer set to work, and theirs. What belongs to none, such as calls outside the conversations, stands where it was made.
func (s *Session) All() []*Request {
	under := map[string][]*Request{}
	loose := slices.Clone(s.Side)
	for _, a := range s.Agents {
		for _, r := range a.Requests {
			if r.Under == "" {
				loose = append(loose, r)
			} else {
				under[r.Under] = append(under[r.Under], r)
			}
		}
	}
	slices.SortStableFunc(loose, func(a, b *Request) int { return a.At.Compare(b.At) })
	var out []*Request
	var walk func(list []*Request)
	walk = func(list []*Request) {
		for _, r := range list {
			out = append(out, r)
			below := under[r.Label]
			delete(under, r.Label)
			walk(below)
		}
	}
	for i, r := range s.Requests {
		n := 0
		for n < len(loose) && loose[n].At.Before(r.At) {
			n++
		}
		walk(loose[:n])
		loose = loose[n:]
		walk(s.Requests[i : i+1])
	}
	walk(loose)
	for _, a := range s.Agents { // none, unless files contradict each other
		if list := under[a.Under]; a.Under != "" {
			delete(under, a.Under)
			walk(list)
		}
	}
	return out
}

// Find returns the request of a label; nil when there is none.
func (s *Session) Find(label string) *Request {
	for _, r := range s.All() {
		if r.Label == label {
			return r
		}
	}
	return nil
}
