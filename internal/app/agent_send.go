package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"lathe/internal/agent"
	"lathe/internal/event"
	"lathe/internal/session"
	"lathe/internal/session/jsonl"
	toolagent "lathe/internal/tool/agent"
	"lathe/internal/tool/bash"
)

// agentRecord says how a sub-agent was started, for its transcript.
type agentRecord struct {
	agent.Record
	Tree *agentTree `json:"tree,omitempty"`
}

func (a *agentPart) record() agentRecord {
	rec := agentRecord{Tree: a.tree, Record: agent.Record{
		Type: a.def.Name, Name: a.name, Task: a.task, Model: a.model, Effort: a.effort, Background: a.background, Call: first(a.begunBy, a.call), Quiet: a.quiet,
	}}
	if a.parent.agent != nil {
		rec.Parent = a.parent.agent.id
	}
	return rec
}

// addressee is a sub-agent of the session that messages can be sent to, or could.
type addressee struct {
	id    string
	rec   agentRecord
	path  string         // of its transcript; "" where nothing is kept
	left  *session.State // what it knew at its end, where nothing is kept
	own   bool           // this run of the program has seen it
	user  bool           // the user has stopped it
	once  bool           // it answers once
	order int            // of its start
}

// messages reports whether the session can send messages to its sub-agents.
func (r *run) messages() bool {
	if r.agent != nil {
		return false
	}
	_, ok := r.tools.registry.Get(toolagent.SendName)
	return ok
}

// note remembers a sub-agent for messages. The caller holds the lock.
func (w *work) note(child *run) {
	a := child.agent
	if w.known == nil {
		w.known = map[string]*addressee{}
	}
	if a.depth == 1 {
		w.known[a.id] = &addressee{id: a.id, rec: a.record(), path: child.conv.Log.Path(), own: true, once: a.def.Once, order: len(w.known)}
	}
}

// leave keeps what a sub-agent without a transcript knows. The caller holds the lock.
func (w *work) leave(child *run) {
	if a := w.known[child.agent.id]; a != nil && a.path == "" {
		a.left = &session.State{Messages: child.session.Messages(), Frozen: child.session.Frozen()}
	}
}

// refuse notes that the user has stopped a sub-agent: no message brings it back. The caller holds the lock.
func (w *work) refuse(id string) {
	if a := w.known[id]; a != nil {
		a.user = true
	}
}

// sendMessage delivers a message of the model.
func (r *run) sendMessage(ctx context.Context, m toolagent.Message) (toolagent.Sent, error) {
	w := r.work
	for {
		a, err := r.addressee(m.To)
		if err != nil {
			return toolagent.Sent{}, err
		}
		b := w.at(a.id)
		if b == nil {
			return r.goOn(ctx, a, m)
		}
		if w.deliver(b, event.Prompt{ID: r.place.Sys.NewID(), Text: m.Text, Literal: true}) {
			return toolagent.Sent{
				Success: true, AgentID: a.id,
				Message: "Sub-agent " + a.id + " works still; it gets the message with its next step. You are told when it has ended.",
			}, nil
		}
		select { // it is just ending
		case <-b.done:
		case <-ctx.Done():
			return toolagent.Sent{}, context.Cause(ctx)
		}
	}
}

// at returns the run of a sub-agent that has not ended.
func (w *work) at(id string) *backAgent {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, b := range w.agents {
		if b.ID == id && b.State == bash.Running {
			return b
		}
	}
	return nil
}

// deliver queues a message for a sub-agent. It reports whether it came in time.
func (w *work) deliver(b *backAgent, p event.Prompt) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if b.State != bash.Running || b.run == nil {
		return false
	}
	b.run.session.Queue(p)
	return true
}

var agentIDForm = regexp.MustCompile(`^a[0-9a-f]{16}$`)

// addressee finds a sub-agent by id or name: one of this run, or of an earlier one of the session.
func (r *run) addressee(to string) (addressee, error) {
	list := r.addressees()
	var named []addressee
	for _, a := range list {
		if a.id == to {
			return a, nil
		}
		if a.rec.Name == to {
			named = append(named, a)
		}
	}
	if len(named) == 1 {
		return named[0], nil
	}
	if len(named) > 1 {
		ids := make([]string, len(named))
		for i, a := range named {
			ids[i] = a.id
		}
		return addressee{}, fmt.Errorf("%d sub-agents were given the name %q: say by its id which one is meant, the oldest first: %s", len(named), to, strings.Join(ids, ", "))
	}
	var names []string
	for _, a := range list {
		if !a.once {
			names = append(names, strings.TrimSpace(a.id+" "+a.rec.Name))
		}
	}
	if len(names) == 0 {
		return addressee{}, fmt.Errorf("there is no sub-agent %q, and no other one that takes messages: start one with the tool Agent", to)
	}
	return addressee{}, fmt.Errorf("there is no sub-agent %q; there are: %s", to, strings.Join(names, ", "))
}

