package style

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"lathe/internal/file"
	"lathe/internal/frontmatter"
)

// Limits of style files.
const (
	maxFile   = 256 << 10
	maxName   = 128
	maxStyles = 200
)

// Default is the name of no style: the system prompt as it is.
const Default = "default"

// Style is one output style.
type Style struct {
	Name        string // a plugin's begins with the plugin's name and a colon
	Description string
	Text        string // goes to the end of the system prompt
	Keep        bool   // the prompt keeps what it says of working on code
	Force       bool   // of a plugin: it holds as long as the plugin is loaded, whatever is set
	Path        string // "" for what is built in
}

// Plugin says where a plugin has styles.
type Plugin struct {
	Name  string
	Paths []string // folders and files
}

// Places says where files are looked for.
type Places struct {
	Managed       []string // the organisation's folders, which hold .claude/output-styles
	Config, State string   // the user's: ~/.claude and ~/.lathe; "": not looked at
	Work, Root    string   // the working directory, and the top of its repository ("" outside one)
	Project       bool     // the project's files count
	Plugins       []Plugin
}

// Find returns the styles. The first source that has a name wins: the organisation, the project (nearer folders first), the
// user, plugins, what is built in.
func Find(p Places) []Style {
	var out []Style
	add := func(styles []Style) {
		for _, s := range styles {
			if _, taken := Get(out, s.Name); !taken && !isDefault(s.Name) && len(out) < maxStyles {
				out = append(out, s)
			}
		}
	}
	for _, dir := range p.Managed {
		add(folder(filepath.Join(dir, ".claude", "output-styles")))
	}
	if p.Project {
		for _, dir := range file.Upwards(p.Work, p.Root) {
			add(folder(filepath.Join(dir, ".lathe", "output-styles")))
			add(folder(filepath.Join(dir, ".claude", "output-styles")))
		}
	}
	for _, dir := range []string{p.State, p.Config} {
		if dir != "" {
			add(folder(filepath.Join(dir, "output-styles")))
		}
	}
	for _, plugin := range p.Plugins {
		for _, path := range plugin.Paths {
			styles := folder(path)
			for i, s := range styles {
				styles[i].Name = plugin.Name + ":" + s.Name
			}
			add(styles)
		}
	}
	for i := range out {
		out[i].Force = out[i].Force && strings.Contains(out[i].Name, ":") // a plugin's own matter
	}
	add(builtIn())
	return out
}

// Get finds a style by its name; upper and lower case are the same.
func Get(styles []Style, name string) (Style, bool) {
	at := slices.IndexFunc(styles, func(s Style) bool { return strings.EqualFold(s.Name, name) })
	if at < 0 {
		return Style{}, false
	}
	return styles[at], true
}

// Forced is the first style that a plugin demands.
func Forced(styles []Style) (Style, bool) {
	at := slices.IndexFunc(styles, func(s Style) bool { return s.Force })
	if at < 0 {
		return Style{}, false
	}
	return styles[at], true
}

func isDefault(name string) bool { return name == "" || strings.EqualFold(name, Default) }

// folder reads the styles of a folder, or of a file, by name of the file. What cannot be read is passed over.
func folder(path string) []Style {
	paths := []string{path}
	if filepath.Ext(path) != ".md" {
		entries, err := os.ReadDir(path)
		if err != nil {
			return nil
		}
		paths = paths[:0]
		for _, e := range entries {
			if filepath.Ext(e.Name()) == ".md" {
				paths = append(paths, filepath.Join(path, e.Name()))
			}
		}
	}
	var out []Style
	for _, p := range paths {
		real, err := file.Resolve(p)
		if err != nil {
			continue
		}
		f, err := file.Load(real, maxFile)
		if err != nil {
			continue
		}
		if s, ok := Parse(string(f.Data), strings.TrimSuffix(filepath.Base(p), ".md")); ok {
			s.Path = p
			out = append(out, s)
		}
	}
	return out
}

// Parse reads a style file; name is that of the file, for one whose head has none. ok is false for a file without a text
// or with a name that cannot be used.
func Parse(text, name string) (s Style, ok bool) {
	f, body := frontmatter.Parse(strings.ToValidUTF8(strings.TrimPrefix(text, "\ufeff"), "\ufffd"))
	s = Style{
		Name: f.Text("name"), Description: f.Text("description"), Text: strings.TrimSpace(body),
		Keep: f.Bool("keep-coding-instructions", false), Force: f.Bool("force-for-plugin", false),
	}
	if s.Name == "" {
		s.Name = strings.TrimSpace(name)
	}
	bad := strings.ContainsFunc(s.Name, func(r rune) bool { return r < ' ' || r == 0x7f || r == ':' })
	return s, s.Text != "" && !bad && !isDefault(s.Name) && len(s.Name) <= maxName
}
