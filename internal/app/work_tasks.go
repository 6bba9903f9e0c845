package app

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"lathe/internal/tool/bash"
)

// find returns a sub-agent by its task's id.
func (w *work) find(id string) *backAgent {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, b := range slices.Backward(w.agents) { // one that went on is there twice, until its first end is told
		if b.ID == id && b.back {
			return b
		}
	}
	return nil
}

// Has implements bash.Others.
func (w *work) Has(id string) bool { return w.find(id) != nil }

// StopTask implements bash.Others.
func (w *work) StopTask(id string) (bash.TaskStopResult, error) {
	b := w.find(id)
	if b == nil {
		return bash.TaskStopResult{}, fmt.Errorf("there is no task %q", id)
	}
	w.mu.Lock()
	running := b.State == bash.Running
	b.asked = true
	w.mu.Unlock()
	if !running {
		return bash.TaskStopResult{}, fmt.Errorf("task %s is not running any more", id)
	}
	b.cancel()
	<-b.done
	return bash.TaskStopResult{Message: "Stopped task " + id + ".", TaskID: id, TaskType: b.taskKind()}, nil
}

// Output implements bash.Others.
func (w *work) Output(ctx context.Context, id string, wait time.Duration) (bash.TaskResult, error) {
	b := w.find(id)
	if b == nil {
		return bash.TaskResult{}, fmt.Errorf("there is no task %q", id)
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-b.done:
	case <-timer.C:
	case <-ctx.Done():
		return bash.TaskResult{}, context.Cause(ctx)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	res := bash.TaskResult{ID: b.ID, Type: b.taskKind(), Status: b.State, Description: b.Description}
	if b.State == bash.Running {
		res.Output = "It works still. What it does is written to " + b.OutputFile + "."
		return res, nil
	}
	b.Known = true
	text := reportText(b.outcome)
	if len(text) > reportLimit {
		text = strings.ToValidUTF8(text[:reportLimit], "") + "\n[cut here; all of it is in " + b.OutputFile + "]"
	}
	res.Output = b.words(text, "")
	return res, nil
}

// stopTask stops a task of either kind for a host. One that has ended, or never was, is stopped already.
func (r *run) stopTask(id string) {
	if r.work.Has(id) {
		if r.work.at(id) != nil {
			r.work.mu.Lock()
			r.work.refuse(id)
			r.work.mu.Unlock()
		}
		_, _ = r.work.StopTask(id)
		return
	}
	_, _ = r.tools.tasks.Stop(id, true)
}
