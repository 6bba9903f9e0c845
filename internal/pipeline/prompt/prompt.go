package prompt

import (
	"context"
	_ "embed"
	"fmt"
	"strings"
	"time"

	"lathe/internal/git"
	"lathe/internal/msg"
	"lathe/internal/session"
	"lathe/internal/turn"
)

//go:embed static.md
var static string

//go:embed general.md
var general string

// Boundary is the line that splits a replaced prompt into its cached and its per-run part.
const Boundary = "__SYSTEM_PROMPT_DYNAMIC_BOUNDARY__"

// gitLimit is how long the git snapshot may take before it is left out.
const gitLimit = 2 * time.Second

// Config is what the user set and what the program knows of its place.
type Config struct {
	Agent    *string // an agent's prompt: replaces the default one; the environment stays
	Custom   *string // replaces the default prompt and the environment
	Style    string  // of how answers look: stands at the end of the default prompt
	General  bool    // the default prompt leaves out what it says of working on code
	Append   string  // comes last
	Override *string // replaces everything

	Cwd, Platform, Shell, OS string
	ExtraDirs                []string
	Git                      bool // take the git snapshot
	Root                     string
	// NoDynamic leaves out where the session runs; Environment gives it for the first message instead.
	NoDynamic bool
}

// Deps is what the stage needs.
type Deps struct {
	Config
	Tools func() []msg.ToolDef
	// Clean takes secrets out of what git says. Nil: nothing is changed.
	Clean func(text string) string
	// Freeze keeps what was built with the session.
	Freeze func(f session.Frozen) error
}

// New returns the stage.
func New(d Deps) func(context.Context, *turn.Turn) error {
	return func(ctx context.Context, t *turn.Turn) error {
		if t.System != nil || t.Tools != nil {
			return nil // frozen
		}
		f := d.Build(ctx)
		f.Model = t.Model
		if (d.Custom == nil || d.Agent != nil) && d.Override == nil {
			f.Dir = d.Cwd
		}
		t.System, t.Tools, t.Static = f.System, f.Tools, f.Static
		t.Note("system prompt of %d blocks, %d tools, frozen with the session", len(f.System), len(f.Tools))
		return d.Freeze(f)
	}
}

// Build makes the system prompt and the tool definitions of a new session.
func (d Deps) Build(ctx context.Context) session.Frozen {
	fixed, dynamic := d.parts(ctx)
	f := session.Frozen{System: []msg.Block{}}
	if d.Tools != nil {
		f.Tools = d.Tools()
	}
	if f.Tools == nil {
		f.Tools = []msg.ToolDef{}
	}
	for _, s := range []string{fixed, dynamic} {
		if s = strings.TrimSpace(s); s != "" {
			f.System = append(f.System, msg.Text(s))
		}
	}
	if strings.TrimSpace(fixed) != "" {
		f.Static = 1
	}
	return f
}

// parts applies the precedence: override, else agent, else custom, else default; what is appended comes last, unless the
// prompt was overridden.
func (d Deps) parts(ctx context.Context) (fixed, dynamic string) {
	switch {
	case d.Override != nil:
		return split(*d.Override)
	case d.Agent != nil:
		fixed, dynamic = *d.Agent, d.environment(ctx)
	case d.Custom != nil:
		fixed, dynamic = split(*d.Custom)
	default:
		fixed, dynamic = static, d.environment(ctx)
		if d.General {
			fixed = withoutCode()
		}
		if d.Style != "" {
			dynamic = strings.TrimSpace(dynamic) + "\n\n" + d.Style
		}
	}
	if d.Append != "" {
		dynamic = strings.TrimSpace(dynamic) + "\n\n" + d.Append
	}
	return fixed, dynamic
}

// withoutCode is the default prompt for work of any kind: it begins with general.md instead of the first two paragraphs, who
// the model is and how it works on code.
func withoutCode() string {
	parts := strings.SplitN(static, "\n\n", 3)
	return strings.TrimSpace(general) + "\n\n" + parts[len(parts)-1]
}

func split(text string) (fixed, dynamic string) {
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		if strings.TrimSpace(l) == Boundary {
			return strings.Join(lines[:i], "\n"), strings.Join(lines[i+1:], "\n")
		}
	}
	return text, ""
}

// environment is the dynamic part: where the session runs. Nothing in it changes while the session lasts; the
// date is in the user context.
func (d Deps) environment(ctx context.Context) string {
	if d.NoDynamic {
		return ""
	}
	return d.Environment(ctx)
}

// Environment says where the session runs.
func (d Deps) Environment(ctx context.Context) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Environment\nWorking directory: %s\n", d.Cwd)
	if len(d.ExtraDirs) > 0 {
		fmt.Fprintf(&b, "Further directories: %s\n", strings.Join(d.ExtraDirs, ", "))
	}
	fmt.Fprintf(&b, "Git repository: %s\nPlatform: %s\nShell: %s\n", yes(d.Root != ""), d.Platform, d.Shell)
	if d.OS != "" {
		fmt.Fprintf(&b, "OS version: %s\n", d.OS)
	}
	if !d.Git {
		return b.String()
	}
	if s := git.Take(ctx, d.Root, gitLimit); s != nil {
		text := gitText(s)
		if d.Clean != nil {
			text = d.Clean(text)
		}
		b.WriteString(text)
	}
	return b.String()
}

func gitText(s *git.Snapshot) string {
	var b strings.Builder
	b.WriteString("\nGit at the start of the session (not updated)\n")
	fmt.Fprintf(&b, "Branch: %s\n", s.Branch)
	if s.Default != "" {
		fmt.Fprintf(&b, "Default branch: %s\n", s.Default)
	}
	if s.User != "" {
		fmt.Fprintf(&b, "User: %s\n", s.User)
	}
	status := s.Status
	if status == "" {
		status = "(clean)"
	}
	if s.StatusCut {
		status += "\n(cut at 2,000 characters; run git status for all)"
	}
	fmt.Fprintf(&b, "Status:\n%s\n", status)
	if s.Log != "" {
		fmt.Fprintf(&b, "Last commits:\n%s\n", s.Log)
	}
	return b.String()
}

func yes(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}
