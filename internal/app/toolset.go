package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"lathe/internal/msg"
	"lathe/internal/perm"
	"lathe/internal/sys"
	"lathe/internal/tool"
	toolagent "lathe/internal/tool/agent"
	"lathe/internal/tool/bash"
	"lathe/internal/tool/edit"
	"lathe/internal/tool/glob"
	"lathe/internal/tool/grep"
	"lathe/internal/tool/notebook"
	"lathe/internal/tool/read"
	"lathe/internal/tool/structured"
	"lathe/internal/tool/todo"
	"lathe/internal/tool/write"
)

// Limits of commands in the background: of a run that nobody watches, and of a sub-agent.
const (
	backgroundLimit = 30 * time.Minute
	agentCommands   = 60 * time.Minute
)

// toolset is the tools of a session and the state that they share.
type toolset struct {
	registry   *tool.Registry
	files      *tool.ReadCache
	workspace  *tool.Workspace
	tasks      *bash.Tasks
	todos      *todo.List
	read       *read.Tool
	structured *structured.Tool
	denied     func(path string) bool // a rule forbids reading it
}

// newToolset builds the tools that the options leave: --tools restricts the set, a bare deny rule removes a tool,
// --bare keeps Bash, Read and Edit.
func (r *run) newToolset() (*toolset, error) {
	ts := &toolset{
		files: r.newFiles(), workspace: r.newWorkspace(), tasks: r.newTasks(), todos: todo.NewList(), denied: r.readDenied,
	}
	ts.files.Editor = r.editor
	ts.read = read.New(read.Deps{Workspace: ts.workspace, Files: ts.files, MaxTokens: max(0, r.number("CLAUDE_CODE_FILE_READ_MAX_OUTPUT_TOKENS"))})
	all := append(r.fileTools(ts), r.agentTools()...)
	kept, err := r.keptTools(append(all, r.personTools()...))
	if err != nil {
		return nil, err
	}
	if r.o.Schema != "" && r.agent == nil {
		if ts.structured, err = structured.New(r.o.Schema); err != nil {
			return nil, err
		}
		kept = append(kept, ts.structured)
	}
	kept = append(kept, r.customTools()...)
	ts.registry = tool.NewRegistry(kept...)
	if r.agent != nil {
		r.agentServers(ts)
	}
	return ts, nil
}

// fileTools are the tools that work in files, and with commands, lists and skills.
func (r *run) fileTools(ts *toolset) []tool.Tool {
	ws, files := ts.workspace, ts.files
	all := []tool.Tool{ts.read, edit.New(edit.Deps{Workspace: ws, Files: files}), write.New(write.Deps{Workspace: ws, Files: files})}
	all = append(all, r.shellTools(ts)...)
	all = append(all, grep.New(grep.Deps{Workspace: ws, Hide: r.withheld}), glob.New(r.globDeps(ws)),
		notebook.New(notebook.Deps{Workspace: ws, Files: files}))
	all = append(all, r.fetchTool()...)
	all = append(all, r.searchTool()...)
	all = append(all, r.todoTools(ts.todos)...)
	if t, listed := r.skillTool(); listed {
		all = append(all, t)
	}
	return all
}

// shellTools run commands. Those of a sub-agent end with it, and cd lasts for its command only.
func (r *run) shellTools(ts *toolset) []tool.Tool {
	shell := r.place.Sys
	shell.Environ = r.environ
	owner, others := "", bash.Others(r.work)
	if r.agent != nil {
		owner, others, shell.Getenv = r.agent.id, nil, keepingDir(shell.Getenv)
	}
	d := bash.Deps{
		Sys: shell, Workspace: ts.workspace, Cache: ts.files, Procs: &r.procs, Tasks: ts.tasks, ResultsDir: r.resultsDir, Clean: r.place.Redact.Stream,
		Owner: owner, Others: others,
		Background: r.backgroundOn(), BackgroundLimit: r.commandLimit(), OutputChars: r.outputChars(),
		Sandbox: r.watched, SandboxText: r.sandboxText(), Terminal: r.openTerminal(),
	}
	return append(bash.New(d), r.monitorTool(d)...)
}

// agentTools start sub-agents, and write to them.
func (r *run) agentTools() []tool.Tool {
	t, ok := r.agentTool()
	switch {
	case !ok:
		return nil
	case r.agent == nil && r.backgroundOn():
		return []tool.Tool{t, toolagent.NewSend(r.sendMessage)}
	}
	return []tool.Tool{t}
}

// keptTools are those of all that the model is told of.
func (r *run) keptTools(all []tool.Tool) ([]tool.Tool, error) {
	warn := r.warn
	if r.agent != nil {
		warn = func(string) {} // it was told when the session began
	}
	wanted, err := wantedTools(r.o, all, warn)
	if err != nil {
		return nil, err
	}
	if r.agent != nil {
		wanted = r.agent.keeps
	}
	var kept []tool.Tool
	for _, t := range all {
		name := t.Def().Name
		if wanted(name) && !r.toolDenied(name) && (r.agent != nil || r.main == nil || keepsTool(*r.main, name)) {
			kept = append(kept, t)
		}
	}
	return kept, nil
}