// addressees are the sub-agents that the session itself has started, the oldest first. Those of earlier runs are in its
// folder.
func (r *run) addressees() []addressee {
	w := r.work
	w.mu.Lock()
	own := map[string]bool{}
	var out []addressee
	top := r.conv.Log.Path()
	for _, a := range w.known {
		own[a.id] = true
		if a.path == "" || a.path == jsonl.SubagentPath(top, a.id) { // not of a conversation that was left
			out = append(out, *a)
		}
	}
	w.mu.Unlock()
	slices.SortFunc(out, func(a, b addressee) int { return a.order - b.order })
	if top == "" {
		return out
	}
	paths, _ := filepath.Glob(filepath.Join(filepath.Dir(jsonl.SubagentPath(top, "x")), "agent-a*.jsonl"))
	var earlier []addressee
	for _, path := range paths {
		id := strings.TrimSuffix(strings.TrimPrefix(filepath.Base(path), "agent-"), ".jsonl")
		if own[id] || !agentIDForm.MatchString(id) {
			continue
		}
		if rec, ok := startOf(path); ok {
			earlier = append(earlier, addressee{id: id, rec: rec, path: path})
		}
	}
	return append(earlier, out...)
}

// startOf reads how a sub-agent of an earlier run was started. ok is false for one that cannot go on.
func startOf(path string) (rec agentRecord, ok bool) {
	state, err := jsonl.Read(path, "")
	if err != nil {
		return rec, false
	}
	return rec, json.Unmarshal(state.Kept[agent.RecordKind], &rec) == nil && rec.Type != "" && !rec.Quiet
}

// goOn has a sub-agent that has ended go on with a message, in the background.
func (r *run) goOn(ctx context.Context, a addressee, m toolagent.Message) (toolagent.Sent, error) {
	types := r.agents()
	i := slices.IndexFunc(types, func(d agent.Def) bool { return d.Name == a.rec.Type })
	switch {
	case a.user:
		return toolagent.Sent{}, fmt.Errorf("the user has stopped sub-agent %s: it takes no messages any more", a.id)
	case i < 0:
		return toolagent.Sent{}, fmt.Errorf("sub-agent %s is of the type %s, which there is not any more", a.id, a.rec.Type)
	case a.once || types[i].Once:
		return toolagent.Sent{}, fmt.Errorf("a sub-agent of the type %s answers once: start a new one, and tell it what it needs", a.rec.Type)
	}
	state := a.left
	if a.path != "" {
		var err error
		if state, err = jsonl.Read(a.path, ""); err != nil {
			return toolagent.Sent{}, fmt.Errorf("sub-agent %s cannot go on: %w", a.id, err)
		}
	}
	if state == nil {
		return toolagent.Sent{}, errors.New("nothing is left of sub-agent " + a.id)
	}
	if t := a.rec.Tree; t != nil && !a.own {
		if err := r.knowsTree(t); err != nil {
			return toolagent.Sent{}, fmt.Errorf("sub-agent %s cannot go on: its work tree is %q, %w", a.id, t.Path, err)
		}
	}
	release, err := r.agentSlot()
	if err != nil {
		return toolagent.Sent{}, err
	}
	part := &agentPart{
		id: a.id, name: a.rec.Name, def: types[i], parent: r, depth: r.depth() + 1, call: m.CallID, begunBy: a.rec.Call, task: a.rec.Task,
		model: a.rec.Model, effort: a.rec.Effort, background: a.rec.Background, isolated: a.rec.Tree != nil, tree: a.rec.Tree, earlier: state,
	}
	child, err := part.build(ctx)
	if err != nil {
		release()
		return toolagent.Sent{}, err
	}
	q := toolagent.Request{CallID: m.CallID, Def: part.def, Task: first(a.rec.Task, m.Summary), Prompt: m.Text, Background: true}
	if _, err := r.work.start(ctx, child, q, release); err != nil {
		return toolagent.Sent{}, err
	}
	return toolagent.Sent{
		Success: true, AgentID: a.id, Resumed: true,
		Message: "Sub-agent " + a.id + " had ended; it goes on with your message in the background. You are told when it has ended again.",
	}, nil
}

// takeUpAgent brings back what a sub-agent that goes on had beside its conversation.
func (r *run) takeUpAgent() {
	_ = json.Unmarshal(r.conv.State.Kept[thinkingKind], &r.dropThinking)
	_ = json.Unmarshal(r.conv.State.Kept[mismatchKind], &r.dropMismatch)
	r.tools.todos.Restore(r.conv.State.Messages)
	r.tools.files.Restore(r.conv.State.Messages, r.readable)
}
