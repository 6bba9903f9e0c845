package app

import (
	"context"
	"encoding/json"
	"maps"
	"time"

	"lathe/internal/config"
	"lathe/internal/msg"
)

// EntryTerminal is the entry point of sessions of the terminal interface.
const EntryTerminal = "cli"

// EntryLibrary is the entry point of sessions of Go programs.
const EntryLibrary = "sdk-go"

// Screen is what the terminal interface is told beside the settings.
type Screen struct {
	CanBypass     bool   // the mode bypassPermissions may be had
	Keybindings   []byte // the user's file; nil: there is none
	StatusLine    bool   // the user has a command for it
	StatusPadding int
	StatusEvery   time.Duration // 0: only when something happens
}

func (r *run) screen() Screen {
	out := Screen{CanBypass: r.mayBypass(), Keybindings: r.keybindings()}
	if line := r.statusLine(); line.Command != "" {
		out.StatusLine, out.StatusPadding = true, max(0, line.Padding)
		if line.Refresh >= 1 {
			out.StatusEvery = time.Duration(line.Refresh * float64(time.Second))
		}
	}
	return out
}

// shownMessages are the messages of the conversation that a person sees.
func (r *run) shownMessages() []msg.Message {
	out := []msg.Message{}
	for _, m := range r.session.Messages() {
		if !m.Meta && !m.Sidechain && m.Kind != msg.KindAttachment {
			out = append(out, m)
		}
	}
	return out
}

// screenQueries are what only the terminal interface asks, and nobody else is answered: a person sits before it, so
// nothing of it is under the rules.
func (r *run) screenQueries() map[string]answer {
	if r.o.Entry != EntryTerminal {
		return nil
	}
	out := r.fastQueries()
	maps.Copy(out, map[string]answer{
		"save_setting": on(func(_ context.Context, in struct {
			Key   string          `json:"key"`
			Value json.RawMessage `json:"value"`
		},
		) (any, error) {
			if in.Key == "outputStyle" {
				return nothing{}, r.saveStyleValue(in.Value)
			}
			if err := checkSetting(in.Key, in.Value); err != nil {
				return nil, err
			}
			return nothing{}, config.Set(r.userSettings(), in.Key, in.Value) // it is taken up with the next call
		}),
		"screen_status":   on(func(context.Context, nothing) (any, error) { return r.screenStatus(), nil }),
		"screen_messages": on(func(context.Context, nothing) (any, error) { return r.shownMessages(), nil }),
		"screen_agents":   on(func(context.Context, nothing) (any, error) { return r.shownAgents(), nil }),
		"take_queued": on(func(context.Context, nothing) (any, error) {
			ids := []string{}
			for _, p := range r.session.TakeQueued() {
				ids = append(ids, p.ID)
			}
			return map[string]any{"ids": ids}, nil
		}),
		"open_address": on(func(ctx context.Context, in struct {
			URL string `json:"url"`
		},
		) (any, error) {
			return nothing{}, r.procs.Browse(ctx, r.place.Sys.Environ(), in.URL)
		}),
		"keybindings": on(func(context.Context, nothing) (any, error) { return map[string]any{"file": r.keybindings()}, nil }),
		"tasks":       on(func(context.Context, nothing) (any, error) { return map[string]any{"tasks": r.screenTasks()}, nil }),
		"task_text": on(func(_ context.Context, in struct {
			ID string `json:"task_id"`
		},
		) (any, error) {
			return r.taskOutput(in.ID)
		}),
		"stop_agents": on(func(context.Context, nothing) (any, error) { return map[string]int{"stopped": r.stopAgents()}, nil }),
		"status_line": r.runStatusLine,
		"shell":       r.runShell,
	})
	maps.Copy(out, r.switchQueries())
	return out
}

func (r *run) screenStatus() map[string]any {
	model := r.session.Model()
	return map[string]any{
		"branch": r.branch(), "cost": r.ledger.Totals().Cost, "window": r.prices.Info(model).Window, "mode": r.session.Mode(), "model": model, "fast": r.fastState(model),
	}
}
