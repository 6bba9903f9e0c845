package notebook

import (
	"context"
	_ "embed" // the description
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"lathe/internal/diff"
	"lathe/internal/file"
	"lathe/internal/msg"
	"lathe/internal/tool"
)

//go:embed notebook.md
var description string

const schema = `{"type":"object","properties":{"notebook_path":{"type":"string"},"cell_id":{"type":"string"},` +
	`"new_source":{"type":"string"},"cell_type":{"type":"string","enum":["code","markdown"]},` +
	`"edit_mode":{"type":"string","enum":["replace","insert","delete"]}},"required":["notebook_path"]}`

// Deps is what the tool needs of its session.
type Deps struct {
	Workspace *tool.Workspace
	Files     *tool.ReadCache
}

// Tool is the tool NotebookEdit.
type Tool struct{ d Deps }

// New returns the tool.
func New(d Deps) *Tool { return &Tool{d} }

// Input is the tool's canonical input.
type Input struct {
	Path     string `json:"notebook_path"`
	CellID   string `json:"cell_id"`
	Source   string `json:"new_source"` // needed but for delete
	CellType string `json:"cell_type"`  // code or markdown; empty keeps it
	Mode     string `json:"edit_mode"`  // replace when empty
}

// Output is the structured result.
type Output struct {
	NewSource string `json:"new_source"`
	OldSource string `json:"old_source,omitempty"`
	CellID    string `json:"cell_id,omitempty"`
	CellType  string `json:"cell_type"`
	Language  string `json:"language"`
	EditMode  string `json:"edit_mode"`
	Path      string `json:"notebook_path"`
	Original  string `json:"original_file"` // empty when over 1 MB
	Updated   string `json:"updated_file"`  // empty when over 1 MB
}

// Def tells the model about the tool.
func (*Tool) Def() msg.ToolDef {
	return msg.ToolDef{Name: "NotebookEdit", Description: strings.TrimSpace(description), InputSchema: json.RawMessage(schema)}
}

// Aliases are wrong names that models use.
func (*Tool) Aliases() map[string]string {
	return map[string]string{"file_path": "notebook_path", "path": "notebook_path", "source": "new_source", "mode": "edit_mode"}
}

// Plan checks the input itself; the notebook is looked at when the edit runs.
func (t *Tool) Plan(_ context.Context, call tool.Call) (tool.Plan, error) {
	in, given := Input{}, map[string]json.RawMessage{}
	if err := errors.Join(json.Unmarshal(call.Input, &in), json.Unmarshal(call.Input, &given)); err != nil {
		return tool.Plan{}, fmt.Errorf("input of NotebookEdit: %w", err)
	}
	if in.Mode == "" {
		in.Mode = "replace"
	}
	abs, real, err := t.d.Workspace.Path(in.Path)
	switch {
	case err != nil:
		return tool.Plan{}, err
	case !strings.EqualFold(filepath.Ext(abs), ".ipynb"):
		return tool.Plan{}, fmt.Errorf("%s is not a notebook (.ipynb); use Edit", in.Path)
	case in.Mode == "insert" && in.CellType == "":
		return tool.Plan{}, errors.New("inserting a cell needs cell_type: code or markdown")
	case in.Mode != "delete" && given["new_source"] == nil:
		return tool.Plan{}, errors.New("new_source is missing")
	case in.Mode != "insert" && in.CellID == "":
		return tool.Plan{}, fmt.Errorf("to %s a cell, cell_id is needed; Read shows the ids", in.Mode)
	case file.Lossy(call.Input, in.Source):
		return tool.Plan{}, errors.New("new_source holds half of a surrogate pair, which no file can hold; send the whole character")
	}
	return tool.Plan{
		Summary: strings.ToUpper(in.Mode[:1]) + in.Mode[1:] + " a cell of " + t.d.Workspace.Rel(abs),
		Target:  real,
		Run: func(ctx context.Context, _ tool.Progress) (tool.Result, error) {
			return t.run(ctx, in, abs, real)
		},
	}, nil
}

func (t *Tool) run(ctx context.Context, in Input, abs, real string) (tool.Result, error) {
	name := t.d.Workspace.Rel(abs)
	var before file.Text
	var done edited
	_, err := t.d.Files.Change(ctx, real, func(old *file.File) ([]byte, error) {
		if old == nil {
			return nil, fmt.Errorf("%s does not exist; make it with Write", name)
		}
		if _, err := t.d.Files.Fresh(old, name); err != nil {
			return nil, err
		}
		var err error
		if before, err = old.Editable(name); err != nil {
			return nil, err
		}
		if done, err = change(before.Body, in); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		return before.Enc.Encode(done.text)
	})
	if err != nil {
		return tool.Result{}, err
	}
	added, removed := diff.Count(diff.Patch(file.LF(before.Body), file.LF(done.text)))
	out := Output{
		NewSource: in.Source, OldSource: done.oldSource, CellID: done.id, CellType: done.kind,
		Language: done.language, EditMode: in.Mode, Path: abs,
	}
	if len(before.Body) <= 1<<20 && len(done.text) <= 1<<20 {
		out.Original, out.Updated = before.Body, done.text
	}
	verb := map[string]string{"replace": "Replaced", "insert": "Inserted", "delete": "Deleted"}[in.Mode]
	res := tool.TextResult(fmt.Sprintf("%s cell %s of %s.", verb, done.id, name))
	res.Output, res.Touched = out, []string{real}
	res.LinesAdded, res.LinesRemoved = added, removed
	return res, nil
}
