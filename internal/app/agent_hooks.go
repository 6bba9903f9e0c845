package app

import (
	"encoding/json"
	"strings"

	"lathe/internal/agent"
	"lathe/internal/config"
	"lathe/internal/file"
	"lathe/internal/hook"
	"lathe/internal/perm"
)

// agentHookSource is the hooks of a definition that may run here: a plugin's never, a project's with trust, and none
// that the settings switch off.
func (r *run) agentHookSource(def agent.Def) []hook.Source {
	if len(def.Hooks) == 0 || string(def.Hooks) == "null" || r.o.Recording != nil {
		return nil
	}
	off, onlyManaged := hooksOff(r.place.Settings)
	managed := def.Scope == agent.Managed
	switch {
	case off == config.Managed, off != "" && !managed, onlyManaged && !managed,
		r.o.Bare && !managed && def.Scope != agent.CLI,
		def.Scope == agent.Plugin, def.Scope == agent.Project && !r.place.Trusted:
		return nil
	}
	src := hook.Source{Scope: "agent " + def.Name, File: first(def.Path, "the agent "+def.Name), Dir: r.place.Sys.Dirs.Work, Hooks: def.Hooks}
	if def.Scope == agent.Project && !r.place.TrustsAt(def.Path) {
		src.Held = "what the definition of the agent " + def.Name + " runs or allows is not what you trusted (lathe trust shows and approves what it is now)"
	}
	return []hook.Source{src}
}

// refuseHook says why a command of the project's is not run, "" for those that are: a checkout of another branch may have put
// another program in the place of the one that was trusted, while the session runs.
func (r *run) refuseHook(s perm.Source, command string, args []string, dir string) string {
	p := r.place
	ofProject := s.Scope == string(config.Project) || s.Scope == string(config.Local) ||
		strings.HasPrefix(s.Scope, "agent ") && file.Below(first(p.ProjectRoot, p.Project), s.File)
	if !ofProject || p.RunsAsApproved(command, args, dir) {
		return ""
	}
	return "a program of the project that it names is not the one that you trusted (lathe trust shows and approves what it is now)"
}

// openAgentHooks gives a sub-agent the session's hooks, those of the agents above it, and its own.
func (r *run) openAgentHooks() {
	above := r.agent.parent.hooks
	r.hooks = above.of(r)
	sources := r.agentHookSource(r.agent.def)
	if len(sources) == 0 {
		if r.hooks != nil {
			r.hooks.also = above.also.Of(nil)
		}
		return
	}
	sources[0].Hooks = stopOfAgent(sources[0].Hooks)
	d := r.place.Sys.Dirs
	set := hook.Parse(sources, perm.Options{Start: d.Work, Home: d.Home, ProjectRoot: d.Work, Platform: platform()})
	for _, w := range set.Warnings {
		r.warn(w)
	}
	if r.hooks == nil {
		r.hooks, r.agent.ownHooks = r.makeHooks(&hook.Set{}), true
	}
	var outer *hook.Set
	if above != nil {
		outer = above.also
	}
	r.hooks.also = outer.Of(set)
}

// stopOfAgent makes the hooks of Stop those of SubagentStop: in a sub-agent that is what its end is.
func stopOfAgent(raw json.RawMessage) json.RawMessage {
	var events map[string]json.RawMessage
	if json.Unmarshal(raw, &events) != nil || events[string(hook.Stop)] == nil {
		return raw
	}
	var stop, sub []json.RawMessage
	if json.Unmarshal(events[string(hook.Stop)], &stop) != nil {
		return raw
	}
	_ = json.Unmarshal(events[string(hook.SubagentStop)], &sub) // what is no list is named by the parser, and lost
	delete(events, string(hook.Stop))
	joined, err := json.Marshal(append(sub, stop...))
	if err != nil {
		return raw
	}
	events[string(hook.SubagentStop)] = joined
	if out, err := json.Marshal(events); err == nil {
		return out
	}
	return raw
}

// has reports whether anything would be looked at for an event.
func (h *hooks) has(e hook.Event, match string) bool {
	return h.bus.Has(e, match) || h.also.Has(e, match)
}
