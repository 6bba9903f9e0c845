package todo

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"lathe/internal/msg"
	"lathe/internal/tool"
)

// taskTool is one of the tools that write or read a list item by item.
type taskTool struct {
	def  msg.ToolDef
	plan func(input json.RawMessage) (tool.Plan, error)
}

func (t taskTool) Def() msg.ToolDef { return t.def }

// Plan implements tool.Tool.
func (t taskTool) Plan(_ context.Context, call tool.Call) (tool.Plan, error) {
	plan, err := t.plan(call.Input)
	plan.ReadOnly = true // it changes the session's list, and nothing outside
	return plan, err
}

// Tasks returns the tools TaskCreate, TaskUpdate, TaskGet and TaskList. check is that of New.
func Tasks(list *List, check func(ctx context.Context, old, now []Item) error) []tool.Tool {
	if check == nil {
		check = func(context.Context, []Item, []Item) error { return nil }
	}
	def := func(name, description, properties, required string) msg.ToolDef {
		return msg.ToolDef{Name: name, Description: description, InputSchema: json.RawMessage(
			`{"type":"object","properties":{` + properties + `},"required":[` + required + `]}`)}
	}
	return []tool.Tool{
		taskTool{def(Create, "Adds a task to the task list of this session. Use the list for work of three or more steps.",
			`"subject":{"type":"string","description":"a short title"},"description":{"type":"string","description":"what is to be done"},`+
				`"activeForm":{"type":"string","description":"Running the tests"},"metadata":{"type":"object"}`, `"subject","description"`), list.planCreate(check)},
		taskTool{def(Update, "Changes a task: in_progress when you begin it, completed at once when it is done, deleted when it is not needed.",
			`"taskId":{"type":"string"},"status":{"type":"string","enum":["pending","in_progress","completed","deleted"]},"subject":{"type":"string"},`+
				`"description":{"type":"string"},"activeForm":{"type":"string"},"owner":{"type":"string"},"addBlocks":{"type":"array","items":{"type":"string"},`+
				`"description":"tasks that wait for this one"},"addBlockedBy":{"type":"array","items":{"type":"string"},"description":"tasks that this one waits for"},`+
				`"metadata":{"type":"object"}`, `"taskId"`), list.planUpdate(check)},
		taskTool{def(Get, "Shows a task in full.", `"taskId":{"type":"string"}`, `"taskId"`), list.planGet},
		taskTool{def(Show, "Shows all tasks.", ``, ``), list.planShow},
	}
}

func (l *List) planCreate(check func(context.Context, []Item, []Item) error) func(json.RawMessage) (tool.Plan, error) {
	return func(input json.RawMessage) (tool.Plan, error) {
		var in CreateInput
		if err := read(Create, input, &in); err != nil {
			return tool.Plan{}, err
		}
		if strings.TrimSpace(in.Subject) == "" {
			return tool.Plan{}, fmt.Errorf("subject is empty")
		}
		return tool.Plan{Summary: "new task: " + in.Subject, Run: func(ctx context.Context, _ tool.Progress) (tool.Result, error) {
			var id string
			err := l.change(func(old []Item, next string) ([]Item, error) {
				id = next
				now := created(old, id, in)
				return now, check(ctx, old, now)
			})
			if err != nil {
				return tool.Result{}, err
			}
			return tasksResult(fmt.Sprintf("Task #%s was added: %s", id, in.Subject),
				map[string]any{"task": map[string]any{"id": id, "subject": in.Subject, "description": in.Description}}), nil
		}}, nil
	}
}

