package agent

import (
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"lathe/internal/file"
	"lathe/internal/frontmatter"
)

// Limits of definitions.
const (
	maxFile   = 1 << 20
	maxName   = 256
	maxAgents = 500
	maxSkills = 32
)

// Worktree is the isolation of a sub-agent that has a work tree of its own.
const Worktree = "worktree"

// Scope says where a definition comes from.
type Scope string

// The scopes, the strongest first.
const (
	Managed Scope = "managed"
	CLI     Scope = "cli" // --agents, or a host's option
	Project Scope = "project"
	User    Scope = "user"
	Plugin  Scope = "plugin"
	BuiltIn Scope = "built-in"
)

// Def is one kind of sub-agent.
type Def struct {
	Name        string
	Description string // when to use it; the model is told
	Prompt      string // its system prompt
	Scope       Scope
	Path        string // of its file; "" for others

	Tools      []string // only these; nil: all that the session has
	Spawns     []string // the types that it may start as the main thread; nil: any
	Disallowed []string // not these
	Model      string   // an alias, an id, or "inherit"; "" is inherit
	Effort     string
	Mode       string // permission mode that is wished for
	MaxTurns   int    // model calls of one run; 0: no limit
	Skills     []string
	Servers    []string                   // names of MCP servers; nil: the session's
	Hooks      json.RawMessage            // in the form of settings; nil: none. Only those of trusted sources may run
	Inline     map[string]json.RawMessage // MCP servers that it brings along, by name. Only those of trusted sources may start
	Isolation  string                     // worktree: works in a work tree of git of its own; "": where the session works
	Background bool                       // runs in the background always
	Color      string
	Initial    string // first prompt, where it is the main thread
	Memory     string // user, project or local: a directory of notes of its own; "": none
	NoMemory   bool   // no CLAUDE.md
	NoGit      bool   // no git status
	Once       bool   // it answers once, and takes no messages afterwards
}

// Places says where files are looked for.
type Places struct {
	Managed       []string // the organisation's folders, which hold .claude/agents
	Config, State string   // the user's: ~/.claude and ~/.lathe; "": not looked at
	Work, Root    string   // the working directory, and the top of its repository ("" outside one)
	Project       bool     // the project's files count
	Extra         []Def    // of plugins, weaker than files
	Given         []Def    // from the command line or a host, stronger than the project's
	NoBuiltIn     bool
	NoExplore     bool // without Explore and Plan
}

// Find returns the definitions, by name. The first source that has a name wins: the organisation, the command line,
// the project (nearer folders first), the user, plugins, what is built in.
func Find(p Places) []Def {
	c := collector{taken: map[string]bool{}}
	for _, dir := range p.Managed {
		c.add(folder(filepath.Join(dir, ".claude", "agents"), Managed)...)
	}
	c.add(p.Given...)
	if p.Project {
		for _, dir := range file.Upwards(p.Work, p.Root) {
			c.add(folder(filepath.Join(dir, ".lathe", "agents"), Project)...)
			c.add(folder(filepath.Join(dir, ".claude", "agents"), Project)...)
		}
	}
	for _, dir := range []string{p.State, p.Config} {
		if dir != "" {
			c.add(folder(filepath.Join(dir, "agents"), User)...)
		}
	}
	c.add(p.Extra...)
	if !p.NoBuiltIn {
		c.add(builtIn(!p.NoExplore)...)
	}
	slices.SortStableFunc(c.out, func(a, b Def) int { return strings.Compare(a.Name, b.Name) })
	return c.out
}

type collector struct {
	out   []Def
	taken map[string]bool
}

func (c *collector) add(defs ...Def) {
	for _, d := range defs {
		if !c.taken[d.Name] && len(c.out) < maxAgents {
			c.taken[d.Name] = true
			c.out = append(c.out, d)
		}
	}
}

// OfPlugin reads a plugin's definitions in a folder or a file; their names begin with the plugin's.
func OfPlugin(path, plugin string) []Def {
	defs := folder(path, Plugin)
	for i := range defs {
		defs[i].Name = plugin + ":" + defs[i].Name
	}
	return defs
}

// folder reads the definitions of a folder and of those below it, by path. What is no definition is passed over.
func folder(dir string, scope Scope) []Def {
	var out []Def
	_ = filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return nil // a folder that cannot be read holds nothing
		case e.IsDir() || filepath.Ext(path) != ".md" || len(out) >= maxAgents:
			return nil
		}
		info, err := os.Stat(path)
		if err != nil || !info.Mode().IsRegular() || info.Size() > maxFile {
			return nil
		}
		if b, err := os.ReadFile(path); err == nil {
			if d, ok := Parse(string(b)); ok {
				d.Scope, d.Path = scope, path
				out = append(out, d)
			}
		}
		return nil
	})
	return out
}

// Parse reads a definition file. ok is false for a file without a usable name and description: documentation.
func Parse(text string) (d Def, ok bool) {
	f, body := frontmatter.Parse(strings.ToValidUTF8(strings.TrimPrefix(text, "\ufeff"), "\ufffd"))
	d = Def{
		Name: f.Text("name"), Description: f.Text("description"), Prompt: strings.TrimSpace(body),
		Disallowed: names(f.List("disallowedTools")), Model: f.Text("model"), Effort: f.Text("effort"), Mode: f.Text("permissionMode"),
		Skills: f.List("skills"), Isolation: f.Text("isolation"), Background: f.Bool("background", false), Color: f.Text("color"),
		Initial: f.Text("initialPrompt"), Memory: f.Text("memory"), NoMemory: f.Bool("omitClaudeMd", false),
	}
	if f.Has("tools") {
		d.Tools, d.Spawns = tools(f)
	}
	if f.Has("hooks") {
		d.Hooks, _ = json.Marshal(f["hooks"]) // what is no JSON is none
	}
	if f.Has("mcpServers") {
		d.Servers = some(f.List("mcpServers"))
		if raw, err := json.Marshal(f["mcpServers"]); err == nil && f.Text("mcpServers") == "" {
			d.Servers, d.Inline = servers(raw)
			d.Servers = some(d.Servers)
		}
	}
	if n, err := strconv.Atoi(f.Text("maxTurns")); err == nil {
		d.MaxTurns = n
	}
	return d, d.tidy()
}

// tools reads an allow list. In a text, commas inside parentheses divide nothing: Agent(a, b), Read.
func tools(f frontmatter.Fields) (tools, spawns []string) {
	all := f.List("tools")
	if text := f.Text("tools"); text != "" {
		all = split(text)
	}
	return some(names(all)), spawnsOf(all)
}

func split(text string) []string {
	var out []string
	depth, from := 0, 0
	add := func(part string) {
		if part = strings.TrimSpace(part); part != "" {
			out = append(out, part)
		}
	}
	for i, r := range text {
		switch {
		case r == '(':
			depth++
		case r == ')' && depth > 0:
			depth--
		case r == ',' && depth == 0:
			add(text[from:i])
			from = i + 1
		}
	}
	add(text[from:])
	return out
}

// spawnsOf finds the types in Agent(type, …).
func spawnsOf(tools []string) []string {
	var out []string
	for _, t := range tools {
		name, inside, found := strings.Cut(strings.TrimSuffix(t, ")"), "(")
		if found && (name == "Agent" || name == "Task") {
			out = append(out, split(inside)...)
		}
	}
	return out
}
