package app

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"slices"
	"sort"
	"strings"

	"lathe/internal/pipeline/input"
	"lathe/internal/skill"
	"lathe/internal/turn"
)

// Headings of the list of commands.
const (
	groupSession = "Session"
	groupContext = "Context and memory"
	groupModel   = "Model and settings"
	groupWork    = "Work"
	groupProgram = "Program"
)

// commands are the slash commands of this moment: our own, then those of files. A file of the user's, or of a project that
// is trusted, wins over a prompt of ours with the same name; what runs here keeps its name.
func (r *run) commands() []input.Command {
	if r.o.NoCommands {
		return nil
	}
	out := r.builtins()
	taken := map[string]int{}
	for i, c := range out {
		for _, name := range append([]string{c.Name}, c.Aliases...) {
			taken[name] = i
		}
	}
	for _, c := range r.customCommands() {
		at, isTaken := taken[c.Name]
		switch {
		case !isTaken:
			out = append(out, c)
		case out[at].Expand != nil && out[at].Name == c.Name && r.mayReplace(c.Name):
			out[at] = c
		}
	}
	return out
}

// mayReplace reports whether the file of a name may take the place of a prompt of ours.
func (r *run) mayReplace(name string) bool {
	return slices.ContainsFunc(r.skills(), func(s skill.Skill) bool { return s.Name == name && r.mayGrant(s) })
}

// builtins are our own commands.
func (r *run) builtins() []input.Command {
	var out []input.Command
	for _, g := range []struct {
		heading string
		list    []input.Command
	}{
		{groupSession, r.sessionCommands()},
		{groupContext, r.contextCommands()},
		{groupModel, r.modelCommands()},
		{groupWork, r.workCommands()},
		{groupProgram, r.programCommands()},
	} {
		for _, c := range g.list {
			if r.o.Fixed && slices.Contains([]string{"clear", "resume", "fork"}, c.Name) {
				continue
			}
			c.Group = g.heading
			out = append(out, c)
		}
	}
	out = append(out, r.serverCommands()...)
	for i := range out {
		out[i].Source = "builtin"
		if out[i].Screen && out[i].Run == nil {
			out[i].Run = func(context.Context, *turn.Turn, string) (string, error) {
				return "", errors.New("only a terminal can do that")
			}
		}
	}
	return out
}

func (r *run) sessionCommands() []input.Command {
	return []input.Command{
		{Name: "clear", Aliases: []string{"new", "reset"}, Args: "[name]", Help: "begin a new session; the old one, called name, can be resumed", Silent: true, Run: r.cmdClear},
		{Name: "resume", Aliases: []string{"continue"}, Args: "[session]", Help: "list the sessions of this directory, or go on with one", Silent: true, Run: r.cmdResume},
		{Name: "fork", Aliases: []string{"branch"}, Args: "[name]", Help: "copy this session and go on with the copy", Silent: true, Run: r.cmdFork},
		r.rewindCommand(),
		{Name: "rename", Args: "name", Help: "give this session a title", Run: r.cmdRename},
		{Name: "export", Args: "[file]", Help: "the conversation as Markdown, in a new file or as the answer", Silent: true, Run: r.cmdExport},
		{Name: "copy", Args: "[N]", Help: "the text of the last answer, or of the Nth last", Silent: true, Run: r.cmdCopy},
		{Name: "status", Help: "session, model, mode, directories", Run: r.cmdStatus},
		{Name: "inspect", Help: "serve a page that shows this session request by request", Silent: true, Run: r.cmdInspect},
	}
}

func (r *run) contextCommands() []input.Command {
	return []input.Command{
		r.compactCommand(),
		{Name: "context", Args: "[all]", Help: "what fills the context window", Run: r.cmdContext},
		{Name: "btw", Args: "question", Help: "ask on the side: no tools, and it stays out of the conversation", Silent: true, Run: r.cmdBtw},
		{Name: "cost", Aliases: []string{"usage", "stats"}, Help: "cost and tokens of this session, by model", Run: r.cmdCost},
		{Name: "memory", Help: "the instruction files in force", Run: r.cmdMemory},
		{Name: "init", Args: "[wishes]", Help: "have the model write the project's instruction file", Expand: expandInit},
		{Name: "add-dir", Args: "path", Help: "make a directory a working directory of this session", Run: r.cmdAddDir},
	}
}

