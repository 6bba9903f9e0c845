package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"lathe/internal/event"
	"lathe/internal/hook"
	"lathe/internal/msg"
	"lathe/internal/pipeline/compact"
	"lathe/internal/pipeline/input"
	"lathe/internal/pipeline/normalize"
	"lathe/internal/provider"
	"lathe/internal/sys"
	"lathe/internal/tool/todo"
	"lathe/internal/turn"
)

// todosKind is the state record of the to-do list as it was when the calls that made it were summarised.
const todosKind = "todos"

// guardKind is the state record of how automatic compactions went.
const guardKind = "compaction-guard"

// summaryTries is how often the call for a summary is made, and summaryLimit how long all of that may take.
const (
	summaryTries = 3
	summaryLimit = 10 * time.Minute
)

// compaction builds stage 5.
func (r *run) compaction(norm normalize.Deps, cfg normalize.Config) *compact.Stage {
	d := compact.Deps{
		Info: r.prices.Info, Budget: &compact.Budget{Dir: r.resultsDir, Clean: r.place.Redact.String}, NewID: r.place.Sys.NewID,
		TooLong: tooLong, ReadFile: r.readAgain, Todos: func() string { return todoText(r.tools.todos) }, Tasks: r.tasksText,
		Transcript: r.conv.Log.Path, Earlier: r.conv.State.Earlier, After: r.compacted,
	}
	_ = json.Unmarshal(r.conv.State.Kept[guardKind], &d.Guard)
	d.KeepGuard = func(g compact.Guard) error { return r.conv.Log.Keep(guardKind, g) }
	if r.hooks != nil {
		d.Before = r.hooks.compacting
	}
	if !sys.IsOn(r.place.Sys.Getenv("DISABLE_COMPACT")) {
		d.Summarise = r.summariser(normalize.New(norm, cfg))
	}
	return compact.NewStage(d, r.compactConfig())
}

// compactConfig reads the settings: the environment first.
func (r *run) compactConfig() compact.Config {
	getenv, set := r.place.Sys.Getenv, r.place.Settings
	c := compact.Config{
		Auto: set.Bool("autoCompactEnabled", true) && !sys.IsOn(getenv("DISABLE_AUTO_COMPACT")) && !sys.IsOn(getenv("DISABLE_COMPACT")),
		Off:  set.Strings("compactionOff", false), Pins: set.Strings("pins", false),
		NoCache: r.noCache(), Lifetime: r.cacheLife(),
		AutoWindow: r.number("CLAUDE_CODE_AUTO_COMPACT_WINDOW"), Percent: r.number("CLAUDE_AUTOCOMPACT_PCT_OVERRIDE"),
	}
	if c.AutoWindow <= 0 && r.o.Window != 0 {
		c.AutoWindow = max(0, r.o.Window)
	} else if c.AutoWindow <= 0 {
		text, err := set.Text("autoCompactWindow")
		if err == nil && text != "" {
			c.AutoWindow, err = TokenCount(text)
		}
		if err != nil {
			r.place.Notes = append(r.place.Notes, "autoCompactWindow: "+err.Error())
		}
	}
	return c
}

// TokenCount reads 200000, 500k, 1M, or 200 for thousands.
func TokenCount(text string) (int, error) {
	s := strings.ToLower(strings.TrimSpace(strings.ReplaceAll(text, "_", "")))
	times := 1.0
	switch {
	case strings.HasSuffix(s, "k"):
		s, times = s[:len(s)-1], 1000
	case strings.HasSuffix(s, "m"):
		s, times = s[:len(s)-1], 1_000_000
	}
	v, err := strconv.ParseFloat(s, 64)
	if err != nil || !(v > 0 && v*times <= 1e9) {
		return 0, fmt.Errorf("%q is no number of tokens: write 200000, 500k or 1M", text)
	}
	if v *= times; v < 10_000 && times == 1 {
		v *= 1000
	}
	return int(v), nil
}

func tooLong(err error) bool {
	var e *provider.Error
	return errors.As(err, &e) && (e.Kind == provider.TooLong || e.Kind == provider.TooLarge)
}

// readAgain reads a file for the model after a compaction, if the model may still read it.
func (r *run) readAgain(ctx context.Context, path string) (string, error) {
	abs := r.tools.workspace.Abs(path)
	if !r.readable(abs) {
		return "", fmt.Errorf("%s may not be read", path)
	}
	blocks, err := r.tools.readFile(ctx, abs, 0, 0)
	if err != nil {
		return "", err
	}
	return r.place.Redact.String(msg.JoinText(blocks)), nil
}

// tasksText lists the background commands that run.
func (r *run) tasksText() string {
	var b strings.Builder
	for _, t := range r.tools.tasks.Snapshot() {
		if t.Ended.IsZero() {
			fmt.Fprintf(&b, "Background command %s is running: %s\n", t.ID, event.OneLine(t.Command, 200))
		}
	}
	return b.String()
}

