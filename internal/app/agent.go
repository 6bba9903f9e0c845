package app

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"lathe/internal/agent"
	"lathe/internal/config"
	"lathe/internal/file"
	"lathe/internal/perm"
	"lathe/internal/place"
	"lathe/internal/sys"
	toolagent "lathe/internal/tool/agent"
)

// Limits of sub-agents, unless the environment says otherwise.
const (
	agentDepth = 3
	agentMost  = 20 // at once
)

// openAgents reads the definitions that were given, and finds the one that the session works by.
func (r *run) openAgents() error {
	var err error
	if r.given, err = givenAgents(r.o, r.place.Sys.Dirs.Work); err != nil {
		return err
	}
	r.work = newWork(r)
	return r.mainAgent()
}

// givenAgents reads what --agents or a host defines: JSON, or the path of a file that holds it.
func givenAgents(o *Options, work string) ([]agent.Def, error) {
	text := strings.TrimSpace(o.Agents)
	if text == "" {
		return nil, nil
	}
	if !strings.HasPrefix(text, "{") && text != "null" {
		b, err := os.ReadFile(place.Absolute(work, text))
		if err != nil {
			return nil, fmt.Errorf("--agents: it is neither a JSON object nor a file: %w", err)
		}
		text = string(b)
	}
	defs, err := agent.Given(json.RawMessage(text))
	if err != nil {
		return nil, fmt.Errorf("--agents: %w", err)
	}
	return defs, nil
}

// agents finds the types of sub-agents of this moment. A project's load like its other files, since they grant nothing;
// those of a project that is not trusted stand behind all others, so that they take no name away, and choose no model.
func (r *run) agents() []agent.Def {
	getenv := r.place.Sys.Getenv
	d := r.place.Sys.Dirs
	p := agent.Places{
		Work: r.place.Project, Root: r.place.ProjectRoot, Given: r.given, Extra: r.pluginsNow().agents,
		NoBuiltIn: sys.IsOn(getenv("CLAUDE_AGENT_SDK_DISABLE_BUILTIN_AGENTS")), NoExplore: sys.IsOn(getenv("CLAUDE_CODE_DISABLE_EXPLORE_PLAN_AGENTS")),
	}
	if !r.o.Bare && r.o.Recording == nil {
		p.Managed = config.ManagedDirs()
		p.Project = r.place.Wants("project") && r.place.Trusted
		if r.place.Wants("user") {
			p.Config, p.State = d.Config, d.State
		}
	}
	out := agent.Find(p)
	if !r.place.Trusted && r.place.Wants("project") && !r.o.Bare && r.o.Recording == nil {
		for _, def := range agent.Find(agent.Places{Work: d.Work, Root: r.place.Root, Project: true, NoBuiltIn: true}) {
			real, err := filepath.EvalSymlinks(def.Path)
			top, topErr := filepath.EvalSymlinks(first(r.place.Root, d.Work))
			if err != nil || topErr != nil || !file.Below(top, real) || slices.ContainsFunc(out, func(o agent.Def) bool { return o.Name == def.Name }) {
				continue // a link must not make another file's text a prompt
			}
			def.Model, def.Effort, def.Memory, def.Initial, def.Hooks, def.Inline = "", "", "", "", nil, nil // what is paid for, is kept and runs is not theirs to choose
			out = append(out, def)
		}
	}
	return slices.DeleteFunc(out, r.agentDenied)
}

// agentDenied reports whether a rule forbids a type.
func (r *run) agentDenied(def agent.Def) bool {
	in, err := json.Marshal(map[string]string{"subagent_type": def.Name})
	if err != nil {
		return true
	}
	env := perm.Env{Rules: r.book.Load().set, Platform: platform()}
	return perm.Decide(perm.Request{Tool: toolagent.Name, Input: in}, env).Verdict == perm.Deny
}

// agentNames lists the types for front ends.
func (r *run) agentNames() []string {
	out := []string{}
	for _, d := range r.agents() {
		out = append(out, d.Name)
	}
	return out
}

// agentList is the answer to what agents there are.
func (r *run) agentList() []map[string]any {
	out := []map[string]any{}
	for _, d := range r.agents() {
		one := map[string]any{"name": d.Name, "description": d.Description}
		if d.Model != "" {
			one["model"] = d.Model
		}
		out = append(out, one)
	}
	return out
}

