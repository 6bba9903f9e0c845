package event

import "time"

// Task is a piece of background work as front ends list it.
type Task struct {
	ID, Kind, Description string // kind: local_bash, local_agent, local_mcp
}

// TaskStarted says that work goes on in the background from now on.
type TaskStarted struct {
	Task
	CallID    string // the tool use that started it
	AgentType string // of a sub-agent
	Prompt    string // of a sub-agent
}

// TaskUsage is what a sub-agent has used so far.
type TaskUsage struct {
	Tokens, ToolUses int
	Dur              time.Duration
}

// TaskProgress says what a sub-agent in the background has done.
type TaskProgress struct {
	Task
	CallID, AgentType, LastTool string
	Summary                     string // what it does, in words of a model; "": not asked for
	Usage                       TaskUsage
}

// TaskUpdated says that a task's state has changed: completed, failed or killed.
type TaskUpdated struct {
	ID, Status, Err string
	Ended           time.Time
}

// TaskDone says how a task ended: completed, failed or stopped.
type TaskDone struct {
	ID, CallID, Status  string
	OutputFile, Summary string
	Usage               *TaskUsage // of a sub-agent
}

// TasksChanged is all background work that runs, each time that changes.
type TasksChanged struct{ Tasks []Task }

func (TaskStarted) event()  {}
func (TaskProgress) event() {}
func (TaskUpdated) event()  {}
func (TaskDone) event()     {}
func (TasksChanged) event() {}

// task gives the line of an event of background work.
func (e *Encoder) task(env Envelope) [][]byte {
	switch ev := env.Event.(type) {
	case TaskStarted:
		o := obj{"task_id": ev.ID, "description": ev.Description, "task_type": ev.Kind, "is_backgrounded": true}
		present(o, "tool_use_id", ev.CallID)
		present(o, "subagent_type", ev.AgentType)
		present(o, "prompt", ev.Prompt)
		return e.line(env, "system", "task_started", o)
	case TaskProgress:
		o := obj{"task_id": ev.ID, "description": ev.Description, "usage": ev.Usage.fields()}
		present(o, "tool_use_id", ev.CallID)
		present(o, "subagent_type", ev.AgentType)
		present(o, "last_tool_name", ev.LastTool)
		present(o, "summary", ev.Summary)
		return e.line(env, "system", "task_progress", o)
	case TaskUpdated:
		patch := obj{"status": ev.Status}
		present(patch, "error", ev.Err)
		if !ev.Ended.IsZero() {
			patch["end_time"] = ev.Ended.UnixMilli()
		}
		return e.line(env, "system", "task_updated", obj{"task_id": ev.ID, "patch": patch})
	case TaskDone:
		o := obj{"task_id": ev.ID, "status": ev.Status, "output_file": ev.OutputFile, "summary": ev.Summary}
		present(o, "tool_use_id", ev.CallID)
		if ev.Usage != nil {
			o["usage"] = ev.Usage.fields()
		}
		return e.line(env, "system", "task_notification", o)
	case TasksChanged:
		tasks := make([]obj, 0, len(ev.Tasks))
		for _, t := range ev.Tasks {
			tasks = append(tasks, obj{"task_id": t.ID, "task_type": t.Kind, "description": t.Description})
		}
		return e.line(env, "system", "background_tasks_changed", obj{"tasks": tasks})
	}
	return nil
}

func (u TaskUsage) fields() obj {
	return obj{"total_tokens": u.Tokens, "tool_uses": u.ToolUses, "duration_ms": u.Dur.Milliseconds()}
}

// present sets a field that is not empty.
func present(o obj, key, value string) {
	if value != "" {
		o[key] = value
	}
}