func (l *List) planUpdate(check func(context.Context, []Item, []Item) error) func(json.RawMessage) (tool.Plan, error) {
	return func(input json.RawMessage) (tool.Plan, error) {
		var in UpdateInput
		if err := read(Update, input, &in); err != nil {
			return tool.Plan{}, err
		}
		if in.Subject != nil && strings.TrimSpace(*in.Subject) == "" {
			return tool.Plan{}, fmt.Errorf("subject is empty")
		}
		return tool.Plan{Summary: "task " + in.ID, Run: func(ctx context.Context, _ tool.Progress) (tool.Result, error) {
			var fields []string
			var from string
			err := l.change(func(old []Item, _ string) (now []Item, err error) {
				if now, fields, from, err = updated(old, in); err != nil {
					return nil, err
				}
				return now, check(ctx, old, now)
			})
			if err != nil {
				return tool.Result{}, err
			}
			out := map[string]any{"success": true, "taskId": in.ID, "updatedFields": append([]string{}, fields...)}
			if in.Status != nil && *in.Status != from {
				out["statusChange"] = map[string]string{"from": from, "to": *in.Status}
			}
			if len(fields) == 0 {
				return tasksResult(fmt.Sprintf("Task #%s is like that already.", in.ID), out), nil
			}
			return tasksResult(fmt.Sprintf("Task #%s was changed: %s", in.ID, strings.Join(fields, ", ")), out), nil
		}}, nil
	}
}

func (l *List) planGet(input json.RawMessage) (tool.Plan, error) {
	var in struct {
		ID string `json:"taskId"`
	}
	if err := read(Get, input, &in); err != nil {
		return tool.Plan{}, err
	}
	return tool.Plan{Summary: "task " + in.ID, Run: func(context.Context, tool.Progress) (tool.Result, error) {
		items := l.Items()
		n := find(items, in.ID)
		if n < 0 {
			return tasksResult(fmt.Sprintf("There is no task %s.", in.ID), map[string]any{"task": nil}), nil
		}
		i := items[n]
		text := fmt.Sprintf("Task #%s: %s\nStatus: %s\n%s", i.ID, i.Content, i.Status, i.Description)
		if wait := open(items, i); len(wait) > 0 {
			text += "\nWaits for: #" + strings.Join(wait, ", #")
		}
		if next := blocks(items, i.ID); len(next) > 0 {
			text += "\nWaited for by: #" + strings.Join(next, ", #")
		}
		return tasksResult(strings.TrimSpace(text), map[string]any{"task": map[string]any{
			"id": i.ID, "subject": i.Content, "description": i.Description, "status": i.Status,
			"blocks": blocks(items, i.ID), "blockedBy": append([]string{}, i.BlockedBy...),
		}}), nil
	}}, nil
}

func (l *List) planShow(json.RawMessage) (tool.Plan, error) {
	return tool.Plan{Summary: "task list", Run: func(context.Context, tool.Progress) (tool.Result, error) {
		items := l.Items()
		lines, list := []string{}, []map[string]any{}
		for _, i := range items {
			line := fmt.Sprintf("#%s [%s] %s", i.ID, i.Status, i.Content)
			m := map[string]any{"id": i.ID, "subject": i.Content, "status": i.Status, "blockedBy": open(items, i)}
			if i.Owner != "" {
				line += " (" + i.Owner + ")"
				m["owner"] = i.Owner
			}
			if wait := open(items, i); len(wait) > 0 {
				line += " [waits for #" + strings.Join(wait, ", #") + "]"
			}
			lines, list = append(lines, line), append(list, m)
		}
		if len(lines) == 0 {
			lines = []string{"There are no tasks."}
		}
		return tasksResult(strings.Join(lines, "\n"), map[string]any{"tasks": list}), nil
	}}, nil
}

// change replaces the list by what to makes of it, given the id that a new item would get. When to fails the list stays.
func (l *List) change(to func(old []Item, next string) ([]Item, error)) error {
	l.mu.Lock()
	next := l.nextID()
	old := l.items
	l.mu.Unlock()
	now, err := to(old, next)
	if err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.items = now
	l.nextID()
	return nil
}

func read(name string, input json.RawMessage, into any) error {
	if err := json.Unmarshal(input, into); err != nil {
		return fmt.Errorf("reading the input of %s: %w", name, err)
	}
	return nil
}

func tasksResult(text string, out any) tool.Result {
	res := tool.TextResult(text)
	res.Output, res.Budgeted = out, true
	return res
}
