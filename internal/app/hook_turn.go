package app

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"lathe/internal/event"
	"lathe/internal/hook"
	"lathe/internal/memory"
	"lathe/internal/msg"
	"lathe/internal/perm"
	"lathe/internal/pipeline/attach"
	"lathe/internal/pipeline/tools"
	"lathe/internal/tool"
	"lathe/internal/tool/bash"
	"lathe/internal/turn"
)

// fire runs the hooks of a moment inside a turn, shows what they say, and makes messages of what is to be kept.
func (h *hooks) fire(ctx context.Context, t *turn.Turn, p hook.Payload) (hook.Outcome, turn.Hooked) {
	if !h.has(p.Event, p.Match) {
		return hook.Outcome{}, turn.Hooked{}
	}
	p.Prompt = t.Input.ID
	h.mark(&p)
	p.Started = func(r hook.Run) { _ = t.Emit(event.HookStarted{ID: r.ID, Name: r.Name, Event: string(r.Event)}) }
	p.Done = func(r hook.Run) {
		_ = t.Emit(event.HookDone{
			ID: r.ID, Name: r.Name, Event: string(r.Event), Stdout: r.Stdout, Stderr: r.Stderr,
			Code: r.Code, Outcome: r.Outcome, Dur: r.Dur,
		})
	}
	o := h.bus.Fire(ctx, p)
	for _, s := range o.Problems {
		_ = t.Emit(event.Notice{Level: "warning", Text: s})
	}
	for _, s := range o.System {
		_ = t.Emit(event.Notice{Level: "info", Text: s})
	}
	out := turn.Hooked{Deferred: o.Deferred, Decision: o.Decision, Input: o.Input, Output: o.Output}
	for _, r := range o.Ran {
		if m, ok := h.record(r); ok {
			out.Messages = append(out.Messages, m)
		}
	}
	for _, c := range o.Context {
		out.Messages = append(out.Messages, h.context(p.Event, c))
	}
	if o.Stop {
		out.Stop = turn.StoppedByHook(o.Reason)
		_ = t.Emit(event.Notice{Level: "info", Text: strings.TrimSuffix("a "+string(p.Event)+" hook ended the turn: "+o.Reason, ": ")})
	}
	if o.Title != "" {
		if err := h.r.rename(o.Title); err != nil {
			h.r.warn("keep the session's title: " + err.Error())
		}
	}
	return o, out
}

// record keeps what a hook said in the transcript; the model does not see it.
func (h *hooks) record(r hook.Run) (msg.Message, bool) {
	if r.Outcome == hook.Success && r.Blocked == "" && r.Stdout == "" && r.Stderr == "" {
		return msg.Message{}, false
	}
	level, text := "info", fmt.Sprintf("%s hook (%s)", r.Name, r.Title)
	if r.Problem != "" {
		level, text = "warning", text+": "+r.Problem
	}
	if r.Blocked != "" {
		text += ": blocked: " + r.Blocked
	}
	extra := event.Encode(map[string]any{"hook": map[string]any{
		"event": r.Event, "type": r.Kind, "title": r.Title, "configured": r.Where, "exit_code": r.Code, "stdout": r.Stdout,
		"stderr": r.Stderr, "outcome": r.Outcome, "duration_ms": r.Dur.Milliseconds(),
	}})
	return msg.Message{Kind: msg.KindSystem, Subtype: msg.SubInformational, Level: level, Extra: extra, Blocks: []msg.Block{msg.Text(text)}}, true
}

// context is what a hook tells the model.
func (h *hooks) context(e hook.Event, text string) msg.Message {
	return msg.Message{
		Kind: msg.KindAttachment, Source: "hook", Key: h.r.place.Sys.NewID(), Meta: true,
		Blocks: []msg.Block{msg.Context(string(e)+" hook", text)},
	}
}