// agentTool is the tool Agent. A sub-agent has it as long as it is not too deep.
func (r *run) agentTool() (*toolagent.Tool, bool) {
	if r.depth() >= r.limit("CLAUDE_CODE_MAX_SUBAGENT_SPAWN_DEPTH", agentDepth) {
		return nil, false
	}
	types := r.spawnable
	if len(types()) == 0 {
		return nil, false
	}
	return toolagent.New(toolagent.Deps{Types: types, Run: r.startAgent, Background: r.agent == nil && r.backgroundOn(), Usually: r.o.Host != nil, Messages: r.agent == nil && r.backgroundOn(), Isolation: r.isolates()}), true
}

// spawnable are the types that this conversation may start.
func (r *run) spawnable() []agent.Def {
	all := r.agents()
	if r.main == nil || r.main.Spawns == nil || r.agent != nil {
		return all
	}
	return slices.DeleteFunc(all, func(d agent.Def) bool { return !slices.Contains(r.main.Spawns, d.Name) })
}

func (r *run) backgroundOn() bool {
	return !r.o.Bare && !sys.IsOn(r.place.Sys.Getenv("CLAUDE_CODE_DISABLE_BACKGROUND_TASKS"))
}

func (r *run) limit(key string, usual int) int {
	if n := r.number(key); n > 0 {
		return n
	}
	return usual
}

// depth is how many sub-agents stand above this conversation, itself included.
func (r *run) depth() int {
	if r.agent == nil {
		return 0
	}
	return r.agent.depth
}

// mainAgent takes the definition that the main thread works by: --agent, or the setting "agent".
func (r *run) mainAgent() error {
	name := r.o.Agent
	if name == "" {
		name = r.place.Settings.String("agent", "", true)
	}
	if name == "" {
		return nil
	}
	defs := r.agents()
	i := slices.IndexFunc(defs, func(d agent.Def) bool { return d.Name == name })
	if i < 0 {
		names := make([]string, len(defs))
		for i, d := range defs {
			names[i] = d.Name
		}
		return fmt.Errorf("there is no agent %q; there are: %s", name, strings.Join(names, ", "))
	}
	r.main = &defs[i]
	r.openNotes(r.main)
	return nil
}

// neverInAgents are tools that a sub-agent never has: they ask the person, or change what the session itself does.
var neverInAgents = []string{
	"AskUserQuestion", "EndConversation", "EnterPlanMode", "ExitPlanMode", "ScheduleWakeup", "TaskOutput", "WaitForMcpServers",
	"Workflow", "StructuredOutput",
}

// inBackground are the tools that a sub-agent in the background keeps, beside those of MCP servers.
var inBackground = []string{
	"Read", "Grep", "Glob", "Bash", "Edit", "Write", "NotebookEdit", "WebFetch", "WebSearch", "TodoWrite", "TaskCreate", "TaskUpdate", "TaskGet",
	"TaskList", "Skill", "ToolSearch", "TaskStop", "SendMessage",
}

// keepsTool reports whether a conversation that works by a definition has a tool.
func keepsTool(d agent.Def, name string) bool {
	if server, isMCP := serverOf(name); isMCP && d.Servers != nil && !slices.Contains(d.Servers, server) {
		return false
	}
	matches := func(pattern string) bool { return matchesTool(pattern, name) }
	return !slices.ContainsFunc(d.Disallowed, matches) && (d.Tools == nil || slices.ContainsFunc(d.Tools, matches))
}

// matchesTool compares a tool's name with an entry of a definition: a name, mcp__server, mcp__server__*, mcp__*.
func matchesTool(pattern, name string) bool {
	if pattern == name {
		return true
	}
	if !strings.HasPrefix(pattern, "mcp__") || !strings.HasPrefix(name, "mcp__") {
		return false
	}
	if ok, err := filepath.Match(pattern, name); ok && err == nil {
		return true
	}
	return strings.HasPrefix(name, pattern+"__")
}

// agentKeeps is which tools a sub-agent has: never one that the conversation above it has not.
func (a *agentPart) keeps(name string) bool {
	if _, has := a.parent.tools.registry.Get(name); !has || slices.Contains(neverInAgents, name) {
		return false
	}
	if _, isMCP := serverOf(name); a.background && !isMCP && !slices.Contains(inBackground, name) {
		return false
	}
	return keepsTool(a.def, name)
}

// initialPrompt is what the agent that the session works by begins with; "" for nothing. A resumed session has begun.
func (r *run) initialPrompt() string {
	if r.main == nil || r.conv.Resumed {
		return ""
	}
	return r.main.Initial
}
