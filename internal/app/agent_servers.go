package app

import (
	"context"
	"slices"

	"lathe/internal/agent"
	"lathe/internal/app/entries"
	"lathe/internal/mcp"
	"lathe/internal/sys"
	"lathe/internal/tool/mcptool"
)

// agentServerEntries are the MCP servers that a definition brings along and that may be started here: a plugin's never, a
// project's with trust, and none that a policy refuses. What the session has by the same name stays the session's.
func (r *run) agentServerEntries(def agent.Def) []mcp.Config {
	if len(def.Inline) == 0 || r.o.Recording != nil || def.Scope == agent.Plugin || def.Scope == agent.Project && !r.place.TrustsAt(def.Path) {
		return nil
	}
	given := def.Scope == agent.CLI || def.Scope == agent.Managed
	if (r.o.StrictServers || r.o.Bare) && !given {
		return nil
	}
	if _, exclusive, err := entries.Managed(r.place); (exclusive || err != nil) && def.Scope != agent.Managed {
		return nil
	}
	scope := mcp.User
	switch {
	case given:
		scope = mcp.Flag
	case def.Scope == agent.Project:
		scope = mcp.Project
	}
	list, problems := mcp.ParseServers(def.Inline, scope, def.Path)
	note := func(problems []mcp.Problem) {
		for _, p := range problems {
			r.warn(p.String())
		}
	}
	note(problems)
	list, problems = mcp.Merge(list) // the rules for names are those of other entries
	note(problems)
	list = entries.Allowed(r.place, list, note)
	if s := r.root().servers; s != nil {
		taken := map[string]bool{}
		for _, st := range s.set.Status() {
			taken[mcp.Prefix(st.Name)] = true // a tool of the session's must not be another one here
		}
		list = slices.DeleteFunc(list, func(c mcp.Config) bool { return taken[mcp.Prefix(c.Name)] })
	}
	return list
}

// openOwnServers starts a sub-agent's own servers and gives it their tools. They end with it.
func (r *run) openOwnServers(ctx context.Context) {
	configs := r.agentServerEntries(r.agent.def)
	if len(configs) == 0 {
		return
	}
	dirs, ts := r.place.Sys.Dirs, r.tools
	set := mcp.New(mcp.Deps{
		Procs: &r.procs, Environ: r.place.Sys.Environ, Getenv: r.place.Sys.Getenv, Dir: dirs.Work, Project: first(r.place.Root, dirs.Work),
		Version: sys.Version, Roots: ts.workspace.Roots(), Spill: r.spillServer, Changed: func(string) {}, Tokens: mcp.NewTokens(dirs.State),
		Known: r.knownServers(), Programs: r.place.Programs(),
	}, configs)
	r.agent.servers = set
	set.Start()
	ctx, cancel := context.WithTimeout(ctx, flagWait)
	defer cancel()
	set.Wait(ctx, func(mcp.Config) bool { return true })
	for _, st := range set.Status() {
		if st.State != mcp.Connected {
			r.warn("the MCP server " + st.Name + " of the agent " + r.agent.def.Name + " is not there: " + first(st.Error, string(st.State)))
		}
		if text := withheldText(st); text != "" {
			r.warn(text)
		}
	}
	for _, t := range set.Tools() {
		if keepsTool(r.agent.def, t.FullName) && !r.serverDenied(t.FullName) {
			ts.registry.Add(mcptool.New(t, set))
		}
	}
}