// begin runs the hooks of the session's start, once.
func (h *hooks) begin(ctx context.Context, t *turn.Turn) ([]msg.Message, error) {
	if h.begun {
		return nil, nil
	}
	h.begun = true
	before := h.setUp(ctx, t)
	source := "startup"
	switch {
	case h.r.left.trigger != "":
		source = h.r.left.trigger
	case h.r.o.Fork:
		source = "fork"
	case h.r.conv.Resumed:
		source = "resume"
	}
	if h.bus.Has(hook.SessionStart, source) {
		h.r.prepareEnvFile()
	}
	fields := map[string]any{"source": source, "model": t.Model}
	if h.r.o.Name != "" {
		fields["session_title"] = h.r.o.Name
	}
	o, out := h.fire(ctx, t, hook.Payload{Event: hook.SessionStart, Match: source, Fields: fields})
	h.watchFiles(o.Watch)
	if o.First != "" && h.r.o.Print {
		out.Messages = append(out.Messages, msg.Message{Kind: msg.KindUser, Blocks: []msg.Block{msg.Text(o.First)}})
	}
	return append(before, out.Messages...), nil
}

// submit runs the hooks of a prompt.
func (h *hooks) submit(ctx context.Context, t *turn.Turn) turn.Hooked {
	_, out := h.fire(ctx, t, hook.Payload{Event: hook.UserPromptSubmit, Fields: map[string]any{"prompt": t.Input.Text}})
	if out.Blocked() {
		_ = t.Emit(event.Notice{Level: "warning", Ends: true, Text: "the prompt was blocked by a UserPromptSubmit hook: " + out.Decision.Reason})
	}
	return out
}

// joining are the prompts that wait and may enter the running turn: those up to the first one that needs a turn of its
// own. Where hooks see every prompt that is each, since what a hook takes its time for may not hold up the context of a step.
func (r *run) joining() []event.Prompt {
	q := r.session.Queued()
	if len(q) == 0 || r.hooks != nil && r.hooks.bus.Has(hook.UserPromptSubmit, "") {
		return nil
	}
	for i, p := range q {
		if !r.input.Joins(p) {
			return q[:i]
		}
	}
	return q
}

// blocks is what a prompt that joins a turn says to the model.
func (r *run) blocks(p event.Prompt) ([]msg.Block, error) { return r.input.Blocks(p) }

// join takes a prompt that enters the running turn out of the queue. What is changed from then on belongs to it.
func (r *run) join(id string) bool {
	for _, p := range r.session.Queued() {
		if p.ID == id && r.session.Unqueue(id) {
			r.mark(p)
			return true
		}
	}
	return false
}

// stopping runs the hooks of an answer that would end the turn.
func (h *hooks) stopping(ctx context.Context, t *turn.Turn, again bool) turn.Hooked {
	ctx, cancel := untilInterrupted(ctx, t)
	defer cancel()
	o, out := h.fire(ctx, t, hook.Payload{Event: hook.Stop, Fields: map[string]any{
		"stop_hook_active": again, "last_assistant_message": t.Reply.Message.Text(),
		"background_tasks": h.running(), "session_crons": []any{},
	}})
	return feedback(o, out)
}

// untilInterrupted ends a context of the last stages with an interrupt: they outlive it, hooks do not.
func untilInterrupted(ctx context.Context, t *turn.Turn) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	go func() {
		select {
		case <-t.Interrupted():
			cancel()
		case <-ctx.Done():
		}
	}()
	return ctx, cancel
}

// feedback makes what the hooks of an end told the model a reason to go on.
func feedback(o hook.Outcome, out turn.Hooked) turn.Hooked {
	if out.Decision == nil && len(o.Context) > 0 { // feedback that is no block makes the turn go on too
		out.Messages = out.Messages[:len(out.Messages)-len(o.Context)]
		out.Decision = &perm.Decision{Verdict: perm.Deny, Reason: strings.Join(o.Context, "\n"), Source: perm.Source{Kind: "hook"}}
	}
	return out
}

