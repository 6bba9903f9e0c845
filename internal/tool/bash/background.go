package bash

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"lathe/internal/msg"
	"lathe/internal/proc"
	"lathe/internal/tool"
)

//go:embed taskoutput.md
var taskOutputText string

//go:embed taskstop.md
var taskStopText string

// toBackground hands the running command over to Tasks. late says that its foreground time is over.
func (j *job) toBackground(late bool) (tool.Result, error) {
	k := &task{p: j.p, out: j.out, end: j.end, Task: Task{CallID: j.callID, Owner: j.Owner, Command: j.in.Command, Description: j.in.Description}}
	path, _, saveErr := j.out.Save()
	k.OutputFile = path
	limit := j.BackgroundLimit
	if k.Watch = j.watch > 0; k.Watch {
		limit = j.watch
	}
	if err := j.Tasks.add(k, limit); err != nil {
		j.p.Stop(proc.QuickGrace)
		return j.finish(outcome{Exit: j.p.Exit(), interrupted: true})
	}
	if k.Watch {
		return j.watching(k), nil
	}
	out := Output{BackgroundTaskID: k.ID, ByUser: j.byUser, NoSandbox: j.in.NoSandbox, SavedPath: path}
	text := "Started in the background as task " + k.ID + "."
	if j.byUser {
		text = "The user moved this command to the background, as task " + k.ID + "."
	}
	if late {
		out.TimedOutAfterMs = j.timeout.Milliseconds()
		text = fmt.Sprintf("Still running after %s: moved to the background as task %s.", shortDuration(j.timeout), k.ID)
	}
	if saveErr == nil {
		text += " Output goes to " + path + "."
	} else {
		text += fmt.Sprintf(" No output file could be made (%v); use TaskOutput.", saveErr)
	}
	if late {
		e := j.out.Excerpt(failureLimit)
		if out.Stdout = tidy(e.Head); e.Omitted > 0 {
			out.Stdout = tidy(fmt.Sprintf("%s\n\n[… %d bytes left out here …]\n\n%s", e.Head, e.Omitted, e.Tail))
		}
		if out.Stdout != "" {
			text += " Output so far:"
		}
		_, seen, _ := j.out.Since(0, 0)
		j.Tasks.given(k, seen)
	}
	out.Stderr = strings.Join(j.notes, "\n")
	return tool.Result{
		Blocks:   []msg.Block{msg.Text(joinLines(text, out.Stdout, out.Stderr))},
		Output:   out,
		Budgeted: true,
	}, nil
}

// given records that the model has the output up to an offset.
func (t *Tasks) given(k *task, seen int64) { t.mu.Lock(); k.seen = seen; t.mu.Unlock() }

// taskAliases are names that models use for the parameter.
func taskAliases() map[string]string {
	return map[string]string{"id": "task_id", "bash_id": "task_id", "shell_id": "task_id"}
}

// Others are background tasks that are no commands; TaskOutput and TaskStop serve them too.
type Others interface {
	Has(id string) bool
	// Output waits for the end of a task, at most so long, and returns what there is of it.
	Output(ctx context.Context, id string, wait time.Duration) (TaskResult, error)
	// StopTask stops a task and returns when it has ended.
	StopTask(id string) (TaskStopResult, error)
}

type taskOutput struct {
	tasks  *Tasks
	others Others
}

func (*taskOutput) Def() msg.ToolDef {
	var p struct {
		ID      property `json:"task_id"`
		Block   property `json:"block"`
		Timeout property `json:"timeout"`
	}
	p.ID.Type = "string"
	p.Block = property{"boolean", "Wait for its end"}
	p.Timeout = property{"number", "ms to wait, default 30000"}
	return msg.ToolDef{Name: "TaskOutput", Description: strings.TrimSpace(taskOutputText), InputSchema: schema(p, "task_id")}
}

func (*taskOutput) Aliases() map[string]string { return taskAliases() }

// TaskOutputResult is the result of TaskOutput for programs.
type TaskOutputResult struct {
	RetrievalStatus string     `json:"retrieval_status"` // success, or not_ready while it runs
	Task            TaskResult `json:"task"`
}

// TaskResult is a task with its new output.
type TaskResult struct {
	ID          string `json:"task_id"`
	Type        string `json:"task_type"`
	Status      State  `json:"status"`
	Description string `json:"description"`
	Output      string `json:"output"`
	ExitCode    *int   `json:"exitCode"`
}

