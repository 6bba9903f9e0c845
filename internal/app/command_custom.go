package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"lathe/internal/agent"
	"lathe/internal/event"
	"lathe/internal/file"
	"lathe/internal/hook"
	"lathe/internal/memory"
	"lathe/internal/msg"
	"lathe/internal/perm"
	"lathe/internal/pipeline/input"
	"lathe/internal/pipeline/tools"
	"lathe/internal/skill"
	"lathe/internal/tool"
	toolagent "lathe/internal/tool/agent"
	"lathe/internal/turn"
)

// shellLimit is how long one shell line of a skill or command may take.
const shellLimit = 2 * time.Minute

// stackMost is how many skills one message may name at its start.
const stackMost = 6

// customState is what a conversation keeps of its skills and commands.
type customState struct {
	finder skill.Finder

	mu            sync.Mutex
	rules         []perm.Rule // that skills brought for this turn
	dirs          []string    // added to the session, whose skills count too
	model, effort string      // that a skill which the model loaded wants for the rest of the turn

	scoped  []skill.Skill   // those that only certain files bring up, and that none has yet
	brought map[string]bool // those that one has, by the path of the skill
	news    bool            // there are more since the last listing

	told string // the list of commands, as front ends were told of it last
}

func (c *customState) add(rules []perm.Rule) {
	c.mu.Lock()
	c.rules = append(c.rules, rules...)
	c.mu.Unlock()
}

func (c *customState) addDir(dir string) {
	c.mu.Lock()
	c.dirs = append(c.dirs, dir)
	c.mu.Unlock()
}

// inSight leaves the model only the skills that count for what it works on.
func (c *customState) inSight(all []skill.Skill) []skill.Skill {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.scoped, c.news = nil, false
	return slices.DeleteFunc(all, func(s skill.Skill) bool {
		out := len(s.Paths) > 0 && !c.brought[s.Path]
		if out {
			c.scoped = append(c.scoped, s)
		}
		return out
	})
}

// touch looks whether files bring up skills.
func (c *customState) touch(paths []string, base string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, s := range c.scoped {
		if !c.brought[s.Path] && memory.Fits(s.Paths, base, paths) {
			if c.brought == nil {
				c.brought = map[string]bool{}
			}
			c.brought[s.Path], c.news = true, true
		}
	}
}

// begin forgets what an earlier conversation has touched.
func (c *customState) begin() {
	c.mu.Lock()
	c.brought, c.news = nil, false
	c.mu.Unlock()
}

// hasNews reports whether there are skills to be listed since the last time.
func (c *customState) hasNews() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.news
}

// endTurn takes back what counted for a turn.
func (c *customState) endTurn() {
	c.mu.Lock()
	c.rules, c.model, c.effort = nil, "", ""
	c.mu.Unlock()
}

// choose keeps what a skill wants for the rest of the turn, until the calls of its pass have ended.
func (c *customState) choose(model, effort string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.model, c.effort = first(model, c.model), first(effort, c.effort)
}

// chosen changes the turn to what skills wanted.
func (c *customState) chosen(t *turn.Turn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.model != "" && c.model != t.Model {
		t.Model = c.model
		t.Note("model %s for the rest of this turn", c.model)
	}
	t.Effort = first(c.effort, t.Effort)
	c.model, c.effort = "", ""
}

// over adds the rules of the turn.
func (c *customState) over(set *perm.Ruleset) *perm.Ruleset {
	c.mu.Lock()
	more := slices.Clone(c.rules)
	c.mu.Unlock()
	if len(more) == 0 {
		return set
	}
	return set.With(more...)
}

// customCommands are the skills, and the commands of files, that a person may type.
func (r *run) customCommands() []input.Command {
	var out []input.Command
	for _, s := range r.skills() {
		if s.Hidden {
			continue
		}
		c := input.Command{Name: s.Name, Args: s.Hint, Help: event.OneLine(s.Description, 200), Group: "Skills and commands of files", Source: s.Scope}
		if s.Long != "" && s.Long != s.Name {
			c.Aliases = []string{s.Long}
		}
		c.Expand = func(ctx context.Context, t *turn.Turn, args string) (input.Expanded, error) {
			return r.expandSkill(ctx, t, s, args)
		}
		out = append(out, c)
	}
	return out
}

// vars are the facts that a skill's text may refer to.
func (r *run) vars() skill.Vars {
	return skill.Vars{Session: r.conv.Log.ID(), Effort: r.effort(), Project: first(r.place.Root, r.place.Sys.Dirs.Work)}
}