// summariser returns the call for a summary: the request that the view makes, with one more message of the user's,
// so that it reads the prompt cache.
func (r *run) summariser(norm func(context.Context, *turn.Turn) error) func(context.Context, *turn.Turn, []msg.Message, string) (string, error) {
	return func(ctx context.Context, t *turn.Turn, view []msg.Message, instruction string) (text string, err error) {
		if err := t.Emit(event.Status{Status: "compacting"}); err != nil {
			return "", err
		}
		defer func() {
			done := event.Status{Result: "success"}
			if err != nil {
				done = event.Status{Result: "failed", Err: err.Error()}
			}
			err = errors.Join(err, t.Emit(done))
		}()
		ctx, cancel := context.WithTimeout(ctx, summaryLimit)
		defer cancel()
		ask := *t // the turn itself stays as it is
		ask.View = append(view[:len(view):len(view)], msg.Message{Kind: msg.KindUser, Meta: true, Blocks: []msg.Block{msg.Text(instruction)}})
		if err := norm(ctx, &ask); err != nil {
			return "", err
		}
		for try := 1; ; try++ {
			text, err := r.askOnce(ctx, ask.Request)
			wait, again := retryable(err, try)
			if err == nil || !again {
				return text, err
			}
			ev := event.Retry{Attempt: try, Max: summaryTries - 1, Delay: wait, Text: "the call for a summary failed: " + err.Error()}
			if err := t.Emit(ev); err != nil {
				return "", err
			}
			select {
			case <-ctx.Done():
				return "", context.Cause(ctx)
			case <-time.After(r.pause(wait)):
			}
		}
	}
}

// retryable reports whether a failed call is made again, and after what wait.
func retryable(err error, try int) (time.Duration, bool) {
	var e *provider.Error
	if !errors.As(err, &e) || e.NoRetry || try >= summaryTries || e.After > time.Minute {
		return 0, false
	}
	switch e.Kind {
	case provider.RateLimit, provider.Overloaded, provider.Server, provider.Network, provider.Truncated, provider.Malformed, provider.Idle:
		return max(e.After, time.Second<<try), true
	}
	return 0, false
}

// pause is a wait, shortened where tests ask for short back-offs.
func (r *run) pause(wait time.Duration) time.Duration {
	if base := r.retryConfig().Base; base > 0 {
		return min(wait, base)
	}
	return wait
}

// askOnce makes a call and returns the answer's text. Its cost counts.
func (r *run) askOnce(ctx context.Context, req *provider.Request) (string, error) {
	done, err := r.ledger.AllowSame(r.place.Sys.Now(), req)
	if err != nil {
		return "", err
	}
	defer done()
	text, stop, err := r.callModel(ctx, "summary", req)
	switch {
	case err != nil:
		return "", fmt.Errorf("ask %s for a summary: %w", req.Model, err)
	case stop == "refusal":
		return "", errors.New("the model refused to write a summary")
	}
	return text, nil
}

// compacting asks the hooks that want a say before a compaction.
func (h *hooks) compacting(ctx context.Context, t *turn.Turn, trigger, focus string) turn.Hooked {
	_, out := h.fire(ctx, t, hook.Payload{Event: hook.PreCompact, Match: trigger, Fields: map[string]any{
		"trigger": trigger, "custom_instructions": focus,
	}})
	return out
}

// compacted keeps what later runs could not read from the conversation any more, and tells the hooks.
func (r *run) compacted(ctx context.Context, t *turn.Turn, trigger, summary string) turn.Hooked {
	if err := r.conv.Log.Keep(todosKind, r.tools.todos.Items()); err != nil {
		r.warn("remember the to-do list: " + err.Error())
	}
	if r.hooks == nil {
		return turn.Hooked{}
	}
	_, out := r.hooks.fire(ctx, t, hook.Payload{Event: hook.PostCompact, Match: trigger, Fields: map[string]any{
		"trigger": trigger, "compact_summary": summary,
	}})
	const source = "compact"
	_, again := r.hooks.fire(ctx, t, hook.Payload{Event: hook.SessionStart, Match: source, Fields: map[string]any{
		"source": source, "model": t.Model,
	}})
	out.Messages = append(out.Messages, again.Messages...)
	return out
}

// restoreTodos brings the to-do list back: from the conversation, or as it was when that was compacted.
func (r *run) restoreTodos() {
	var before []todo.Item
	if raw, kept := r.conv.State.Kept[todosKind]; kept && json.Unmarshal(raw, &before) != nil {
		before = nil
	}
	r.tools.todos.Restore(r.conv.State.Messages, before...)
}

func (r *run) compactCommand() input.Command {
	return input.Command{Name: "compact", Args: "[focus] | preview | undo", Help: "replace the conversation by a summary; look before; take it back", Run: r.cmdCompact}
}

func (r *run) cmdCompact(ctx context.Context, t *turn.Turn, args string) (string, error) {
	switch args {
	case "preview":
		return r.compact.Preview(t)
	case "undo":
		return r.compact.Undo(t)
	}
	text, err := r.compact.Compact(ctx, t, args)
	if r.o.Host != nil {
		text = "" // hosts are told by the boundary
	}
	return text, err
}