func (h *hooks) running() []map[string]any {
	out := []map[string]any{}
	for _, k := range h.r.work.snapshot() {
		if k.State == bash.Running {
			out = append(out, map[string]any{"id": k.ID, "type": "subagent", "status": "running", "description": k.Description})
		}
	}
	for _, k := range h.r.tools.tasks.Snapshot() {
		if k.State == bash.Running {
			out = append(out, map[string]any{"id": k.ID, "type": "shell", "status": "running", "description": k.Description, "command": k.Command})
		}
	}
	return out
}

// failed tells hooks of a turn that an API failure ended.
func (h *hooks) failed(ctx context.Context, t *turn.Turn) turn.Hooked {
	kind := "unknown"
	for i := len(t.Messages) - 1; i >= 0; i-- {
		if k := t.Messages[i].APIError; k != "" {
			kind = k
			break
		}
	}
	fields := map[string]any{"error": kind, "error_details": t.Stop.Error()}
	if t.Reply != nil {
		fields["last_assistant_message"] = t.Reply.Message.Text()
	}
	_, out := h.fire(ctx, t, hook.Payload{Event: hook.StopFailure, Match: kind, Fields: fields})
	return out
}

// asking tells hooks that a question waits for the person.
func (h *hooks) asking(a event.Ask) {
	h.notify("permission_prompt", "Permission needed", "Lathe needs your permission to use "+a.Tool)
	if p := h.r.agent; p != nil && h.r.work.Has(p.id) {
		h.notify("agent_needs_input", "A sub-agent waits", "A sub-agent in the background needs your permission to use "+a.Tool)
	}
}

// loaded tells hooks of an instruction file.
func (h *hooks) loaded(f memory.File, reason string) {
	h.observe(hook.Payload{Event: hook.InstructionsLoaded, Match: reason, Fields: map[string]any{
		"file_path": f.Path, "memory_type": strings.ToUpper(f.Scope[:1]) + f.Scope[1:], "load_reason": reason,
	}})
}

// late attaches what hooks in the background have said.
func (h *hooks) late() attach.Source {
	return attach.Late(h.bus.Waiting, func(t *turn.Turn) []attach.Item {
		var out []attach.Item
		for _, l := range h.bus.TakeLate() {
			for _, s := range l.System {
				_ = t.Emit(event.Notice{Level: "info", Text: s})
			}
			for _, c := range l.Context {
				out = append(out, attach.Item{Key: h.r.place.Sys.NewID(), Text: c})
			}
		}
		return out
	})
}

var _ tools.Hooks = (*hooks)(nil)

// Guards implements tools.Hooks.
func (h *hooks) Guards(name string) bool { return h.has(hook.PreToolUse, name) }

func (h *hooks) call(e hook.Event, c tools.HookCall, more map[string]any) hook.Payload {
	more["tool_name"], more["tool_input"] = c.Tool, h.absolute(c.Input)
	if server := h.r.serverOf(c.Tool); server != nil {
		more["mcp_server"] = map[string]string{"name": server.Name, "source": server.Source}
	}
	return hook.Payload{Event: e, Match: c.Tool, Model: true, Fields: more, Call: &perm.Request{Tool: c.Tool, Input: c.Input, ReadOnly: c.ReadOnly}}
}

// absolute makes the paths of a file tool's input absolute.
func (h *hooks) absolute(input json.RawMessage) any {
	var fields map[string]any
	if json.Unmarshal(input, &fields) != nil {
		return input
	}
	changed := false
	for _, k := range []string{"file_path", "notebook_path", "path"} {
		if p, ok := fields[k].(string); ok && p != "" && !filepath.IsAbs(p) {
			fields[k], changed = h.r.tools.workspace.Abs(p), true
		}
	}
	if !changed {
		return input
	}
	return fields
}

// Before implements tools.Hooks.
func (h *hooks) Before(ctx context.Context, t *turn.Turn, c tools.HookCall) turn.Hooked {
	o, out := h.fire(ctx, t, h.call(hook.PreToolUse, c, map[string]any{"tool_use_id": c.ID}))
	if o.Held {
		return out
	}
	return worded(out, hook.PreToolUse)
}

