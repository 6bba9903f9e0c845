package bash

import (
	"context"
	"fmt"
	"sync"
	"time"

	"lathe/internal/proc"
)

// State is how far a background task is.
type State string

// The states, named as the stream protocol does.
const (
	Running   State = "running"
	Completed State = "completed" // exit code 0
	Failed    State = "failed"
	Stopped   State = "stopped" // by TaskStop, its time limit, or the end of the session
)

// TaskType is what kind of task these are to the stream protocol.
const TaskType = "local_bash"

// Task is a snapshot of one background task.
type Task struct {
	ID          string
	CallID      string // the tool call that started it
	Command     string
	Description string
	OutputFile  string // empty when none could be made
	State       State
	ExitCode    int // when it ended
	Started     time.Time
	Ended       time.Time
	Size        int64    // bytes of output so far
	NewOutput   bool     // there is output that TaskOutput has not given yet
	Notes       []string // what the sandbox has to say of it, when it ended
	Owner       string   // id of the sub-agent that started it; "" is the session itself
	Known       bool     // the model was told of its end by a call of its own
	Asked       bool     // somebody stopped it
	Watch       bool     // its lines are told as they come
	Late        bool     // its time was over
}

// Tasks owns the background commands of a session. It is safe for concurrent use; Close must be called.
type Tasks struct {
	// Tell is told of each task that starts, and of its end. It is set before the first use; nil: nobody is told.
	Tell func(Task)
	// Said is told when a watch has printed more. Set like Tell.
	Said func(Task)

	now     func() time.Time
	mu      sync.Mutex
	closed  bool
	list    []*task
	front   map[*job]chan struct{} // commands in the foreground; closing the channel moves one to the background
	changed chan struct{}          // closed, and replaced, at every change of a state
	wg      sync.WaitGroup
}

type task struct {
	Task
	p    *proc.Proc
	out  *proc.Output
	seen int64 // output that was given
	end  SandboxEnd
}

// NewTasks returns a manager without tasks; now stamps starts and ends.
func NewTasks(now func() time.Time) *Tasks {
	return &Tasks{now: now, changed: make(chan struct{})}
}

// Changed returns a channel that is closed when a task starts or ends the next time. Take it before Snapshot.
func (t *Tasks) Changed() <-chan struct{} {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.changed
}

// Snapshot lists all tasks of the session, oldest first.
func (t *Tasks) Snapshot() []Task {
	t.mu.Lock()
	defer t.mu.Unlock()
	out := make([]Task, len(t.list))
	for i, k := range t.list {
		out[i] = k.snapshot()
	}
	return out
}

func (k *task) snapshot() Task {
	s := k.Task
	s.Size = k.out.Total()
	s.NewOutput = s.Size > k.seen
	return s
}

// Close stops all tasks and waits for them, at most as long as ctx lasts. They have a second to obey TERM, or half
// of the time that ctx leaves. No task starts afterwards.
func (t *Tasks) Close(ctx context.Context) error {
	grace := stopGrace
	if end, ok := ctx.Deadline(); ok {
		grace = min(grace, time.Until(end)/2)
	}
	t.mu.Lock()
	t.closed = true
	for _, k := range t.list {
		if k.State == Running {
			t.wg.Go(func() { k.p.Stop(grace) })
		}
	}
	t.mu.Unlock()
	done := make(chan struct{})
	go func() { t.wg.Wait(); close(done) }() // ends with the children, which are killed
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("stop background tasks: %w", ctx.Err())
	}
}

// enter notes a command in the foreground. The channel is closed when it shall go on in the background.
func (t *Tasks) enter(j *job) <-chan struct{} {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.front == nil {
		t.front = map[*job]chan struct{}{}
	}
	ch := make(chan struct{})
	t.front[j] = ch
	return ch
}

func (t *Tasks) leave(j *job) { t.mu.Lock(); delete(t.front, j); t.mu.Unlock() }

// Detach moves commands of the session itself from the foreground to the background: that of one call, or all of them
// where callID is empty. It reports whether there was any.
func (t *Tasks) Detach(callID string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	some := false
	for j, ch := range t.front {
		if j.Owner == "" && j.Background && (callID == "" || j.callID == callID) {
			close(ch)
			delete(t.front, j)
			some = true
		}
	}
	return some
}

