package conversation

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/google/uuid"

	"lathe/internal/session"
)

// openStored begins or goes on with a session of a store that is not our files.
func openStored(w Which, dir string) (*Conversation, error) {
	ref := w.Resume
	switch {
	case w.Continue && ref != "":
		return nil, errors.New("the options Continue and Resume name two sessions: use one of them")
	case w.Continue:
		list, err := w.Store.List(dir)
		if err != nil {
			return nil, err
		}
		if len(list) == 0 {
			return nil, fmt.Errorf("there is no session to continue in %s: %w", dir, session.ErrNotFound)
		}
		ref = list[0].ID
	}
	if ref == "" {
		log, err := createStored(w, dir)
		if err != nil {
			return nil, err
		}
		return &Conversation{Log: log}, nil
	}
	state, log, err := w.Store.Open(ref)
	if err == nil && w.Fork {
		state, log, err = forkStored(w, dir, state, log)
	}
	if err != nil {
		return nil, err
	}
	return &Conversation{State: *state, Log: log, Resumed: true}, nil
}

func createStored(w Which, dir string) (session.Log, error) {
	id := w.SessionID
	if id == "" {
		id = uuid.NewString()
	}
	return w.Store.Create(id, dir)
}

// forkStored begins a session with a copy of another one, which stays as it is.
func forkStored(w Which, dir string, state *session.State, from session.Log) (*session.State, session.Log, error) {
	if err := from.Close(); err != nil {
		return nil, nil, err
	}
	log, err := createStored(w, dir)
	if err != nil {
		return nil, nil, err
	}
	err = log.Append(state.Messages...)
	if err == nil && state.Frozen != nil {
		err = log.Freeze(*state.Frozen)
	}
	for _, kind := range slices.Sorted(maps.Keys(state.Kept)) {
		if err == nil {
			err = log.Keep(kind, state.Kept[kind])
		}
	}
	if err != nil {
		return nil, nil, errors.Join(fmt.Errorf("copy session %s: %w", state.Meta.ID, err), log.Close())
	}
	state.Meta.ID, state.Meta.Path, state.Meta.Dir = log.ID(), log.Path(), dir
	return state, log, nil
}