// worded says in a decision's reason that a hook decided.
func worded(out turn.Hooked, e hook.Event) turn.Hooked {
	if out.Decision == nil {
		return out
	}
	words := map[perm.Verdict]string{perm.Allow: "allowed by", perm.Ask: "must be asked for, says", perm.Deny: "denied by"}
	out.Decision.Reason = words[out.Decision.Verdict] + " a " + string(e) + " hook: " + out.Decision.Reason
	return out
}

// Refused tells of a call that the classifier of mode auto refused.
func (h *hooks) Refused(ctx context.Context, t *turn.Turn, c tools.HookCall, d perm.Decision) turn.Hooked {
	_, out := h.fire(ctx, t, h.call(hook.PermissionDenied, c, map[string]any{"reason": d.Reason}))
	return out
}

// Answers implements tools.Hooks.
func (h *hooks) Answers(name string) bool { return h.has(hook.PermissionRequest, name) }

// Asked implements tools.Hooks.
func (h *hooks) Asked(ctx context.Context, t *turn.Turn, c tools.HookCall, d perm.Decision) turn.Hooked {
	updates, _ := h.r.offer(perm.Request{Tool: c.Tool, Input: c.Input, ReadOnly: c.ReadOnly}, d)
	o, out := h.fire(ctx, t, h.call(hook.PermissionRequest, c, map[string]any{"permission_suggestions": updates}))
	out.Updates = o.Updates
	if o.Abort {
		out.Stop = &turn.Stop{Subtype: event.ErrDuring, Terminal: "aborted_tools", Errors: []string{o.Decision.Reason}}
	}
	return worded(out, hook.PermissionRequest)
}

// After implements tools.Hooks.
func (h *hooks) After(ctx context.Context, t *turn.Turn, c tools.HookCall, res tool.Result, took time.Duration) turn.Hooked {
	e, more := hook.PostToolUse, map[string]any{"tool_use_id": c.ID, "duration_ms": took.Milliseconds()}
	if res.IsError {
		e = hook.PostToolUseFailure
		more["error"] = msg.JoinText(res.Blocks)
	} else if more["tool_response"] = res.Output; res.Output == nil {
		more["tool_response"] = msg.JoinText(res.Blocks)
	}
	_, out := h.fire(ctx, t, h.call(e, c, more))
	if out.Blocked() {
		out.Messages = append(out.Messages, h.context(e, out.Decision.Reason))
	}
	out.Messages = append(out.Messages, h.moved(ctx, t)...)
	return out
}

// moved tells hooks of a command that changed the directory.
func (h *hooks) moved(ctx context.Context, t *turn.Turn) []msg.Message {
	now := h.r.tools.workspace.Cwd()
	h.mu.Lock()
	was := h.cwd
	h.cwd = now
	h.mu.Unlock()
	if was == now || !h.has(hook.CwdChanged, "") {
		return nil
	}
	h.r.prepareEnvFile()
	o, out := h.fire(ctx, t, hook.Payload{Event: hook.CwdChanged, Fields: map[string]any{"old_cwd": was, "new_cwd": now}})
	h.watchFiles(o.Watch)
	return out.Messages
}

// Batch implements tools.Hooks.
func (h *hooks) Batch(ctx context.Context, t *turn.Turn, calls []tools.HookCall) turn.Hooked {
	list := make([]map[string]any, 0, len(calls))
	for _, c := range calls {
		list = append(list, map[string]any{"tool_name": c.Tool, "tool_input": h.absolute(c.Input), "tool_use_id": c.ID, "tool_response": c.Result})
	}
	_, out := h.fire(ctx, t, hook.Payload{Event: hook.PostToolBatch, Fields: map[string]any{"tool_calls": list}})
	if out.Blocked() {
		_ = t.Emit(event.Notice{Level: "warning", Text: "a PostToolBatch hook ended the turn: " + out.Decision.Reason})
	}
	return out
}
