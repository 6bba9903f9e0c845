package app

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"lathe/internal/event"
	"lathe/internal/msg"
	"lathe/internal/pipeline/attach"
	"lathe/internal/tool"
	toolagent "lathe/internal/tool/agent"
	"lathe/internal/tool/bash"
)

// agentTask is the kind of task that a sub-agent in the background is to the stream protocol.
const agentTask = "local_agent"

// commandLinger is how long the end of a session waits for commands in the background; sub-agents are waited for.
const commandLinger = 5 * time.Second

// reportLimit is how much of a background report the model is told at once, in bytes; the rest is in its file.
const reportLimit = 30_000

// work is what goes on in the background of a session: sub-agents here, commands in bash.Tasks. It tells front ends of
// both, and the model when one has ended. It implements engine.Background.
type work struct {
	r    *run // the session
	ctx  context.Context
	stop context.CancelFunc
	wg   sync.WaitGroup

	mu     sync.Mutex
	agents []*backAgent
	told   map[string]bool // what the model knows the end of
	quit   bool            // commands are not waited for
}

// backAgent is a sub-agent in the background.
type backAgent struct {
	bash.Task
	run     *run
	prompt  string
	cancel  context.CancelFunc
	done    chan struct{}
	asked   bool // somebody stopped it
	outcome agentOutcome
}

func newWork(r *run) *work {
	w := &work{r: r, told: map[string]bool{}}
	w.ctx, w.stop = context.WithCancel(context.Background())
	return w
}

// launch starts a sub-agent in the background and returns what the call gives back. release is called when it has ended.
func (w *work) launch(child *run, q toolagent.Request, release func()) (tool.Result, error) {
	file, err := child.agentFile()
	if err != nil {
		release()
		child.closeAgent()
		return tool.Result{}, fmt.Errorf("make the output file of a background agent: %w", err)
	}
	child.agent.out = file
	b := &backAgent{run: child, prompt: q.Prompt, done: make(chan struct{})}
	b.Task = bash.Task{
		ID: child.agent.id, CallID: q.CallID, Description: first(q.Task, oneLine(q.Prompt, 60)), OutputFile: file.Name(),
		State: bash.Running, Started: w.r.place.sys.Now(),
	}
	var ctx context.Context
	ctx, b.cancel = context.WithCancel(w.ctx)
	w.mu.Lock()
	w.agents = append(w.agents, b)
	w.mu.Unlock()
	w.changed()
	w.tell(event.TaskStarted{Task: taskOf(b.Task, agentTask), CallID: q.CallID, AgentType: q.Def.Name, Prompt: q.Prompt})
	w.wg.Go(func() {
		defer release()
		w.carryOut(ctx, b, file)
	})
	out := toolagent.Launched{Status: "async_launched", AgentID: b.ID, Description: b.Description, Prompt: q.Prompt, OutputFile: b.OutputFile, CanRead: true}
	res := tool.TextResult(fmt.Sprintf("Started in the background as task %s. You are told when it has ended; go on with other work, or end your answer. What it does is written to %s.", b.ID, b.OutputFile))
	res.Output = out
	return res, nil
}

// carryOut runs a sub-agent to its end and tells of it.
func (w *work) carryOut(ctx context.Context, b *backAgent, file *os.File) {
	defer b.cancel()
	out, err := b.run.work1(ctx, b.prompt)
	b.run.closeAgent()
	state := bash.Completed
	switch {
	case ctx.Err() != nil:
		state = bash.Stopped
		out.note = "It was stopped before it had ended."
	case err != nil:
		state = bash.Failed
		out.note = "It failed: " + err.Error()
	case out.failed:
		state = bash.Failed
	}
	_, _ = fmt.Fprintf(file, "\n%s\n", reportText(out)) // the report is told anyway
	_ = file.Close()
	w.mu.Lock()
	b.State, b.Ended, b.outcome = state, w.r.place.sys.Now(), out
	task := b.Task
	w.mu.Unlock()
	close(b.done)
	use := b.run.agent.used(task.Ended.Sub(task.Started))
	w.ended(task, out.note, fmt.Sprintf("Sub-agent %q %s", task.Description, stateWord(state)), &use)
}