func (r *run) modelCommands() []input.Command {
	return []input.Command{
		{Name: "model", Args: "[model]", Help: "list the models, or change to one for this session", Run: r.cmdModel},
		{Name: "plan", Args: "[task]", Help: "plan before anything is changed: plan mode on, and the task, if one is given", Expand: r.expandPlan},
		{Name: "effort", Args: "[level|auto]", Help: "show or change how hard the model works", Run: r.cmdEffort},
		{Name: "fast", Args: "[on|off|status]", Help: "fast mode: the same model, quicker, at a higher price", Run: r.cmdFast},
		{Name: "config", Aliases: []string{"settings"}, Args: "[key[=value]]", Help: "show the settings that count, or change the user's", Run: r.cmdConfig},
		{Name: "output-style", Args: "[name]", Help: "list the output styles, or choose how answers look in this project", Run: r.cmdOutputStyle},
		{Name: "permissions", Aliases: []string{"allowed-tools"}, Help: "the rules in force and where they come from", Run: r.cmdPermissions},
		{Name: "hooks", Help: "the hooks in force and where they come from", Run: r.cmdHooks},
		{Name: "skills", Help: "the skills and commands of files", Run: r.cmdSkills},
	}
}

func (r *run) workCommands() []input.Command {
	return []input.Command{
		{Name: "diff", Help: "what is not committed, and what this session changed", Silent: true, Run: r.cmdDiff},
		{Name: "todos", Help: "the to-do list", Run: r.cmdTodos},
		{Name: "tasks", Aliases: []string{"bashes"}, Args: "[id]", Help: "what runs in the background, or the output of one", Silent: true, Run: r.cmdTasks},
		{Name: "agents", Help: "the types of sub-agents, and where they come from", Run: r.cmdAgents},
	}
}

// programCommands are about the program itself. What only a screen can do is known here by name, so that it is listed.
func (r *run) programCommands() []input.Command {
	return []input.Command{
		{Name: "help", Help: "this list", Run: r.cmdHelp},
		{Name: "doctor", Aliases: []string{"checkup"}, Args: "[model]", Help: "check what a session rests on", Run: r.cmdDoctor},
		{Name: "theme", Args: "[name]", Help: "the colours of the screen", Screen: true},
		{Name: "tui", Args: "[inline|fullscreen]", Help: "how the screen is drawn", Screen: true},
		{Name: "mode", Args: "[mode]", Help: "choose the permission mode", Screen: true},
		{Name: "keys", Aliases: []string{"keybindings"}, Help: "the keys", Screen: true},
		{Name: "vim", Help: "the keys of vi in the input box, on or off", Screen: true},
		{Name: "exit", Aliases: []string{"quit"}, Help: "leave", Screen: true},
	}
}

//go:embed init.md
var initText string

// expandInit is the prompt of /init.
func expandInit(_ context.Context, _ *turn.Turn, args string) (input.Expanded, error) {
	text := strings.TrimSpace(initText)
	if args != "" {
		text += "\n\nThe user adds: " + args
	}
	return input.Expanded{Text: text}, nil
}

// cmdHelp lists the commands by what they are about.
func (r *run) cmdHelp(context.Context, *turn.Turn, string) (string, error) {
	groups := map[string][]input.Command{}
	var order []string
	for _, c := range r.commands() {
		if groups[c.Group] == nil {
			order = append(order, c.Group)
		}
		groups[c.Group] = append(groups[c.Group], c)
	}
	var b strings.Builder
	for _, g := range order {
		fmt.Fprintf(&b, "%s\n", g)
		for _, c := range groups[g] {
			name := strings.TrimSpace("/" + c.Name + " " + c.Args)
			if len(name) > 28 {
				name += "\n" + strings.Repeat(" ", 30)
			}
			fmt.Fprintf(&b, "  %-28s %s\n", name, c.Help)
		}
		b.WriteByte('\n')
	}
	return strings.TrimRight(b.String(), "\n"), nil
}

func (r *run) commandNames() []string {
	var out []string
	for _, c := range r.commands() {
		out = append(out, c.Name)
	}
	sort.Strings(out)
	return out
}

// skillNames are the skills that the session has.
func (r *run) skillNames() []string {
	var out []string
	for _, s := range r.skills() {
		if !s.Command {
			out = append(out, s.Name)
		}
	}
	return out
}

// commandList is what front ends are told of the commands.
func (r *run) commandList() []map[string]any { return listed(r.commands()) }

func listed(commands []input.Command) []map[string]any {
	out := []map[string]any{}
	for _, c := range commands {
		one := map[string]any{"name": c.Name, "description": c.Help, "argumentHint": c.Args}
		if len(c.Aliases) > 0 {
			one["aliases"] = c.Aliases
		}
		if c.Source == "builtin" {
			one["builtin"] = true
		}
		out = append(out, one)
	}
	return out
}

// commandMenu is what a terminal's menu shows: the list with headings, where a command comes from, and whether the
// screen does it.
func (r *run) commandMenu() []map[string]any {
	commands := r.commands()
	out := listed(commands)
	for i, c := range commands {
		out[i]["group"], out[i]["source"] = c.Group, c.Source
		if c.Screen {
			out[i]["screen"] = true
		}
	}
	return out
}

func or(s, other string) string {
	if s == "" {
		return other
	}
	return s
}
