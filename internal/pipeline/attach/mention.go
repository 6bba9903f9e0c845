package attach

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"lathe/internal/msg"
	"lathe/internal/turn"
)

// Limits of mentioned files and directories.
const (
	mentionBytes = 512 << 10 // of all mentions of a prompt together
	listEntries  = 200
)

// ReadFile reads a mentioned file the way the Read tool does, so that mentions and reads look the same to the
// model and count as a read: it returns what the tool would return.
type ReadFile func(ctx context.Context, path string, from, limit int) ([]msg.Block, error)

// Mention attaches the files and directories that the prompt names with @. refused says why a path is not, "" for those that are.
func Mention(read ReadFile, refused func(path string) string) Source {
	return Source{
		Name: "mention", Budget: mentionBytes,
		When: func(t *turn.Turn, _ Seen) bool { return t.Step == 1 && len(t.Mentions) > 0 },
		Collect: func(ctx context.Context, t *turn.Turn, _ Seen) ([]Item, error) {
			var out []Item
			var errs []error
			for _, m := range t.Mentions {
				if strings.HasPrefix(m.Path, resourceMark) {
					continue
				}
				if why := refused(m.Path); why != "" {
					errs = append(errs, fmt.Errorf("@%s: %s", m.Ref, why))
					continue
				}
				item, err := mentionItem(ctx, read, t, m)
				if err != nil {
					errs = append(errs, fmt.Errorf("@%s: %w", m.Ref, err))
					continue
				}
				out = append(out, item)
			}
			return out, errors.Join(errs...)
		},
	}
}

func mentionItem(ctx context.Context, read ReadFile, t *turn.Turn, m turn.Mention) (Item, error) {
	key := t.ID + " " + m.Ref // a mention is attached with its prompt, each time
	info, err := os.Stat(m.Path)
	if err != nil {
		return Item{}, err
	}
	if info.IsDir() {
		text, err := listing(m.Path)
		return Item{Key: key, Text: fmt.Sprintf("Directory @%s\n%s", m.Ref, text)}, err
	}
	limit := 0
	if m.From > 0 {
		limit = m.To - m.From + 1
	}
	blocks, err := read(ctx, m.Path, m.From, limit)
	if err != nil {
		return Item{}, err
	}
	head := msg.Text("File @" + m.Ref)
	if len(blocks) == 1 && blocks[0].Type == msg.TypeText {
		return Item{Key: key, Text: head.Text + "\n" + blocks[0].Text}, nil
	}
	return Item{Key: key, Blocks: append([]msg.Block{head}, blocks...)}, nil
}

// listing names a directory's entries; directories end in a slash.
func listing(dir string) (string, error) {
	f, err := os.Open(dir)
	if err != nil {
		return "", err
	}
	defer f.Close()
	entries, err := f.ReadDir(listEntries + 1)
	if err != nil && !errors.Is(err, io.EOF) {
		return "", err
	}
	var b strings.Builder
	w := bufio.NewWriter(&b)
	names := make([]string, 0, len(entries))
	for _, e := range entries {
		name := e.Name()
		if e.IsDir() {
			name += "/"
		}
		names = append(names, name)
	}
	slices.Sort(names)
	for i, n := range names {
		if i == listEntries {
			fmt.Fprintln(w, "… and more")
			break
		}
		fmt.Fprintln(w, n)
	}
	w.Flush()
	if len(names) == 0 {
		return "(empty)", nil
	}
	return b.String(), nil
}
