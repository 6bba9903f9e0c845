package app

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"lathe/internal/agent"
	"lathe/internal/event"
	"lathe/internal/msg"
	"lathe/internal/perm"
	"lathe/internal/sys"
	"lathe/internal/tool"
	"lathe/internal/tool/bash"
	"lathe/internal/tool/glob"
	"lathe/internal/tool/webfetch"
	"lathe/internal/tool/websearch"
)

// named reports whether somebody wants a tool by its name: --tools, a rule of the command line or of the settings that
// allows it, the agent that the session works by, or the definitions that a resumed session goes on with. Tools that most
// sessions have no use for are offered only then, since every request carries the definitions. A sub-agent has what the
// conversation above it has.
func (r *run) named(name string) bool {
	if r.agent != nil {
		_, above := r.agent.parent.tools.registry.Get(name)
		return above
	}
	if f := r.conv.State.Frozen; f != nil && slices.ContainsFunc(f.Tools, func(d msg.ToolDef) bool { return d.Name == name }) {
		return true
	}
	is := func(n string) bool { return n == name }
	if slices.ContainsFunc(r.o.Tools, func(v string) bool { return slices.ContainsFunc(sys.List(v), is) }) {
		return true
	}
	if r.main != nil && slices.ContainsFunc(r.main.Tools, is) {
		return true
	}
	return slices.ContainsFunc(r.book.Load().rules, func(rule perm.Rule) bool {
		tool, _, _ := strings.Cut(rule.Text, "(")
		return rule.Effect == perm.Allow && tool == name
	})
}

// toolNames are the tools that are built.
var toolNames = []string{
	"Bash", "Read", "Edit", "Write", "NotebookEdit", "Glob", "Grep", "WebFetch", "WebSearch", "Monitor",
	"TodoWrite", "TaskCreate", "TaskUpdate", "TaskGet", "TaskList", "TaskOutput", "TaskStop", "Task", "Agent", "SendMessage", "Skill",
	"AskUserQuestion", "EnterPlanMode", "ExitPlanMode", "ListMcpResourcesTool", "ReadMcpResourceTool", "ToolSearch", "StructuredOutput",
}

// olderNames are what tools were called in older versions of the documented command line.
var olderNames = map[string]string{
	"KillShell": "TaskStop", "KillBash": "TaskStop", "BashOutput": "TaskOutput", "AgentOutputTool": "TaskOutput", "MultiEdit": "Edit",
	"NotebookRead": "Read", "TodoRead": "TodoWrite",
}

// unbuilt are documented tools that there are none of here, and what there is instead.
var unbuilt = map[string]string{
	"LS": "use Glob, or ls by Bash", "PowerShell": "commands run by Bash", "SlashCommand": "use Skill",
	"EnterWorktree": notBuilt + "; a sub-agent with isolation: worktree works in a tree of its own", "ExitWorktree": notBuilt,
	"CronCreate": notBuilt, "CronDelete": notBuilt, "CronList": notBuilt, "ScheduleWakeup": notBuilt,
	"LSP": notBuilt, "Workflow": notBuilt, "WaitForMcpServers": notBuilt, "ListAgents": notBuilt, "SubagentHandback": notBuilt,
	"PushNotification": notBuilt, "SendUserFile": notBuilt, "SendFeedback": notBuilt, "RemoteTrigger": notBuilt, "ReportFindings": notBuilt,
	"Artifact": notBuilt, "EndConversation": notBuilt, "ShareOnboardingGuide": notBuilt, "TeamCreate": notBuilt, "TeamDelete": notBuilt,
}

const notBuilt = "there is no such tool yet"

// sometimes are tools that are built, and offered only where there is somebody or something for them.
var sometimes = map[string]string{
	"AskUserQuestion": "nobody answers questions", "EnterPlanMode": "nobody approves plans", "ExitPlanMode": "nobody approves plans",
	"ListMcpResourcesTool": "there are no MCP servers", "ReadMcpResourceTool": "there are no MCP servers", "ToolSearch": "no tool's schema is left out",
	"StructuredOutput": "no --json-schema is given", "Skill": "there are no skills", "SendMessage": "there is nothing in the background",
	"Monitor": "only the session itself watches, where background work is on", "WebSearch": "the provider has no search", "Agent": "sub-agents are not nested deeper", "Task": "sub-agents are not nested deeper",
	"TaskOutput": "there is nothing in the background", "TaskStop": "there is nothing in the background",
}

// IsToolName reports whether a name is that of a documented tool, or stands for some.
func IsToolName(s string) bool {
	return s == "default" || slices.Contains(toolNames, s) || olderNames[s] != "" || unbuilt[s] != ""
}

// notOffered says why a tool that somebody names is not offered, "" for one that is no tool of the program's: a host may
// name what it knows.
func notOffered(name string, host bool) string {
	why := first(unbuilt[name], sometimes[name])
	if why == "" && host && !IsToolName(name) {
		why = "there is no tool of that name"
	}
	return why
}

