package attach

import (
	"context"
	"fmt"
	"strings"

	"lathe/internal/memory"
	"lathe/internal/msg"
	"lathe/internal/turn"
)

const (
	memoryName  = "memory"
	memoryStart = "start " // begins the keys of the files that count from the start
)

// Memory attaches instruction files: those that count from the start with the first prompt, again at the start of a
// turn after they changed, and after a compaction; those of deeper directories when a file below them is first
// touched, and when one is touched after they changed. What was attached stays as it is, so that the prefix does
// too. touched are the files of this turn's calls; notice is told of files that were left out, loaded of those that
// were attached (session_start or nested_traversal); it may be nil.
func Memory(l *memory.Loader, touched func() []string, notice func(string), loaded func(f memory.File, reason string)) Source {
	if loaded == nil {
		loaded = func(memory.File, string) {}
	}
	var at recent
	return Source{
		Name: memoryName, Budget: 1 << 20,
		When: func(t *turn.Turn, _ Seen) bool {
			return t.Step <= 1 || at.any(t, touched()) || startIsGone(t.Messages)
		},
		Collect: func(_ context.Context, t *turn.Turn, seen Seen) ([]Item, error) {
			var out []Item
			if t.Step <= 1 || startIsGone(t.Messages) {
				files := l.AtStart()
				out = memoryAtStart(files, t.Messages)
				for i := 0; i < len(files) && len(out) > 0; i++ {
					loaded(files[i], "session_start")
				}
			}
			if paths := at.take(t, touched()); len(paths) > 0 {
				out = append(out, fileItems(memoryName, l.Below(paths...), t.Messages, seen, func(f memory.File) { loaded(f, "nested_traversal") })...)
			}
			tell(l, notice)
			return out, nil
		},
	}
}

// fileItems are the instruction files that count for a part of the project, but for those of which the model has been told just
// this text.
func fileItems(source string, files []memory.File, messages []msg.Message, seen Seen, loaded func(memory.File)) (out []Item) {
	for _, f := range files {
		key := f.Path + " #" + shortHash(f.Text)
		last := lastKey(messages, source, f.Path+" #")
		if last == key || seen.Has(source, f.Path) {
			continue
		}
		text := fileText(f)
		if last != "" {
			text = "This file has changed. From now on this is what counts of it:\n" + text
		}
		out = append(out, Item{Key: fresh(seen, source, key), Text: text})
		loaded(f)
	}
	return out
}

// tell passes on which files were left out.
func tell(l *memory.Loader, notice func(string)) {
	for _, n := range l.Notices {
		notice(n)
	}
	l.Notices = nil
}

// startIsGone reports whether the files of the start were attached once, and a compaction took them away.
func startIsGone(messages []msg.Message) bool {
	told, gone := false, false
	for _, m := range messages {
		switch {
		case m.Kind == msg.KindSystem && m.Subtype == msg.SubCompactBoundary:
			gone = told
		case m.Kind == msg.KindAttachment && m.Source == memoryName && strings.HasPrefix(m.Key, memoryStart):
			told, gone = true, false
		}
	}
	return gone
}

// memoryAtStart joins the files into one item, so that it is one block at the front; nothing when the model has
// been told of just these.
func memoryAtStart(files []memory.File, before []msg.Message) []Item {
	var b strings.Builder
	for _, f := range files {
		b.WriteString("\n" + fileText(f) + "\n")
	}
	times, last := toldAtStart(before)
	hash := shortHash(b.String())
	switch {
	case last == hash || len(files) == 0 && times == 0:
		return nil
	case times == 0:
		return []Item{{Key: memoryStart + hash, Text: "Instructions of the user and the project. Follow them; where they disagree, the later one counts.\n" + b.String()}}
	}
	text := "The instructions of the user and the project have changed. From now on these count, and not those from before:\n" + b.String()
	if len(files) == 0 {
		text = "The files with instructions of the user and the project are gone: their instructions no longer count."
	}
	return []Item{{Key: fmt.Sprintf("%s%d %s", memoryStart, times, hash), Text: text}}
}

// toldAtStart counts how often the files of the start were attached since the last compaction, and returns the hash of the last time.
func toldAtStart(messages []msg.Message) (times int, hash string) {
	for _, m := range messages {
		if m.Kind == msg.KindSystem && m.Subtype == msg.SubCompactBoundary {
			times, hash = 0, ""
		}
		if m.Kind == msg.KindAttachment && m.Source == memoryName && strings.HasPrefix(m.Key, memoryStart) {
			times++
			hash = m.Key[strings.LastIndexByte(m.Key, ' ')+1:]
		}
	}
	return times, hash
}

func fileText(f memory.File) string {
	return fmt.Sprintf("--- %s (%s)\n%s", f.Path, f.Scope, f.Text)
}
