package app

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"lathe/internal/agent"
	"lathe/internal/engine"
	"lathe/internal/event"
	"lathe/internal/hook"
	"lathe/internal/memory"
	"lathe/internal/msg"
	"lathe/internal/pipeline/account"
	"lathe/internal/pipeline/attach"
	"lathe/internal/pipeline/input"
	"lathe/internal/pipeline/prompt"
	"lathe/internal/skill"
	"lathe/internal/tool/bash"
	toolskill "lathe/internal/tool/skill"
	"lathe/internal/turn"
)

// agentEngine changes what a session starts with into what a sub-agent starts with.
func (r *run) agentEngine(cfg *engine.Config, ledger *account.Deps, limits *account.Config) {
	a := r.agent
	cfg.Parent, cfg.Agent, cfg.Query, cfg.Begin = a.parent.session, a.ref(), nil, nil
	cfg.Mode, cfg.Kept = string(a.parent.mode()), a.kept
	limits.MaxTurns, limits.TaskBudget = a.def.MaxTurns, 0
	ledger.Keep, ledger.Failed = nil, nil
	if h := r.hooks; h != nil {
		cfg.Begin, ledger.Stop = h.beginAgent, h.stoppingAgent
	}
}

// agentPrompt is the system prompt of a sub-agent: its own, then where it works.
func (r *run) agentPrompt(cfg prompt.Config) (prompt.Deps, error) {
	a := r.agent
	var err error
	if cfg.Append, err = joinPrompt(r.o.AppendAgentFile, "append-subagent-system-prompt-file", r.o.AppendAgent); err != nil {
		return prompt.Deps{}, err
	}
	cfg.Agent, cfg.Cwd, cfg.Git = &a.def.Prompt, r.tools.workspace.Cwd(), cfg.Git && !a.def.NoGit
	return prompt.Deps{Config: cfg, Tools: r.tools.registry.Defs, Freeze: r.session.Freeze, Clean: r.place.Redact.String}, nil
}

// agentSources are the attachments of a sub-agent: instruction files, the skills that it begins with, the others'
// listing, the date, and what changes while it works.
func (r *run) agentSources() []attach.Source {
	a := r.agent
	var out []attach.Source
	if r.instructions() && !a.def.NoMemory {
		var loaded func(memory.File, string)
		if r.hooks != nil {
			loaded = r.hooks.loaded
		}
		out = append(out, attach.Memory(r.loader(), r.takeTouched, r.warn, loaded), attach.Rules(r.loader(), r.takeTouched, r.warn, loaded))
	}
	out = append(out, r.notesSource()...)
	if len(a.def.Skills) > 0 {
		out = append(out, r.preloaded())
	}
	if _, ok := r.tools.registry.Get(toolskill.Name); ok {
		out = append(out, r.skillSource())
	}
	return append(out,
		attach.Date(),
		attach.Changed(r.tools.files, r.tools.workspace.Rel, r.hooks.fileChanged),
		attach.Todo(func() string { return todoText(r.tools.todos) }),
		r.agentTasks(),
		attach.Queued(r.session.Queued, r.blocks, r.session.Unqueue),
	)
}

// preloaded attaches the skills that the definition names, whole, with the first prompt.
func (r *run) preloaded() attach.Source {
	const name = "skill"
	return attach.Source{
		Name: name, Budget: 128 << 10,
		When: func(t *turn.Turn, seen attach.Seen) bool { return t.Step == 1 && !seen.Any(name) },
		Collect: func(context.Context, *turn.Turn, attach.Seen) ([]attach.Item, error) {
			var out []attach.Item
			vars := skill.Vars{Session: r.conv.Log.ID(), Effort: r.agent.effort, Project: first(r.place.Root, r.place.Sys.Dirs.Work)}
			all := r.skills()
			for _, wanted := range r.agent.def.Skills {
				for _, s := range all {
					if s.Name != wanted || s.UserOnly || !r.mayGrant(s) {
						continue
					}
					out = append(out, attach.Item{Key: s.Name, Text: "Skill " + s.Name + ", from " + s.Dir + "\n\n" + s.Render("", vars)})
				}
			}
			return out, nil
		},
	}
}

// agentTasks tells a sub-agent of its own commands that ended.
func (r *run) agentTasks() attach.Source {
	return attach.Tasks(func() (out []attach.Item) {
		for _, t := range r.tools.tasks.Snapshot() {
			if t.State == bash.Running || t.Owner != r.agent.id || t.Known {
				continue
			}
			if _, told := r.agent.told.Load(endKey(t)); !told {
				out = append(out, attach.Item{Key: endKey(t), Text: commandNews(t)})
			}
		}
		return out
	})
}

