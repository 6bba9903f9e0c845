package app

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"lathe/internal/config"
	"lathe/internal/event"
	"lathe/internal/mcp"
	"lathe/internal/place"
)

// managedServers is the name of an administrator's file of MCP servers.
const managedServers = "managed-mcp.json"

// serverEntries reads the entries of all scopes that count here. s is nil when there are none.
func (r *run) serverEntries() (configs []mcp.Config, s *servers, err error) {
	if r.o.Recording != nil {
		return nil, nil, nil // the demo starts nothing of the user's
	}
	note := func(problems []mcp.Problem) {
		for _, p := range problems {
			r.place.Notes = append(r.place.Notes, p.String())
		}
	}
	var hosted []mcp.Config
	if r.o.Host != nil {
		for _, name := range r.o.Host.SDKServers {
			hosted = append(hosted, mcp.Config{Name: name, Scope: mcp.SDK, Type: mcp.Host})
		}
	}
	flag, skipped, err := r.flagServers()
	if err != nil {
		return nil, nil, err
	}
	note(skipped)
	for _, p := range skipped {
		r.skippedServers = append(r.skippedServers, event.ServerError{Name: p.Name, Type: p.Kind, Message: p.Text})
	}
	var lists [][]mcp.Config
	managed, exclusive, err := r.managedServers()
	switch {
	case err != nil:
		return nil, nil, err
	case exclusive:
		lists = append(lists, managed, hosted)
		if len(flag) > 0 {
			r.place.Notes = append(r.place.Notes, "the servers of --mcp-config are not used: an administrator's "+managedServers+" names all that may be")
		}
	case r.o.StrictServers || r.o.Bare:
		lists = append(lists, hosted, flag, r.pluginServers(note))
	default:
		lists = append(lists, hosted, flag, r.pluginServers(note), r.ownServers(note), r.projectServers(note))
	}
	configs, problems := mcp.Merge(lists...)
	note(problems)
	configs = r.allowedServers(configs, note)
	if len(configs) == 0 && !r.canCall("mcp_message") { // a host may name servers later
		return nil, nil, nil
	}
	return configs, &servers{r: r}, nil
}

// allowedServers expands the entries and leaves out those that a policy refuses.
func (r *run) allowedServers(configs []mcp.Config, note func([]mcp.Problem)) []mcp.Config {
	policy := r.serverPolicy()
	var out []mcp.Config
	for _, c := range configs {
		c, problems := c.Expand(r.place.Sys.Getenv)
		note(problems)
		if why := policy.Refuses(c); why != "" {
			note([]mcp.Problem{{Name: c.Name, Kind: "policy", Text: why + "; it is skipped"}})
			continue
		}
		out = append(out, c)
	}
	return out
}

// flagServers are the entries of --mcp-config: files or JSON.
func (r *run) flagServers() (out []mcp.Config, problems []mcp.Problem, err error) {
	for _, v := range r.o.Servers {
		data, file := []byte(v), ""
		if !strings.HasPrefix(strings.TrimSpace(v), "{") {
			file = place.Absolute(r.place.Sys.Dirs.Work, v)
			if data, err = os.ReadFile(file); err != nil {
				return nil, nil, fmt.Errorf("--mcp-config: MCP config file not found or not readable: %w", err)
			}
		}
		list, more, err := mcp.Parse(data, mcp.Flag, file)
		if err != nil {
			return nil, nil, fmt.Errorf("--mcp-config: %w", err)
		}
		for _, c := range list { // a later one wins
			out = slices.DeleteFunc(out, func(o mcp.Config) bool { return o.Name == c.Name })
			out = append(out, c)
		}
		problems = append(problems, more...)
	}
	return out, problems, nil
}

// managedServers are an administrator's entries. Where the file is there no other entry counts.
func (r *run) managedServers() (out []mcp.Config, exclusive bool, err error) {
	for _, dir := range r.place.Places.Managed {
		file := filepath.Join(dir, managedServers)
		data, err := os.ReadFile(file)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, true, fmt.Errorf("the administrator's MCP servers: %w", err)
		}
		out, problems, err := mcp.Parse(data, mcp.Managed, file)
		for _, p := range problems {
			r.place.Notes = append(r.place.Notes, p.String())
		}
		return out, true, err
	}
	return nil, false, nil
}

