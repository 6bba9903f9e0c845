package edit

import (
	"context"
	_ "embed" // the description
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"lathe/internal/diff"
	"lathe/internal/file"
	"lathe/internal/msg"
	"lathe/internal/tool"
)

//go:embed edit.md
var description string

const schema = `{"type":"object","properties":{"file_path":{"type":"string"},"old_string":{"type":"string"},` +
	`"new_string":{"type":"string"},"replace_all":{"type":"boolean"}},"required":["file_path","old_string","new_string"]}`

// Deps is what the tool needs of its session.
type Deps struct {
	Workspace *tool.Workspace
	Files     *tool.ReadCache
}

// Tool is the tool Edit.
type Tool struct{ d Deps }

// New returns the tool.
func New(d Deps) *Tool { return &Tool{d} }

// Input is the tool's canonical input.
type Input struct {
	FilePath   string `json:"file_path"`
	OldString  string `json:"old_string"`
	NewString  string `json:"new_string"`
	ReplaceAll bool   `json:"replace_all"`
}

// Output is the structured result.
type Output struct {
	FilePath        string      `json:"filePath"`
	OldString       string      `json:"oldString"`
	NewString       string      `json:"newString"`
	OriginalFile    *string     `json:"originalFile"` // null for a new file, and for one over 1 MB
	StructuredPatch []diff.Hunk `json:"structuredPatch"`
	UserModified    bool        `json:"userModified"`
	ReplaceAll      bool        `json:"replaceAll"`
}

// Def tells the model about the tool.
func (*Tool) Def() msg.ToolDef {
	return msg.ToolDef{Name: "Edit", Description: strings.TrimSpace(description), InputSchema: json.RawMessage(schema)}
}

// Aliases are wrong names that models use.
func (*Tool) Aliases() map[string]string {
	return map[string]string{"path": "file_path", "filename": "file_path", "old_str": "old_string", "new_str": "new_string"}
}

// Plan checks the input itself. The file is looked at when the edit runs, since calls before it in the same answer
// may still change it.
func (t *Tool) Plan(_ context.Context, call tool.Call) (tool.Plan, error) {
	var in Input
	if err := json.Unmarshal(call.Input, &in); err != nil {
		return tool.Plan{}, fmt.Errorf("input of Edit: %w", err)
	}
	abs, real, err := t.d.Workspace.Path(in.FilePath)
	if err != nil {
		return tool.Plan{}, err
	}
	switch {
	case in.OldString == in.NewString:
		return tool.Plan{}, errors.New("old_string and new_string are the same; there is nothing to change")
	case file.LF(in.OldString) == file.LF(in.NewString):
		return tool.Plan{}, errors.New("old_string and new_string differ only in line ends, and Edit keeps those of the file; " +
			"to convert a file use a command such as sed or unix2dos")
	case file.Lossy(call.Input, in.NewString):
		return tool.Plan{}, errors.New("new_string holds half of a surrogate pair, which no file can hold; send the whole character")
	}
	return tool.Plan{
		Summary: "Edit " + t.d.Workspace.Rel(abs),
		Target:  real,
		Run: func(ctx context.Context, _ tool.Progress) (tool.Result, error) {
			return t.run(ctx, in, abs, real)
		},
	}, nil
}

func (t *Tool) run(ctx context.Context, in Input, abs, real string) (tool.Result, error) {
	name := t.d.Workspace.Rel(abs)
	var before, after file.Text
	var how applied
	old, err := t.d.Files.Change(ctx, real, func(old *file.File) ([]byte, error) {
		if old == nil {
			if in.OldString != "" {
				return nil, missing(real)
			}
			after = file.Text{Body: in.NewString}
			return []byte(in.NewString), nil
		}
		var err error
		if before, err = old.Editable(name); err != nil {
			return nil, err
		}
		if before.Body != "" || in.OldString != "" { // an empty file has nothing to be read
			if _, err = t.d.Files.Fresh(old, name); err != nil {
				return nil, err
			}
		}
		if how, err = apply(before.Body, in); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		after = file.Text{Body: how.text, Enc: before.Enc}
		return after.Enc.Encode(after.Body)
	})
	if err != nil {
		return tool.Result{}, err
	}
	return t.result(in, abs, real, old, before, after, how), nil
}

// missing is the error for a path that does not exist.
func missing(path string) error {
	_, err := file.Load(path, file.MaxSize)
	if err == nil {
		return fmt.Errorf("%s has just been made by someone else; read it first", path)
	}
	return err
}

func (t *Tool) result(in Input, abs, real string, old *file.File, before, after file.Text, how applied) tool.Result {
	hunks := diff.Patch(file.LF(before.Body), file.LF(after.Body))
	added, removed := diff.Count(hunks)
	out := Output{FilePath: abs, OldString: in.OldString, NewString: in.NewString, StructuredPatch: diff.Cap(hunks), ReplaceAll: in.ReplaceAll}
	if old != nil && len(before.Body) <= 1<<20 {
		out.OriginalFile = &before.Body
	}
	res := tool.TextResult(told(t.d.Workspace.Rel(abs), old == nil, how, hunks))
	res.Output, res.Touched = out, []string{real}
	res.LinesAdded, res.LinesRemoved = added, removed
	return res
}

const (
	shownLines = 24
	shownWidth = 200
)

// told is the confirmation for the model: what was done, and the new lines with their numbers.
func told(name string, created bool, how applied, hunks []diff.Hunk) string {
	var b strings.Builder
	if created {
		b.WriteString("Created " + name)
	} else {
		b.WriteString("Edited " + name)
	}
	if how.count > 1 {
		fmt.Fprintf(&b, ", %d replacements", how.count)
	}
	if how.note != "" {
		b.WriteString(" (" + how.note + ")")
	}
	if created {
		return b.String() + "."
	}
	b.WriteString(":\n")
	shown := 0
	for _, h := range hunks {
		line, gone := h.NewStart, 0
		for _, l := range h.Lines {
			if shown >= shownLines {
				b.WriteString("…\n")
				return strings.TrimSuffix(b.String(), "\n")
			}
			switch l[0] {
			case '-':
				gone++
				continue
			case '+':
				fmt.Fprintf(&b, "%d\t%s\n", line, clip(l[1:]))
				shown++
				gone = 0
			case ' ':
				shown += removedNote(&b, line, gone)
				gone = 0
			}
			if l[0] != '\\' {
				line++
			}
		}
		shown += removedNote(&b, line, gone)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func removedNote(b *strings.Builder, line, gone int) int {
	if gone == 0 {
		return 0
	}
	fmt.Fprintf(b, "(%d removed before line %d)\n", gone, line)
	return 1
}

// clip shortens a line for showing, between letters.
func clip(s string) string {
	n := 0
	for i := range s {
		if n == shownWidth {
			return s[:i] + "…"
		}
		n++
	}
	return s
}
