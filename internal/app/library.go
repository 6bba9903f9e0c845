package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/google/uuid"

	"lathe/internal/engine"
	"lathe/internal/event"
	"lathe/internal/msg"
	"lathe/internal/session"
	"lathe/internal/tool"
)

// Library is what a Go program may set of a session; package agent documents it. The command line fills the same
// options, and both go through open.
type Library struct {
	Dir, StateDir     string
	Dirs              []string
	Env               map[string]string // over the process's environment
	Model, Effort     string
	Fallback          []string
	Mode              string
	System            *string
	Append            string
	Allowed, Denied   []string
	Tools             []string // built-in ones to offer; nil: all
	Custom            []tool.Tool
	MaxTurns          int
	MaxBudget         float64
	Schema            string
	SessionID, Resume string
	Continue, Fork    bool
	Store             session.Store // nil: files below the state directory
	NoPersist         bool
	Settings          string
	Sources           []string // nil: all
	Trust             bool
	Replay, Record    string
	Asks              bool            // somebody answers permission questions
	Questions         bool            // and those that the model asks with AskUserQuestion
	Hooks             json.RawMessage // callbacks, as the control protocol registers them
	Calls             func(kind string) bool
	Log               io.Writer // warnings; nil: nowhere
}

// options are the same as of a command line.
func (l Library) options() (*options, error) {
	o, flags, err := parseFlags(nil)
	if err != nil {
		return nil, err
	}
	o.print, o.entry = true, "sdk-go"
	o.dir, o.state, o.addDirs, o.env = l.Dir, l.StateDir, l.Dirs, l.Env
	o.model, o.effort, o.fallback, o.mode = l.Model, l.Effort, l.Fallback, l.Mode
	if l.System != nil {
		o.system, o.systemSet = *l.System, true
	}
	o.appendSystem, o.allowed, o.disallowed = l.Append, l.Allowed, l.Denied
	o.tools, o.toolsSet, o.custom = l.Tools, l.Tools != nil, l.Custom
	o.maxTurns, o.maxBudget, o.jsonSchema = l.MaxTurns, l.MaxBudget, l.Schema
	o.sessionID, o.resume, o.cont, o.fork, o.store, o.noPersist = l.SessionID, l.Resume, l.Continue, l.Fork, l.Store, l.NoPersist
	o.fixed = l.Store != nil
	o.settings, o.sources, o.trust, o.replay, o.record = l.Settings, l.Sources, l.Trust, l.Replay, l.Record
	o.asks, o.questions, o.canCall = l.Asks, l.Questions, l.Calls
	if len(l.Hooks) > 0 {
		o.host = &initialize{Hooks: l.Hooks}
	}
	return o, o.check(flags)
}

// Open begins a session for a Go program.
func Open(l Library) (*Session, error) {
	o, err := l.options()
	if err != nil {
		return nil, err
	}
	log := l.Log
	if log == nil {
		log = io.Discard
	}
	return open(o, Streams{Out: log, Err: log})
}

// Session is a conversation that runs: what every front end gets of one, the library too.
type Session struct {
	Conn *engine.Conn
	run  *run
	stop context.CancelFunc
}

// open builds a run and connects it: the way from options to a session.
func open(o *options, st Streams) (*Session, error) {
	r, err := newRun(o, st)
	if err != nil {
		return nil, err
	}
	return r.connect(context.Background()), nil
}

// connect starts the session of a run, for a front end.
func (r *run) connect(ctx context.Context) *Session {
	r.tellNotes()
	ctx, stop := context.WithCancel(ctx)
	s := &Session{Conn: r.session.Connect(ctx), run: r, stop: stop}
	r.startServers() // those of a host are reached through the connection
	return s
}

// ID is the session's id.
func (s *Session) ID() string { return s.run.conv.log.ID() }

// Messages is the conversation so far.
func (s *Session) Messages() []msg.Message { return s.run.session.Messages() }

// History is what the conversation was when the session was opened, with what stands before a compact boundary.
func (s *Session) History() []msg.Message { return s.run.past() }

// Query answers a query without an event: it may be asked while nobody reads those.
func (s *Session) Query(ctx context.Context, kind string, payload any) (json.RawMessage, error) {
	raw, err := json.Marshal(payload)
	if err != nil {
		return nil, err
	}
	if payload == nil {
		raw = []byte("{}")
	}
	v, err := s.run.query(ctx, kind, raw)
	if err != nil {
		return nil, err
	}
	return json.Marshal(v)
}

// Interrupt stops the running turn. A prompt that waits still gets its turn.
func (s *Session) Interrupt() {
	_ = s.Conn.Send(context.Background(), event.Interrupt{}) // a closed session runs nothing
}

// Close ends the session and everything that it started.
func (s *Session) Close() {
	s.disconnect()
	s.run.close()
}

// disconnect ends the conversation; the run is still there, for what is told of it at the end.
func (s *Session) disconnect() {
	s.stop()
	s.Conn.Wait()
}

// openStored begins or goes on with a session of a store that is not our files.
func openStored(o *options, dir string) (*conversation, error) {
	ref := o.resume
	switch {
	case o.cont && ref != "":
		return nil, errors.New("the options Continue and Resume name two sessions: use one of them")
	case o.cont:
		list, err := o.store.List(dir)
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
	state, log, err := o.store.Open(ref)
	if err == nil && o.fork {
		state, log, err = forkStored(o, dir, state, log)
	}
	if err != nil {
		return nil, err
	}
	return &conversation{state: *state, log: log, resumed: true}, nil
}

func createStored(o *options, dir string) (session.Log, error) {
	id := o.sessionID
	if id == "" {
		id = uuid.NewString()
	}
	return o.store.Create(id, dir)
}

// forkStored begins a session with a copy of another one, which stays as it is.
func forkStored(o *options, dir string, state *session.State, from session.Log) (*session.State, session.Log, error) {
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

// customTools are those of the program that embeds us. A sub-agent has them as its agent's file says.
func (r *run) customTools() []tool.Tool {
	var out []tool.Tool
	for _, t := range r.o.custom {
		if name := t.Def().Name; (r.agent == nil || r.agent.keeps(name)) && !r.toolDenied(name) {
			out = append(out, t)
		}
	}
	return out
}

// newCustomTools reports whether the embedding program brings tools that a resumed session does not have as they are
// now: they must be among the definitions, at the price of the prompt cache.
func (r *run) newCustomTools(frozen []msg.ToolDef) bool {
	for _, t := range r.customTools() {
		want := t.Def()
		if !slices.ContainsFunc(frozen, func(d msg.ToolDef) bool {
			return d.Name == want.Name && d.Description == want.Description && string(d.InputSchema) == string(want.InputSchema)
		}) {
			return true
		}
	}
	return false
}
