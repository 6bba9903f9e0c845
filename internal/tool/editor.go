package tool

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"lathe/internal/file"
)

// Editor holds files open. What it has of a file counts, whether it is saved or not. Its methods may be called from
// several goroutines.
type Editor interface {
	// Text is what the editor has of the file at path; ok is false when it does not have it.
	Text(ctx context.Context, path string) (text string, ok bool)
	// Save gives the editor new text for a file, which it writes. errors.ErrUnsupported says that it takes none.
	Save(ctx context.Context, path, text string) error
}

// Load reads a file for a tool, as file.Load does: what the editor has of it where there is one, else what is on
// disk.
func (c *ReadCache) Load(ctx context.Context, path string) (*file.File, error) {
	f, _, err := c.open(ctx, path)
	return f, err
}

// open loads a file, and what is on disk of it where an editor holds it; nil: none does. Only text is asked for.
func (c *ReadCache) open(ctx context.Context, path string) (f, disk *file.File, err error) {
	f, err = file.Load(path, file.MaxSize)
	if err != nil || c.Editor == nil {
		return f, nil, err
	}
	was, err := file.Decode(f.Data)
	if err != nil || was.Enc == file.Other {
		return f, nil, nil
	}
	now, ok := c.Editor.Text(ctx, path)
	switch {
	case !ok:
		return f, nil, ctx.Err()
	case now == was.Body || file.LF(now) == file.LF(was.Body):
		return f, f, nil
	}
	if file.LineEnds(was.Body) == "CRLF" && !strings.Contains(now, "\r") {
		now = strings.ReplaceAll(now, "\n", "\r\n") // editors show line ends as one kind
	}
	data, err := was.Enc.Encode(now)
	if err != nil {
		return nil, nil, fmt.Errorf("%s as the editor shows it: %w", path, err)
	}
	return &file.File{Path: f.Path, Data: data, Info: f.Info}, f, nil
}

// put replaces the content of a file: through the editor that holds it, else on disk. old is the file as it was,
// disk what was on disk of it where an editor holds it.
func (c *ReadCache) put(ctx context.Context, path string, old, disk *file.File, data []byte) error {
	switch {
	case old == nil:
		if text, err := file.Decode(data); c.Editor != nil && err == nil && text.Enc == file.UTF8 && c.Editor.Save(ctx, path, text.Body) == nil {
			return nil
		}
		return file.Replace(path, data, nil, ctx.Err)
	case disk == nil:
		return file.Replace(path, data, old.Info, func() error { return unchanged(ctx, old) })
	}
	dirty := !bytes.Equal(old.Data, disk.Data)
	ourselves := func() error {
		if dirty {
			return fmt.Errorf("%s has changes in the editor that are not saved; ask the user to save it, and nothing was written", path)
		}
		return file.Replace(path, data, old.Info, func() error { return unchanged(ctx, disk) })
	}
	text, err := file.Decode(data)
	if err != nil || text.Enc != file.UTF8 { // the editor is told letters, not how they become bytes
		return ourselves()
	}
	if old.Info.Mode().Perm()&0o222 == 0 {
		return fmt.Errorf("%s is read-only (mode %04o): %w", path, old.Info.Mode().Perm(), fs.ErrPermission)
	}
	now, _, err := c.open(ctx, path)
	if err != nil {
		return err
	}
	if Hash(now.Data) != Hash(old.Data) {
		return fmt.Errorf("%s changed while it was being written; nothing was written; read it again", path)
	}
	switch err := c.Editor.Save(ctx, path, text.Body); {
	case errors.Is(err, errors.ErrUnsupported):
		return ourselves()
	case err != nil:
		return fmt.Errorf("the editor did not take the new text of %s: %w", path, err)
	}
	return nil
}
