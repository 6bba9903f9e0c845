package app

import (
	"context"
	"fmt"
	"strconv"
	"sync"

	"lathe/internal/hook"
	"lathe/internal/perm"
	"lathe/internal/tool/todo"
)

// taskNumbers gives the items of to-do lists their ids, by whose list it is and what it says: the list itself has none.
type taskNumbers struct {
	mu  sync.Mutex
	ids map[string]string
}

func (n *taskNumbers) of(key string) string {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.ids == nil {
		n.ids = map[string]string{}
	}
	if n.ids[key] == "" {
		n.ids[key] = strconv.Itoa(len(n.ids) + 1)
	}
	return n.ids[key]
}

// taskHooks runs the hooks of items that a to-do list gets and of those that are done. A hook that refuses one refuses the
// list: it stays as it was, and the model is told why.
func (r *run) taskHooks(ctx context.Context, old, now []todo.Item) error {
	h := r.hooks
	if h == nil || !h.has(hook.TaskCreated, "") && !h.has(hook.TaskCompleted, "") {
		return nil
	}
	status := map[string]string{}
	for _, i := range old {
		status[i.Content] = i.Status
	}
	for _, i := range now {
		was, known := status[i.Content]
		if !known {
			if err := h.task(ctx, hook.TaskCreated, i); err != nil {
				return err
			}
		}
		if i.Status == todo.Completed && was != todo.Completed {
			if err := h.task(ctx, hook.TaskCompleted, i); err != nil {
				return err
			}
		}
		status[i.Content] = i.Status
	}
	return nil
}

func (h *hooks) task(ctx context.Context, e hook.Event, i todo.Item) error {
	if !h.has(e, "") {
		return nil
	}
	numbers, owner := &h.tasks, ""
	if h.top != nil {
		numbers, owner = &h.top.tasks, h.r.agent.id
	}
	p := hook.Payload{Event: e, Fields: map[string]any{"task_id": numbers.of(owner + "\n" + i.Content), "task_subject": i.Content}}
	if i.ActiveForm != "" && i.ActiveForm != i.Content {
		p.Fields["task_description"] = i.ActiveForm
	}
	h.mark(&p)
	o := h.bus.Fire(ctx, p)
	h.tell(o)
	switch {
	case o.Decision != nil && o.Decision.Verdict == perm.Deny:
		return fmt.Errorf("a %s hook refused the task %q, so the list stays as it was: %s", e, i.Content, o.Decision.Reason)
	case o.Stop:
		return fmt.Errorf("a %s hook refused the task %q, so the list stays as it was: %s", e, i.Content, first(o.Reason, "it gave no reason"))
	}
	return nil
}
