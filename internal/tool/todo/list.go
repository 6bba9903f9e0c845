package todo

import (
	"slices"
	"sync"
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

	// What only items that TaskCreate made have.
	ID          string         `json:"id,omitempty"` // a number, from 1
	Description string         `json:"description,omitempty"`
	Owner       string         `json:"owner,omitempty"`
	BlockedBy   []string       `json:"blockedBy,omitempty"` // ids of items that must be done before
	Metadata    map[string]any `json:"metadata,omitempty"`
}

// List is one session's list. It is safe for concurrent use.
type List struct {
	mu    sync.Mutex
	items []Item
	last  int // the highest id that was given
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
	l.nextID()
	old, l.items = l.items, slices.Clone(items)
	return old
}
