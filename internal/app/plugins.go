package app

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"

	"lathe/internal/agent"
	"lathe/internal/event"
	"lathe/internal/hook"
	"lathe/internal/mcp"
	"lathe/internal/plugin"
	"lathe/internal/skill"
)

// loaded is a plugin of this run.
type loaded struct {
	*plugin.Plugin
	mcp bool // its MCP servers count
}

// openPlugins loads the plugins that the command line or the host names: whoever names a directory trusts it. One that
// cannot be loaded is named and left out.
func (r *run) openPlugins() {
	r.plugins, r.pluginErrors, r.pluginAgents = nil, nil, nil
	for i, d := range r.o.plugins {
		path := absolute(r.place.sys.Dirs.Work, d.path)
		p, err := plugin.Load(path, filepath.Join(r.place.sys.Dirs.Config, "plugins", "data"), r.place.project)
		if err != nil {
			r.place.notes = append(r.place.notes, err.Error()+" (left out)")
			r.pluginErrors = append(r.pluginErrors, event.PluginError{Plugin: fmt.Sprintf("inline[%d]", i), Type: "generic-error", Message: err.Error(), Path: path})
			continue
		}
		r.plugins = append(r.plugins, loaded{p, d.mcp})
		for _, dir := range p.Agents {
			r.pluginAgents = append(r.pluginAgents, agent.OfPlugin(dir, p.Name)...)
		}
	}
}

// pluginPlaces are where the plugins have skills and commands.
func (r *run) pluginPlaces() []skill.Plugin {
	out := make([]skill.Plugin, 0, len(r.plugins))
	for _, p := range r.plugins {
		out = append(out, skill.Plugin{Name: p.Name, Skills: p.Skills, Commands: p.Commands})
	}
	return out
}

// pluginHooks are the plugins' hooks.
func (r *run) pluginHooks() []hook.Source {
	var out []hook.Source
	for _, p := range r.plugins {
		for _, h := range p.Hooks {
			out = append(out, hook.Source{Scope: "plugin", File: h.File, Dir: p.Path, Hooks: h.Raw})
		}
	}
	return out
}

// pluginServers are the plugins' MCP servers, named plugin:PLUGIN:SERVER.
func (r *run) pluginServers(note func([]mcp.Problem)) []mcp.Config {
	var out []mcp.Config
	for _, p := range r.plugins {
		if !p.mcp {
			continue
		}
		raw := make(map[string]json.RawMessage, len(p.Servers))
		for name, v := range p.Servers {
			raw["plugin:"+p.Name+":"+name] = v
		}
		list, problems := mcp.ParseServers(raw, mcp.Flag, p.Path)
		note(problems)
		out = append(out, list...)
	}
	return out
}

// pluginList is what front ends are told of the plugins.
func (r *run) pluginList() []event.Plugin {
	out := make([]event.Plugin, 0, len(r.plugins))
	for _, p := range r.plugins {
		out = append(out, event.Plugin{Name: p.Name, Path: p.Path, Version: p.Version})
	}
	return out
}

// reloadPlugins answers reload_plugins. Plugins may be added; hooks and tools that the session has begun with stay.
func (r *run) reloadPlugins(_ context.Context, in struct {
	Add []hostPlugin `json:"add_plugins"`
},
) (any, error) {
	for _, p := range in.Add {
		if !filepath.IsAbs(p.Path) {
			return nil, fmt.Errorf("the path of a plugin must be absolute: %s", p.Path)
		}
		r.o.plugins = append(r.o.plugins, p.dir())
	}
	r.openPlugins()
	plugins := []map[string]any{}
	for _, p := range r.pluginList() {
		o := map[string]any{"name": p.Name, "path": p.Path, "source": "inline"}
		if p.Version != "" {
			o["version"] = p.Version
		}
		plugins = append(plugins, o)
	}
	return map[string]any{
		"commands": r.commandList(), "agents": r.agentList(), "plugins": plugins, "mcpServers": r.serverStatus(), "error_count": len(r.pluginErrors),
	}, nil
}

// hostPlugin is a plugin as a host names it.
type hostPlugin struct {
	Path    string `json:"path"`
	SkipMCP bool   `json:"skipMcpDiscovery"`
}

func (p hostPlugin) dir() pluginDir { return pluginDir{path: p.Path, mcp: !p.SkipMCP} }
