package app

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"lathe/internal/app/conversation"
	"lathe/internal/event"
	"lathe/internal/hook"
	"lathe/internal/pipeline"
	"lathe/internal/session"
	"lathe/internal/session/find"
	"lathe/internal/trace"
	"lathe/internal/turn"
)

// leftSessions is what a run keeps of the sessions that it has left for others.
type leftSessions struct {
	traces  []*trace.File // of theirs; what is being recorded of a turn may still go there
	trigger string        // why the session of the moment began: clear, resume or fork; empty: it is the first
}

// Why a session is left for another, as hooks and hosts are told.
const (
	byClear  = "clear"
	byResume = "resume"
	byFork   = "fork"
)

// cmdClear goes on with a new, empty session. The old one can be resumed; args is a name for it.
func (r *run) cmdClear(ctx context.Context, t *turn.Turn, args string) (string, error) {
	if args != "" {
		if err := r.rename(args); err != nil {
			return "", err
		}
	}
	conv, err := conversation.New(r.o.Which, r.place, r.prices)
	if err != nil {
		return "", err
	}
	return "", r.become(ctx, t, conv, byClear)
}

// cmdResume goes on with another session of this directory; without a name it lists them.
func (r *run) cmdResume(ctx context.Context, t *turn.Turn, args string) (string, error) {
	if args == "" {
		return r.sessionsText(ctx, "")
	}
	store := r.place.Sessions()
	meta, err := find.Named(store, r.place.Sys.Dirs.Work, args)
	switch {
	case errors.Is(err, session.ErrNotFound):
		text, listErr := r.sessionsText(ctx, args)
		if listErr != nil {
			return "", err
		}
		return "", fmt.Errorf("%w\n%s", err, text)
	case err != nil:
		return "", err
	case meta.Path == r.conv.Log.Path():
		return "", errors.New("that is the session that goes on here")
	case meta.Dir != "" && store.ProjectDir(meta.Dir) != store.ProjectDir(r.place.Sys.Dirs.Work):
		return "", fmt.Errorf("that session belongs to %s: go there and use lathe --resume %s", meta.Dir, meta.ID)
	}
	which := r.o.Which
	which.Fork = false
	conv, err := conversation.Again(which, r.place, r.prices, meta.Path)
	if err != nil {
		return "", err
	}
	if err := r.become(ctx, t, conv, byResume); err != nil {
		return "", err
	}
	return fmt.Sprintf("Resumed %s: %s (%s)", r.conv.Log.ID(), or(first(meta.Title, event.OneLine(meta.Prompt, 80)), "no title"), count(len(r.conv.State.Messages), "message")), nil
}

// cmdFork copies the session and goes on with the copy; the old one stays as it is. args is a name for the copy.
func (r *run) cmdFork(ctx context.Context, t *turn.Turn, args string) (string, error) {
	path := r.conv.Log.Path()
	if path == "" {
		return "", errors.New("this session is not kept, so it cannot be copied (--no-session-persistence)")
	}
	if len(t.Messages) == 0 {
		return "", errors.New("there is nothing to copy yet")
	}
	which := r.o.Which
	which.Fork = true
	from := r.conv.Log.ID()
	conv, err := conversation.Again(which, r.place, r.prices, path)
	if err != nil {
		return "", err
	}
	if err := r.become(ctx, t, conv, byFork); err != nil {
		return "", err
	}
	if args != "" {
		if err := r.rename(args); err != nil {
			return "", err
		}
	}
	return fmt.Sprintf("This is now %s, a copy of %s. /resume %s goes back.", r.conv.Log.ID(), from, from), nil
}

// become makes the session another one within the process: what was built for its conversation is built anew, as at a
// start; what belongs to the run (the settings, the processes, what was granted for the session) stays.
func (r *run) become(ctx context.Context, t *turn.Turn, conv *conversation.Conversation, trigger string) error {
	if _, err := r.promptDeps(); err != nil { // a prompt file has gone: the session stays what it is
		return errors.Join(err, conv.Log.Close())
	}
	if h := r.hooks; h != nil && h.begun {
		reason := trigger
		if trigger == byFork {
			reason = byResume
		}
		h.tell(h.bus.Fire(ctx, hook.Payload{Event: hook.SessionEnd, Match: reason, Fields: map[string]any{"reason": reason}, Limit: h.endLimit()}))
		h.begun = false
	}
	old := r.conv.Log.(*session.Switch).To(conv.Log)
	if err := old.Close(); err != nil {
		r.warn("close the transcript: " + err.Error())
	}
	r.conv.Become(conv)
	r.left.trigger = trigger
	if err := r.rebuild(t); err != nil {
		return err
	}
	for _, n := range r.conv.State.Notes {
		r.warn(n)
	}
	if err := t.Emit(event.ConversationReset{New: r.conv.Log.ID(), Trigger: trigger, Prompt: t.Input.ID}); err != nil {
		return err
	}
	return t.Emit(r.ready())
}

// rebuild builds anew what depends on the conversation.
func (r *run) rebuild(t *turn.Turn) error {
	name := r.session.Model()
	if r.conv.Resumed {
		name = r.chooseModel()
	} else if pair := r.pair(); pair != "" {
		r.keepModel(pair)
	}
	r.thaw()
	r.session.Become(t, r.conv.State, name)
	r.dropThinking, r.dropMismatch = false, false
	for path := range r.tools.files.All() {
		r.tools.files.Forget(path)
	}
	r.tools.todos.Set(nil)
	r.custom.begin()
	r.tools.workspace.SetCwd(r.tools.workspace.Start())
	r.takeUp()
	r.openCheckpoints()
	r.planAnew()
	if err := r.traceAnew(); err != nil {
		return err
	}
	r.changing.Lock()
	r.compile(r.latest.Permissions()) // the session's own folder is another one
	r.changing.Unlock()
	r.relevant.Close()
	r.relevant = nil
	deps, err := r.deps()
	if err != nil {
		return err
	}
	r.session.Use(pipeline.Stages(deps))
	return nil
}

// traceAnew begins the trace of the session that goes on.
func (r *run) traceAnew() error {
	old := r.trace.Swap(nil)
	if old == nil {
		return nil
	}
	r.left.traces = append(r.left.traces, old)
	if err := r.openTrace(); err != nil {
		return err
	}
	if f := r.trace.Load(); f != nil {
		r.session.Trace(f)
		return nil
	}
	r.session.Trace(nil)
	return nil
}

// titleMost is how long the title of a session may be, in characters.
const titleMost = 200

// sessionTitle makes a title of what was typed.
func sessionTitle(text string) string {
	text = strings.Map(func(c rune) rune {
		if c < ' ' || c == 0x7f {
			return ' '
		}
		return c
	}, text)
	return event.OneLine(event.Inert(text), titleMost)
}

// cmdRename gives the session a title.
func (r *run) cmdRename(_ context.Context, _ *turn.Turn, args string) (string, error) {
	title := sessionTitle(args)
	if title == "" {
		return "", errors.New("a name is missing: /rename NAME")
	}
	if err := r.rename(title); err != nil {
		return "", err
	}
	return "This session is now called " + title + ".", nil
}

// rename gives the session a title, made of what somebody typed.
func (r *run) rename(text string) error { return r.conv.Log.Keep("title", sessionTitle(text)) }
