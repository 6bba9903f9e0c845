package entries

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"lathe/internal/config"
	"lathe/internal/mcp"
	"lathe/internal/place"
)

// managedServers is the name of an administrator's file of MCP servers.
const managedServers = "managed-mcp.json"

// In is where entries may be, beside the files of the place.
type In struct {
	Place   *place.Place
	Flag    []string // of --mcp-config: files or JSON
	Hosted  []string // names of servers in the host's own process
	Plugins func(note func([]mcp.Problem)) []mcp.Config
	Only    bool // those of the files do not count
}

// Read reads the entries that count. skipped are those of Flag that cannot be used. What is wrong with any of them becomes
// a note of the place.
func Read(in In) (configs []mcp.Config, skipped []mcp.Problem, err error) {
	p := in.Place
	note := func(problems []mcp.Problem) {
		for _, x := range problems {
			p.Notes = append(p.Notes, x.String())
		}
	}
	var hosted []mcp.Config
	for _, name := range in.Hosted {
		hosted = append(hosted, mcp.Config{Name: name, Scope: mcp.SDK, Type: mcp.Host})
	}
	flag, skipped, err := named(p, in.Flag)
	if err != nil {
		return nil, nil, err
	}
	note(skipped)
	var lists [][]mcp.Config
	managed, exclusive, err := Managed(p)
	switch {
	case err != nil:
		return nil, skipped, err
	case exclusive:
		lists = append(lists, managed, hosted)
		if len(flag) > 0 {
			p.Notes = append(p.Notes, "the servers of --mcp-config are not used: an administrator's "+managedServers+" names all that may be")
		}
	case in.Only:
		lists = append(lists, hosted, flag, in.Plugins(note))
	default:
		lists = append(lists, hosted, flag, in.Plugins(note), own(p, note), project(p, note))
	}
	configs, problems := mcp.Merge(lists...)
	note(problems)
	return Allowed(p, configs, note), skipped, nil
}

// Allowed expands the entries and leaves out those that a policy refuses.
func Allowed(p *place.Place, configs []mcp.Config, note func([]mcp.Problem)) []mcp.Config {
	rules := policy(p)
	var out []mcp.Config
	for _, c := range configs {
		c, problems := c.Expand(p.Sys.Getenv)
		note(problems)
		if why := rules.Refuses(c); why != "" {
			note([]mcp.Problem{{Name: c.Name, Kind: "policy", Text: why + "; it is skipped"}})
			continue
		}
		out = append(out, c)
	}
	return out
}

// named are the entries of --mcp-config: files or JSON.
func named(p *place.Place, values []string) (out []mcp.Config, problems []mcp.Problem, err error) {
	for _, v := range values {
		data, file := []byte(v), ""
		if !strings.HasPrefix(strings.TrimSpace(v), "{") {
			file = place.Absolute(p.Sys.Dirs.Work, v)
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

// Managed are an administrator's entries. Where the file is there no other entry counts.
func Managed(p *place.Place) (out []mcp.Config, exclusive bool, err error) {
	for _, dir := range p.Places.Managed {
		file := filepath.Join(dir, managedServers)
		data, err := os.ReadFile(file)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, true, fmt.Errorf("the administrator's MCP servers: %w", err)
		}
		out, problems, err := mcp.Parse(data, mcp.Managed, file)
		for _, x := range problems {
			p.Notes = append(p.Notes, x.String())
		}
		return out, true, err
	}
	return nil, false, nil
}

// Keys are the directories by which the project is known in the user's file, the nearest first.
func Keys(p *place.Place) []string {
	out := []string{p.Sys.Dirs.Work}
	if p.Root != "" && p.Root != p.Sys.Dirs.Work {
		out = append(out, p.Root)
	}
	return out
}

// own are the user's entries, for this project and for all.
func own(p *place.Place, note func([]mcp.Problem)) []mcp.Config {
	stored := p.ServerStore().Load(Keys(p)...)
	for _, err := range stored.Errors {
		p.Notes = append(p.Notes, err.Error())
	}
	note(stored.Problems)
	var out []mcp.Config
	if p.Wants("local") {
		out = append(out, stored.Local...)
	}
	if p.Wants("user") {
		out = append(out, stored.User...)
	}
	return out
}

// project are the entries of .mcp.json. They count only where the folder is trusted, and exactly as they were
// when it was: trust is bound to the file's text, and it is that text which is read here.
func project(p *place.Place, note func([]mcp.Problem)) []mcp.Config {
	if !p.Wants("project") {
		return nil
	}
	for _, g := range p.Grants {
		if g.Key != config.ServersFile {
			continue
		}
		if !p.Trusted {
			p.Notes = append(p.Notes, fmt.Sprintf("the MCP servers in %s are not started: this project is not trusted (lathe trust, or --trust for one run)", filepath.ToSlash(g.File)))
			return nil
		}
		list, problems, err := mcp.Parse([]byte(g.Text), mcp.Project, g.File)
		if err != nil {
			p.Notes = append(p.Notes, err.Error())
		}
		note(problems)
		refused := append(p.Settings.AllStrings("disabledMcpjsonServers"), p.ServerStore().Load(Keys(p)...).Refused...)
		return slices.DeleteFunc(list, func(c mcp.Config) bool { return slices.Contains(refused, c.Name) })
	}
	return nil
}

// policy joins the policy lists of the settings. Anybody may deny; what is allowed counts from trusted files, or
// from an administrator's alone.
func policy(p *place.Place) mcp.Policy {
	var out mcp.Policy
	onlyManaged := false
	for _, l := range p.Settings.Layers {
		onlyManaged = onlyManaged || l.Scope == config.Managed && string(l.Keys["allowManagedMcpServersOnly"]) == "true"
	}
	read := func(l *config.Layer, key string) []mcp.Match {
		raw, ok := l.Keys[key]
		if !ok || string(raw) == "null" {
			return nil
		}
		list, err := mcp.ParseMatches(raw)
		if err != nil {
			p.Notes = append(p.Notes, fmt.Sprintf("%s:%d: %s %v", filepath.ToSlash(l.File), l.Line("/"+key), key, err))
			if key == "allowedMcpServers" {
				return []mcp.Match{} // what cannot be read allows nothing
			}
		}
		return list
	}
	for _, l := range p.Settings.Layers {
		out.Denied = append(out.Denied, read(l, "deniedMcpServers")...)
		if (!onlyManaged || l.Scope == config.Managed) && l.Trusted {
			if list := read(l, "allowedMcpServers"); list != nil {
				out.Allowed = append(append([]mcp.Match{}, out.Allowed...), list...)
			}
		}
	}
	return out
}
