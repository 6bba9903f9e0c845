package grep

import (
	"context"
	_ "embed" // the description
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"time"

	"lathe/internal/msg"
	"lathe/internal/search"
	"lathe/internal/tool"
)

//go:embed grep.md
var description string

const schema = `{"type":"object","properties":{"pattern":{"type":"string"},` +
	`"path":{"type":"string","description":"file or folder, default: current"},` +
	`"glob":{"type":"string","description":"*.{ts,tsx} or !vendor"},` +
	`"type":{"type":"string","description":"js, py, go, rust …"},` +
	`"output_mode":{"type":"string","enum":["files_with_matches","content","count"]},` +
	`"-i":{"type":"boolean","description":"ignore case"},"-n":{"type":"boolean"},"-o":{"type":"boolean"},` +
	`"-A":{"type":"integer"},"-B":{"type":"integer"},"-C":{"type":"integer"},"context":{"type":"integer"},` +
	`"-l":{"type":"boolean"},"-c":{"type":"boolean"},` +
	`"head_limit":{"type":"integer","description":"default 250, 0: all"},"offset":{"type":"integer"},` +
	`"multiline":{"type":"boolean","description":"matches may span lines"}},"required":["pattern"]}`

// The limits of one result.
const (
	defaultLimit = 250       // lines or entries
	maxBytes     = 30_000    // of text
	maxContext   = 1000      // lines before or after a match
	unlimited    = 1_000_000 // what head_limit 0 stands for; maxBytes ends it long before
)

// The output modes.
const (
	modeFiles   = "files_with_matches"
	modeContent = "content"
	modeCount   = "count"
)

// Deps is what the tool needs of its session.
type Deps struct {
	Workspace *tool.Workspace
	// Hide, when set, keeps files that must not be read out of every result. It is called from many goroutines.
	Hide func(abs string) bool
	// Timeout ends a search with what was found so far; 0 is 20 seconds.
	Timeout time.Duration
}

// Tool is the tool Grep. It may be used by several calls at once.
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
	Pattern    string `json:"pattern"`
	Path       string `json:"path"`
	Glob       string `json:"glob"`
	Type       string `json:"type"`
	OutputMode string `json:"output_mode"`
	IgnoreCase bool   `json:"-i"`
	Numbers    *bool  `json:"-n"`
	Only       bool   `json:"-o"`
	After      *int   `json:"-A"`
	Before     *int   `json:"-B"`
	Around     *int   `json:"-C"`
	Context    *int   `json:"context"`
	List       bool   `json:"-l"` // as in grep: output_mode files_with_matches
	Count      bool   `json:"-c"` // as in grep: output_mode count
	HeadLimit  *int   `json:"head_limit"`
	Offset     int    `json:"offset"`
	Multiline  bool   `json:"multiline"`
}

// Output is the structured result.
type Output struct {
	Mode          string   `json:"mode"`
	NumFiles      int      `json:"numFiles"`
	Filenames     []string `json:"filenames"` // relative to the current directory where they are below it
	Content       *string  `json:"content,omitempty"`
	NumLines      *int     `json:"numLines,omitempty"`   // lines in Content
	NumMatches    *int     `json:"numMatches,omitempty"` // matching lines in all files
	TotalFiles    *int     `json:"totalFiles,omitempty"`
	TotalLines    *int     `json:"totalLines,omitempty"`
	AppliedLimit  *int     `json:"appliedLimit,omitempty"` // set when something was left out
	AppliedOffset *int     `json:"appliedOffset,omitempty"`
}

// Def is what the model is told.
func (t *Tool) Def() msg.ToolDef {
	return msg.ToolDef{Name: "Grep", Description: strings.TrimSpace(description), InputSchema: json.RawMessage(schema)}
}

// Aliases are the common wrong names. -r, which is what the tool does anyway, is dropped as unknown.
func (t *Tool) Aliases() map[string]string {
	return map[string]string{
		"file_path": "path", "directory": "path", "query": "pattern", "regex": "pattern", "include": "glob",
		"limit": "head_limit", "ignore_case": "-i", "case_insensitive": "-i",
	}
}

