package app

import (
	"context"

	"lathe/internal/session/find"
)

// sessionsText lists the sessions of this directory.
func (r *run) sessionsText(ctx context.Context, text string) (string, error) {
	q := find.Query{Text: text, Limit: 30}
	list, err := r.listSessions(ctx, q)
	if err != nil {
		return "", err
	}
	out := find.Rows(list, q, r.place.Sys.Now())
	if len(list) > 0 {
		out += "\n/resume ID goes on with one of them."
	}
	return out, nil
}

func (r *run) listSessions(ctx context.Context, q find.Query) ([]find.Info, error) {
	list, err := find.List(ctx, r.place.Sessions(), r.place.Sys.Dirs.Work, q)
	for i := range list {
		list[i].Current = list[i].ID == r.conv.Log.ID()
	}
	return list, err
}

// pickerQueries are what a screen asks to let a person choose: commands, files, sessions.
func (r *run) pickerQueries() map[string]answer {
	return map[string]answer{
		"memory_files": on(func(context.Context, nothing) (any, error) { return map[string]any{"files": r.memoryFiles()}, nil }),
		"diff":         on(func(ctx context.Context, _ nothing) (any, error) { return r.changes(ctx, r.session.Messages()) }),
		"export": on(func(context.Context, nothing) (any, error) {
			text, err := r.exportText(nil)
			return map[string]any{"text": text}, err
		}),
		"commands":         on(func(context.Context, nothing) (any, error) { return map[string]any{"commands": r.commandMenu()}, nil }),
		"file_suggestions": on(func(ctx context.Context, q suggestQuery) (any, error) { return r.suggestFiles(ctx, q) }),
		"sessions": on(func(ctx context.Context, q find.Query) (any, error) {
			list, err := r.listSessions(ctx, q)
			return map[string]any{"sessions": list}, err
		}),
		"side_question": on(func(ctx context.Context, in struct{ Question string }) (any, error) {
			text, err := r.askBtw(ctx, in.Question)
			return map[string]any{"text": text}, err
		}),
		"session_preview": on(func(_ context.Context, in struct {
			ID string `json:"session_id"`
		},
		) (any, error) {
			return find.Peek(r.place.Sessions(), r.place.Sys.Dirs.Work, in.ID)
		}),
	}
}
