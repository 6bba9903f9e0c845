package read

import (
	"context"
	_ "embed" // the description
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"lathe/internal/file"
	"lathe/internal/msg"
	"lathe/internal/tool"
)

//go:embed read.md
var description string

const schema = `{"type":"object","properties":{"file_path":{"type":"string"},` +
	`"offset":{"type":"integer","description":"first line, from 1"},` +
	`"limit":{"type":"integer","description":"number of lines"},` +
	`"pages":{"type":"string","description":"of a PDF, as 1-5"}},"required":["file_path"]}`

// Deps is what the tool needs of its session.
type Deps struct {
	Workspace *tool.Workspace
	Files     *tool.ReadCache
	// LookPath finds programs for PDF pages; nil is exec.LookPath.
	LookPath func(name string) (string, error)
	// MaxTokens is how much of a text one result shows, in estimated tokens; 0: the other limits alone hold.
	MaxTokens int
}

// Tool is the tool Read. It may be used by several calls at once. A file that is read again is shown again: that
// replaces the older result in what is sent (microcompact), where a word that nothing changed would lead to what is gone.
type Tool struct{ d Deps }

// New returns the tool.
func New(d Deps) *Tool { return &Tool{d: d} }

// Input is the tool's canonical input.
type Input struct {
	FilePath string `json:"file_path"`
	Offset   *int   `json:"offset"`
	Limit    *int   `json:"limit"`
	Pages    string `json:"pages"`
}

// Output is the structured result; File is one of the types below, as Type says.
type Output struct {
	Type string `json:"type"` // text, image, notebook, pdf, parts
	File any    `json:"file"`
}

// TextFile is Output.File for text.
type TextFile struct {
	FilePath   string `json:"filePath"`
	Content    string `json:"content"`
	NumLines   int    `json:"numLines"`
	StartLine  int    `json:"startLine"`
	TotalLines int    `json:"totalLines"`
	Truncated  bool   `json:"truncatedByTokenCap,omitempty"` // less was shown than was asked for
}

// Def tells the model about the tool.
func (*Tool) Def() msg.ToolDef {
	return msg.ToolDef{Name: "Read", Description: strings.TrimSpace(description), InputSchema: json.RawMessage(schema)}
}

// Aliases are wrong names that models use.
func (*Tool) Aliases() map[string]string {
	return map[string]string{"path": "file_path", "filename": "file_path", "file": "file_path"}
}

// Plan checks the input.
func (t *Tool) Plan(_ context.Context, call tool.Call) (tool.Plan, error) {
	var in Input
	if err := json.Unmarshal(call.Input, &in); err != nil {
		return tool.Plan{}, fmt.Errorf("input of Read: %w", err)
	}
	abs, real, err := t.d.Workspace.Path(in.FilePath)
	if err != nil {
		return tool.Plan{}, err
	}
	if in.Offset != nil && *in.Offset < 0 {
		return tool.Plan{}, errors.New("offset must be a line number, from 1")
	}
	if in.Limit != nil && *in.Limit < 1 {
		return tool.Plan{}, errors.New("limit must be a number of lines, from 1")
	}
	return tool.Plan{
		Summary:  "Read " + t.d.Workspace.Rel(abs),
		Parallel: true,
		ReadOnly: true,
		Target:   real,
		Run: func(ctx context.Context, _ tool.Progress) (tool.Result, error) {
			res, err := t.run(ctx, in, abs, real)
			res.Touched, res.Budgeted = []string{real}, true
			return res, err
		},
	}, nil
}

func (t *Tool) run(ctx context.Context, in Input, abs, real string) (tool.Result, error) {
	if err := ctx.Err(); err != nil {
		return tool.Result{}, err
	}
	f, err := t.d.Files.Load(ctx, real)
	if err != nil {
		return tool.Result{}, err
	}
	name := t.d.Workspace.Rel(abs)
	switch kind := sniff(f.Data); {
	case kind == pdfType:
		return t.pdf(ctx, f, abs, in.Pages)
	case in.Pages != "":
		return tool.Result{}, fmt.Errorf("%s is not a PDF; pages is for PDFs, use offset and limit", name)
	case kind != "":
		return t.image(f, name, kind)
	case strings.EqualFold(filepath.Ext(real), ".ipynb") && in.Offset == nil && in.Limit == nil:
		if res, err := t.notebook(f, abs); err == nil {
			return res, nil
		}
		// A broken notebook can still be looked at, and mended, as the text that it is.
	}
	return t.text(f, in, abs, name)
}

// text shows lines of a text file.
func (t *Tool) text(f *file.File, in Input, abs, name string) (tool.Result, error) {
	text, err := file.Decode(f.Data)
	if err != nil {
		return tool.Result{}, fmt.Errorf("%s is a binary file (%s); it cannot be shown as text. Use a program that knows it, such as file, strings or xxd",
			name, file.Size(int64(len(f.Data))))
	}
	state := tool.State(f.Data, f.Info)
	if len(text.Body) == 0 {
		t.d.Files.Put(f.Path, state)
		return output(fmt.Sprintf("(%s exists, but is empty)", name), Output{"text", TextFile{FilePath: abs, StartLine: 1}}), nil
	}
	p := cut(text.Body, in.Offset, in.Limit, t.d.MaxTokens)
	if p.over && in.Limit != nil {
		return tool.Result{}, fmt.Errorf("%s of %s are more than the %d tokens that one result may have (CLAUDE_CODE_FILE_READ_MAX_OUTPUT_TOKENS); from line %d on, ask for %s at most",
			tool.Count(*in.Limit, "line"), name, t.d.MaxTokens, p.start, tool.Count(p.num, "line"))
	}
	if p.num == 0 {
		return output(fmt.Sprintf("(%s has only %s; offset %d is past the end)", name, tool.Count(p.total, "line"), p.start),
			Output{"text", TextFile{FilePath: abs, StartLine: p.start, TotalLines: p.total}}), nil
	}
	t.record(f.Path, state, p)
	var b strings.Builder
	if text.Enc == file.Other {
		b.WriteString("(not valid UTF-8: bytes that make no sense are shown as \ufffd, and Edit and Write refuse this file)\n")
	}
	b.WriteString(p.text)
	b.WriteString(p.notice())
	return output(strings.TrimSuffix(b.String(), "\n"), Output{"text", TextFile{
		FilePath: abs, Content: p.content, NumLines: p.num, StartLine: p.start, TotalLines: p.total, Truncated: p.capped,
	}}), nil
}

// record remembers what was seen, joined with what was seen of the same content before.
func (t *Tool) record(path string, s tool.ReadState, p part) {
	first, last := p.start, p.start+p.num-1
	if was, ok := t.d.Files.Get(path); ok && was.Hash == s.Hash {
		if !was.Partial {
			first, last = 1, p.total
		} else if wasLast := was.Offset + was.Limit - 1; was.Offset <= last+1 && first <= wasLast+1 {
			first, last = min(first, was.Offset), max(last, wasLast)
		}
	}
	if first > 1 || last < p.total {
		s.Partial, s.Offset, s.Limit = true, first, last-first+1
	}
	t.d.Files.Put(path, s)
}

func output(text string, out Output) tool.Result {
	res := tool.TextResult(text)
	res.Output = out
	return res
}
