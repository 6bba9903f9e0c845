package app

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sort"
	"strings"

	"lathe/internal/pipeline/input"
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

// commands are the slash commands of this moment: our own, then those of files. The user's file wins over a prompt of
// ours with the same name; what runs here keeps its name.
func (r *run) commands() []input.Command {
	if r.o.noCommands {
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
		case out[at].Expand != nil && out[at].Name == c.Name:
			out[at] = c
		}
	}
	return out
}

// builtins are our own commands.
func (r *run) builtins() []input.Command {
	out := slices.Concat(r.sessionCommands(), r.contextCommands(), r.modelCommands(), r.workCommands(), r.programCommands())
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
		{Name: "clear", Group: groupSession, Aliases: []string{"new", "reset"}, Args: "[name]", Help: "begin a new session; the old one, called name, can be resumed", Silent: true, Run: r.cmdClear},
		{Name: "resume", Group: groupSession, Aliases: []string{"continue"}, Args: "[session]", Help: "list the sessions of this directory, or go on with one", Silent: true, Run: r.cmdResume},
		{Name: "fork", Group: groupSession, Aliases: []string{"branch"}, Args: "[name]", Help: "copy this session and go on with the copy", Silent: true, Run: r.cmdFork},
		{Name: "rename", Group: groupSession, Args: "name", Help: "give this session a title", Run: r.cmdRename},
		{Name: "status", Group: groupSession, Help: "session, model, mode, directories", Run: r.cmdStatus},
	}
}

func (r *run) contextCommands() []input.Command {
	compact := r.compactCommand()
	rewind := r.rewindCommand()
	compact.Group, rewind.Group = groupContext, groupContext
	return []input.Command{
		compact, rewind,
		{Name: "context", Group: groupContext, Args: "[all]", Help: "what fills the context window", Run: r.cmdContext},
		{Name: "cost", Group: groupContext, Aliases: []string{"usage", "stats"}, Help: "cost and tokens of this session", Run: r.cmdCost},
	}
}

func (r *run) modelCommands() []input.Command {
	return []input.Command{
		{Name: "model", Group: groupModel, Args: "[model]", Help: "show or change the model for this session", Run: r.cmdModel},
		{Name: "permissions", Group: groupModel, Aliases: []string{"allowed-tools"}, Help: "the rules in force and where they come from", Run: r.cmdPermissions},
	}
}

func (r *run) workCommands() []input.Command {
	return []input.Command{
		{Name: "todos", Group: groupWork, Help: "the to-do list", Run: r.cmdTodos},
		{Name: "bashes", Group: groupWork, Aliases: []string{"tasks"}, Help: "background commands", Run: r.cmdTasks},
	}
}

func (r *run) programCommands() []input.Command {
	return []input.Command{
		{Name: "help", Group: groupProgram, Help: "this list", Run: r.cmdHelp},
	}
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
func (r *run) commandList() []map[string]any {
	out := []map[string]any{}
	for _, c := range r.commands() {
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

// commandMenu is what a terminal's menu shows: as commandList, with the heading, where a command comes from, and whether
// the screen does it.
func (r *run) commandMenu() []map[string]any {
	out := r.commandList()
	for i, c := range r.commands() {
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

// oneLine shortens a text to one line of at most n characters.
func oneLine(s string, n int) string {
	s = strings.Join(strings.Fields(s), " ")
	if r := []rune(s); len(r) > n {
		return string(r[:n-1]) + "…"
	}
	return s
}