// expandSkill makes the prompt of a typed skill or command, and of those that are named behind it: /a /b text.
func (r *run) expandSkill(ctx context.Context, t *turn.Turn, s skill.Skill, args string) (input.Expanded, error) {
	var out input.Expanded
	stack := []skill.Skill{s}
	for len(stack) < stackMost && !s.Fork {
		next, rest, ok := r.stacked(args)
		if !ok || next.Fork {
			break
		}
		stack, args = append(stack, next), rest
	}
	for _, s := range stack { // before any of their lines runs
		if r.expanding(ctx, t, s, args, &out.Hooked); out.Hooked.Blocked() || out.Hooked.Stop != nil {
			out.Text = "(not carried out: a hook ended it)"
			return out, nil
		}
	}
	var texts []string
	for _, s := range stack {
		text, err := r.loadSkill(ctx, s, args, byUser)
		if err != nil {
			return out, err
		}
		if !s.Command { // its further files are beside it
			text = fmt.Sprintf("Skill %s, from %s:\n\n%s", s.Name, s.Dir, text)
		}
		texts = append(texts, text)
		if !r.mayGrant(s) {
			out.Resolve = r.resolveInside
			continue
		}
		if s.Model != "" {
			out.Model = r.resolve1m(s.Model)
		}
		out.Effort = first(s.Effort, out.Effort)
	}
	out.Text = strings.Join(texts, "\n\n")
	if s.Fork && r.agent == nil {
		report, err := r.forkSkill(ctx, s, out.Text)
		if err != nil {
			return out, err
		}
		out.Answer, out.Text = report, fmt.Sprintf("A sub-agent has carried out /%s. Its report:\n\n%s", s.Name, report)
	}
	return out, nil
}

// expanding runs the hooks of a skill or command that was typed, and adds what they said to so.
func (r *run) expanding(ctx context.Context, t *turn.Turn, s skill.Skill, args string, so *turn.Hooked) {
	if r.hooks == nil {
		return
	}
	_, h := r.hooks.fire(ctx, t, hook.Payload{Event: hook.UserPromptExpansion, Match: s.Name, Fields: map[string]any{
		"expansion_type": "slash_command", "command_name": s.Name, "command_args": args, "command_source": s.Scope, "prompt": t.Input.Text,
	}})
	h.Messages = append(so.Messages, h.Messages...)
	*so = h
	if h.Blocked() {
		_ = t.Emit(event.Notice{Level: "warning", Text: "the command was blocked by a UserPromptExpansion hook: " + h.Decision.Reason})
	}
}

// forkSkill has a sub-agent carry out a skill, and returns its report.
func (r *run) forkSkill(ctx context.Context, s skill.Skill, task string) (string, error) {
	kind := first(s.Agent, "general-purpose")
	all := r.agents()
	i := slices.IndexFunc(all, func(d agent.Def) bool { return d.Name == kind })
	if i < 0 {
		return "", fmt.Errorf("%s wants a sub-agent %q, which there is not", s.Path, kind)
	}
	if r.agentDenied(all[i]) {
		return "", fmt.Errorf("a permission rule forbids the sub-agent %q that %s wants", kind, s.Path)
	}
	q := toolagent.Request{CallID: "skill-" + r.place.Sys.NewID(), Def: all[i], Task: "/" + s.Name, Prompt: task}
	if r.mayGrant(s) {
		q.Model, q.Effort = s.Model, s.Effort
	}
	res, err := r.startAgent(ctx, q)
	if err != nil {
		return "", err
	}
	text := msg.JoinText(res.Blocks)
	if res.IsError {
		return "", errors.New(text)
	}
	return text, nil
}

// loadForModel is the text that the tool Skill gives.
func (r *run) loadForModel(ctx context.Context, s skill.Skill, args string) (string, error) {
	text, err := r.loadSkill(ctx, s, args, byModel)
	if err != nil {
		return "", err
	}
	if s.Fork && r.agent == nil {
		report, err := r.forkSkill(ctx, s, text)
		if err != nil {
			return "", err
		}
		return fmt.Sprintf("A sub-agent has carried out the skill %s. Its report:\n\n%s", s.Name, report), nil
	}
	if r.mayGrant(s) {
		model := s.Model
		if model != "" {
			model = r.resolve1m(model)
		}
		r.custom.choose(model, s.Effort)
	}
	return fmt.Sprintf("Skill %s, from %s. Its further files are beside it; read them when it refers to them.\n\n%s", s.Name, s.Dir, text), nil
}

