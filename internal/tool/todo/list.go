package todo

import (
	"encoding/json"
	"slices"
	"sync"

	"lathe/internal/msg"
)

// Name is the tool's name.
const Name = "TodoWrite"

// The states of an item.
const (
	Pending    = "pending"
	InProgress = "in_progress"
	Completed  = "completed"
)

// Item is one thing to do.
type Item struct {
	Content    string `json:"content"`
	Status     string `json:"status"`     // pending, in_progress, completed
	ActiveForm string `json:"activeForm"` // what to show while it is in progress, "Running the tests"
}

// List is one session's list. It is safe for concurrent use.
type List struct {
	mu    sync.Mutex
	items []Item
}

// NewList returns a list of the items.
func NewList(items ...Item) *List { return &List{items: slices.Clone(items)} }

// Items returns a copy of the list.
func (l *List) Items() []Item {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.items)
}

// Set replaces the list and returns the old one.
func (l *List) Set(items []Item) (old []Item) {
	l.mu.Lock()
	defer l.mu.Unlock()
	old, l.items = l.items, slices.Clone(items)
	return old
}

// Restore replaces the list by what the conversation says it is: the last TodoWrite call that was not refused.
// A call without any result counts as well: it was understood, and only the note of that was lost.
func (l *List) Restore(messages []msg.Message) {
	failed := map[string]bool{}
	for _, m := range messages {
		for _, b := range m.Blocks {
			if b.Type == msg.TypeToolResult && b.IsError {
				failed[b.ToolUseID] = true
			}
		}
	}
	for _, m := range slices.Backward(messages) {
		if m.Sidechain {
			continue
		}
		for _, b := range slices.Backward(m.Blocks) {
			if b.Type != msg.TypeToolUse || b.Name != Name || failed[b.ID] {
				continue
			}
			var in Input
			if json.Unmarshal(b.Input, &in) == nil && in.check() == nil {
				l.Set(in.Todos)
				return
			}
		}
	}
	l.Set(nil)
}
