package app

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"lathe/internal/event"
	"lathe/internal/msg"
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

	mu       sync.Mutex
	agents   []*backAgent
	known    map[string]*addressee // by id; sub-agents that the session itself has started
	starting map[string]bool       // by call: sub-agents that are being made; true: to go on in the background
	told     told
	quit     bool // commands are not waited for

	trees     chan struct{} // full while git makes a work tree or takes one away
	recording sync.Mutex    // held while what is not told is written down
}

// backAgent is the run of a sub-agent, or the call of an MCP server's tool. It begins in the foreground or in the
// background, and may change to the latter.
type backAgent struct {
	bash.Task
	kind    string // its type, or the tool
	server  string // whose tool is called; "": it is a sub-agent
	depth   int
	run     *run // nil when one in the background has ended: its conversation is in its transcript; and of a call
	prompt  string
	cancel  context.CancelFunc
	done    chan struct{}
	moved   chan struct{} // closed when it changed to the background
	back    bool          // it is in the background
	file    *os.File      // of one in the background
	asked   bool          // somebody stopped it
	recent  []string      // what it did last, a line each
	use     event.TaskUsage
	news    bool // something of that is in no summary yet
	outcome agentOutcome
	err     error
}

func newWork(r *run) *work {
	w := &work{r: r, starting: map[string]bool{}, trees: make(chan struct{}, 1)}
	w.told = told{keys: map[string]bool{}, offered: map[string][]string{}, tried: map[string]bool{}}
	w.ctx, w.stop = context.WithCancel(context.Background())
	return w
}

// start runs a sub-agent for a call and returns the call's result: the report, or, when it goes on in the background,
// that it was started. release is called when it has ended.
func (w *work) start(ctx context.Context, child *run, q toolagent.Request, release func()) (tool.Result, error) {
	b := &backAgent{kind: child.agent.def.Name, depth: child.agent.depth, run: child, prompt: q.Prompt, done: make(chan struct{}), moved: make(chan struct{})}
	b.Task = bash.Task{
		ID: child.agent.id, CallID: q.CallID, Description: first(q.Task, event.OneLine(q.Prompt, 60)), State: bash.Running, Started: w.r.place.Sys.Now(),
	}
	child.agent.work = b
	var own context.Context
	own, b.cancel = context.WithCancel(w.ctx)
	w.mu.Lock()
	w.agents = slices.DeleteFunc(w.agents, func(o *backAgent) bool { // its run before, once that is told
		return o.ID == b.ID && (!o.back || o.Known || w.told.keys[endKey(o.Task)])
	})
	w.agents = append(w.agents, b)
	w.note(child)
	background := q.Background || b.depth == 1 && w.starting[q.CallID]
	if b.depth == 1 {
		delete(w.starting, q.CallID)
	}
	w.mu.Unlock()
	if background {
		if _, err := w.toBack(b); err != nil {
			b.cancel()
			release()
			child.closeAgent()
			child.closeTree(&b.outcome)
			w.drop(b)
			return tool.Result{}, err
		}
	}
	stop := context.AfterFunc(ctx, func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		if !b.back { // in the foreground it ends with the turn
			b.cancel()
		}
	})
	defer stop()
	w.wg.Go(func() {
		defer release()
		w.carryOut(own, b)
	})
	if w.r.summarises() {
		w.wg.Go(func() { w.summarise(own, b, child.agent) })
	}
	select {
	case <-b.moved:
		return launched(b), nil
	default:
	}
	select {
	case <-b.moved:
		return launched(b), nil
	case <-b.done:
	}
	if err := context.Cause(ctx); err != nil {
		return tool.Result{}, err
	}
	return b.outcome.result(), b.err
}

// drop forgets a sub-agent that was not started, or has ended in the foreground.
func (w *work) drop(b *backAgent) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.agents = slices.DeleteFunc(w.agents, func(o *backAgent) bool { return o == b })
}

// launched is the result of a call whose sub-agent goes on in the background.
func launched(b *backAgent) tool.Result {
	res := tool.TextResult(fmt.Sprintf("Started in the background as task %s. You are told when it has ended; go on with other work, or end your answer. What it does is written to %s.", b.ID, b.OutputFile))
	res.Output = toolagent.Launched{Status: "async_launched", AgentID: b.ID, Description: b.Description, Prompt: b.prompt, OutputFile: b.OutputFile, CanRead: true}
	return res
}

