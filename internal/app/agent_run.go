package app

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"lathe/internal/agent"
	"lathe/internal/app/conversation"
	"lathe/internal/event"
	"lathe/internal/mcp"
	"lathe/internal/msg"
	"lathe/internal/perm"
	"lathe/internal/session"
	"lathe/internal/session/jsonl"
	"lathe/internal/sys"
	"lathe/internal/tool"
	toolagent "lathe/internal/tool/agent"
)

// agentPart is what a sub-agent's conversation has of its own.
type agentPart struct {
	id         string
	name       string         // by which messages reach it; "": none
	isolated   bool           // it gets a work tree of its own
	tree       *agentTree     // that; nil: it works where the session does
	moved      bool           // it goes on in another tree than it had
	earlier    *session.State // of one that goes on; nil: it begins
	def        agent.Def
	parent     *run
	depth      int // 1: started by the session itself
	call       string
	begunBy    string // where it goes on: the call that began it
	task       string
	model      string
	effort     string
	background bool
	servers    *mcp.Set // that its definition brings along; nil: none
	ownHooks   bool     // its hooks are the only ones there are, and end with it
	begun      bool     // its first turn has begun
	quiet      bool     // its work is shown to nobody, and no hook sees it

	work *backAgent // its run, to the session
	told sync.Map   // keys of the ends of commands that its conversation tells of
	uses int        // tool calls so far
	size int        // tokens of the last call
}

// root is the session itself.
func (r *run) root() *run {
	for r.agent != nil {
		r = r.agent.parent
	}
	return r
}

// mode is the permission mode in force: a sub-agent's is never wider than that of the conversation above it.
func (r *run) mode() perm.Mode {
	if r.agent == nil {
		return perm.Mode(r.session.Mode())
	}
	return perm.Narrower(r.agent.parent.mode(), perm.Mode(r.agent.def.Mode))
}

// tellMode says that a definition wishes for a mode that would give more rights than the conversation above has.
func (r *run) tellMode() {
	wish, mode := perm.Mode(r.agent.def.Mode), r.mode()
	if mode == perm.ModeAcceptEdits || mode == perm.ModeAuto || mode == perm.ModeBypass {
		return // it goes on without questions as it is
	}
	switch wish {
	case perm.ModeAcceptEdits, perm.ModeAuto, perm.ModeBypass:
		_ = r.root().session.Relay(event.Envelope{Event: event.Notice{Level: "info", Text: fmt.Sprintf(
			"the agent %s asks for the mode %s: it works in %s, since a sub-agent has no more rights than the session", r.agent.def.Name, wish, mode)}})
	}
}

// startAgent carries out a call of the tool Agent.
func (r *run) startAgent(ctx context.Context, q toolagent.Request) (tool.Result, error) {
	release, err := r.agentSlot()
	if err != nil {
		return tool.Result{}, err
	}
	if r.agent == nil {
		r.work.begin(q.CallID)
	}
	child, err := r.newAgent(ctx, q)
	if err != nil {
		r.work.unbegun(q.CallID)
		release()
		return tool.Result{}, err
	}
	child.tellMode()
	child.tellMissing()
	return r.root().work.start(ctx, child, q, release)
}

// agentSlot takes one of the places of sub-agents that run at once.
func (r *run) agentSlot() (release func(), err error) {
	most := r.limit("CLAUDE_CODE_MAX_CONCURRENT_SUBAGENTS", agentMost)
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.running >= most {
		return nil, fmt.Errorf("%d sub-agents run already, which is the limit: wait for one to end", r.running)
	}
	r.running++
	return func() { r.mu.Lock(); r.running--; r.mu.Unlock() }, nil
}

// newAgent builds the conversation of a sub-agent. Nothing is sent yet.
func (r *run) newAgent(ctx context.Context, q toolagent.Request) (*run, error) {
	a := &agentPart{
		def: q.Def, name: q.Name, isolated: q.Isolation != "", parent: r, depth: r.depth() + 1, call: q.CallID, task: q.Task, background: q.Background,
		model: r.agentModel(q), effort: first(q.Effort, q.Def.Effort),
	}
	return a.build(ctx)
}

