package tool

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"lathe/internal/diff"
	"lathe/internal/file"
	"lathe/internal/redact"
)

// keepContent is the size up to which ReadState keeps a file's content.
const keepContent = 256 << 10

// maxForeign is how long a diff of somebody else's change may be to be shown in an error.
const maxForeign = 6000

// State is what is remembered of content that the conversation has seen whole.
func State(data []byte, info fs.FileInfo) ReadState {
	s := ReadState{Hash: Hash(data), Size: int64(len(data))}
	if info != nil {
		s.ModTime = info.ModTime()
	}
	if len(data) <= keepContent {
		s.Content = data
	}
	return s
}

// Fresh checks that the conversation has read the file and that the file has that content still; times do not
// count. When somebody else changed it, the error shows how, and since the model has then seen all of it, the next
// try may go on. name is the path as the model knows it.
func (c *ReadCache) Fresh(f *file.File, name string) (ReadState, error) {
	seen, ok := c.Get(f.Path)
	if !ok {
		return seen, fmt.Errorf("%s has not been read in this conversation; read it first", name)
	}
	if seen.Hash == Hash(f.Data) {
		return seen, nil
	}
	text := foreign(seen, f.Data)
	if text == "" {
		return seen, fmt.Errorf("%s changed on disk after it was read; read it again", name)
	}
	c.Put(f.Path, State(f.Data, f.Info))
	return seen, fmt.Errorf("%s changed on disk after it was read; nothing was written. The change made by someone else:\n%s"+
		"Call again if yours still fits", name, text)
}

// foreign is the diff from what was seen to now; empty when it cannot be shown whole.
func foreign(seen ReadState, now []byte) string {
	if seen.Partial || seen.Content == nil && seen.Size > 0 || len(now) > keepContent {
		return ""
	}
	before, err1 := file.Decode(seen.Content)
	after, err2 := file.Decode(now)
	if err1 != nil || err2 != nil || before.Enc != after.Enc {
		return ""
	}
	text := diff.Unified("read", "now", diff.Patch(before.Body, after.Body))
	if len(text) > maxForeign {
		return ""
	}
	return text
}

// Change replaces the content of one file: it takes the locks, loads the file (nil when there is none), has edit
// say the new content, puts it in place unless the file changed under its hands, and records it as seen. path has
// its links resolved. It returns the file as it was.
func (c *ReadCache) Change(ctx context.Context, path string, edit func(old *file.File) ([]byte, error)) (*file.File, error) {
	defer c.Lock(path)()
	defer file.Lock(ctx, path)()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	old, disk, err := c.open(ctx, path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	data, err := edit(old)
	if err != nil {
		return nil, err
	}
	if err := noMarks(old, data); err != nil {
		return nil, err
	}
	if c.Rewrite != nil {
		data = c.Rewrite(path, data)
	}
	if c.Keep != nil {
		if err := c.Keep(path, old, data); err != nil {
			return nil, err
		}
	}
	if err := c.put(ctx, path, old, disk, data); err != nil {
		return old, err
	}
	c.wrote(path, old, data)
	return old, nil
}

// noMarks refuses content into which a mark was copied that stands for a secret: writing it would destroy the secret.
func noMarks(old *file.File, data []byte) error {
	had := 0
	if old != nil {
		had = redact.Marks(old.Data)
	}
	if redact.Marks(data) <= had {
		return nil
	}
	return errors.New("the new text holds a mark such as [redacted: NAME]. It stands for a secret that was not shown, and writing it would " +
		"destroy the secret; nothing was written. Edit only the text around it, or ask the user to change that line")
}

// unchanged checks right before a rename that the file is still what the new content was made from.
func unchanged(ctx context.Context, old *file.File) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	now, err := file.Load(old.Path, file.MaxSize)
	if err != nil {
		return err
	}
	if Hash(now.Data) != Hash(old.Data) {
		return fmt.Errorf("%s changed while it was being written; nothing was written; read it again", old.Path)
	}
	return nil
}

// wrote records content that a tool has just written. What was not seen of the old content stays unseen.
func (c *ReadCache) wrote(path string, old *file.File, data []byte) {
	before, _ := c.Get(path)
	s := State(data, nil)
	if info, err := os.Stat(path); err == nil {
		s.ModTime = info.ModTime()
	}
	if old != nil && before.Partial {
		s.Partial, s.Offset = true, before.Offset
		s.Limit = max(1, before.Limit+bytes.Count(data, []byte("\n"))-bytes.Count(old.Data, []byte("\n")))
	}
	c.Put(path, s)
}

// Path finds the file that a model named: abs is the absolute path, real the same with links resolved.
func (w *Workspace) Path(name string) (abs, real string, err error) {
	if name == "" {
		return "", "", errors.New("the path is empty")
	}
	abs = w.Abs(name)
	real, err = file.Resolve(abs)
	return abs, real, err
}
