package cases

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"lathe/internal/perm"
)

// Case is one row of a file.
type Case struct {
	ID         string          `json:"id"`
	Kind       string          `json:"kind"`
	Mode       perm.Mode       `json:"mode"`
	Settings   Settings        `json:"settings"`
	Setup      []Step          `json:"setup"`
	Tool       string          `json:"tool"`
	Input      json.RawMessage `json:"input"`
	Expect     string          `json:"expect"` // allow, ask or deny
	Why        string          `json:"why"`
	Silent     bool            `json:"silent"` // the expectation is a choice of ours
	Acceptable []string        `json:"acceptable"`
	Platform   string          `json:"platform"`
	Context    Context         `json:"context"`
	// Line is where the row stands in its file.
	Line int `json:"-"`
}

// Settings are the permission settings of a row.
type Settings struct {
	Allow                 []string `json:"allow"`
	Ask                   []string `json:"ask"`
	Deny                  []string `json:"deny"`
	AdditionalDirectories []string `json:"additionalDirectories"`
}

// Step makes one thing below the project folder.
type Step struct {
	File    string `json:"file"`
	Content string `json:"content"`
	Dir     string `json:"dir"`
	Symlink string `json:"symlink"`
	To      string `json:"to"`
	FIFO    string `json:"fifo"`
}

// Context is what else a row assumes.
type Context struct {
	Trusted  *bool  `json:"workspace_trusted"` // default true
	Scope    string `json:"settings_scope"`    // project (default), user, local
	Tracked  bool   `json:"settings_tracked_in_git"`
	Headless *bool  `json:"headless"`
}

// Result is the outcome of one case.
type Result struct {
	ID         string        `json:"id"`
	Decision   string        `json:"decision"`
	Expect     string        `json:"expect"`
	OK         bool          `json:"ok"`         // the decision is the expected one
	Acceptable bool          `json:"acceptable"` // it is that, or one that the row accepts
	Reason     string        `json:"reason"`
	Warnings   []string      `json:"warnings,omitempty"`
	Full       perm.Decision `json:"-"`
}

// Read reads rows, one JSON object a line. Blank lines are skipped.
func Read(r io.Reader) ([]Case, error) {
	var out []Case
	scan := bufio.NewScanner(r)
	scan.Buffer(nil, 16<<20)
	for line := 1; scan.Scan(); line++ {
		text := strings.TrimSpace(scan.Text())
		if text == "" {
			continue
		}
		c := Case{Line: line}
		if err := json.Unmarshal([]byte(text), &c); err != nil {
			return nil, fmt.Errorf("line %d: %w", line, err)
		}
		if c.Tool == "" || !slices.Contains([]string{"allow", "ask", "deny"}, c.Expect) {
			return nil, fmt.Errorf("line %d: a case needs a tool and an expectation of allow, ask or deny", line)
		}
		out = append(out, c)
	}
	if err := scan.Err(); err != nil {
		return nil, fmt.Errorf("reading cases: %w", err)
	}
	return out, nil
}

// Run decides the case in the folder dir, which must be empty and whose path must hold no link. It writes below
// dir only.
func (c Case) Run(dir string) (Result, error) {
	home := filepath.Join(dir, "home")
	project := filepath.Join(home, "work", "proj")
	if err := os.MkdirAll(filepath.Join(project, ".git"), 0o700); err != nil {
		return Result{}, fmt.Errorf("making the project of %s: %w", c.ID, err)
	}
	fill := func(s string) string {
		return strings.ReplaceAll(strings.ReplaceAll(s, "@PROJECT@", filepath.ToSlash(project)), "@HOME@", filepath.ToSlash(home))
	}
	for _, step := range c.Setup {
		if err := step.make(project, fill); err != nil {
			return Result{}, fmt.Errorf("setting up %s: %w", c.ID, err)
		}
	}
	env, warnings := c.env(home, project, fill)
	d := perm.Decide(perm.Request{Tool: c.Tool, Input: json.RawMessage(fill(string(c.Input)))}, env)
	res := Result{ID: c.ID, Decision: d.Verdict.String(), Expect: c.Expect, Reason: d.Reason, Full: d}
	for _, w := range warnings {
		res.Warnings = append(res.Warnings, w.String())
	}
	res.OK = res.Decision == c.Expect
	res.Acceptable = res.OK || slices.Contains(c.Acceptable, res.Decision)
	return res, nil
}

func (c Case) env(home, project string, fill func(string) string) (perm.Env, []perm.Warning) {
	trusted := c.Context.Trusted == nil || *c.Context.Trusted
	scope := c.Context.Scope
	if scope == "" {
		scope = "project"
	}
	repo := scope == "project" || scope == "local" && c.Context.Tracked
	anchor := project
	if scope == "user" {
		anchor = filepath.Join(home, ".claude")
	}
	var rules []perm.Rule
	add := func(effect perm.Verdict, texts []string) {
		for _, t := range texts {
			rules = append(rules, perm.Rule{
				Text: fill(t), Effect: effect, Dir: anchor, Repo: repo,
				Source: perm.Source{Kind: "rule", Scope: scope},
			})
		}
	}
	add(perm.Allow, c.Settings.Allow)
	add(perm.Ask, c.Settings.Ask)
	add(perm.Deny, c.Settings.Deny)
	set, warnings := perm.Compile(rules, perm.Options{
		Start: project, Home: home, ProjectRoot: project, Platform: c.Platform, Trusted: trusted,
	})
	roots := []string{project}
	if trusted || !repo {
		for _, d := range c.Settings.AdditionalDirectories {
			roots = append(roots, fill(d))
		}
	}
	return perm.Env{
		Rules: set, Mode: c.Mode, Platform: c.Platform,
		Workspace: perm.Workspace{Cwd: project, Home: home, Roots: roots},
	}, warnings
}

func (s Step) make(project string, fill func(string) string) error {
	at := func(name string) string {
		name = fill(name)
		if !filepath.IsAbs(name) {
			name = filepath.Join(project, name)
		}
		return name
	}
	switch {
	case s.File != "":
		return parents(at(s.File), func(name string) error { return os.WriteFile(name, []byte(s.Content), 0o600) })
	case s.Dir != "":
		return os.MkdirAll(at(s.Dir), 0o700)
	case s.Symlink != "":
		return parents(at(s.Symlink), func(name string) error { return os.Symlink(fill(s.To), name) })
	case s.FIFO != "":
		return parents(at(s.FIFO), makeFIFO)
	}
	return errors.New("a step needs file, dir, symlink or fifo")
}

func parents(name string, f func(string) error) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return err
	}
	return f(name)
}