// missing are the tools that a definition or rules name and that there are none of, each with the reason. Names of MCP servers'
// tools are passed over: the servers may come later.
func (r *run) missing(names []string) []string {
	var out []string
	for _, n := range names {
		n, _, _ = strings.Cut(n, "(")
		if strings.ContainsAny(n, "_*") {
			continue
		}
		if _, has := r.tools.registry.Get(n); has {
			continue
		}
		why := unbuilt[n]
		if n == websearch.Name || n == bash.MonitorName {
			why = sometimes[n]
		}
		switch _, now := r.tools.registry.Get(olderNames[n]); {
		case now:
			continue
		case why == "" && IsToolName(n): // where there is nothing for it nobody misses it; or a rule or an option takes it away
			continue
		case why == "":
			why = "there is no tool of that name"
		}
		if text := event.InertLine(n) + " (" + why + ")"; !slices.Contains(out, text) {
			out = append(out, text)
		}
	}
	return out
}

// tellMissing says once which tools an agent's definition names in vain.
func (r *run) tellMissing() {
	def := r.agent.def
	if def.Scope == agent.BuiltIn {
		return
	}
	names := slices.DeleteFunc(slices.Clone(def.Tools), func(n string) bool { return slices.Contains(neverInAgents, n) })
	missing := r.missing(names)
	r.mu.Lock()
	told := r.toldTools[def.Name]
	if r.toldTools == nil {
		r.toldTools = map[string]bool{}
	}
	r.toldTools[def.Name] = true
	r.mu.Unlock()
	if len(missing) > 0 && !told {
		_ = r.root().session.Relay(event.Envelope{Event: event.Notice{Level: "info", Text: fmt.Sprintf(
			"the agent %s names tools that it does not have here: %s", event.InertLine(def.Name), strings.Join(missing, ", "))}})
	}
}

// missingNote tells which tools the allow rules and the agent of the session name in vain; "" for none.
func (r *run) missingNote() string {
	var names []string
	for _, rule := range r.book.Load().rules {
		if tool, _, _ := strings.Cut(rule.Text, "("); rule.Effect == perm.Allow && unbuilt[tool] != "" {
			names = append(names, tool)
		}
	}
	if r.main != nil {
		names = append(names, r.main.Tools...)
	}
	missing := r.missing(names)
	if len(missing) == 0 {
		return ""
	}
	return "rules or the agent name tools that are not offered here: " + strings.Join(missing, ", ")
}

// fetchTool is the tool WebFetch, as the environment wants it.
func (r *run) fetchTool() []tool.Tool {
	getenv := r.place.Sys.Getenv
	if sys.IsOn(getenv("CLAUDE_CODE_DISABLE_WEB_FETCH")) {
		return nil
	}
	return []tool.Tool{webfetch.New(webfetch.Deps{
		Ask: r.pageAsker(), UserAgent: "Lathe/" + sys.Version,
		Timeout:  duration(getenv("CLAUDE_CODE_WEBFETCH_DEADLINE_MS"), 0),
		CacheFor: pagesKept(getenv("CLAUDE_CODE_WEBFETCH_CACHE_TTL_MS")),
	})}
}

// pagesKept is how long WebFetch keeps a page; 0 keeps none, which the tool has as a value below that.
func pagesKept(ms string) time.Duration {
	if d := duration(ms, webfetch.CacheFor); d > 0 {
		return d
	}
	return -1
}

// globDeps are what Glob works with, as the environment wants it: hidden and ignored files are found unless it says no.
func (r *run) globDeps(ws *tool.Workspace) glob.Deps {
	getenv := r.place.Sys.Getenv
	return glob.Deps{
		Workspace: ws, Hide: r.readDenied, Timeout: time.Duration(max(0, r.number("CLAUDE_CODE_GLOB_TIMEOUT_SECONDS"))) * time.Second,
		SkipHidden: sys.IsOff(getenv("CLAUDE_CODE_GLOB_HIDDEN")), RespectIgnore: sys.IsOff(getenv("CLAUDE_CODE_GLOB_NO_IGNORE")),
	}
}

// commandLimit is how long a command may run in the background; 0: as long as the session. Where a person watches they end it.
func (r *run) commandLimit() time.Duration {
	getenv := r.place.Sys.Getenv
	switch {
	case r.agent != nil:
		return duration(getenv("CLAUDE_SUBAGENT_BG_SHELL_MAX_MS"), agentCommands)
	case r.o.Entry == EntryTerminal:
		return 0
	}
	return max(backgroundLimit, duration(getenv("BASH_DEFAULT_TIMEOUT_MS"), 0))
}

// outputChars is how much of a command's output the model gets at most, as the settings say; 0: they do not.
func (r *run) outputChars() int {
	n := 0
	r.place.Settings.Decode("bashOutputMaxChars", &n)
	return max(0, n)
}
