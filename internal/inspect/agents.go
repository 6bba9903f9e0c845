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

// caller is a tool use that set a sub-agent to work.
type caller struct {
	request *Request
	at      time.Time // when it was made
	id      string
}

// callers finds what in a conversation set sub-agents to work: the request of each tool use, and for each sub-agent
// that results name, by its id, the uses, the oldest first.
func callers(messages []msg.Message, requests []*Request) (uses map[string]caller, agents map[string][]caller) {
	uses, agents = map[string]caller{}, map[string][]caller{}
	byAPI := map[string]*Request{}
	for _, r := range requests {
		byAPI[r.APIID] = r
		for _, t := range r.Tools {
			uses[t.ID] = caller{r, r.At, t.ID}
		}
	}
	for _, m := range messages {
		for _, b := range m.ToolUses() {
			if r := byAPI[m.APIID]; r != nil {
				uses[b.ID] = caller{r, m.Time, b.ID}
			}
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
			if c, ok := uses[b.ToolUseID]; ok && b.Type == msg.TypeToolResult {
				agents[said.AgentID] = append(agents[said.AgentID], c)
			}
		}
	}
	return uses, agents
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
	type found struct {
		uses   map[string]caller
		agents map[string][]caller
	}
	of := map[string]found{}
	for id, a := range byID {
		uses, agents := callers(given[id].Messages, a.Requests)
		of[id] = found{uses, agents}
	}
	for _, a := range s.Agents {
		parent := given[a.ID].Parent
		runs := of[parent].agents[a.ID]
		if c, ok := of[parent].uses[a.Call]; ok && !slices.ContainsFunc(runs, func(r caller) bool { return r.id == c.id }) {
			runs = append(runs, c) // it runs still, or was cut off
		}
		slices.SortStableFunc(runs, func(x, y caller) int { return x.at.Compare(y.at) })
		a.place(runs)
	}
	for _, a := range s.Agents {
		a.Depth = 1
		for up := given[a.ID].Parent; up != "" && a.Depth < len(s.Agents); up = given[up].Parent {
			a.Depth++
		}
	}
}

// place says of each request of a sub-agent which of the calls that set it to work it belongs to.
func (a *Agent) place(runs []caller) {
	if len(runs) == 0 {
		return
	}
	a.Call, a.Under = runs[0].id, runs[0].request.Label
	for _, r := range a.Requests {
		by := runs[0]
		for _, c := range runs[1:] {
			if c.at.Before(r.At) {
				by = c
			}
		}
		r.Under, r.By = by.request.Label, by.id
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