// skillSet adds to rules what skills brought for this turn: those of the session, and of the sub-agent that asks.
func (r *run) skillSet(set *perm.Ruleset) *perm.Ruleset {
	if top := r.root(); top != r {
		set = top.custom.over(set)
	}
	return r.custom.over(set)
}

// stacked reads a skill's name at the start of the arguments.
func (r *run) stacked(args string) (skill.Skill, string, bool) {
	name, rest, ok := input.SplitCommand(args)
	if !ok {
		return skill.Skill{}, "", false
	}
	for _, s := range r.skills() {
		if s.Name == name && !s.Hidden && !s.Command {
			return s, rest, true
		}
	}
	return skill.Skill{}, "", false
}

// resolveInside finds mentioned files only below the working directories: the text comes from a folder that is not
// trusted.
func (r *run) resolveInside(path string) (string, bool) {
	abs, ok := r.resolve(path)
	if !ok {
		return abs, false
	}
	real, err := filepath.EvalSymlinks(abs) // a link may lead out
	return abs, err == nil && r.readable(real)
}

// mayGrant reports whether a skill may run and allow things and choose the model: the user's own may, the project's once
// it is trusted. A folder that was added is no part of the project: it needs trust of its own.
func (r *run) mayGrant(s skill.Skill) bool {
	if s.Scope != "project" {
		return true
	}
	for _, dir := range r.skillDirs() {
		if file.Below(dir, s.Path) && !file.Below(r.place.Project, s.Path) && !file.Below(r.place.ProjectRoot, s.Path) {
			return r.place.Trusts(dir)
		}
	}
	return r.place.TrustsAt(s.Path)
}

// untrusted says why nothing of a skill is run.
func (r *run) untrusted(s skill.Skill) string {
	if r.place.Trusted && file.Below(r.place.Project, s.Path) {
		return "%s runs something else than when you trusted the project, so nothing of it is run (lathe trust shows and approves it)"
	}
	return "%s comes from a project that is not trusted, so nothing of it is run (lathe trust, or --trust for one run)"
}

// Who loads a skill, as hooks are told.
const (
	byUser  = "user"
	byModel = "claude"
)

// loadSkill fills in a skill's text, runs its shell lines, and lets its permissions count for the turn.
func (r *run) loadSkill(ctx context.Context, s skill.Skill, args, by string) (string, error) {
	grants := r.skillRules(s)
	text, err := s.Expand(args, r.vars(), func(command string) (string, error) {
		return r.shellLine(ctx, s, command, by, grants)
	})
	if err != nil {
		return "", err
	}
	r.custom.add(grants)
	return text, nil
}

// skillRules are the rules of a skill's front matter. What it forbids counts always, what it allows only from those
// who may grant.
func (r *run) skillRules(s skill.Skill) []perm.Rule {
	var out []perm.Rule
	add := func(texts []string, effect perm.Verdict) {
		for _, text := range texts {
			text = s.Fill(text, r.vars())
			if _, _, _, err := perm.ParseRule(text); err != nil {
				r.warn(fmt.Sprintf("%s: the rule %q: %v", s.Path, text, err))
				continue
			}
			src := perm.Source{Kind: "rule", Rule: text, Scope: "session", File: s.Path}
			out = append(out, perm.Rule{Text: text, Effect: effect, Source: src, Dir: r.place.Sys.Dirs.Work})
		}
	}
	add(s.Disallow, perm.Deny)
	if r.mayGrant(s) {
		add(s.Allow, perm.Allow)
	}
	return out
}

