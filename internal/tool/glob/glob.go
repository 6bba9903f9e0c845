package glob

import (
	"context"
	_ "embed" // the description
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"lathe/internal/msg"
	"lathe/internal/search"
	"lathe/internal/tool"
)

//go:embed glob.md
var description string

const schema = `{"type":"object","properties":{"pattern":{"type":"string"},` +
	`"path":{"type":"string","description":"folder, default: current"}},"required":["pattern"]}`

const maxFiles = 100

// Deps is what the tool needs of its session.
type Deps struct {
	Workspace *tool.Workspace
	// Hide, when set, keeps files out of every result. It is called from many goroutines.
	Hide func(abs string) bool
	// Timeout ends a search with what was found so far; 0 is 20 seconds.
	Timeout time.Duration
	// RespectIgnore leaves out what git ignores; SkipHidden leaves out dotted names that the pattern does not spell.
	RespectIgnore, SkipHidden bool
}

// Tool is the tool Glob. It may be used by several calls at once.
type Tool struct{ d Deps }

// New returns the tool.
func New(d Deps) *Tool {
	if d.Timeout == 0 {
		d.Timeout = 20 * time.Second
	}
	return &Tool{d}
}

// Input is the tool's canonical input.
type Input struct {
	Pattern string `json:"pattern"`
	Path    string `json:"path"`
}

// Output is the structured result.
type Output struct {
	DurationMs      int64    `json:"durationMs"`
	NumFiles        int      `json:"numFiles"`
	Filenames       []string `json:"filenames"` // relative to the current directory where they are below it
	Truncated       bool     `json:"truncated"`
	TotalMatches    int      `json:"totalMatches"`
	CountIsComplete bool     `json:"countIsComplete"` // false when the time was up
}

// Def is what the model is told.
func (t *Tool) Def() msg.ToolDef {
	return msg.ToolDef{Name: "Glob", Description: strings.TrimSpace(description), InputSchema: json.RawMessage(schema)}
}

// Aliases are the common wrong names.
func (t *Tool) Aliases() map[string]string {
	return map[string]string{"file_path": "path", "directory": "path", "glob": "pattern", "glob_pattern": "pattern"}
}

// Plan checks the input.
func (t *Tool) Plan(_ context.Context, call tool.Call) (tool.Plan, error) {
	var in Input
	if err := json.Unmarshal(call.Input, &in); err != nil {
		return tool.Plan{}, fmt.Errorf("reading the input of Glob: %w", err)
	}
	if strings.TrimSpace(in.Pattern) == "" {
		return tool.Plan{}, errors.New("pattern is empty; give one such as **/*.go")
	}
	if strings.ContainsRune(in.Path+in.Pattern, 0) {
		return tool.Plan{}, errors.New("path or pattern holds a NUL byte")
	}
	if strings.HasPrefix(in.Pattern, "~/") {
		in.Pattern = t.d.Workspace.Abs(in.Pattern)
	}
	if err := search.CheckGlob(in.Pattern); err != nil {
		return tool.Plan{}, err
	}
	root := t.d.Workspace.Cwd()
	if in.Path != "" {
		root = t.d.Workspace.Abs(in.Path)
	}
	return tool.Plan{
		Summary:  fmt.Sprintf("find %s in %s", in.Pattern, t.d.Workspace.Rel(root)),
		Parallel: true,
		ReadOnly: true,
		Run: func(ctx context.Context, _ tool.Progress) (tool.Result, error) {
			return t.run(ctx, in.Pattern, root)
		},
	}, nil
}

func (t *Tool) run(ctx context.Context, pattern, root string) (tool.Result, error) {
	switch fi, err := os.Stat(root); {
	case errors.Is(err, os.ErrNotExist):
		return tool.Result{}, fmt.Errorf("no such folder: %s (the current directory is %s)", root, t.d.Workspace.Cwd())
	case err != nil:
		return tool.Result{}, fmt.Errorf("looking for files: %w", err)
	case !fi.IsDir():
		return tool.Result{}, fmt.Errorf("path must be a folder, and %s is a file; put file names into pattern", root)
	}
	start := time.Now()
	timed, cancel := context.WithTimeout(ctx, t.d.Timeout)
	defer cancel()
	report, err := search.Glob(timed, search.GlobOptions{
		Root: root, Pattern: pattern, Keep: maxFiles, Hide: t.d.Hide,
		RespectIgnore: t.d.RespectIgnore, SkipHidden: t.d.SkipHidden,
	})
	if ctx.Err() != nil {
		return tool.Result{}, ctx.Err()
	}
	late := errors.Is(err, context.DeadlineExceeded)
	if err != nil && !late {
		return tool.Result{}, fmt.Errorf("looking for %s: %w", pattern, err)
	}
	out := Output{
		NumFiles: len(report.Files), Filenames: []string{}, Truncated: report.Total > len(report.Files) || late,
		TotalMatches: report.Total, CountIsComplete: !late, DurationMs: time.Since(start).Milliseconds(),
	}
	for _, f := range report.Files {
		out.Filenames = append(out.Filenames, t.d.Workspace.Rel(f.Path))
	}
	res := tool.TextResult(t.words(&out, report.Unreadable))
	res.Output, res.Budgeted = out, true
	return res, nil
}

func (t *Tool) words(out *Output, unreadable int) string {
	text := strings.Join(out.Filenames, "\n")
	if out.NumFiles == 0 {
		text = "No files found"
	}
	if out.TotalMatches > out.NumFiles {
		text += fmt.Sprintf("\n[Shown: the %d newest of %d files. Use a narrower pattern or path for the rest.]",
			out.NumFiles, out.TotalMatches)
	}
	if !out.CountIsComplete {
		text += fmt.Sprintf("\n[Stopped after %s: the result is incomplete. Use a narrower pattern or path.]", t.d.Timeout)
	}
	if unreadable > 0 {
		text += fmt.Sprintf("\n[%s could not be read.]", tool.Count(unreadable, "folder"))
	}
	return text
}