// projectKeys are the directories by which the project is known in the user's file, the nearest first.
func (r *run) projectKeys() []string { return projectKeys(r.place) }

func projectKeys(p *place.Place) []string {
	out := []string{p.Sys.Dirs.Work}
	if p.Root != "" && p.Root != p.Sys.Dirs.Work {
		out = append(out, p.Root)
	}
	return out
}

// ownServers are the user's entries, for this project and for all.
func (r *run) ownServers(note func([]mcp.Problem)) []mcp.Config {
	stored := r.place.ServerStore().Load(r.projectKeys()...)
	for _, err := range stored.Errors {
		r.place.Notes = append(r.place.Notes, err.Error())
	}
	note(stored.Problems)
	var out []mcp.Config
	if r.wants("local") {
		out = append(out, stored.Local...)
	}
	if r.wants("user") {
		out = append(out, stored.User...)
	}
	return out
}

// projectServers are the entries of .mcp.json. They count only where the folder is trusted, and exactly as they were
// when it was: trust is bound to the file's text, and it is that text which is read here.
func (r *run) projectServers(note func([]mcp.Problem)) []mcp.Config {
	if !r.wants("project") {
		return nil
	}
	for _, g := range r.place.Grants {
		if g.Key != config.ServersFile {
			continue
		}
		if !r.place.Trusted {
			r.place.Notes = append(r.place.Notes, fmt.Sprintf("the MCP servers in %s are not started: this project is not trusted (lathe trust, or --trust for one run)", filepath.ToSlash(g.File)))
			return nil
		}
		list, problems, err := mcp.Parse([]byte(g.Text), mcp.Project, g.File)
		if err != nil {
			r.place.Notes = append(r.place.Notes, err.Error())
		}
		note(problems)
		refused := append(r.place.Settings.AllStrings("disabledMcpjsonServers"), r.place.ServerStore().Load(r.projectKeys()...).Refused...)
		return slices.DeleteFunc(list, func(c mcp.Config) bool { return slices.Contains(refused, c.Name) })
	}
	return nil
}

// serverPolicy joins the policy lists of the settings. Anybody may deny; what is allowed counts from trusted files, or
// from an administrator's alone.
func (r *run) serverPolicy() mcp.Policy {
	var p mcp.Policy
	onlyManaged := false
	for _, l := range r.place.Settings.Layers {
		onlyManaged = onlyManaged || l.Scope == config.Managed && string(l.Keys["allowManagedMcpServersOnly"]) == "true"
	}
	read := func(l *config.Layer, key string) []mcp.Match {
		raw, ok := l.Keys[key]
		if !ok || string(raw) == "null" {
			return nil
		}
		list, err := mcp.ParseMatches(raw)
		if err != nil {
			r.place.Notes = append(r.place.Notes, fmt.Sprintf("%s:%d: %s %v", filepath.ToSlash(l.File), l.Line("/"+key), key, err))
			if key == "allowedMcpServers" {
				return []mcp.Match{} // what cannot be read allows nothing
			}
		}
		return list
	}
	for _, l := range r.place.Settings.Layers {
		p.Denied = append(p.Denied, read(l, "deniedMcpServers")...)
		if (!onlyManaged || l.Scope == config.Managed) && l.Trusted {
			if list := read(l, "allowedMcpServers"); list != nil {
				p.Allowed = append(append([]mcp.Match{}, p.Allowed...), list...)
			}
		}
	}
	return p
}

// hostServers reads the entries of a host's request.
func (r *run) hostServers(raw map[string]json.RawMessage) ([]mcp.Config, map[string]string) {
	list, problems := mcp.ParseServers(raw, mcp.Flag, "")
	errs := map[string]string{}
	note := func(ps []mcp.Problem) {
		for _, p := range ps {
			errs[p.Name] = p.Text
		}
	}
	note(problems)
	return r.allowedServers(list, note), errs
}