// newWorkspace is where the tools work. A sub-agent starts where the conversation above it is.
func (r *run) newWorkspace() *tool.Workspace {
	d := r.place.Sys.Dirs
	if r.agent == nil {
		return tool.NewWorkspace(d.Work, d.Home, r.dirs...)
	}
	if t := r.agent.tree; t != nil {
		return t.workspace(d.Work, d.Home)
	}
	above := r.agent.parent.tools.workspace
	ws := tool.NewWorkspace(above.Start(), d.Home, above.Roots()[1:]...)
	ws.SetCwd(above.Cwd())
	return ws
}

// newFiles remembers which files were seen: a sub-agent has seen none.
func (r *run) newFiles() *tool.ReadCache {
	if r.agent != nil {
		return r.agent.parent.tools.files.Beside()
	}
	return tool.NewReadCache()
}

// newTasks owns the commands in the background; sub-agents share it.
func (r *run) newTasks() *bash.Tasks {
	if r.agent != nil {
		return r.agent.parent.tools.tasks
	}
	tasks := bash.NewTasks(r.place.Sys.Now)
	tasks.Tell, tasks.Said = r.work.command, r.work.said
	return tasks
}

// keepingDir is an environment in which cd lasts for its command only.
func keepingDir(getenv func(string) string) func(string) string {
	return func(key string) string {
		if key == "CLAUDE_BASH_MAINTAIN_PROJECT_WORKING_DIR" {
			return "1"
		}
		return getenv(key)
	}
}

// wantedTools reads --tools. warn is told of names that are passed over.
func wantedTools(o *Options, all []tool.Tool, warn func(string)) (func(name string) bool, error) {
	if o.Tools == nil {
		bare := []string{"Bash", "Read", "Edit"}
		return func(name string) bool { return !o.Bare || slices.Contains(bare, name) }, nil
	}
	var names []string
	for _, v := range o.Tools {
		names = append(names, sys.List(v)...)
	}
	if slices.Contains(names, toolagent.OldName) {
		names = append(names, toolagent.Name)
	}
	if slices.Contains(names, "default") {
		return func(string) bool { return true }, nil
	}
	offered := func(n string) bool {
		return slices.ContainsFunc(all, func(t tool.Tool) bool { return t.Def().Name == n })
	}
	for i, n := range names {
		if now := olderNames[n]; now != "" && !offered(n) {
			names[i] = now
			n = now
		}
		if why := notOffered(n, o.Host != nil); !offered(n) && why != "" {
			warn("--tools: " + n + " is not offered here: " + why)
			continue
		}
		if !IsToolName(n) && !slices.ContainsFunc(all, func(t tool.Tool) bool { return t.Def().Name == n }) {
			return nil, fmt.Errorf("--tools: there is no tool named %q", n)
		}
	}
	return func(name string) bool { return slices.Contains(names, name) }, nil
}

// readFile runs the Read tool for the program itself: mentions and images look to the model like reads.
func (ts *toolset) readFile(ctx context.Context, path string, from, limit int) ([]msg.Block, error) {
	in := map[string]any{"file_path": path}
	if from > 0 {
		in["offset"], in["limit"] = from, limit
	}
	raw, err := json.Marshal(in)
	if err != nil {
		return nil, err
	}
	plan, err := ts.read.Plan(ctx, tool.Call{ID: "mention", Input: raw})
	if err != nil {
		return nil, err
	}
	res, err := plan.Run(ctx, func(string) {})
	if err != nil {
		return nil, err
	}
	if res.IsError {
		return nil, fmt.Errorf("%s", msg.JoinText(res.Blocks))
	}
	return res.Blocks, nil
}

// image reads an image file as a block within the API's limits.
func (ts *toolset) image(path string) (msg.Block, error) {
	path = ts.workspace.Abs(path)
	if ts.denied(path) {
		return msg.Block{}, errors.New("a permission rule forbids reading it")
	}
	blocks, err := ts.readFile(context.Background(), path, 0, 0)
	if err != nil {
		return msg.Block{}, err
	}
	for _, b := range blocks {
		if b.Type == msg.TypeImage {
			return b, nil
		}
	}
	return msg.Block{}, errors.New("it is not a png, jpeg, gif or webp image")
}

// cliRules turns the rules of the command line into rules of the engine.
func cliRules(o *Options, work string) []perm.Rule {
	var out []perm.Rule
	add := func(values []string, effect perm.Verdict) {
		for _, v := range values {
			for _, text := range perm.SplitRules(v) {
				src := perm.Source{Kind: "rule", Rule: text, Scope: "cli"}
				out = append(out, perm.Rule{Text: text, Effect: effect, Source: src, Dir: work})
			}
		}
	}
	add(o.Denied, perm.Deny)
	add(o.Allowed, perm.Allow)
	return out
}
