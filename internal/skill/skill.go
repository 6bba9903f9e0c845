package skill

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"lathe/internal/frontmatter"
)

// Limits of skill files.
const (
	maxFile   = 1 << 20
	maxSkills = 500
	reserved  = "synced" // a folder that other programs fill
)

// Skill is one skill.
type Skill struct {
	Name        string // of its directory
	Description string // what it is for and when to use it
	Path, Dir   string // of SKILL.md, and its directory
	Scope       string // user or project
	UserOnly    bool   // the model is not told of it and may not invoke it
	NameOnly    bool   // listed without its description
	Arguments   []string
	Body        string
}

// Places says where skills are looked for.
type Places struct {
	Config, State string // the user's: ~/.claude and ~/.lathe; empty: not looked at
	Work, Root    string // the working directory, and the top of its repository ("" outside one)
	Project       bool   // the project's skills load
	Extra         []string
	Overrides     map[string]string // by name: on, name-only, user-invocable-only, off
}

// Find returns the skills by name. The user's win over the project's, and nearer ones over those further out.
func Find(p Places) []Skill {
	var out []Skill
	taken, files := map[string]bool{}, map[string]bool{}
	add := func(dir, scope string) {
		for _, s := range in(dir, scope) {
			real, err := filepath.EvalSymlinks(s.Path)
			if err != nil || taken[s.Name] || files[real] || len(out) >= maxSkills {
				continue
			}
			taken[s.Name], files[real] = true, true
			switch p.Overrides[s.Name] {
			case "off":
				continue
			case "name-only":
				s.NameOnly = true
			case "user-invocable-only":
				s.UserOnly = true
			}
			out = append(out, s)
		}
	}
	for _, dir := range []string{p.Config, p.State} {
		if dir != "" {
			add(filepath.Join(dir, "skills"), "user")
		}
	}
	if p.Project {
		for _, dir := range append(upwards(p.Work, p.Root), p.Extra...) {
			add(filepath.Join(dir, ".claude", "skills"), "project")
		}
	}
	slices.SortFunc(out, func(a, b Skill) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// upwards are the directories from dir to the repository's top; outside a repository only dir.
func upwards(dir, top string) []string {
	out := []string{dir}
	for top != "" && dir != top {
		up := filepath.Dir(dir)
		if up == dir {
			return out[:1] // top is not above it
		}
		dir = up
		out = append(out, dir)
	}
	return out
}

// in reads the skills of one directory, in the order of their names.
func in(dir, scope string) []Skill {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	var out []Skill
	for _, e := range entries {
		name := e.Name()
		path := filepath.Join(dir, name, "SKILL.md")
		info, err := os.Stat(path)
		if err != nil || !info.Mode().IsRegular() || info.Size() > maxFile || name == reserved || !validName(name) {
			continue
		}
		if b, err := os.ReadFile(path); err == nil {
			out = append(out, parse(name, path, scope, string(b)))
		}
	}
	return out
}

// validName refuses names that would break the lines of a listing or of a rule.
func validName(name string) bool {
	return len(name) <= 100 && !strings.HasPrefix(name, ".") &&
		!strings.ContainsFunc(name, func(r rune) bool { return r <= ' ' || r == 0x7f || strings.ContainsRune("():*\"`<>", r) })
}

func parse(name, path, scope, text string) Skill {
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
	return Skill{
		Name: name, Description: strings.Join(strings.Fields(about), " "), Path: path, Dir: filepath.Dir(path), Scope: scope,
		UserOnly: f.Bool("disable-model-invocation", false), Arguments: args, Body: body,
	}
}

func firstParagraph(body string) string {
	for _, p := range strings.Split(strings.ReplaceAll(body, "\r\n", "\n"), "\n\n") {
		if p = strings.TrimSpace(p); p != "" && !strings.HasPrefix(p, "#") {
			return p
		}
	}
	return ""
}
