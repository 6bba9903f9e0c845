package attach

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"syscall"

	"lathe/internal/diff"
	"lathe/internal/tool"
	"lathe/internal/turn"
)

const changedName = "changed_file"

// changedMax is the size up to which a changed file is read again, in bytes.
const changedMax = 256 << 10

// Changed attaches the differences of files that the conversation has read and that changed on disk since. told is told
// of each, with "change" or "unlink"; nil: nobody is.
func Changed(files *tool.ReadCache, rel func(string) string, told func(path, what string)) Source {
	return Source{
		Name: changedName, Budget: 32 << 10,
		When: func(_ *turn.Turn, _ Seen) bool { return len(files.All()) > 0 },
		Collect: func(ctx context.Context, _ *turn.Turn, seen Seen) ([]Item, error) {
			all := files.All()
			paths := make([]string, 0, len(all))
			for p := range all {
				paths = append(paths, p)
			}
			slices.Sort(paths)
			var out []Item
			for _, p := range paths {
				if ctx.Err() != nil {
					break
				}
				if item, ok := changedItem(ctx, files, p, all[p], rel(p)); ok {
					item.Key = fresh(seen, changedName, item.Key) // a file may become again what it was
					out = append(out, item)
					if told != nil {
						told(p, whatOf(files, p))
					}
				}
			}
			return out, nil
		},
	}
}

// whatOf says what became of a file that changed: one that is gone was forgotten.
func whatOf(files *tool.ReadCache, path string) string {
	if _, ok := files.Get(path); !ok {
		return "unlink"
	}
	return "change"
}

func changedItem(ctx context.Context, files *tool.ReadCache, path string, was tool.ReadState, name string) (Item, bool) {
	info, err := os.Stat(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR) {
		return Item{}, false // it may be there, and unchanged
	}
	if err != nil {
		files.Forget(path)
		return Item{Key: "gone " + path + was.ModTime.String(), Text: fmt.Sprintf("%s was read before and is no longer there.", name)}, true
	}
	untouched := info.ModTime().Equal(was.ModTime) && info.Size() == was.Size
	if untouched && files.Editor == nil || !info.Mode().IsRegular() { // an editor may have changed what is on no disk yet
		return Item{}, false
	}
	if info.Size() > changedMax {
		was.ModTime, was.Size = info.ModTime(), info.Size()
		files.Put(path, was) // its hash no longer fits, so an edit asks for a fresh read
		return Item{Key: path + info.ModTime().String(), Text: name + " changed on disk since it was read; it is too large to show the difference."}, true
	}
	f, err := files.Load(ctx, path) // a link that took its place is not followed
	if err != nil {
		return Item{}, false
	}
	now := f.Data
	sum := tool.Hash(now)
	before := was.Content
	was.ModTime, was.Size = info.ModTime(), info.Size()
	if sum == was.Hash {
		files.Put(path, was) // touched, not changed
		return Item{}, false
	}
	if before == nil || bytes.IndexByte(now, 0) >= 0 || was.Partial {
		files.Put(path, was)
		return Item{Key: fmt.Sprintf("%s %x", path, sum[:8]), Text: name + " changed on disk since it was read; read it again before you rely on it."}, true
	}
	where := " on disk"
	if files.Editor != nil {
		where = ""
	}
	was.Hash, was.Content = sum, now
	files.Put(path, was)
	return Item{
		Key:  fmt.Sprintf("%s %x", path, sum[:8]),
		Text: fmt.Sprintf("%s was changed%s, not by you. Take it as intended and do not revert it. The difference:\n%s", name, where, diff.Unified(name, name, diff.Patch(string(before), string(now)))),
	}, true
}
