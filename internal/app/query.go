package app

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"

	"lathe/internal/perm"
)

// answer answers one kind of query. Its input is the query's payload.
type answer func(ctx context.Context, payload json.RawMessage) (any, error)

// on makes an answer of a function that takes the payload's fields.
func on[T any](f func(ctx context.Context, in T) (any, error)) answer {
	return func(ctx context.Context, payload json.RawMessage) (any, error) {
		var in T
		if err := json.Unmarshal(payload, &in); err != nil {
			return nil, fmt.Errorf("the request cannot be read: %w", err)
		}
		return f(ctx, in)
	}
}

// nothing is the payload of a query without fields, and the answer of one that only does something.
type nothing struct{}

// queries are what a host or a screen may ask of the session, by name; see docs/sdk.md. Each file of this package may
// add its own.
func (r *run) queries() map[string]answer {
	table := map[string]answer{}
	for _, part := range r.queryParts() {
		maps.Copy(table, part)
	}
	return table
}

// queryParts are the queries by what they are about. A name stands in one of them only.
func (r *run) queryParts() []map[string]answer {
	return []map[string]answer{
		r.settingQueries(), r.sessionQueries(), r.hostQueries(), r.flagQueries(), r.describeQueries(), r.screenQueries(), r.pickerQueries(),
		r.serverQueries(), r.clientQueries(),
	}
}

// unsupported is the error of a query that this program does not know.
type unsupported string

func (u unsupported) Error() string { return "Unsupported control request subtype: " + string(u) }

// Code names the error for programs.
func (unsupported) Code() string { return "unsupported_request" }

// query answers a query of a front end.
func (r *run) query(ctx context.Context, kind string, payload json.RawMessage) (any, error) {
	r.queryOnce.Do(func() { r.queryTable = r.queries() })
	f, ok := r.queryTable[kind]
	if !ok {
		return nil, unsupported(kind)
	}
	if len(payload) == 0 {
		payload = json.RawMessage("{}")
	}
	return f(ctx, payload)
}

// settingQueries change how the session goes on.
func (r *run) settingQueries() map[string]answer {
	return map[string]answer{
		"initialize": on(func(_ context.Context, in Host) (any, error) { return r.initializeAgain(&in) }),
		"set_permission_mode": on(func(_ context.Context, in struct {
			Mode string `json:"mode"`
		},
		) (any, error) {
			return r.setMode(in.Mode)
		}),
		"set_model": on(func(ctx context.Context, in struct {
			Model *string `json:"model"`
		},
		) (any, error) {
			return r.setModel(ctx, in.Model)
		}),
	}
}

// sessionQueries tell of the session, and act on it.
func (r *run) sessionQueries() map[string]answer {
	rewind := func(kind string) answer {
		return func(ctx context.Context, payload json.RawMessage) (any, error) {
			return r.queryRewind(ctx, kind, payload)
		}
	}
	return map[string]answer{
		"rewind_files": rewind("rewind_files"), "rewind": rewind("rewind"), "checkpoints": rewind("checkpoints"),
		"reload_plugins":  on(r.reloadPlugins),
		"seed_read_state": on(r.seedReadState),
		"get_context_usage": on(func(ctx context.Context, _ nothing) (any, error) {
			return r.contextUsage(ctx, r.session.Messages()).Payload(), nil
		}),
		"change_cost": on(r.changeCost),
		"list_models": on(func(context.Context, nothing) (any, error) { return map[string]any{"models": r.modelList()}, nil }),
		"get_session_cost": on(func(context.Context, nothing) (any, error) {
			return map[string]any{"total_cost_usd": r.ledger.Totals().Cost}, nil
		}),
		"stop_task": on(func(_ context.Context, in struct {
			ID string `json:"task_id"`
		},
		) (any, error) {
			r.stopTask(in.ID)
			return nothing{}, nil
		}),
		"background_tasks": on(func(_ context.Context, in struct {
			CallID string `json:"tool_use_id"`
		},
		) (any, error) {
			if !r.backgroundOn() {
				return nil, errors.New("background tasks are switched off for this session")
			}
			if !r.work.background(in.CallID) && in.CallID != "" { // all of none is no failure
				return map[string]any{"backgrounded": false}, nil
			}
			return nothing{}, nil
		}),
		"rename_session": on(func(_ context.Context, in struct {
			Title string `json:"title"`
			Name  string `json:"name"`
		},
		) (any, error) {
			return nothing{}, r.rename(cmp.Or(in.Title, in.Name))
		}),
	}
}

// setModel changes the model from the next request on; none, or "default", is the one that the session would have
// started with.
func (r *run) setModel(ctx context.Context, name *string) (any, error) {
	choice, asked := r.defaultModel(), ""
	if name != nil && *name != "" && *name != "default" {
		choice, asked = *name, *name
	}
	id := r.resolveFor(choice, r.session.Mode())
	change := r.switchOf(id, asked, "sdk")
	if id == change.from {
		if isPair(choice) || r.pair() != "" {
			r.useModel(choice, id)
		}
		return map[string]string{"model": id}, nil
	}
	if why := r.hooks.switching(ctx, change); why != "" {
		return nil, fmt.Errorf("a PreModelSwitch hook refused the change: %s", why)
	}
	defer r.hooks.switched(change)
	r.useModel(choice, id)
	return map[string]string{"model": id}, nil
}

// setMode changes the permission mode for a host. What the start would have refused is refused here too.
func (r *run) setMode(mode string) (any, error) {
	m, err := perm.ParseMode(mode)
	if err != nil {
		return nil, err
	}
	if m == perm.ModeBypass && !r.o.AllowSkip && r.o.Mode != string(perm.ModeBypass) {
		return nil, errors.New("bypassPermissions was not allowed when the session began (--allow-dangerously-skip-permissions)")
	}
	if m == perm.ModeBypass {
		if err := r.bypassRefused(r.place.Settings.Permissions()); err != nil {
			return nil, err
		}
	}
	r.changeMode(string(m))
	return map[string]string{"mode": string(m)}, nil
}