// build assembles the conversation.
func (a *agentPart) build(ctx context.Context) (_ *run, err error) {
	r := a.parent
	r.changing.Lock() // this runs beside the session, which takes up settings
	place := *r.place
	place.Settings = r.latest
	place.Notes = nil // they are told
	r.changing.Unlock()
	child := &run{common: r.common, agent: a, place: &place}
	a.effort = first(a.effort, child.effort())
	child.openAgent()
	child.openNotes(&a.def)
	if a.isolated {
		if err = child.openTree(ctx); err != nil {
			return nil, err
		}
		defer func() {
			if err != nil {
				child.closeTree(&agentOutcome{})
			}
		}()
	}
	if child.tools, err = child.newToolset(); err != nil {
		return nil, err
	}
	child.openOwnServers(ctx)
	if len(child.tools.registry.Names()) == 0 && a.def.Tools != nil && len(a.def.Tools) > 0 {
		child.closeAgent()
		return nil, fmt.Errorf("the sub-agent %s would have no tool: none of %s is offered here", a.def.Name, strings.Join(a.def.Tools, ", "))
	}
	err = child.openTrace()
	if err == nil {
		err = child.assemble()
	}
	if err == nil && a.earlier != nil {
		child.takeUpAgent()
		if a.moved {
			err = child.conv.Log.Keep(agent.RecordKind, a.record())
		}
	} else if err == nil {
		err = child.conv.Log.Keep(agent.RecordKind, a.record())
	}
	if err != nil {
		child.closeAgent() // what was started for it
		return nil, err
	}
	return child, nil
}

