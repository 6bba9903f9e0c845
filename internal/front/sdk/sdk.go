package sdk

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"

	"lathe/internal/event"
	"lathe/internal/msg"
)

// Options say what is written, and who answers questions.
type Options struct {
	Encoder event.Encoder
	// States adds session_state_changed lines, for hosts that read them.
	States bool
	// HostOnly marks them as meant for the SDK and not for the program that uses it.
	HostOnly bool
	// First is a frame that was read before the session began; nil: none.
	First *Frame
	// Mirrored returns lines about what was written to transcripts since it was last called; they go out before what
	// happened after. Nil: there are none.
	Mirrored func() [][]byte
	// Session is the session's id at the start.
	Session string
	// Warn is told what a user should know.
	Warn func(string)
}

// ErrOutput is wrapped by the error of a write to standard output.
var ErrOutput = errors.New("write to standard output")

// Run serves a session until standard input has ended and all queued turns are done. It returns the last result.
func Run(ctx context.Context, conn event.Conn, in *Reader, out io.Writer, o Options) (event.Result, error) {
	s := &server{ctx: ctx, conn: conn, out: event.NewOutput(out), o: o, session: o.Session, named: map[string]string{}, asks: map[string]event.Ask{}, calls: map[string]struct{}{}}
	s.o.Encoder.Named = s.isNamed
	go s.read(in)
	last, err := s.write()
	s.mirrored()
	if broken := s.flush(); err == nil {
		err = broken
	}
	// The reader ends with the input. It is not waited for: a host that keeps the pipe open after the session has
	// ended must not keep the program.
	return last, err
}

func decodeBlocks(raw json.RawMessage) ([]msg.Block, error) { return msg.DecodeContent(raw) }

// server is one connection of a host.
type server struct {
	ctx  context.Context
	conn event.Conn
	out  *event.Output
	o    Options

	mu      sync.Mutex           // never held while something is written or sent
	session string               // as last seen
	asks    map[string]event.Ask // open questions, by the id of the request
	calls   map[string]struct{}  // open calls, likewise
	closed  bool                 // the host sends nothing any more
	named   map[string]string    // messages that the host named and that have not ended: their state
}

// line puts one line. It does not wait for the host to read: the reader of the host's lines puts some too.
func (s *server) line(b []byte) { s.out.Put(b) }

// flush waits until the host has read all lines.
func (s *server) flush() error {
	if err := s.out.Flush(); err != nil {
		return fmt.Errorf("%w: %w", ErrOutput, err)
	}
	return nil
}

// write turns events into lines until the session ends.
func (s *server) write() (event.Result, error) {
	var last event.Result
	ran := false // a command of the program's own, in this turn
	for env, err := range s.conn.Events(s.ctx) {
		if err != nil {
			return last, err
		}
		s.mu.Lock()
		s.session = env.Session
		s.mu.Unlock()
		s.mirrored()
		switch e := env.Event.(type) {
		case event.Reply:
			if e.Err != "" {
				s.line(failure(e.ID, e.Err, e.Code))
			} else {
				s.line(success(e.ID, e.Value))
			}
		case event.State:
			s.state(env, e.State)
		case event.Ask:
			s.ask(env, e)
		case event.Call:
			s.call(e)
		case event.CallCancelled:
			s.recall(e.ID)
		case event.PromptDropped:
			s.mark(env.Session, e.ID, dropped)
		case event.AskWithdrawn:
			s.recall(e.ID)
		default:
			s.follow(env)
			if m, ok := e.(event.Message); ok && env.Parent == "" && m.Msg.Subtype == msg.SubLocalCommand {
				ran = true
			}
			if d, ok := e.(event.TurnDone); ok {
				last = d.Result
				s.withdraw()
				if ran && d.Result.Subtype == event.Success && d.Result.Turns == 0 {
					d.Result.Text = ""
					env.Event = d // a line before holds it; a result is an answer of the model
				}
				ran = false
			}
			for _, l := range s.o.Encoder.Lines(env) {
				s.line(l)
			}
			if _, ok := e.(event.TurnDone); ok {
				s.settle(env)
			}
		}
		if err := s.flush(); err != nil {
			return last, err
		}
	}
	return last, nil
}

func (s *server) mirrored() {
	if s.o.Mirrored == nil {
		return
	}
	for _, l := range s.o.Mirrored() {
		s.line(l)
	}
}

func (s *server) state(env event.Envelope, state string) {
	if !s.o.States {
		return
	}
	line := map[string]any{
		"type": "system", "subtype": "session_state_changed", "state": state, "session_id": env.Session, "uuid": s.o.Encoder.NewID(),
	}
	if s.o.HostOnly {
		line["sdk_host_only"] = true
	}
	s.line(event.Encode(line))
}

// withdraw takes back questions that a turn left open.
func (s *server) withdraw() {
	s.mu.Lock()
	open := make([]string, 0, len(s.asks))
	for id, a := range s.asks {
		if a.AgentID == "" { // a sub-agent in the background goes on
			open = append(open, id)
			delete(s.asks, id)
		}
	}
	s.mu.Unlock()
	for _, id := range open {
		s.line(cancelled(id))
	}
}

func (s *server) answer(a event.Answer) { _ = s.conn.Send(s.ctx, a) } // a closed session needs no answer