func (o *taskOutput) Plan(_ context.Context, call tool.Call) (tool.Plan, error) {
	var in struct {
		ID      string  `json:"task_id"`
		Block   bool    `json:"block"`
		Timeout float64 `json:"timeout"`
	}
	if err := json.Unmarshal(call.Input, &in); err != nil {
		return tool.Plan{}, fmt.Errorf("read the input of TaskOutput: %w", err)
	}
	other := o.others != nil && o.others.Has(in.ID)
	if _, err := o.tasks.find(in.ID); err != nil && !other {
		return tool.Plan{}, err
	}
	wait := limits{timeout: 30 * time.Second, maxTimeout: maxTimeout}.clamp(in.Timeout)
	run := func(ctx context.Context, _ tool.Progress) (tool.Result, error) {
		if other {
			if !in.Block {
				wait = 0
			}
			task, err := o.others.Output(ctx, in.ID, wait)
			return otherOutput(task), err
		}
		if in.Block {
			if err := o.tasks.waitFor(ctx, in.ID, wait); err != nil {
				return tool.Result{}, err
			}
		}
		return o.read(in.ID)
	}
	return tool.Plan{Summary: "Output of " + in.ID, Parallel: true, ReadOnly: true, Run: run}, nil
}

func otherOutput(t TaskResult) tool.Result {
	res := TaskOutputResult{RetrievalStatus: "success", Task: t}
	if t.Status == Running {
		res.RetrievalStatus = "not_ready"
	}
	return tool.Result{Blocks: []msg.Block{msg.Text(fmt.Sprintf("Task %s: %s\n%s", t.ID, t.Status, t.Output))}, Output: res}
}

// waitFor waits for the end of a task, but not longer than limit, which is no error.
func (t *Tasks) waitFor(ctx context.Context, id string, limit time.Duration) error {
	k, err := t.find(id)
	if err != nil {
		return err
	}
	timer := time.NewTimer(limit)
	defer timer.Stop()
	for {
		changed := t.Changed()
		if t.state(k) != Running {
			return nil
		}
		select {
		case <-changed:
		case <-timer.C:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (o *taskOutput) read(id string) (tool.Result, error) {
	text, skipped, state, err := o.tasks.Read(id, inlineLimit)
	if err != nil {
		return tool.Result{}, err
	}
	res := TaskOutputResult{RetrievalStatus: "not_ready", Task: TaskResult{
		ID: state.ID, Type: TaskType, Status: state.State, Description: state.Description,
	}}
	head := fmt.Sprintf("Task %s: %s", state.ID, state.State)
	if state.State != Running {
		res.RetrievalStatus, res.Task.ExitCode = "success", &state.ExitCode
		head += fmt.Sprintf(", exit code %d", state.ExitCode)
	}
	if skipped > 0 {
		head += fmt.Sprintf(" [%d bytes left out before this; the output is in %s]", skipped, state.OutputFile)
	}
	res.Task.Output = tidy(text)
	body := res.Task.Output
	if body == "" {
		body = "(no new output)"
	}
	return tool.Result{Blocks: []msg.Block{msg.Text(joinLines(head, body, strings.Join(state.Notes, "\n")))}, Output: res, Budgeted: true}, nil
}

type taskStop struct {
	tasks  *Tasks
	others Others
}

func (*taskStop) Def() msg.ToolDef {
	var p struct {
		ID property `json:"task_id"`
	}
	p.ID.Type = "string"
	return msg.ToolDef{Name: "TaskStop", Description: strings.TrimSpace(taskStopText), InputSchema: schema(p, "task_id")}
}

func (*taskStop) Aliases() map[string]string { return taskAliases() }

// TaskStopResult is the result of TaskStop for programs.
type TaskStopResult struct {
	Message  string `json:"message"`
	TaskID   string `json:"task_id"`
	TaskType string `json:"task_type"`
	Command  string `json:"command,omitempty"`
}

// Plan says ReadOnly although it ends a process: that is the session's own, which the user allowed to start.
func (s *taskStop) Plan(_ context.Context, call tool.Call) (tool.Plan, error) {
	var in struct {
		ID string `json:"task_id"`
	}
	if err := json.Unmarshal(call.Input, &in); err != nil {
		return tool.Plan{}, fmt.Errorf("read the input of TaskStop: %w", err)
	}
	other := s.others != nil && s.others.Has(in.ID)
	if _, err := s.tasks.find(in.ID); err != nil && !other {
		return tool.Plan{}, err
	}
	run := func(context.Context, tool.Progress) (tool.Result, error) {
		if other {
			out, err := s.others.StopTask(in.ID)
			return tool.Result{Blocks: []msg.Block{msg.Text(out.Message)}, Output: out}, err
		}
		state, err := s.tasks.Stop(in.ID, true)
		if err != nil {
			return tool.Result{}, err
		}
		out := TaskStopResult{Message: "Stopped task " + state.ID + ".", TaskID: state.ID, TaskType: TaskType, Command: state.Command}
		return tool.Result{Blocks: []msg.Block{msg.Text(out.Message)}, Output: out}, nil
	}
	return tool.Plan{Summary: "Stop " + in.ID, ReadOnly: true, Run: run}, nil
}