// openAgent gives the sub-agent an id and a transcript. The id follows from the call, so that a run that is played again
// is the same; a call that was played before gets the next free one.
func (r *run) openAgent() {
	a, top := r.agent, r.root()
	store, start := conversation.Files(r.o.Which, r.place, r.prices), conversation.Start(r.place)
	start.ID = top.conv.Log.ID()
	path := top.conv.Log.Path()
	r.conv = top.conv.Aside()
	if a.earlier != nil {
		r.conv.State, r.conv.Resumed = *a.earlier, true
		if path != "" {
			r.conv.Log = store.Agent(start, path, a.id)
		}
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for n := 0; ; n++ {
		a.id = agentID(a.parent, a.call, n)
		if r.agentIDs[a.id] {
			continue
		}
		if path != "" {
			if _, err := os.Lstat(jsonl.SubagentPath(path, a.id)); err == nil {
				continue
			}
		}
		break
	}
	if r.agentIDs == nil {
		r.agentIDs = map[string]bool{}
	}
	r.agentIDs[a.id] = true
	if path != "" {
		r.conv.Log = store.Agent(start, path, a.id)
	}
}

func agentID(parent *run, call string, n int) string {
	above := ""
	if parent.agent != nil {
		above = parent.agent.id
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %s %d", above, call, n))
	return "a" + hex.EncodeToString(sum[:8])
}

// agentModel applies the documented order: the call, the definition, CLAUDE_CODE_SUBAGENT_MODEL, the model above.
func (r *run) agentModel(q toolagent.Request) string {
	getenv, above := r.place.Sys.Getenv, r.session.Model()
	if r.model.Model != "" {
		return above // a recording
	}
	usual := getenv("CLAUDE_CODE_SUBAGENT_MODEL")
	name := first(q.Model, q.Def.Model, usual)
	if sys.IsOn(getenv("CLAUDE_CODE_SUBAGENT_MODEL_FORCE")) {
		name = usual
	}
	if name == "" || name == "inherit" || sameFamily(name, above) {
		return above
	}
	return r.resolve1m(name)
}

// sameFamily reports whether an alias names the family of a model: then that very model is meant.
func sameFamily(alias, model string) bool {
	switch strings.ToLower(alias) {
	case "opus", "sonnet", "haiku", "fable":
		return strings.Contains(strings.ToLower(model), strings.ToLower(alias))
	}
	return false
}

func (a *agentPart) ref() event.Agent {
	out := event.Agent{ID: a.id, Type: a.def.Name, Task: a.task}
	if a.tree != nil {
		out.Dir = a.tree.Path
	}
	return out
}

// agentOutcome is how a sub-agent's turn ended.
type agentOutcome struct {
	completed toolagent.Completed
	note      string // what the reader must know of how it ended
	failed    bool   // it has nothing to report
}

func (o agentOutcome) result() tool.Result {
	res := toolagent.Report(o.completed, o.note)
	if res.IsError = o.failed; o.failed {
		res.Blocks = []msg.Block{msg.Text(o.note)}
	}
	return res
}

// runAgent runs one prompt of a sub-agent to its end. An error is returned where ctx ended it, or its transcript cannot be
// written.
func (r *run) runAgent(ctx context.Context, prompt string) (agentOutcome, error) {
	a := r.agent
	start := r.place.Sys.Now()
	var result *event.Result
	var text lastText // of the last answer, should the result have none
	for env, err := range r.session.Submit(ctx, event.Prompt{Text: prompt, Literal: true}) {
		if err != nil {
			return agentOutcome{}, err
		}
		switch e := env.Event.(type) {
		case event.TurnDone:
			if env.Parent == "" {
				result = &e.Result
			}
		case event.Message:
			if env.Parent == "" && e.Msg.Kind == msg.KindAssistant {
				a.note(e.Msg, &text)
			}
		}
		r.pass(env)
	}
	if err := context.Cause(ctx); err != nil {
		return agentOutcome{}, err
	}
	if result == nil {
		return agentOutcome{}, errors.New("the sub-agent ended without a result")
	}
	return r.outcome(*result, text.text, r.place.Sys.Now().Sub(start), prompt), nil
}

// lastText is the newest text of a sub-agent, without what it said before its last calls when there is any after them.
type lastText struct {
	text   string
	called bool // a call stands behind it
}

// note keeps count of what an answer holds.
func (a *agentPart) note(m msg.Message, last *lastText) {
	for _, b := range m.Blocks {
		switch {
		case b.Type == msg.TypeToolUse:
			a.uses++
			last.called = true
		case b.Type == msg.TypeText && m.APIError == "":
			if last.called {
				*last = lastText{}
			}
			last.text += b.Text
		}
	}
	if m.Usage != nil {
		a.size = m.Usage.Total()
	}
}

// pass hands an event of the sub-agent on to the conversation above it.
func (r *run) pass(env event.Envelope) {
	if r.agent.quiet {
		return
	}
	if env.Parent == "" {
		switch env.Event.(type) {
		case event.Ready, event.TurnStarted, event.TurnDone, event.Stream, event.State, event.Reply:
			return
		}
		env.Parent, env.Agent = r.agent.call, r.agent.ref()
	}
	_ = r.agent.parent.session.Relay(env) // who does not listen any more misses nothing
	r.root().work.heard(r.agent, env)
}

func (r *run) outcome(res event.Result, text string, took time.Duration, prompt string) agentOutcome {
	a := r.agent
	o := agentOutcome{}
	if res.Subtype == event.Success && !res.IsError {
		text = first(res.Text, text)
	}
	switch {
	case res.Subtype == event.ErrMaxTurns:
		o.note = fmt.Sprintf("It was stopped after %d model calls, its limit: what follows is partial.", res.Turns)
	case res.Subtype == event.ErrMaxBudget:
		o.note = "It was stopped because the session's budget is used up: what follows is partial."
	case res.IsError:
		o.note = "Agent terminated early due to an API error: " + first(res.Text, strings.Join(res.Errors, "; ")) + "."
		o.failed = strings.TrimSpace(text) == ""
	}
	if res.Usage.ServerTools == nil {
		res.Usage.ServerTools = &msg.ServerTools{} // hosts read it
	}
	o.completed = toolagent.Completed{
		Status: "completed", AgentID: a.id, AgentType: a.def.Name, Content: []toolagent.Content{{Type: "text", Text: text}},
		Model: r.session.Model(), ToolUses: a.uses, DurationMs: took.Milliseconds(), Tokens: a.size, Usage: res.Usage, Prompt: prompt,
		Goes: a.depth == 1 && !a.def.Once && r.root().messages(),
	}
	return o
}

// closeAgent ends what a sub-agent has started: its commands in the background, its files.
func (r *run) closeAgent() {
	ctx, cancel := context.WithTimeout(context.Background(), closeLimit)
	defer cancel()
	if err := r.tools.tasks.StopOwned(ctx, r.agent.id); err != nil {
		r.warn(err.Error())
	}
	if err := r.conv.Log.Close(); err != nil {
		r.warn("close the transcript of a sub-agent: " + err.Error())
	}
	if r.agent.servers != nil {
		r.agent.servers.Close()
	}
	if r.agent.ownHooks {
		r.hooks.close()
	}
	if f := r.trace.Load(); f != nil {
		f.Close()
	}
}

// agentFile is where a sub-agent in the background writes what it does, for whoever wants to look.
func (r *run) agentFile() (*os.File, error) {
	dir := r.resultsDir()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	return os.OpenFile(filepath.Join(dir, "agent-"+r.agent.id+".md"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
}