// ended tells front ends of the end of a task, and wakes the session for it.
func (w *work) ended(t bash.Task, problem, summary string, use *event.TaskUsage) {
	status := map[bash.State]string{bash.Completed: "completed", bash.Failed: "failed", bash.Stopped: "killed"}[t.State]
	up := event.TaskUpdated{ID: t.ID, Status: status, Ended: t.Ended}
	if t.State == bash.Failed {
		up.Err = problem
	}
	w.tell(up)
	w.tell(event.TaskDone{ID: t.ID, CallID: t.CallID, Status: string(t.State), OutputFile: t.OutputFile, Summary: summary, Usage: use})
	w.changed()
	w.r.session.Wake()
}

// command is told of each background command that starts or ends.
func (w *work) command(t bash.Task) {
	if t.State == bash.Running {
		w.changed()
		w.tell(event.TaskStarted{Task: taskOf(t, bash.TaskType), CallID: t.CallID})
		return
	}
	summary := fmt.Sprintf("Background command %q %s", first(t.Description, oneLine(t.Command, 80)), stateWord(t.State))
	if t.State != bash.Stopped {
		summary += fmt.Sprintf(" (exit code %d)", t.ExitCode)
	}
	w.ended(t, fmt.Sprintf("exit code %d", t.ExitCode), summary, nil)
}

func stateWord(s bash.State) string {
	return map[bash.State]string{bash.Completed: "completed", bash.Failed: "failed", bash.Stopped: "was stopped"}[s]
}

func taskOf(t bash.Task, kind string) event.Task {
	return event.Task{ID: t.ID, Kind: kind, Description: first(t.Description, oneLine(t.Command, 120))}
}

func (w *work) tell(e event.Event) { _ = w.r.session.Relay(event.Envelope{Event: e}) }

// changed tells what runs now.
func (w *work) changed() {
	list := event.TasksChanged{Tasks: []event.Task{}}
	for _, t := range w.r.tools.tasks.Snapshot() {
		if t.State == bash.Running {
			list.Tasks = append(list.Tasks, taskOf(t, bash.TaskType))
		}
	}
	for _, t := range w.snapshot() {
		if t.State == bash.Running {
			list.Tasks = append(list.Tasks, taskOf(t, agentTask))
		}
	}
	w.tell(list)
}

// snapshot lists the sub-agents that were started in the background.
func (w *work) snapshot() []bash.Task {
	w.mu.Lock()
	defer w.mu.Unlock()
	out := make([]bash.Task, len(w.agents))
	for i, b := range w.agents {
		out[i] = b.Task
	}
	return out
}

// heard writes down what a sub-agent in the background does, and tells front ends how far it is.
func (w *work) heard(child *run, env event.Envelope) {
	a := child.agent
	if !a.background {
		return
	}
	switch e := env.Event.(type) {
	case event.Message:
		if e.Msg.Kind == msg.KindAssistant && e.Msg.Text() != "" {
			_, _ = fmt.Fprintf(a.out, "%s\n", e.Msg.Text())
		}
	case event.ToolStarted:
		_, _ = fmt.Fprintf(a.out, "[%s: %s]\n", e.Name, event.InertLine(e.Summary))
	case event.ToolDone:
		w.mu.Lock()
		task := bash.Task{}
		for _, b := range w.agents {
			if b.ID == a.id {
				task = b.Task
			}
		}
		w.mu.Unlock()
		w.tell(event.TaskProgress{
			Task: taskOf(task, agentTask), CallID: a.call, AgentType: a.def.Name, LastTool: e.Name,
			Usage: a.used(w.r.place.sys.Now().Sub(task.Started)),
		})
	}
}

func (a *agentPart) used(took time.Duration) event.TaskUsage {
	return event.TaskUsage{Tokens: a.size, ToolUses: a.uses, Dur: took}
}

// reportText is what a sub-agent in the background leaves behind.
func reportText(o agentOutcome) string {
	parts := []string{}
	for _, c := range o.completed.Content {
		parts = append(parts, c.Text)
	}
	text := strings.TrimSpace(strings.Join(parts, "\n"))
	if o.note != "" {
		text = strings.TrimSpace(o.note + "\n" + text)
	}
	return text
}

