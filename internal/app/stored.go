package app

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/google/uuid"

	"lathe/internal/msg"
	"lathe/internal/session"
)

// openStored begins or goes on with a session of a store that is not our files.
func openStored(o *Options, dir string) (*conversation, error) {
	ref := o.Resume
	switch {
	case o.Continue && ref != "":
		return nil, errors.New("the options Continue and Resume name two sessions: use one of them")
	case o.Continue:
		list, err := o.Store.List(dir)
		if err != nil {
			return nil, err
		}
		if len(list) == 0 {
			return nil, fmt.Errorf("there is no session to continue in %s: %w", dir, session.ErrNotFound)
		}
		ref = list[0].ID
	}
	if ref == "" {
		log, err := createStored(o, dir)
		if err != nil {
			return nil, err
		}
		return &conversation{log: log}, nil
	}
	state, log, err := o.Store.Open(ref)
	if err == nil && o.Fork {
		state, log, err = forkStored(o, dir, state, log)
	}
	if err != nil {
		return nil, err
	}
	return &conversation{state: *state, log: log, resumed: true}, nil
}

func createStored(o *Options, dir string) (session.Log, error) {
	id := o.SessionID
	if id == "" {
		id = uuid.NewString()
	}
	return o.Store.Create(id, dir)
}

// forkStored begins a session with a copy of another one, which stays as it is.
func forkStored(o *Options, dir string, state *session.State, from session.Log) (*session.State, session.Log, error) {
	if err := from.Close(); err != nil {
		return nil, nil, err
	}
	log, err := createStored(o, dir)
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

// past is the whole conversation, with what stands before a compact boundary.
func (r *run) past() []msg.Message {
	var out []msg.Message
	if earlier := r.conv.state.Earlier; earlier != nil {
		before, err := earlier()
		if err != nil {
			r.warn("read what was compacted: " + err.Error())
		}
		out = append(out, before...)
	}
	return append(out, r.conv.state.Messages...)
}
