package attach

import (
	"context"
	"fmt"
	"strings"

	"lathe/internal/memory"
	"lathe/internal/turn"
)

// Memory attaches instruction files: those that count from the start with the first prompt, those of deeper
// directories when a file below them is first touched. notice is told of files that were left out.
func Memory(l *memory.Loader, touched func() []string, notice func(string)) Source {
	const name = "memory"
	return Source{
		Name: name, Budget: 1 << 20,
		When: func(t *turn.Turn, seen Seen) bool { return !seen.Any(name) || len(touched()) > 0 },
		Collect: func(_ context.Context, _ *turn.Turn, seen Seen) ([]Item, error) {
			var files []memory.File
			if !seen.Any(name) {
				files = l.AtStart()
			}
			for _, path := range touched() {
				files = append(files, l.Below(path)...)
			}
			for _, n := range l.Notices {
				notice(n)
			}
			l.Notices = nil
			return memoryItems(files, seen.Any(name)), nil
		},
	}
}

// memoryItems joins the files of the start into one item, so that it is one block at the front; later files
// come one by one. Where there are none, an empty start is remembered by the date source alone.
func memoryItems(files []memory.File, later bool) []Item {
	if len(files) == 0 {
		return nil
	}
	if later {
		var out []Item
		for _, f := range files {
			out = append(out, Item{Key: f.Path, Text: fileText(f)})
		}
		return out
	}
	var b strings.Builder
	b.WriteString("Instructions of the user and the project. Follow them; where they disagree, the later one counts.\n")
	for _, f := range files {
		b.WriteString("\n" + fileText(f) + "\n")
	}
	return []Item{{Key: "start", Text: b.String()}}
}

func fileText(f memory.File) string {
	return fmt.Sprintf("--- %s (%s)\n%s", f.Path, f.Scope, f.Text)
}