// news is what the model has not been told of yet. wake leaves out what somebody stopped: that asks for no turn of its
// own. take marks it as told.
func (w *work) news(wake, take bool) []attach.Item {
	var out []attach.Item
	w.mu.Lock()
	defer w.mu.Unlock()
	add := func(id, text string, asked bool) {
		key := id + " ended"
		if w.told[key] || wake && asked {
			return
		}
		w.told[key] = w.told[key] || take
		out = append(out, attach.Item{Key: key, Text: text})
	}
	for _, t := range w.r.tools.tasks.Snapshot() {
		if t.State != bash.Running && t.Owner == "" && !t.Known {
			add(t.ID, commandNews(t), t.Asked)
		}
	}
	for _, b := range w.agents {
		if b.State != bash.Running && !b.Known {
			add(b.ID, agentNews(b), b.asked)
		}
	}
	return out
}

func commandNews(t bash.Task) string {
	text := fmt.Sprintf("Background command %s ended (%s, exit code %d): %s", t.ID, t.State, t.ExitCode, oneLine(t.Command, 200))
	if t.OutputFile != "" {
		text += "\nOutput: " + t.OutputFile
	}
	return text
}

func agentNews(b *backAgent) string {
	report := ""
	for _, c := range b.outcome.completed.Content {
		report += c.Text
	}
	note := b.outcome.note
	if len(report) > reportLimit {
		report = strings.ToValidUTF8(report[:reportLimit], "")
		note = strings.TrimSpace(note + " It is cut here; all of it is in the file.")
	}
	return fmt.Sprintf("Background sub-agent %s (%s) ended: %s. File: %s\n%s", b.ID, b.Description, b.State, b.OutputFile,
		toolagent.Framed(b.run.agent.def.Name, report, note))
}

// Next implements engine.Background: what has ended while nothing ran is told in a turn of its own.
func (w *work) Next() (event.Prompt, bool) {
	if len(w.news(true, false)) == 0 {
		return event.Prompt{}, false
	}
	var parts []string
	for _, i := range w.news(false, true) {
		parts = append(parts, i.Text)
	}
	text := "<task-notification>\nThis is told by the program, not by the user.\n" + strings.Join(parts, "\n\n") + "\n</task-notification>"
	return event.Prompt{Text: text, Literal: true, Origin: "task-notification"}, true
}

// Busy implements engine.Background.
func (w *work) Busy() bool {
	for _, t := range w.snapshot() {
		if t.State == bash.Running {
			return true
		}
	}
	return false
}

// Linger implements engine.Background.
func (w *work) Linger(closed time.Duration) time.Duration {
	if w.Busy() {
		return time.Hour
	}
	w.mu.Lock()
	quit := w.quit
	w.mu.Unlock()
	for _, t := range w.r.tools.tasks.Snapshot() {
		if t.State == bash.Running && !quit {
			return max(0, commandLinger-closed)
		}
	}
	return 0
}

// Stop implements engine.Background. Commands end with the session.
func (w *work) Stop() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.quit = true
	for _, b := range w.agents {
		b.asked = b.asked || b.State == bash.Running
		b.cancel()
	}
}

// close stops the sub-agents and waits for them.
func (w *work) close() {
	w.stop()
	w.wg.Wait()
}

// find returns a sub-agent by its task's id.
func (w *work) find(id string) *backAgent {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, b := range w.agents {
		if b.ID == id {
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
	return bash.TaskStopResult{Message: "Stopped task " + id + ".", TaskID: id, TaskType: agentTask}, nil
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
	res := bash.TaskResult{ID: b.ID, Type: agentTask, Status: b.State, Description: b.Description}
	if b.State == bash.Running {
		res.Output = "It works still. What it does is written to " + b.OutputFile + "."
		return res, nil
	}
	b.Known = true
	text := reportText(b.outcome)
	if len(text) > reportLimit {
		text = strings.ToValidUTF8(text[:reportLimit], "") + "\n[cut here; all of it is in " + b.OutputFile + "]"
	}
	res.Output = toolagent.Framed(b.run.agent.def.Name, text, "")
	return res, nil
}

// stopTask stops a task of either kind for a host. One that has ended, or never was, is stopped already.
func (r *run) stopTask(id string) {
	if r.work.Has(id) {
		_, _ = r.work.StopTask(id)
		return
	}
	_, _ = r.tools.tasks.Stop(id, true)
}
