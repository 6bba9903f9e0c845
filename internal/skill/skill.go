package skill

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"

	"lathe/internal/file"
	"lathe/internal/frontmatter"
	"lathe/internal/perm"
)

// Limits of skill files.
const (
	maxFile    = 1 << 20
	maxSkills  = 500
	maxFolders = 4        // of folders of commands, one below the other
	reserved   = "synced" // a folder that other programs fill
)

// Skill is one skill, or a command of a file, which is the older form of the same thing.
type Skill struct {
	Name        string // of its directory, or of its file
	Long        string // a command's name with its folders, such as git:commit; else empty
	Description string // what it is for and when to use it
	Hint        string // what arguments it takes, such as [file]
	Path, Dir   string // of its file, and of the directory that this is in
	Scope       string // user or project
	Command     bool   // a command of a file
	UserOnly    bool   // the model is not told of it and may not invoke it
	Hidden      bool   // a person cannot type its name
	NameOnly    bool   // listed without its description
	Arguments   []string
	Body        string

	Paths []string // globs: the model is told of it once a file that fits was touched; none: from the start

	Allow, Disallow []string // permission rules and tools for the turn that invokes it
	Model, Effort   string   // for the rest of that turn; empty: as they are
	Fork            bool     // its text is the task of a sub-agent
	Agent           string   // what kind of one
	Background      bool     // and that one need not be waited for
	first           int      // number of the first argument: 0, or 1 in commands that count so
}

// Places says where skills are looked for.
type Places struct {
	Config, State string // the user's: ~/.claude and ~/.lathe; empty: not looked at
	Work, Root    string // the working directory, and the top of its repository ("" outside one)
	Project       bool   // the project's skills load
	Trusted       bool   // the project is trusted, so its links may lead out of it
	Extra         []string
	Plugins       []Plugin
	Overrides     map[string]string // by name: on, name-only, user-invocable-only, off
}

// Plugin is where a plugin has its skills and commands. They are named plugin:name.
type Plugin struct {
	Name             string
	Skills, Commands []string // directories; of commands, files too
}

// Finder finds skills again and again, and reads only files that changed. It is safe for concurrent use.
type Finder struct {
	mu    sync.Mutex
	files map[string]cached
}

type cached struct {
	at    time.Time
	size  int64
	skill Skill
}

// Find returns the skills by name. The user's win over the project's, nearer ones over those further out, and skills
// over commands. A command whose name is taken has its folders before its name.
func (f *Finder) Find(p Places) []Skill {
	f.mu.Lock()
	defer f.mu.Unlock()
	g := gathering{p: p, taken: map[string]bool{}, files: map[string]bool{}}
	user, project := p.dirs()
	for _, d := range user {
		g.add(f.in(filepath.Join(d, "skills"), "user"))
	}
	for _, d := range project {
		g.add(f.in(filepath.Join(d, "skills"), "project"))
	}
	for _, d := range user {
		g.add(f.commands(filepath.Join(d, "commands"), "user"))
	}
	for _, d := range project {
		g.add(f.commands(filepath.Join(d, "commands"), "project"))
	}
	for _, p := range p.Plugins {
		g.add(f.plugin(p))
	}
	slices.SortFunc(g.out, func(a, b Skill) int { return strings.Compare(a.Name, b.Name) })
	return g.out
}

// plugin reads what a plugin brings.
func (f *Finder) plugin(p Plugin) []Skill {
	var out []Skill
	for _, d := range p.Skills {
		if s, ok := f.read(filepath.Join(d, "SKILL.md"), filepath.Base(d), "plugin", false); ok {
			out = append(out, s)
			continue
		}
		out = append(out, f.in(d, "plugin")...)
	}
	for _, d := range p.Commands {
		if name, isFile := strings.CutSuffix(filepath.Base(d), ".md"); isFile {
			if s, ok := f.read(d, name, "plugin", true); ok {
				out = append(out, s)
			}
			continue
		}
		out = append(out, f.commands(d, "plugin")...)
	}
	for i := range out {
		out[i].Name, out[i].Long = p.Name+":"+first(out[i].Long, out[i].Name), ""
	}
	return out
}