// Plan checks the input and compiles the pattern.
func (t *Tool) Plan(_ context.Context, call tool.Call) (tool.Plan, error) {
	var in Input
	if err := json.Unmarshal(call.Input, &in); err != nil {
		return tool.Plan{}, fmt.Errorf("reading the input of Grep: %w", err)
	}
	if err := in.complete(); err != nil {
		return tool.Plan{}, err
	}
	if strings.ContainsRune(in.Path, 0) {
		return tool.Plan{}, errors.New("path holds a NUL byte")
	}
	m, err := search.Compile(search.Query{Pattern: in.Pattern, IgnoreCase: in.IgnoreCase, Multiline: in.Multiline})
	if err != nil {
		return tool.Plan{}, err
	}
	root, cwd := t.d.Workspace.Cwd(), t.d.Workspace.Cwd()
	if in.Path != "" {
		root = t.d.Workspace.Abs(in.Path)
	}
	var types []string
	if in.Type != "" {
		types = search.SplitGlobs(in.Type)
	}
	filter, err := search.NewFilter(root, cwd, relativeGlobs(root, search.SplitGlobs(in.Glob)), types)
	if err != nil {
		return tool.Plan{}, err
	}
	return tool.Plan{
		Summary:  fmt.Sprintf("search %q in %s", in.Pattern, t.d.Workspace.Rel(root)),
		Parallel: true,
		ReadOnly: true,
		Run: func(ctx context.Context, _ tool.Progress) (tool.Result, error) {
			return t.run(ctx, &in, m, root, filter)
		},
	}, nil
}

// complete fills in defaults and refuses what makes no sense.
func (in *Input) complete() error {
	if in.OutputMode == "" {
		switch {
		case in.Count:
			in.OutputMode = modeCount
		case in.List:
			in.OutputMode = modeFiles
		case in.Only:
			in.OutputMode = modeContent
		default:
			in.OutputMode = modeFiles
		}
	}
	if in.Context == nil {
		in.Context = in.Around
	}
	for name, p := range map[string]**int{"-A": &in.After, "-B": &in.Before} {
		if *p == nil {
			*p = in.Context
		}
		if *p == nil {
			*p = new(int)
		}
		if **p < 0 || **p > maxContext {
			return fmt.Errorf("%s (or -C, context) must be from 0 to %d", name, maxContext)
		}
	}
	if in.Offset < 0 {
		return errors.New("offset must not be negative")
	}
	if in.HeadLimit == nil {
		n := defaultLimit
		in.HeadLimit = &n
	}
	if *in.HeadLimit < 0 {
		return errors.New("head_limit must not be negative; 0 means all")
	}
	return nil
}

// relativeGlobs turns globs with an absolute path below root into ones that start from root.
func relativeGlobs(root string, globs []string) []string {
	for i, g := range globs {
		pattern, not := strings.CutPrefix(g, "!")
		rel, ok := strings.CutPrefix(pattern, strings.TrimRight(filepath.ToSlash(root), "/")+"/")
		if !ok {
			continue
		}
		globs[i] = "/" + rel
		if not {
			globs[i] = "!/" + rel
		}
	}
	return globs
}

func (in *Input) mode() search.Mode {
	switch in.OutputMode {
	case modeContent:
		return search.ModeContent
	case modeCount:
		return search.ModeCount
	}
	return search.ModeFiles
}

// run searches and words the result.
func (t *Tool) run(ctx context.Context, in *Input, m *search.Matcher, root string, filter *search.Filter) (tool.Result, error) {
	limit := *in.HeadLimit
	if limit == 0 {
		limit = unlimited
	}
	timed, cancel := context.WithTimeout(ctx, t.d.Timeout)
	defer cancel()
	report, err := search.Grep(timed, m, search.GrepOptions{
		Root: root, Filter: filter, Mode: in.mode(), Before: *in.Before, After: *in.After, OnlyMatching: in.Only,
		// Each line costs two bytes of the result at least, so no more than this can be shown.
		KeepLines: in.Offset + min(limit, maxBytes/2), Hide: t.d.Hide,
	})
	late := false
	switch {
	case ctx.Err() != nil:
		return tool.Result{}, ctx.Err()
	case errors.Is(err, context.DeadlineExceeded):
		late = true
	case errors.Is(err, fs.ErrNotExist):
		return tool.Result{}, fmt.Errorf("no such file or folder: %s (the current directory is %s)", root, t.d.Workspace.Cwd())
	case err != nil:
		return tool.Result{}, fmt.Errorf("searching %s: %w", root, err)
	}
	p := page{in: in, limit: limit, rel: t.d.Workspace.Rel, single: len(report.Files) == 1 && report.Files[0].Path == root}
	out, text := p.render(&report)
	if late {
		text += fmt.Sprintf("\n[Stopped after %s: the result is incomplete. Narrow path, glob or type.]", t.d.Timeout)
	}
	res := tool.TextResult(text)
	res.Output, res.Budgeted = out, true
	return res, nil
}
