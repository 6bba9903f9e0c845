package app

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"

	"lathe/internal/agent"
	"lathe/internal/event"
	"lathe/internal/hook"
	"lathe/internal/mcp"
	"lathe/internal/place"
	"lathe/internal/plugin"
	"lathe/internal/skill"
)

// loaded is a plugin of this run.
type loaded struct {
	*plugin.Plugin
	mcp bool // its MCP servers count
}

// plugins are those of one moment; they are replaced as a whole, since a host may have them read again at any time.
type plugins struct {
	dirs   []PluginDir
	list   []loaded
	errors []event.PluginError
	agents []agent.Def
	notes  []string // for the person
}

// openPlugins loads the plugins that the command line or the host names.
func (r *run) openPlugins() {
	set := r.loadPlugins(r.o.Plugins)
	r.place.Notes = append(r.place.Notes, set.notes...)
	r.plugins.Store(set)
}

// loadPlugins loads plugins: whoever names a directory trusts it. One that cannot be loaded is named and left out.
func (r *run) loadPlugins(dirs []PluginDir) *plugins {
	set := &plugins{dirs: dirs}
	for i, d := range dirs {
		path := place.Absolute(r.place.Sys.Dirs.Work, d.Path)
		p, err := plugin.Load(path, filepath.Join(r.place.Sys.Dirs.Config, "plugins", "data"), r.place.Project)
		if err != nil {
			set.notes = append(set.notes, err.Error()+" (left out)")
			set.errors = append(set.errors, event.PluginError{Plugin: fmt.Sprintf("inline[%d]", i), Type: "generic-error", Message: err.Error(), Path: path})
			continue
		}
		set.list = append(set.list, loaded{p, d.MCP})
		for _, dir := range p.Agents {
			set.agents = append(set.agents, agent.OfPlugin(dir, p.Name)...)
		}
	}
	return set
}

// pluginsNow are the plugins of this moment.
func (r *run) pluginsNow() *plugins {
	if set := r.plugins.Load(); set != nil {
		return set
	}
	return &plugins{} // a command that runs no session loads none
}

// pluginPlaces are where the plugins have skills and commands.
func (r *run) pluginPlaces() []skill.Plugin {
	list := r.pluginsNow().list
	out := make([]skill.Plugin, 0, len(list))
	for _, p := range list {
		out = append(out, skill.Plugin{Name: p.Name, Skills: p.Skills, Commands: p.Commands})
	}
	return out
}

// pluginHooks are the plugins' hooks.
func (r *run) pluginHooks() []hook.Source {
	var out []hook.Source
	for _, p := range r.pluginsNow().list {
		for _, h := range p.Hooks {
			out = append(out, hook.Source{Scope: "plugin", File: h.File, Dir: p.Path, Hooks: h.Raw})
		}
	}
	return out
}

// pluginServers are the plugins' MCP servers, named plugin:PLUGIN:SERVER. Others wrote them: any other entry goes before,
// and commands that they name get an environment without credentials. A host's mcp_set_servers leaves them as they are.
func (r *run) pluginServers(note func([]mcp.Problem)) []mcp.Config {
	var out []mcp.Config
	for _, p := range r.pluginsNow().list {
		if !p.mcp {
			continue
		}
		raw := make(map[string]json.RawMessage, len(p.Servers))
		for name, v := range p.Servers {
			raw["plugin:"+p.Name+":"+name] = v
		}
		list, problems := mcp.ParseServers(raw, mcp.Plugin, p.Path)
		note(problems)
		out = append(out, list...)
	}
	return out
}

// pluginList is what front ends are told of the plugins.
func (r *run) pluginList() []event.Plugin {
	list := r.pluginsNow().list
	out := make([]event.Plugin, 0, len(list))
	for _, p := range list {
		out = append(out, event.Plugin{Name: p.Name, Path: p.Path, Version: p.Version})
	}
	return out
}

// reloadPlugins answers reload_plugins. Plugins may be added; hooks and tools that the session has begun with stay.
func (r *run) reloadPlugins(_ context.Context, in struct {
	Add []HostPlugin `json:"add_plugins"`
},
) (any, error) {
	for _, p := range in.Add {
		if !filepath.IsAbs(p.Path) {
			return nil, fmt.Errorf("the path of a plugin must be absolute: %s", p.Path)
		}
	}
	r.addPlugins(in.Add)
	plugins := []map[string]any{}
	for _, p := range r.pluginList() {
		o := map[string]any{"name": p.Name, "path": p.Path, "source": "inline"}
		if p.Version != "" {
			o["version"] = p.Version
		}
		plugins = append(plugins, o)
	}
	return map[string]any{
		"commands": r.commandList(), "agents": r.agentList(), "plugins": plugins, "mcpServers": r.serverStatus(), "error_count": len(r.pluginsNow().errors),
	}, nil
}

// addPlugins reads the plugins again, with more of them.
func (r *run) addPlugins(more []HostPlugin) {
	r.mu.Lock()
	defer r.mu.Unlock()
	dirs := slices.Clone(r.pluginsNow().dirs)
	for _, p := range more {
		dirs = append(dirs, p.dir())
	}
	set := r.loadPlugins(dirs)
	for _, n := range set.notes {
		r.warn(n)
	}
	r.plugins.Store(set)
}

// hostPlugin is a plugin as a host names it.
type HostPlugin struct {
	Path    string `json:"path"`
	SkipMCP bool   `json:"skipMcpDiscovery"`
}

func (p HostPlugin) dir() PluginDir { return PluginDir{Path: p.Path, MCP: !p.SkipMCP} }