func first(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// dirs are the configuration directories to look below, those that win first.
func (p Places) dirs() (user, project []string) {
	for _, d := range []string{p.Config, p.State} {
		if d != "" && !slices.Contains(user, d) {
			user = append(user, d)
		}
	}
	if !p.Project {
		return user, nil
	}
	for _, d := range append(file.Upwards(p.Work, p.Root), p.Extra...) {
		for _, name := range []string{".claude", ".lathe"} {
			if d = filepath.Clean(d); !slices.Contains(user, filepath.Join(d, name)) { // at home the user's are the project's too
				project = append(project, filepath.Join(d, name))
			}
		}
	}
	return user, project
}

// holds reports whether a file, its links resolved, is in the project or in one of the further directories. A folder that
// nobody trusts must not have another file's text told to the model by a link to it.
func (p Places) holds(real string) bool {
	for _, dir := range append([]string{p.Work, p.Root}, p.Extra...) {
		if dir == "" {
			continue
		}
		if d, err := filepath.EvalSymlinks(dir); err == nil {
			dir = d
		}
		if rel, err := filepath.Rel(dir, real); err == nil && filepath.IsLocal(rel) {
			return true
		}
	}
	return false
}

// own reports whether a file is the project's and no added directory's.
func (p Places) own(path string) bool {
	for _, dir := range []string{p.Work, p.Root} {
		if rel, err := filepath.Rel(dir, path); dir != "" && err == nil && filepath.IsLocal(rel) {
			return true
		}
	}
	return false
}

// gathering joins what is found.
type gathering struct {
	p     Places
	out   []Skill
	taken map[string]bool
	files map[string]bool
}

func (g *gathering) add(found []Skill) {
	for _, s := range found {
		real, err := filepath.EvalSymlinks(s.Path)
		if err != nil || g.files[real] || len(g.out) >= maxSkills || s.Scope == "project" && !(g.p.Trusted && g.p.own(s.Path)) && !g.p.holds(real) {
			continue
		}
		if g.taken[s.Name] && s.Long != "" && s.Long != s.Name {
			s.Name = s.Long
		}
		if g.taken[s.Name] {
			continue
		}
		g.taken[s.Name], g.files[real] = true, true
		switch g.p.Overrides[s.Name] {
		case "off":
			continue
		case "name-only":
			s.NameOnly = true
		case "user-invocable-only":
			s.UserOnly = true
		}
		g.out = append(g.out, s)
	}
}

// in reads the skills of one directory, in the order of their names.
func (f *Finder) in(dir, scope string) []Skill {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	var out []Skill
	for _, e := range entries {
		name := e.Name()
		if name == reserved || !validName(name) {
			continue
		}
		if s, ok := f.read(filepath.Join(dir, name, "SKILL.md"), name, scope, false); ok {
			out = append(out, s)
		}
	}
	return out
}

// commands reads the files of a directory of commands, with those of its folders, in the order of their names.
func (f *Finder) commands(dir, scope string) []Skill {
	var out []Skill
	var walk func(dir string, folders []string)
	walk = func(dir string, folders []string) {
		entries, err := os.ReadDir(dir)
		if err != nil {
			return
		}
		for _, e := range entries {
			path := filepath.Join(dir, e.Name())
			name, isFile := strings.CutSuffix(e.Name(), ".md")
			switch {
			case !validName(name):
			case e.IsDir() && len(folders) < maxFolders:
				walk(path, append(folders[:len(folders):len(folders)], e.Name()))
			case isFile && len(out) < maxSkills:
				if s, ok := f.read(path, name, scope, true); ok {
					s.Long = strings.Join(append(folders[:len(folders):len(folders)], name), ":")
					out = append(out, s)
				}
			}
		}
	}
	walk(dir, nil)
	// What stands higher has the short name.
	slices.SortStableFunc(out, func(a, b Skill) int {
		return strings.Count(a.Long, ":") - strings.Count(b.Long, ":")
	})
	return out
}

// read reads a file, unless it is as it was.
func (f *Finder) read(path, name, scope string, command bool) (Skill, bool) {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxFile {
		return Skill{}, false
	}
	if c, ok := f.files[path]; ok && c.at.Equal(info.ModTime()) && c.size == info.Size() && c.skill.Scope == scope {
		return c.skill, true
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return Skill{}, false
	}
	s := parse(name, path, scope, string(b), command)
	if f.files == nil {
		f.files = map[string]cached{}
	}
	f.files[path] = cached{info.ModTime(), info.Size(), s}
	return s, true
}

// validName refuses names that would break the lines of a listing or of a rule, or look like others.
func validName(name string) bool {
	return len(name) <= 100 && !strings.HasPrefix(name, ".") &&
		!strings.ContainsFunc(name, func(r rune) bool {
			return r <= ' ' || unicode.In(r, unicode.C, unicode.Zl, unicode.Zp) || strings.ContainsRune("():*\"`<>", r)
		})
}

func parse(name, path, scope, text string, command bool) Skill {
	f, body := frontmatter.Parse(strings.ToValidUTF8(strings.TrimPrefix(text, "\ufeff"), "\ufffd"))
	body = strings.TrimSpace(body)
	about := f.Text("description")
	if about == "" {
		about = firstParagraph(body)
	}
	if when := f.Text("when_to_use"); when != "" {
		about = strings.TrimSpace(about + " " + when)
	}
	args := f.List("arguments")
	if len(args) == 1 {
		args = strings.Fields(args[0])
	}
	s := Skill{
		Name: name, Description: strings.Join(strings.Fields(about), " "), Path: path, Dir: filepath.Dir(path), Scope: scope, Command: command,
		UserOnly: f.Bool("disable-model-invocation", false), Hidden: !f.Bool("user-invocable", true), Arguments: args, Body: body,
		Hint: strings.Join(strings.Fields(hint(f)), " "), Allow: rules(f, "allowed-tools"), Disallow: rules(f, "disallowed-tools"),
		Model: f.Text("model"), Effort: strings.ToLower(f.Text("effort")),
		Fork: f.Text("context") == "fork", Agent: f.Text("agent"), Background: f.Bool("background", true),
	}
	if s.Model == "inherit" {
		s.Model = ""
	}
	if command && !zeroBased(body) {
		s.first = 1
	}
	if !command {
		s.Paths = f.List("paths")
	}
	return s
}

// zeroBased reports that a command counts its arguments from 0: it uses the first, or writes them in the newer form.
// Older commands count from 1.
func zeroBased(body string) bool {
	return strings.Contains(body, "$0") || strings.Contains(body, "$ARGUMENTS[")
}

// hint is the field argument-hint, which people write as [file], a list to YAML.
func hint(f frontmatter.Fields) string {
	if list, ok := f["argument-hint"].([]any); ok {
		var words []string
		for _, v := range list {
			words = append(words, fmt.Sprint(v))
		}
		return "[" + strings.Join(words, ", ") + "]"
	}
	return f.Text("argument-hint")
}

// rules is a field with permission rules: a list, or a text in which they stand between commas or blanks.
func rules(f frontmatter.Fields, key string) []string {
	if list, ok := f[key].([]any); ok {
		var out []string
		for _, v := range list {
			if s, ok := v.(string); ok {
				out = append(out, perm.SplitRules(s)...)
			}
		}
		return out
	}
	return perm.SplitRules(f.Text(key))
}

func firstParagraph(body string) string {
	for _, p := range strings.Split(strings.ReplaceAll(body, "\r\n", "\n"), "\n\n") {
		if p = strings.TrimSpace(p); p != "" && !strings.HasPrefix(p, "#") {
			return p
		}
	}
	return ""
}
