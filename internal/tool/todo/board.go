package todo

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"lathe/internal/msg"
)

// The tools that write a list item by item. They and TodoWrite write the same list, but are not offered together: items
// that TodoWrite wrote have no id.
const (
	Create = "TaskCreate"
	Update = "TaskUpdate"
	Get    = "TaskGet"
	Show   = "TaskList"
)

// deleted is the state that takes an item away.
const deleted = "deleted"

// CreateInput is the canonical input of TaskCreate.
type CreateInput struct {
	Subject     string         `json:"subject"`
	Description string         `json:"description"`
	ActiveForm  string         `json:"activeForm,omitempty"`
	Metadata    map[string]any `json:"metadata,omitempty"`
}

// UpdateInput is the canonical input of TaskUpdate. What is nil stays as it is.
type UpdateInput struct {
	ID           string         `json:"taskId"`
	Subject      *string        `json:"subject,omitempty"`
	Description  *string        `json:"description,omitempty"`
	ActiveForm   *string        `json:"activeForm,omitempty"`
	Status       *string        `json:"status,omitempty"` // a state of an item, or deleted
	Owner        *string        `json:"owner,omitempty"`
	AddBlocks    []string       `json:"addBlocks,omitempty"`
	AddBlockedBy []string       `json:"addBlockedBy,omitempty"`
	Metadata     map[string]any `json:"metadata,omitempty"` // null takes a key away
}

// nextID is the id of the next item. Ids are not given twice, also not those of items that are gone. The caller holds the
// lock.
func (l *List) nextID() string {
	for _, i := range l.items {
		if n, err := strconv.Atoi(i.ID); err == nil {
			l.last = max(l.last, n)
		}
	}
	return strconv.Itoa(l.last + 1)
}

// created is the list with one more item.
func created(items []Item, id string, in CreateInput) []Item {
	form := in.ActiveForm
	if form == "" {
		form = in.Subject
	}
	return append(slices.Clone(items), Item{
		ID: id, Content: in.Subject, Status: Pending, ActiveForm: form, Description: in.Description, Metadata: maps.Clone(in.Metadata),
	})
}

// find is the place of an item, or -1.
func find(items []Item, id string) int {
	return slices.IndexFunc(items, func(i Item) bool { return i.ID != "" && i.ID == id })
}

// updated is the list after an update, the fields that changed, and the item's state before.
func updated(old []Item, in UpdateInput) (items []Item, fields []string, from string, err error) {
	items = slices.Clone(old)
	n := find(items, in.ID)
	if n < 0 {
		return nil, nil, "", fmt.Errorf("there is no task %s; TaskList shows those that there are", in.ID)
	}
	from = items[n].Status
	for _, id := range slices.Concat(in.AddBlocks, in.AddBlockedBy) {
		if find(items, id) < 0 || id == in.ID {
			return nil, nil, "", fmt.Errorf("task %s cannot block, or be blocked by, task %q: there is no such other task", in.ID, id)
		}
	}
	if in.Status != nil && *in.Status == deleted {
		for i := range items {
			items[i].BlockedBy = without(items[i].BlockedBy, in.ID)
		}
		return slices.Delete(items, n, n+1), []string{deleted}, from, nil
	}
	set := func(name string, to *string, at *string) {
		if to != nil && *to != *at {
			*at, fields = *to, append(fields, name)
		}
	}
	x := &items[n]
	set("subject", in.Subject, &x.Content)
	set("description", in.Description, &x.Description)
	set("activeForm", in.ActiveForm, &x.ActiveForm)
	set("status", in.Status, &x.Status)
	set("owner", in.Owner, &x.Owner)
	if len(in.Metadata) > 0 {
		x.Metadata = maps.Clone(x.Metadata)
		if x.Metadata == nil {
			x.Metadata = map[string]any{}
		}
		for k, v := range in.Metadata {
			if x.Metadata[k] = v; v == nil {
				delete(x.Metadata, k)
			}
		}
		fields = append(fields, "metadata")
	}
	for _, id := range in.AddBlocks {
		other := &items[find(items, id)]
		other.BlockedBy = with(other.BlockedBy, in.ID)
	}
	if len(in.AddBlocks) > 0 {
		fields = append(fields, "blocks")
	}
	for _, id := range in.AddBlockedBy {
		x.BlockedBy = with(x.BlockedBy, id)
	}
	if len(in.AddBlockedBy) > 0 {
		fields = append(fields, "blockedBy")
	}
	return items, fields, from, nil
}

func with(list []string, id string) []string {
	if slices.Contains(list, id) {
		return list
	}
	return append(slices.Clone(list), id)
}

func without(list []string, id string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(x string) bool { return x == id })
}

// blocks are the items that wait for the one with the id.
func blocks(items []Item, id string) []string {
	out := []string{}
	for _, i := range items {
		if slices.Contains(i.BlockedBy, id) {
			out = append(out, i.ID)
		}
	}
	return out
}

// open are the items that the one still waits for.
func open(items []Item, of Item) []string {
	out := []string{}
	for _, id := range of.BlockedBy {
		if n := find(items, id); n >= 0 && items[n].Status != Completed {
			out = append(out, id)
		}
	}
	return out
}

// Restore replaces the list by what the conversation says it is, after the calls that were not refused. A TodoWrite call
// without any result counts as well: it was understood, and only the note of that was lost. base is the list as it was
// when a part of the conversation was summarised: replaying what is in it already changes nothing.
func (l *List) Restore(messages []msg.Message, base ...Item) {
	results := map[string]msg.Block{}
	for _, m := range messages {
		for _, b := range m.Blocks {
			if b.Type == msg.TypeToolResult {
				results[b.ToolUseID] = b
			}
		}
	}
	items, last := slices.Clone(base), 0
	for _, m := range messages {
		if m.Sidechain {
			continue
		}
		for _, b := range m.Blocks {
			res, answered := results[b.ID]
			if b.Type != msg.TypeToolUse || res.IsError {
				continue
			}
			switch b.Name {
			case Name:
				var in Input
				if json.Unmarshal(b.Input, &in) == nil && in.check() == nil {
					items = in.Todos
				}
			case Create:
				var in CreateInput
				id := idOf(res)
				if !answered || id == "" || json.Unmarshal(b.Input, &in) != nil {
					continue
				}
				if n, err := strconv.Atoi(id); err == nil {
					last = max(last, n)
				}
				if find(items, id) < 0 {
					items = created(items, id, in)
				}
			case Update:
				var in UpdateInput
				if !answered || json.Unmarshal(b.Input, &in) != nil {
					continue
				}
				if now, _, _, err := updated(items, in); err == nil {
					items = now
				}
			}
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.items, l.last = slices.Clone(items), last
}

var createdID = regexp.MustCompile(`^Task #(\d+) `)

// idOf reads the id out of the result of TaskCreate.
func idOf(result msg.Block) string {
	if m := createdID.FindStringSubmatch(strings.TrimSpace(msg.JoinText(result.Content))); m != nil {
		return m[1]
	}
	return ""
}
