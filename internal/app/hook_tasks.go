package app

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"sync"

	"lathe/internal/hook"
	"lathe/internal/perm"
	"lathe/internal/sys"
	"lathe/internal/tool"
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

// todoTools are the tools that write the to-do list: TodoWrite, or those that write it item by item where the user names one
// of them, or has the environment ask for them.
func (r *run) todoTools(list *todo.List) []tool.Tool {
	whole, single := todo.New(list, r.taskHooks), todo.Tasks(list, r.taskHooks)
	named := func(t tool.Tool) bool {
		is := func(n string) bool { return n == t.Def().Name }
		if a := r.agent; a != nil { // as the conversation above it has them
			_, above := a.parent.tools.registry.Get(t.Def().Name)
			return slices.ContainsFunc(a.def.Tools, is) || a.def.Tools == nil && above
		}
		return slices.ContainsFunc(r.o.Tools, func(v string) bool { return slices.ContainsFunc(sys.List(v), is) }) ||
			slices.ContainsFunc(r.o.Allowed, func(v string) bool { return slices.ContainsFunc(sys.List(v), is) })
	}
	asked := r.agent == nil && sys.IsOn(r.place.Sys.Getenv("CLAUDE_CODE_ENABLE_TODO_TOOLS")) && r.place.Sys.Getenv("CLAUDE_CODE_ENABLE_TASKS") != "0"
	switch {
	case slices.ContainsFunc(single, named) && named(whole):
		return append(single, whole)
	case slices.ContainsFunc(single, named), asked && !named(whole):
		return single
	}
	return []tool.Tool{whole}
}

// taskHooks runs the hooks of items that a to-do list gets and of those that are done. A hook that refuses one refuses the
// list: it stays as it was, and the model is told why.
func (r *run) taskHooks(ctx context.Context, old, now []todo.Item) error {
	h := r.hooks
	if h == nil || !h.has(hook.TaskCreated, "") && !h.has(hook.TaskCompleted, "") {
		return nil
	}
	status := map[string]string{}
	key := func(i todo.Item) string { return first(i.ID, i.Content) }
	for _, i := range old {
		status[key(i)] = i.Status
	}
	for _, i := range now {
		was, known := status[key(i)]
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
		status[key(i)] = i.Status
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
	p := hook.Payload{Event: e, Fields: map[string]any{"task_subject": i.Content}}
	if p.Fields["task_id"] = i.ID; i.ID == "" {
		p.Fields["task_id"] = numbers.of(owner + "\n" + i.Content)
	}
	if about := first(i.Description, i.ActiveForm); about != "" && about != i.Content {
		p.Fields["task_description"] = about
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