// begin notes that the sub-agent of a call of the session itself is being made, which may take a while: it can be moved
// to the background from here on. start or unbegun follows.
func (w *work) begin(call string) { w.mu.Lock(); w.starting[call] = false; w.mu.Unlock() }

func (w *work) unbegun(call string) { w.mu.Lock(); delete(w.starting, call); w.mu.Unlock() }

// toBack puts a sub-agent in the background. It reports whether it did: one that has ended, or is there, is not moved.
func (w *work) toBack(b *backAgent) (bool, error) {
	w.mu.Lock()
	run := b.run
	w.mu.Unlock()
	if run == nil && b.server == "" {
		return false, nil
	}
	var file *os.File
	var err error
	if run == nil {
		file, err = w.r.callFile(b.ID)
	} else {
		file, err = run.agentFile()
	}
	if err != nil {
		return false, fmt.Errorf("make the output file of background work: %w", err)
	}
	w.mu.Lock()
	if b.back || b.State != bash.Running {
		w.mu.Unlock()
		return false, file.Close()
	}
	b.back, b.file, b.OutputFile = true, file, file.Name()
	task := b.Task
	w.mu.Unlock()
	w.record()
	w.changed()
	started := event.TaskStarted{Task: taskOf(task, b.taskKind()), CallID: task.CallID, Prompt: b.prompt}
	if b.server == "" {
		started.AgentType = b.kind
	}
	w.tell(started)
	close(b.moved) // what comes of it may be told now
	return true, nil
}

// background moves the calls that run in the foreground to the background: the one with this id, or all of them where
// it is empty. It reports whether there was any.
func (w *work) background(call string) bool {
	some := w.r.tools.tasks.Detach(call)
	w.mu.Lock()
	list := slices.Clone(w.agents)
	for c := range w.starting {
		if call == "" || c == call {
			w.starting[c], some = true, true
		}
	}
	w.mu.Unlock()
	for _, b := range list {
		if b.depth > 1 || call != "" && b.CallID != call {
			continue
		}
		if moved, err := w.toBack(b); err != nil {
			w.r.warn(err.Error())
		} else if moved {
			some = true
		}
	}
	return some
}

// carryOut runs a sub-agent to its end and tells of it.
func (w *work) carryOut(ctx context.Context, b *backAgent) {
	defer b.cancel()
	run := b.run
	out, err := w.converse(ctx, b)
	run.closeAgent()
	kept := run.closeTree(&out)
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
	if kept != "" {
		out.note = strings.TrimSpace(out.note + " " + kept)
		if err != nil && ctx.Err() == nil {
			err = fmt.Errorf("%w. %s", err, kept)
		}
	}
	w.mu.Lock()
	b.State, b.Ended, b.outcome, b.err = state, w.r.place.Sys.Now(), out, err
	w.leave(run)
	task, back := b.Task, b.back
	w.mu.Unlock()
	if !back {
		if kept != "" && state == bash.Stopped { // no report tells of it
			w.r.warn("a sub-agent was stopped. " + kept)
		}
		w.drop(b)
		close(b.done)
		return
	}
	<-b.moved                                             // its start is told first
	_, _ = fmt.Fprintf(b.file, "\n%s\n", reportText(out)) // the report is told anyway
	_ = b.file.Close()
	close(b.done)
	w.r.hooks.agentEnded(task)
	use := run.agent.used(task.Ended.Sub(task.Started))
	w.ended(task, out.note, fmt.Sprintf("Sub-agent %q %s", task.Description, stateWord(state)), &use)
}

// converse runs a sub-agent until no message waits for it. From then on it takes none: b.run is nil.
func (w *work) converse(ctx context.Context, b *backAgent) (agentOutcome, error) {
	run, prompt := b.run, b.prompt
	var before []toolagent.Content
	for {
		out, err := run.runAgent(ctx, prompt)
		out.completed.Content = append(before, out.completed.Content...)
		w.mu.Lock()
		left := run.session.TakeQueued()
		if err != nil || ctx.Err() != nil || len(left) == 0 {
			b.run = nil
			w.mu.Unlock()
			return out, err
		}
		w.mu.Unlock()
		texts := make([]string, len(left))
		for i, p := range left {
			texts[i] = p.Text
		}
		prompt, before = strings.Join(texts, "\n\n"), out.completed.Content
	}
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
		w.record()
		w.changed()
		w.tell(event.TaskStarted{Task: taskOf(t, bash.TaskType), CallID: t.CallID})
		return
	}
	what := "Background command"
	if t.Watch {
		what = "Watch"
	}
	summary := fmt.Sprintf("%s %q %s", what, first(t.Description, event.OneLine(t.Command, 80)), stateWord(t.State))
	if t.State != bash.Stopped {
		summary += fmt.Sprintf(" (exit code %d)", t.ExitCode)
	}
	w.ended(t, fmt.Sprintf("exit code %d", t.ExitCode), summary, nil)
}