// kept is told of messages of a sub-agent that are on disk now.
func (a *agentPart) kept(ms []msg.Message) {
	for _, m := range ms {
		if m.Kind == msg.KindAttachment && m.Source == attach.TaskSource {
			a.told.Store(m.Key, true)
		}
	}
}

// of returns the hooks as a sub-agent fires them.
func (h *hooks) of(r *run) *hooks {
	if h == nil {
		return nil
	}
	top := h
	if h.top != nil {
		top = h.top
	}
	return &hooks{r: r, top: top, bus: top.bus, set: top.set, also: h.also, effort: top.effort, ctx: top.ctx, stop: top.stop, cwd: r.tools.workspace.Cwd()}
}

// mark puts into a payload which sub-agent it comes from, and that one's own handlers.
func (h *hooks) mark(p *hook.Payload) {
	if p.Also == nil {
		p.Also = h.also
	}
	if h.r.agent == nil {
		return
	}
	fields := map[string]any{}
	maps.Copy(fields, p.Fields)
	a := h.r.agent
	fields["agent_id"], fields["agent_type"] = a.id, a.def.Name
	fields["cwd"], fields["permission_mode"] = h.r.tools.workspace.Cwd(), string(h.r.mode())
	p.Fields = fields
}

// beginAgent runs the hooks of a sub-agent's start.
func (h *hooks) beginAgent(ctx context.Context, t *turn.Turn) ([]msg.Message, error) {
	if h.r.agent.begun {
		return nil, nil // a message that came while it ended
	}
	h.r.agent.begun = true
	_, out := h.fire(ctx, t, hook.Payload{Event: hook.SubagentStart, Match: h.r.agent.def.Name})
	return out.Messages, nil
}

// stoppingAgent runs the hooks of an answer that would end a sub-agent.
func (h *hooks) stoppingAgent(ctx context.Context, t *turn.Turn, again bool) turn.Hooked {
	ctx, cancel := untilInterrupted(ctx, t)
	defer cancel()
	o, out := h.fire(ctx, t, hook.Payload{Event: hook.SubagentStop, Match: h.r.agent.def.Name, Fields: map[string]any{
		"stop_hook_active": again, "last_assistant_message": t.Reply.Message.Text(), "agent_transcript_path": h.r.conv.Log.Path(),
		"background_tasks": []any{},
	}})
	return feedback(o, out)
}

// agentMention tells the model which sub-agents the prompt names: @agent-name, or @"name (agent)".
func (r *run) agentMention() attach.Source {
	const name = "agent_mention"
	return attach.Source{
		Name: name, Budget: 4 << 10,
		When: func(t *turn.Turn, _ attach.Seen) bool {
			return t.Step == 1 && !t.Input.Literal && strings.Contains(t.Input.Text, "@")
		},
		Collect: func(_ context.Context, t *turn.Turn, _ attach.Seen) ([]attach.Item, error) {
			text := t.Input.Text
			if n := t.Input.Typed; n != 0 && n < len(text) {
				text = text[:max(0, n)]
			}
			var out []attach.Item
			types := r.agents()
			for _, ref := range input.Mentions(text) {
				wanted, ok := strings.CutPrefix(ref, "agent-")
				if !ok {
					wanted, ok = strings.CutSuffix(ref, " (agent)")
				}
				if ok && slices.ContainsFunc(types, func(d agent.Def) bool { return d.Name == wanted }) {
					out = append(out, attach.Item{
						Key:  t.ID + " " + wanted,
						Text: "The user names the sub-agent " + wanted + ": hand it what is meant for it, with the tool Agent and the subagent_type " + wanted + ".",
					})
				}
			}
			return out, nil
		},
	}
}

// cmdAgents lists the types of sub-agents.
func (r *run) cmdAgents(context.Context, *turn.Turn, string) (string, error) {
	var b strings.Builder
	for _, d := range r.agents() {
		where := string(d.Scope)
		if d.Path != "" {
			where += ", " + d.Path
		}
		fmt.Fprintf(&b, "%s (%s)\n    %s\n", d.Name, where, event.OneLine(d.Description, 160))
	}
	b.WriteString("An agent is a Markdown file in .claude/agents or .lathe/agents of a project, or in ~/.claude/agents; see docs/agents.md.")
	return b.String(), nil
}
