package app

import (
	"context"
	"encoding/json"

	"lathe/internal/app/conversation"
	"lathe/internal/app/source"
	"lathe/internal/engine"
	"lathe/internal/event"
	"lathe/internal/msg"
	"lathe/internal/place"
	"lathe/internal/proc"
)

// ErrNoKey says what to do where there is no credential.
var ErrNoKey = source.ErrNoKey

// ErrClosed is what a connection says once its session was closed.
var ErrClosed = engine.ErrClosed

// Session is a conversation with all that was built for it: what every front end gets, and package agent too.
type Session struct {
	run  *run
	conn *engine.Conn
	stop context.CancelFunc
}

// Open builds a session from its options. Nothing is started yet.
func Open(o Options) (*Session, error) {
	if err := o.Check(); err != nil {
		return nil, err
	}
	r, err := newRun(&o)
	if err != nil {
		return nil, err
	}
	return &Session{run: r}, nil
}

// Start begins the conversation, which ends with ctx, and starts the MCP servers. It is called once.
func (s *Session) Start(ctx context.Context) event.Conn {
	s.run.tellNotes()
	ctx, s.stop = context.WithCancel(ctx)
	s.conn = s.run.session.Connect(ctx)
	s.run.work.sweep()
	s.run.startServers() // those of a host are reached through the connection
	return s.conn
}

// Disconnect ends the conversation; what can be told of it is still there.
func (s *Session) Disconnect() {
	if s.conn != nil {
		s.stop()
		s.conn.Wait()
	}
}

// Close ends the session and everything that it started.
func (s *Session) Close() {
	s.Disconnect()
	s.run.close()
}

// Halt keeps the session from doing anything more, and Kill ends every child of it at once: the process is about to exit.
// All that is on disk stays valid.
func (s *Session) Halt() { s.run.session.Halt() } // or the turn would take the end of a killed command for its result, and go on

// Kill ends every child of a session that was halted.
func (s *Session) Kill() {
	s.run.procs.End()
	s.run.sandbox.Close()
}

// Interrupt stops the running turn. A prompt that waits still gets its turn.
func (s *Session) Interrupt() {
	_ = s.conn.Send(context.Background(), event.Interrupt{}) // a closed session runs nothing
}

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

// ID is the session's id, Path its transcript, "" where none is kept.
func (s *Session) ID() string { return s.run.conv.Log.ID() }

// Path is the session's transcript.
func (s *Session) Path() string { return s.run.conv.Log.Path() }

// Place is where the session happens, with its settings.
func (s *Session) Place() *place.Place { return s.run.place }

// Resumed reports whether the session was begun earlier, Kept whether it can be resumed later.
func (s *Session) Resumed() bool { return s.run.conv.Resumed }

// Kept reports whether the session can be resumed later.
func (s *Session) Kept() bool { return conversation.Keeps(s.run.o.Which, s.run.place) }

// Model and Mode are those of the next turn.
func (s *Session) Model() string { return s.run.session.Model() }

// Mode is the permission mode of the next turn.
func (s *Session) Mode() string { return s.run.session.Mode() }

// First is what the agent that the session works by begins with; "" for nothing.
func (s *Session) First() string { return s.run.initialPrompt() }

// Messages is the conversation so far, Shown what of it a person sees.
func (s *Session) Messages() []msg.Message { return s.run.session.Messages() }

// Shown are the messages that a person sees.
func (s *Session) Shown() []msg.Message { return s.run.shownMessages() }

// History is what the conversation was when the session was opened, with what stands before a compact boundary.
func (s *Session) History() []msg.Message {
	all, err := s.run.conv.Whole()
	if err != nil {
		s.run.warn("read what was compacted: " + err.Error())
	}
	return all
}

// Summary says what the session used, in lines.
func (s *Session) Summary() []string { return s.run.summary() }

// Warn tells a person something.
func (s *Session) Warn(text string) { s.run.warn(text) }

// Handshake is the answer to a host's first message.
func (s *Session) Handshake() map[string]any { return s.run.handshake(s.run.o.Host) }

// Rewind puts files back to what they were before a prompt, and says what became of them. ok is false where that cannot
// be done.
func (s *Session) Rewind(ctx context.Context, prompt string) (text string, ok bool, err error) {
	return s.run.rewindOnce(ctx, prompt)
}

// Screen is what the terminal interface is told beside the settings.
func (s *Session) Screen() Screen { return s.run.screen() }

// Resumable says why the session that the options name cannot be gone on with; nil where it can, or none is named.
func Resumable(o Options) error {
	if !o.Continue && o.Resume == "" {
		return nil
	}
	p, err := o.FindPlace()
	if err != nil {
		return err
	}
	return conversation.Check(o.Which, p)
}

// Authenticate looks whether there is a credential; ErrNoKey where there is none.
func Authenticate(o Options) error {
	p, err := o.FindPlace()
	if err != nil {
		return err
	}
	var procs proc.Group
	m, err := source.Open(o.source(), p, &procs)
	procs.Close()
	if err != nil {
		return err
	}
	return m.Close()
}