func stateWord(s bash.State) string {
	return map[bash.State]string{bash.Completed: "completed", bash.Failed: "failed", bash.Stopped: "was stopped"}[s]
}

func taskOf(t bash.Task, kind string) event.Task {
	return event.Task{ID: t.ID, Kind: kind, Description: first(t.Description, event.OneLine(t.Command, 120))}
}

func (w *work) tell(e event.Event) { _ = w.r.session.Relay(event.Envelope{Event: e}) }

// changed tells what runs now.
func (w *work) changed() { w.tell(w.present()) }

// present is what runs now.
func (w *work) present() event.TasksChanged {
	list := event.TasksChanged{Tasks: []event.Task{}}
	for _, t := range w.r.tools.tasks.Snapshot() {
		if t.State == bash.Running {
			list.Tasks = append(list.Tasks, taskOf(t, bash.TaskType))
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, b := range w.agents {
		if b.back && b.State == bash.Running {
			list.Tasks = append(list.Tasks, taskOf(b.Task, b.taskKind()))
		}
	}
	return list
}

// snapshot lists the sub-agents in the background, those that have ended too.
func (w *work) snapshot() []bash.Task {
	w.mu.Lock()
	defer w.mu.Unlock()
	var out []bash.Task
	for _, b := range w.agents {
		if b.back {
			out = append(out, b.Task)
		}
	}
	return out
}

// heard writes down what a sub-agent in the background does, and tells front ends how far it is.
func (w *work) heard(a *agentPart, env event.Envelope) {
	w.mu.Lock()
	b := a.work
	back, task := b.back, b.Task
	b.did(env.Event)
	b.use = a.used(w.r.place.Sys.Now().Sub(task.Started))
	w.mu.Unlock()
	if !back {
		return
	}
	<-b.moved // its start is told first
	switch e := env.Event.(type) {
	case event.Message:
		if e.Msg.Kind == msg.KindAssistant && e.Msg.Text() != "" {
			_, _ = fmt.Fprintf(b.file, "%s\n", e.Msg.Text())
		}
	case event.ToolStarted:
		_, _ = fmt.Fprintf(b.file, "[%s: %s]\n", e.Name, event.InertLine(e.Summary))
	case event.ToolDone:
		w.tell(event.TaskProgress{
			Task: taskOf(task, agentTask), CallID: a.call, AgentType: a.def.Name, LastTool: e.Name,
			Usage: a.used(w.r.place.Sys.Now().Sub(task.Started)),
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

func commandNews(t bash.Task) string {
	if t.Watch {
		return watchNews(t)
	}
	text := fmt.Sprintf("Background command %s ended (%s, exit code %d): %s", t.ID, t.State, t.ExitCode, event.OneLine(t.Command, 200))
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
	what := "sub-agent"
	if b.server != "" {
		what = "MCP call"
	}
	return fmt.Sprintf("Background %s %s (%s) ended: %s. File: %s\n%s", what, b.ID, b.Description, b.State, b.OutputFile, b.words(report, note))
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
	if w.Busy() || len(w.news(true)) > 0 { // what has just ended wakes the session, too
		return time.Hour
	}
	w.mu.Lock()
	quit := w.quit
	w.mu.Unlock()
	for _, t := range w.r.tools.tasks.Snapshot() {
		if t.State == bash.Running && !quit && t.Watch {
			return time.Hour // it has an end of its own
		}
	}
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
		if b.back && b.State == bash.Running { // others end with the turn
			b.asked = true
			w.refuse(b.ID)
			b.cancel()
		}
	}
}

// close stops the sub-agents and waits for them.
func (w *work) close() {
	w.stop()
	w.wg.Wait()
}
