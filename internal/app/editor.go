package app

import (
	"context"
	"encoding/json"
	"errors"

	"lathe/internal/engine"
	"lathe/internal/tool"
)

// editorFiles are the files that the editor at the other end holds open. It implements tool.Editor.
type editorFiles struct {
	session func() *engine.Session // of the person's conversation; sub-agents share its editor
	saves   bool
}

// openEditor asks the editor for files, where it offers that.
func (r *run) openEditor() tool.Editor {
	if !r.canCall("fs/read_text_file") {
		return nil
	}
	return editorFiles{session: func() *engine.Session { return r.session }, saves: r.canCall("fs/write_text_file")}
}

// Text implements tool.Editor. An editor refuses what lies outside its projects; then the disk counts.
func (e editorFiles) Text(ctx context.Context, path string) (string, bool) {
	raw, err := e.session().Call(ctx, "fs/read_text_file", "", map[string]any{"path": path})
	if err != nil {
		return "", false
	}
	var out struct {
		Content *string `json:"content"`
	}
	if json.Unmarshal(raw, &out) != nil || out.Content == nil {
		return "", false
	}
	return *out.Content, true
}

// Save implements tool.Editor.
func (e editorFiles) Save(ctx context.Context, path, text string) error {
	if !e.saves {
		return errors.ErrUnsupported
	}
	_, err := e.session().Call(ctx, "fs/write_text_file", "", map[string]any{"path": path, "content": text})
	return err
}
