package write

import (
	"context"
	_ "embed" // the description
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"

	"lathe/internal/diff"
	"lathe/internal/file"
	"lathe/internal/msg"
	"lathe/internal/tool"
)

//go:embed write.md
var description string

const schema = `{"type":"object","properties":{"file_path":{"type":"string"},"content":{"type":"string"}},` +
	`"required":["file_path","content"]}`

// Deps is what the tool needs of its session.
type Deps struct {
	Workspace *tool.Workspace
	Files     *tool.ReadCache
}

// Tool is the tool Write.
type Tool struct{ d Deps }

// New returns the tool.
func New(d Deps) *Tool { return &Tool{d} }

// Input is the tool's canonical input.
type Input struct {
	FilePath string `json:"file_path"`
	Content  string `json:"content"`
}

// Output is the structured result.
type Output struct {
	Type            string      `json:"type"` // create or update
	FilePath        string      `json:"filePath"`
	Content         string      `json:"content"`
	StructuredPatch []diff.Hunk `json:"structuredPatch"` // empty for a new file
	OriginalFile    *string     `json:"originalFile"`    // null for a new file, and for one over 1 MB
	UserModified    bool        `json:"userModified"`
}

// Def tells the model about the tool.
func (*Tool) Def() msg.ToolDef {
	return msg.ToolDef{Name: "Write", Description: strings.TrimSpace(description), InputSchema: json.RawMessage(schema)}
}

// Aliases are wrong names that models use.
func (*Tool) Aliases() map[string]string {
	return map[string]string{"path": "file_path", "filename": "file_path", "file_text": "content", "file_content": "content"}
}

// Plan checks the input itself; the file is looked at when the write runs.
func (t *Tool) Plan(_ context.Context, call tool.Call) (tool.Plan, error) {
	var in Input
	if err := json.Unmarshal(call.Input, &in); err != nil {
		return tool.Plan{}, fmt.Errorf("input of Write: %w", err)
	}
	abs, real, err := t.d.Workspace.Path(in.FilePath)
	if err != nil {
		return tool.Plan{}, err
	}
	if strings.HasSuffix(in.FilePath, "/") || strings.HasSuffix(in.FilePath, string(os.PathSeparator)) {
		return tool.Plan{}, fmt.Errorf("%s names a directory; give the path of a file", in.FilePath)
	}
	if file.Lossy(call.Input, in.Content) {
		return tool.Plan{}, errors.New("content holds half of a surrogate pair, which no file can hold; send the whole character")
	}
	return tool.Plan{
		Summary: "Write " + t.d.Workspace.Rel(abs),
		Target:  real,
		Run: func(ctx context.Context, _ tool.Progress) (tool.Result, error) {
			return t.run(ctx, in, abs, real)
		},
	}, nil
}

func (t *Tool) run(ctx context.Context, in Input, abs, real string) (tool.Result, error) {
	name := t.d.Workspace.Rel(abs)
	var before file.Text
	old, err := t.d.Files.Change(ctx, real, func(old *file.File) ([]byte, error) {
		if old == nil {
			return []byte(in.Content), nil
		}
		if err := t.seen(old, name); err != nil {
			return nil, err
		}
		var err error
		if before, err = old.Editable(name); err != nil {
			return nil, err
		}
		content := in.Content
		if before.Enc != file.UTF8 {
			content = strings.TrimPrefix(content, "\ufeff") // the encoding brings its own
		}
		return before.Enc.Encode(content)
	})
	if err != nil {
		return tool.Result{}, err
	}
	return t.result(in, abs, real, old, before), nil
}

// seen checks that the model knows all that it replaces. An empty file has nothing to know.
func (t *Tool) seen(old *file.File, name string) error {
	if len(old.Data) == 0 {
		return nil
	}
	state, err := t.d.Files.Fresh(old, name)
	if err != nil {
		return err
	}
	if state.Partial {
		return fmt.Errorf("only lines %d-%d of %s were read; read the rest before you replace the whole file, or use Edit",
			state.Offset, state.Offset+state.Limit-1, name)
	}
	return nil
}

func (t *Tool) result(in Input, abs, real string, old *file.File, before file.Text) tool.Result {
	name := t.d.Workspace.Rel(abs)
	out := Output{Type: "create", FilePath: abs, Content: in.Content, StructuredPatch: []diff.Hunk{}}
	hunks := diff.Patch(before.Body, in.Content)
	if a, b := file.LF(before.Body), file.LF(in.Content); a != b {
		hunks = diff.Patch(a, b)
	}
	added, removed := diff.Count(hunks)
	text := fmt.Sprintf("Created %s (%s).", name, tool.Count(added, "line"))
	if old != nil {
		out.Type, out.StructuredPatch = "update", diff.Cap(hunks)
		if len(before.Body) <= 1<<20 {
			out.OriginalFile = &before.Body
		}
		text = fmt.Sprintf("Updated %s (%s added, %d removed).", name, tool.Count(added, "line"), removed)
		if was, is := file.LineEnds(before.Body), file.LineEnds(in.Content); was != is && was != "none" && is != "none" {
			text += fmt.Sprintf(" Its line ends are %s now and were %s.", is, was)
		}
	}
	res := tool.TextResult(text)
	res.Output, res.Touched = out, []string{real}
	res.LinesAdded, res.LinesRemoved = added, removed
	return res
}
