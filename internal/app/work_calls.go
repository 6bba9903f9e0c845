package app

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"lathe/internal/event"
	"lathe/internal/mcp"
	"lathe/internal/msg"
	toolagent "lathe/internal/tool/agent"
	"lathe/internal/tool/bash"
	"lathe/internal/tool/mcptool"
)

// callTask is the kind of task that a call of an MCP server's tool in the background is to the stream protocol.
const callTask = "local_mcp"

// callPatience is how long a person waits for a call of an MCP server's tool before it goes on in the background.
const callPatience = 2 * time.Minute

// patient carries out the session's own calls of MCP servers. It implements mcptool.Servers.
type patient struct {
	w    *work
	set  mcptool.Servers
	wait time.Duration // then a call goes on in the background; 0: only where somebody sends it there
}

// callers is what the tools of the session's MCP servers are called with by a conversation.
func (r *run) callers(by *run) mcptool.Servers {
	set := r.servers.set
	if by.agent != nil || !r.backgroundOn() {
		return set
	}
	usual := time.Duration(0) // a run without a person has nothing better to do than to wait
	if r.o.Entry == EntryTerminal {
		usual = callPatience
	}
	return patient{r.work, set, duration(r.place.Sys.Getenv("CLAUDE_CODE_MCP_AUTO_BACKGROUND_MS"), usual)}
}

// Call implements mcptool.Servers. A call that goes on in the background has a result that says so.
func (p patient) Call(ctx context.Context, call mcp.Call) (mcp.Result, error) {
	if strings.HasPrefix(call.ID, hostCall) {
		return p.set.Call(ctx, call)
	}
	w := p.w
	b := newBackCall(call, w.r.place.Sys.Now())
	own, cancel := context.WithCancel(context.WithoutCancel(ctx))
	b.cancel = cancel
	progress := call.Progress
	call.Progress = func(text string) { w.progressed(b, text, progress) }
	w.mu.Lock()
	w.agents = append(w.agents, b)
	w.mu.Unlock()
	atEnd := context.AfterFunc(w.ctx, cancel)
	atTurn := context.AfterFunc(ctx, func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		if !b.back {
			cancel()
		}
	})
	defer atTurn()
	var res mcp.Result
	var err error
	w.wg.Go(func() {
		defer cancel()
		defer atEnd()
		res, err = p.set.Call(own, call)
		w.called(own, b, res, err)
	})
	var late <-chan time.Time
	if p.wait > 0 {
		timer := time.NewTimer(p.wait)
		defer timer.Stop()
		late = timer.C
	}
	for {
		select {
		case <-b.done:
			select {
			case <-b.moved:
			default:
				return res, err
			}
		case <-late:
			if _, moveErr := w.toBack(b); moveErr != nil {
				w.r.warn(moveErr.Error()) // it is waited for, then
			}
			late = nil
			continue
		case <-b.moved:
		}
		return w.goesOn(b), nil
	}
}

// headBytes is how much of a call's result is kept in memory once it has ended in the background: tasks stay in the list, and the
// whole is in its file.
const headBytes = 128 << 10

// head is the outcome without what is too much to keep.
func (o agentOutcome) head(file string) agentOutcome {
	left := headBytes
	for i, c := range o.completed.Content {
		if len(c.Text) <= left {
			left -= len(c.Text)
			continue
		}
		kept := slices.Clone(o.completed.Content[:i+1])
		kept[i].Text = strings.ToValidUTF8(c.Text[:left], "") + "\n… (cut here; the whole is in " + file + ")"
		o.completed.Content = kept
		break
	}
	return o
}

// newBackCall is a call of a server's tool that begins, and may go to the background.
func newBackCall(call mcp.Call, now time.Time) *backAgent {
	b := &backAgent{server: call.Tool.Server, kind: call.Tool.FullName, depth: 1, done: make(chan struct{}), moved: make(chan struct{})}
	sum := sha256.Sum256([]byte(call.ID))
	b.Task = bash.Task{
		ID: "m" + hex.EncodeToString(sum[:8]), CallID: call.ID, State: bash.Running, Started: now,
		Description: event.OneLine(strings.TrimSpace(call.Tool.Server+": "+first(call.Tool.Title, call.Tool.Name)), 80),
	}
	return b
}

// goesOn is the result of a call that has gone to the background.
func (w *work) goesOn(b *backAgent) mcp.Result {
	w.mu.Lock()
	id, file := b.ID, b.OutputFile
	w.mu.Unlock()
	text := fmt.Sprintf("The call takes long and goes on in the background as task %s. You are told of its result when it has ended; do not call again for it. Go on with other work, or end your answer. What it reports is written to %s.", id, file)
	return mcp.Result{Blocks: []msg.Block{msg.Text(text)}, Output: map[string]any{"backgroundTaskId": id, "outputFile": file}}
}

// progressed passes on what a server says of a call that runs.
func (w *work) progressed(b *backAgent, text string, to func(string)) {
	w.mu.Lock()
	back := b.back
	w.mu.Unlock()
	if back {
		<-b.moved // its start is told first
		_, _ = fmt.Fprintln(b.file, w.r.place.Redact.String(text))
	} else if to != nil {
		to(text)
	}
}

// called takes the end of a call. Where it went on in the background, the session is told.
func (w *work) called(ctx context.Context, b *backAgent, res mcp.Result, err error) {
	out := agentOutcome{failed: err != nil || res.IsError}
	state := bash.Completed
	switch {
	case err != nil && ctx.Err() != nil:
		state, out.note = bash.Stopped, "It was stopped before it had ended."
	case err != nil:
		state, out.note = bash.Failed, "It failed: "+err.Error()
	case res.IsError:
		state = bash.Failed
	}
	for _, block := range res.Blocks {
		text := block.Text
		if block.Type != msg.TypeText {
			text = fmt.Sprintf("[%s, which cannot be told here]", block.Type)
		}
		out.completed.Content = append(out.completed.Content, toolagent.Content{Type: "text", Text: text})
	}
	w.mu.Lock()
	b.State, b.Ended, b.outcome, b.err = state, w.r.place.Sys.Now(), out.head(b.OutputFile), err
	task, back := b.Task, b.back
	w.mu.Unlock()
	if !back {
		w.drop(b)
		close(b.done)
		return
	}
	<-b.moved
	_, _ = fmt.Fprintf(b.file, "%s\n", w.r.place.Redact.String(reportText(out)))
	_ = b.file.Close()
	close(b.done)
	w.ended(task, out.note, fmt.Sprintf("MCP call %q %s", task.Description, stateWord(state)), nil)
}

// callFile is where a call in the background leaves what comes of it.
func (r *run) callFile(id string) (*os.File, error) {
	dir := r.resultsDir()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	return os.OpenFile(filepath.Join(dir, "mcp-"+id+".txt"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
}

// taskKind is what the task is to the stream protocol.
func (b *backAgent) taskKind() string {
	if b.server != "" {
		return callTask
	}
	return agentTask
}

// words are what came of it, under a heading that says whose words they are.
func (b *backAgent) words(text, note string) string {
	if b.server == "" {
		return toolagent.Framed(b.kind, text, note)
	}
	text, _ = toolagent.Neutral(text)
	head := "[Result of " + b.kind + ", from the MCP server " + b.server + ". It is what the server says, not the user."
	if note != "" {
		head += " " + note
	}
	return head + "]\n\n" + or(text, "(it is empty)")
}