// add takes over a started command. limit, when set, stops it.
func (t *Tasks) add(k *task, limit time.Duration) error {
	t.mu.Lock()
	if t.closed {
		t.mu.Unlock()
		return proc.ErrClosed
	}
	k.ID = fmt.Sprintf("bash_%d", len(t.list)+1)
	k.State, k.Started = Running, t.now()
	t.list = append(t.list, k)
	started := k.snapshot()
	t.notify()
	t.wg.Add(1)
	if k.Watch {
		t.wg.Add(1)
	}
	t.mu.Unlock()
	t.tell(started) // before its end can be told
	go func() {
		defer t.wg.Done()
		t.watch(k, limit)
	}()
	if k.Watch {
		go func() {
			defer t.wg.Done()
			t.follow(k)
		}()
	}
	return nil
}

func (t *Tasks) tell(k Task) {
	if t.Tell != nil {
		t.Tell(k)
	}
}

// notify tells of a change. The caller holds the lock.
func (t *Tasks) notify() {
	close(t.changed)
	t.changed = make(chan struct{})
}

// watch waits for the end of a task.
func (t *Tasks) watch(k *task, limit time.Duration) {
	late := false
	if limit > 0 {
		timer := time.NewTimer(limit)
		defer timer.Stop()
		select {
		case <-k.p.Done():
		case <-timer.C:
			late = true
			k.p.Stop(stopGrace)
		}
	}
	e := k.p.Exit()
	_ = k.out.Close() // a failed write shows in the file's size
	text, _, _ := k.out.Since(max(0, k.out.Total()-failureLimit), failureLimit)
	notes := k.end.call(e.Code != 0 && !e.Stopped, text)
	t.mu.Lock()
	k.Ended, k.ExitCode, k.Notes = t.now(), e.Code, notes
	switch {
	case e.Stopped:
		k.State, k.Late = Stopped, late
	case e.Code == 0:
		k.State = Completed
	default:
		k.State = Failed
	}
	ended := k.snapshot()
	t.notify()
	t.mu.Unlock()
	t.tell(ended)
}

func (t *Tasks) find(id string) (*task, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	var ids []string
	for _, k := range t.list {
		if k.ID == id {
			return k, nil
		}
		ids = append(ids, k.ID)
	}
	if len(ids) == 0 {
		return nil, fmt.Errorf("there is no task %q: nothing was started in the background", id)
	}
	return nil, fmt.Errorf("there is no task %q; the tasks are %v", id, ids)
}

// StopOwned stops the tasks that a sub-agent has started and waits for them, at most as long as ctx lasts.
func (t *Tasks) StopOwned(ctx context.Context, owner string) error {
	for _, k := range t.Snapshot() {
		if k.Owner != owner || k.State != Running {
			continue
		}
		done := make(chan struct{})
		go func() { defer close(done); _, _ = t.Stop(k.ID, true) }() // ends with the child, which is killed
		select {
		case <-done:
		case <-ctx.Done():
			return fmt.Errorf("stop background task %s: %w", k.ID, ctx.Err())
		}
	}
	return nil
}

// Stop stops a task with all that it started and returns when it is gone. A task that ended is an error. asked says
// that somebody wanted this, and knows.
func (t *Tasks) Stop(id string, asked bool) (Task, error) {
	k, err := t.find(id)
	if err != nil {
		return Task{}, err
	}
	if state := t.state(k); state != Running {
		return Task{}, fmt.Errorf("task %s is not running: it is %s", id, state)
	}
	t.mu.Lock()
	k.Asked = k.Asked || asked
	t.mu.Unlock()
	k.p.Stop(stopGrace)
	for {
		changed := t.Changed()
		if t.state(k) != Running {
			break
		}
		<-changed
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return k.snapshot(), nil
}

func (t *Tasks) state(k *task) State {
	t.mu.Lock()
	defer t.mu.Unlock()
	return k.State
}

// Read gives the output that was not given yet, at most its last limit bytes, and the state. skipped counts bytes
// left out.
func (t *Tasks) Read(id string, limit int) (text string, skipped int64, state Task, err error) {
	k, err := t.find(id)
	if err != nil {
		return "", 0, Task{}, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	k.out.Flush()
	text, k.seen, skipped = k.out.Since(k.seen, limit)
	k.Known = k.Known || k.State != Running
	return text, skipped, k.snapshot(), nil
}
