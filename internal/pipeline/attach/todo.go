package attach

import (
	"context"
	"fmt"

	"lathe/internal/msg"
	"lathe/internal/turn"
)

// quietPasses is for how many tool results the to-do list may go unmentioned before it is shown again.
const quietPasses = 12

// Todo attaches the to-do list when it is not empty and was not written or shown for a while. text renders it.
func Todo(text func() string) Source {
	const name = "todo"
	return Source{
		Name: name, Budget: 8 << 10,
		When: func(t *turn.Turn, _ Seen) bool { return sinceTodo(t.Messages) > quietPasses && text() != "" },
		Collect: func(_ context.Context, t *turn.Turn, _ Seen) ([]Item, error) {
			return []Item{{Key: fmt.Sprintf("%s %d", t.ID, t.Step), Text: "The to-do list as it stands; keep it up to date:\n" + text()}}, nil
		},
	}
}

func writesTodos(tool string) bool {
	switch tool {
	case "TodoWrite", "TaskCreate", "TaskUpdate", "TaskList":
		return true
	}
	return false
}

// sinceTodo counts tool results since the list was last written or attached.
func sinceTodo(messages []msg.Message) int {
	n := 0
	for i := len(messages) - 1; i >= 0; i-- {
		m := messages[i]
		if m.Kind == msg.KindAttachment && m.Source == "todo" {
			return n
		}
		for _, b := range m.Blocks {
			switch {
			case b.Type == msg.TypeToolUse && writesTodos(b.Name):
				return n
			case b.Type == msg.TypeToolResult:
				n++
			}
		}
	}
	return n
}