// shellLine runs one shell line of a skill by the Bash tool and returns its output. Nobody is asked: what the rules do
// not allow is not run, and ends the skill.
func (r *run) shellLine(ctx context.Context, s skill.Skill, command, by string, grants []perm.Rule) (string, error) {
	pattern := event.OneLine(command, 200)
	if r.place.Settings.Bool("disableSkillShellExecution", false) {
		return "[a shell command stood here; the settings switch those off (disableSkillShellExecution)]", nil
	}
	if !r.mayGrant(s) {
		return "", lineRefused(pattern, r.untrusted(s), s.Path)
	}
	bash, ok := r.tools.registry.Get("Bash")
	if !ok {
		return "", lineRefused(pattern, "this session has no Bash tool")
	}
	id := "skill-" + r.place.Sys.NewID()
	in, err := json.Marshal(map[string]any{"command": command, "description": "Shell line of /" + s.Name, "timeout": shellLimit.Milliseconds()})
	if err != nil {
		return "", err
	}
	if in, err = tool.Canonical(bash, in); err != nil {
		return "", err
	}
	plan, err := bash.Plan(ctx, tool.Call{ID: id, Input: in})
	if err != nil {
		return "", lineFailed(pattern, err.Error())
	}
	req := perm.Request{Tool: "Bash", Input: in, ReadOnly: plan.ReadOnly, Target: plan.Target}
	if d := r.decideWith(req, grants); d.Verdict != perm.Allow {
		return "", lineRefused(pattern, "%s", d.Reason)
	}
	if why := r.hooks.refusesLine(ctx, s, command, id, by, in); why != "" {
		return "", lineRefused(pattern, "%s", why)
	}
	return r.runLine(ctx, plan, pattern)
}

// lineRefused and lineFailed are errors in the documented wording.
func lineRefused(pattern, format string, args ...any) error {
	return fmt.Errorf("%s %q: %s", "Shell command permission check failed for pattern", pattern, fmt.Sprintf(format, args...))
}

func lineFailed(pattern, why string) error {
	return fmt.Errorf("%s %q: %s", "Shell command failed for pattern", pattern, why)
}

// runLine runs a shell line that was allowed. It leaves the session's directory as it was.
func (r *run) runLine(ctx context.Context, plan tool.Plan, pattern string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, shellLimit-time.Second) // before the tool would go on in the background
	defer cancel()
	dir := r.tools.workspace.Cwd()
	res, err := plan.Run(ctx, func(string) {})
	r.tools.workspace.SetCwd(dir)
	if err != nil {
		return "", lineFailed(pattern, err.Error())
	}
	text := msg.JoinText(res.Blocks)
	if res.IsError {
		return "", lineFailed(pattern, strings.TrimSpace(text))
	}
	return text, nil
}

// decideWith judges a call with more rules than those in force.
func (r *run) decideWith(req perm.Request, more []perm.Rule) perm.Decision {
	r.refresh()
	env := r.env()
	env.Rules = env.Rules.With(more...)
	env.Sandbox = r.sandboxOf(req)
	r.place.Care(&env, req.Tool)
	return r.judge(req, env, more...)
}

// refusesLine asks the hooks of a skill's shell line, and those that guard Bash. It returns why one is against it.
func (h *hooks) refusesLine(ctx context.Context, s skill.Skill, command, id, by string, in json.RawMessage) string {
	if h == nil {
		return ""
	}
	call := tools.HookCall{ID: id, Tool: "Bash", Input: in}
	p := h.call(hook.PreToolUse, call, map[string]any{"tool_use_id": id})
	h.mark(&p)
	o := h.bus.Fire(ctx, p)
	h.tell(o)
	if why := refusal(hook.PreToolUse, o); why != "" {
		return why
	}
	o = h.bus.Fire(ctx, hook.Payload{Event: hook.PreSkillShellCommand, Match: "Bash", Fields: map[string]any{
		"tool_name": "Bash", "tool_input": map[string]any{"command": command}, "tool_use_id": id,
		"command_name": s.Name, "command_source": s.Scope, "invoked_by": by,
	}})
	h.tell(o)
	return refusal(hook.PreSkillShellCommand, o)
}

// refusal is why a shell line of a skill is not run after its hooks have spoken; "" when they let it.
func refusal(event hook.Event, o hook.Outcome) string {
	switch {
	case o.Stop:
		return fmt.Sprintf("a %s hook ended it: %s", event, o.Reason)
	case o.Decision != nil && o.Decision.Verdict != perm.Allow:
		return fmt.Sprintf("a %s hook refused it: %s", event, o.Decision.Reason)
	case o.Input != nil:
		return fmt.Sprintf("a %s hook wants to change it, which a shell line of a skill does not allow", event)
	}
	return ""
}

// tellCommands says that the commands have changed since front ends were told of them.
func (r *run) tellCommands(t *turn.Turn) error {
	now := string(event.Encode(r.commandList()))
	r.custom.mu.Lock()
	was := r.custom.told
	r.custom.told = now
	r.custom.mu.Unlock()
	if was == "" || was == now {
		return nil
	}
	return t.Emit(event.CommandsChanged{Commands: json.RawMessage(now)})
}
