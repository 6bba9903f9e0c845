package attach

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"

	"lathe/internal/memory"
	"lathe/internal/turn"
)

const (
	autoName  = "auto_memory"
	autoHow   = "how"
	autoIndex = "index "
)

const autoText = `This project has a memory that outlasts sessions, kept by you: the directory %[1]s
- Read a note there when its line in the index fits what you do. It may be out of date: check before you rely on it.
- Write one when the user asks you to remember something, and when you learn what later sessions need and cannot see: who the user is and how they work (type user), what they corrected or confirmed (feedback), decisions and reasons behind the project (project), where things outside it are (reference). No secrets, and nothing that the code or its history says.
- One topic a file, NAME.md, beginning with the lines "---", "description: what it is about", "type: user, feedback, project or reference", "---". Change a note rather than write a second one; remove what turned out wrong.
- The index is %[2]s there, one line a note: "- [Title](NAME.md): when it matters". Only its first %[3]d lines are shown at the start of a session: keep it short.`

const agentText = `You have a memory of your own that outlasts sessions, kept by you: the directory %[1]s
- Before you begin, read the notes there whose line in the index fits the task. They may be out of date: check before you rely on one.
- Before you report, write down what would help you the next time and cannot be seen quickly: what you learned of this code, what was corrected, what to look out for. No secrets.
- One topic a file, NAME.md. Change a note rather than write a second one; remove what turned out wrong.
- The index is %[2]s there, one line a note: "- [Title](NAME.md): when it matters". Only its first %[3]d lines are shown at the start: keep it short.`

// AgentMemory is AutoMemory for the memory of a sub-agent.
func AgentMemory(a memory.Auto, touched func() []string, known func(path string) bool) Source {
	return memorySource("agent_memory", agentText, a, touched, known)
}

// AutoMemory attaches what the model must know of its memory, and the head of the index: with the first prompt, and
// at the start of a turn after it changed. An index that the conversation has read or written is left to changed_file.
// known reports whether it has. When the model has made the index too long it is told so.
func AutoMemory(a memory.Auto, touched func() []string, known func(path string) bool) Source {
	return memorySource(autoName, autoText, a, touched, known)
}

func memorySource(name, how string, a memory.Auto, touched func() []string, known func(path string) bool) Source {
	var at recent
	return Source{
		Name: name, Budget: 32 << 10,
		When: func(t *turn.Turn, seen Seen) bool {
			return t.Step <= 1 || !seen.Any(name) || at.any(t, touched())
		},
		Collect: func(_ context.Context, t *turn.Turn, seen Seen) ([]Item, error) {
			var out []Item
			if !seen.Has(name, autoHow) {
				out = append(out, Item{Key: autoHow, Text: fmt.Sprintf(how, a.Dir, memory.IndexName, memory.IndexLines)})
			}
			wrote := slices.ContainsFunc(at.take(t, touched()), func(p string) bool { return filepath.Base(p) == memory.IndexName && a.Holds(p) })
			index, ok := a.Head()
			if !ok {
				return out, nil
			}
			hash := shortHash(index.Text)
			if wrote {
				return append(out, tooLong(a, index, hash)...), nil
			}
			last := lastKey(t.Messages, name, autoIndex)
			if last == autoIndex+hash || t.Step > 1 && seen.Any(name) || known(a.Path()) && seen.Any(name) {
				return out, nil
			}
			return append(out, Item{Key: fresh(seen, name, autoIndex+hash), Text: indexText(a, index, last == "")}), nil
		},
	}
}

func indexText(a memory.Auto, x memory.Index, first bool) string {
	text := fmt.Sprintf("The index of your memory, %s:\n%s", a.Path(), x.Text)
	if !first {
		text = fmt.Sprintf("The index of your memory, %s, has changed. It is now:\n%s", a.Path(), x.Text)
	}
	if x.Cut {
		text += fmt.Sprintf("\n[cut here: the index has %d lines and %d bytes, of which %d lines or %d bytes are shown]", x.Lines, x.Bytes, memory.IndexLines, memory.IndexBytes)
	}
	return text
}

// tooLong is what is said of an index that the model has just written.
func tooLong(a memory.Auto, x memory.Index, hash string) []Item {
	size := fmt.Sprintf("%s has %d lines and %d bytes; only its first %d lines or %d bytes are shown at the start of a session", a.Path(), x.Lines, x.Bytes, memory.IndexLines, memory.IndexBytes)
	switch {
	case x.Cut:
		return []Item{{Key: "long " + hash, Text: "Error: " + size + ", so its end is lost there. It was written all the same. Shorten it now: join lines, and move what is long into notes."}}
	case x.Near():
		return []Item{{Key: "near " + hash, Text: size + ". Shorten it before you add more."}}
	}
	return nil
}
