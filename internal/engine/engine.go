package engine

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"lathe/internal/event"
	"lathe/internal/msg"
	"lathe/internal/session"
	"lathe/internal/trace"
	"lathe/internal/turn"
)

// Config is what a session starts with.
type Config struct {
	Log    session.Log
	State  session.State // what a resumed session brings; zero for a new one
	Ready  func() event.Ready
	Model  string
	Effort string
	Mode   string // permission mode

	NewID func() string
	Now   func() time.Time
	// Clean takes secrets out of a message before it is stored, sent and shown. Nil: nothing is changed.
	Clean func(msg.Message) msg.Message

	Trace trace.Recorder // nil: no records
	Tell  bool           // tell front ends of each stage

	// Query answers a Query op. It may be called at any time, from several goroutines.
	Query func(ctx context.Context, kind string, payload json.RawMessage) (any, error)

	// CanCall says which kinds of Call a host answers; nil: none.
	CanCall func(kind string) bool

	// Parent is the session whose sub-agent this is, and Agent which one. Questions go to whoever the outermost session
	// can ask; events outside a turn go to Parent. Nil: this is no sub-agent.
	Parent *Session
	Agent  event.Agent
	// Background is the work that goes on outside turns. Nil: there is none.
	Background Background

	CanAsk bool // somebody is there to answer questions
	// ModeSet is told of each change of the permission mode. Nil: nobody is.
	ModeSet func(mode string)
	// Answer answers questions in a person's place. Nil: the front end does.
	Answer func(ctx context.Context, a event.Ask) (event.Answer, error)
	// Asking is told of each question that waits for a person. Nil: nobody is.
	Asking func(event.Ask)
	// Kept is told of messages that were stored: from here on a crash does not lose them. Nil: nobody is.
	Kept func([]msg.Message)
	// Shown gives a message as front ends see it, and Holds reports whether it may change the words of an answer: then
	// ShownPart gives what is shown of a piece of it while it comes (nil: nothing), with the id of the message that it will
	// be, and ShownResult adds the words of its result. What is stored and sent stays as it is. Nil: as it is.
	Shown       func(t *turn.Turn, m msg.Message) msg.Message
	Holds       func() bool
	ShownPart   func(t *turn.Turn, id, text string) string
	ShownResult func(event.Result) event.Result
	// Begin runs before a turn is announced. What it returns is appended before the prompt; an error ends the turn.
	Begin func(ctx context.Context, t *turn.Turn) ([]msg.Message, error)
	// Halted is shared by sessions that stand still together: a session and its sub-agents. Nil: the session is alone.
	Halted *atomic.Bool
	// AfterTurn joins what a turn may have left running. It is called once after each turn.
	AfterTurn func(t *turn.Turn)
}

// Session is one conversation. Submit may run one turn at a time; every other method is safe for concurrent use.
type Session struct {
	cfg    Config
	stages []turn.Stage
	tracer *turn.Tracer

	mu        sync.Mutex
	messages  []msg.Message
	frozen    *session.Frozen
	model     string
	turnModel string // the session's model as the turn last took it up
	effort    string
	mode      string
	before    string // the mode before it
	queue     []event.Prompt
	cancel    context.CancelCauseFunc // of the running turn; nil when none runs
	asks      map[string]chan event.Answer
	calls     calls
	outlet    outlet
	check     func(s turn.Stage, before, after *turn.Turn)
	seq       uint64
	last      string // id of the newest message
	coming    string // id of the message whose text is shown while it comes; "": none

	gate chan struct{} // held by the running turn, or by Between
}

// New returns a session. Use must be called before the first Submit.
func New(cfg Config) *Session {
	s := &Session{
		cfg: cfg, messages: cfg.State.Messages, frozen: cfg.State.Frozen,
		model: cfg.Model, effort: cfg.Effort, mode: cfg.Mode, asks: map[string]chan event.Answer{}, gate: make(chan struct{}, 1),
	}
	if cfg.Halted == nil {
		s.cfg.Halted = new(atomic.Bool)
	}
	if cfg.Trace != nil {
		s.tracer = turn.NewTracer(cfg.Trace)
	}
	if n := len(s.messages); n > 0 {
		s.last = s.messages[n-1].ID
	}
	return s
}

// Use sets the pipeline. The stages' own dependencies need the session, so it cannot be part of Config.
func (s *Session) Use(stages []turn.Stage) { s.stages = stages }

// Check has f see the turn before and after each stage; for tests.
func (s *Session) Check(f func(s turn.Stage, before, after *turn.Turn)) { s.check = f }

// Mode is the permission mode in force.
func (s *Session) Mode() string { s.mu.Lock(); defer s.mu.Unlock(); return s.mode }

// Model is the model in force.
func (s *Session) Model() string { s.mu.Lock(); defer s.mu.Unlock(); return s.model }

// SetModel changes the model from the next turn on.
func (s *Session) SetModel(m string) { s.mu.Lock(); s.model = m; s.mu.Unlock() }

// Effort is how much the model is asked to work; empty: its own choice.
func (s *Session) Effort() string { s.mu.Lock(); defer s.mu.Unlock(); return s.effort }

// SetEffort changes the effort from the next turn on.
func (s *Session) SetEffort(e string) { s.mu.Lock(); s.effort = e; s.mu.Unlock() }

// SetMode changes the permission mode at once.
func (s *Session) SetMode(m string) {
	s.mu.Lock()
	was := s.mode
	s.mode = m
	if m != was {
		s.before = was
	}
	s.mu.Unlock()
	if m != was && s.cfg.ModeSet != nil {
		s.cfg.ModeSet(m)
	}
}

// ModeBefore is the permission mode that the present one took the place of, "" if there was none.
func (s *Session) ModeBefore() string { s.mu.Lock(); defer s.mu.Unlock(); return s.before }

// Messages is the conversation so far.
func (s *Session) Messages() []msg.Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.messages
}

// Frozen is what is sent unchanged on every call; nil before the first one.
func (s *Session) Frozen() *session.Frozen {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.frozen
}

// Freeze keeps what the prompt stage built, with the session. What could not be stored does not count: a later turn would
// send it, and a resumed session could not.
func (s *Session) Freeze(f session.Frozen) error {
	if err := s.cfg.Log.Freeze(f); err != nil {
		return err
	}
	s.mu.Lock()
	s.frozen = &f
	s.mu.Unlock()
	return nil
}

// Waiting reports whether prompts are queued; TakeQueued takes them.
func (s *Session) Waiting() bool { s.mu.Lock(); defer s.mu.Unlock(); return len(s.queue) > 0 }

// Queued returns the prompts that wait, oldest first. They stay where they are.
func (s *Session) Queued() []event.Prompt {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.queue)
}

// Queue adds a prompt to those that wait: it enters the running turn, or whoever runs the session takes it afterwards.
func (s *Session) Queue(p event.Prompt) { s.mu.Lock(); s.queue = append(s.queue, p); s.mu.Unlock() }

// Unqueue takes one prompt out of the queue. It reports whether it was there.
func (s *Session) Unqueue(id string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := len(s.queue)
	s.queue = slices.DeleteFunc(s.queue, func(p event.Prompt) bool { return p.ID == id })
	return len(s.queue) < n
}

// TakeQueued empties the queue.
func (s *Session) TakeQueued() []event.Prompt {
	s.mu.Lock()
	defer s.mu.Unlock()
	q := s.queue
	s.queue = nil
	return q
}

// Submit runs one turn and yields its events, the session's Ready first. A slow consumer slows the turn; one
// that leaves the loop interrupts it. The iterator ends after TurnDone. An error is yielded only for a failure
// that could not be made a result, such as a transcript that cannot be written.
func (s *Session) Submit(ctx context.Context, p event.Prompt) iter.Seq2[event.Envelope, error] {
	return func(yield func(event.Envelope, error) bool) {
		left := false
		err := s.turn(ctx, p, func(turnID string, e event.Envelope) bool {
			left = !yield(s.stamp(turnID, e), nil)
			return !left
		})
		if err != nil && !left {
			yield(event.Envelope{}, err)
		}
	}
}

// turn runs one turn and hands its events to take, which gives them their numbers, until it returns false: that
// interrupts the turn.
func (s *Session) turn(ctx context.Context, p event.Prompt, take func(turnID string, e event.Envelope) bool) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	s.gate <- struct{}{}
	defer func() { <-s.gate }()
	out := make(chan event.Envelope, ahead) // closed by the producer
	gone := make(chan struct{})             // closed when the consumer has left
	send := s.sender(out, gone)
	var runErr error
	var t *turn.Turn
	t = s.begin(p, cancel, func(e event.Event) error { return send(event.Envelope{Event: s.seen(t, e)}) })
	taken := s.outlet.open(send)
	defer close(taken)
	go func() {
		runErr = s.run(ctx, t)
		s.outlet.shut()
		close(out)
	}()
	left := false
	for e := range out {
		if !left && !take(t.ID, e) {
			left = true
			close(gone)
			cancel(turn.ErrInterrupted)
		}
	}
	s.end(t)
	return runErr
}

var errGone = errors.New("nobody reads the events")

// sender hands events to the consumer until it has left.
func (s *Session) sender(out chan<- event.Envelope, gone <-chan struct{}) func(event.Envelope) error {
	return func(e event.Envelope) error {
		s.standStill()
		e.Session = s.cfg.Log.ID() // of this moment: a command may make the session another one
		select {
		case out <- e:
			return nil
		case <-gone:
			return errGone
		}
	}
}

func (s *Session) begin(p event.Prompt, cancel context.CancelCauseFunc, emit func(event.Event) error) *turn.Turn {
	if p.ID == "" {
		p.ID = s.cfg.NewID()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cancel = cancel
	t := turn.New(s.cfg.NewID(), s.cfg.Log.ID(), p, s.messages, turn.Services{
		Emit: emit, Persist: s.persist, Ask: s.asker(emit), Now: s.cfg.Now, Shown: s.cfg.Shown,
	})
	t.Model, t.Effort, s.turnModel = s.model, s.effort, s.model
	if s.frozen != nil {
		t.System, t.Tools, t.Static = s.frozen.System, s.frozen.Tools, s.frozen.Static
	}
	return t
}

// step takes up a model that was set since the turn began. One that the turn has for itself stays until then.
func (s *Session) step(t *turn.Turn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.model != s.turnModel {
		t.Model, s.turnModel = s.model, s.model
	}
}

func (s *Session) run(ctx context.Context, t *turn.Turn) error {
	if err := s.announce(ctx, t); err != nil {
		return err
	}
	r := turn.Runner{Stages: s.stages, Trace: s.tracer, Tell: s.cfg.Tell, Now: s.cfg.Now, Check: s.check, Step: s.step}
	err := r.Run(ctx, t)
	if s.cfg.AfterTurn != nil {
		s.cfg.AfterTurn(t)
	}
	if errors.Is(err, errGone) {
		return nil
	}
	return err
}

func (s *Session) announce(ctx context.Context, t *turn.Turn) error {
	var first []msg.Message
	if s.cfg.Begin != nil {
		var err error
		if first, err = s.cfg.Begin(ctx, t); err != nil {
			return err
		}
	}
	if err := t.Emit(s.cfg.Ready()); err != nil {
		return err
	}
	if err := t.Emit(event.TurnStarted{Prompt: t.Input}); err != nil {
		return err
	}
	return t.Append(first...)
}

func (s *Session) end(t *turn.Turn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cancel = nil
	s.messages = t.Messages
}

// stamp gives an event its place in the session. An event that names its session keeps that.
func (s *Session) stamp(turnID string, e event.Envelope) event.Envelope {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seq++
	if d, ok := e.Event.(event.TurnDone); ok {
		d.Result.Queued = len(s.queue)
		e.Event = d
	}
	e.Seq, e.Time, e.Turn = s.seq, s.cfg.Now(), turnID
	if e.Session == "" {
		e.Session = s.cfg.Log.ID()
	}
	return e
}

// persist stamps messages, writes them to the log, and tells of that.
func (s *Session) persist(ms ...msg.Message) ([]msg.Message, error) {
	kept, err := s.write(ms)
	if err == nil && s.cfg.Kept != nil {
		s.cfg.Kept(kept)
	}
	return kept, err
}

func (s *Session) write(ms []msg.Message) ([]msg.Message, error) {
	s.standStill()
	if s.cfg.Clean != nil {
		ms = slices.Clone(ms)
		for i, m := range ms {
			ms[i] = s.cfg.Clean(m)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make([]msg.Message, len(ms))
	last, coming := s.last, s.coming
	for i, m := range ms {
		switch {
		case m.ID != "":
		case coming != "" && m.Kind == msg.KindAssistant && m.Text() != "":
			m.ID, coming = coming, ""
		default:
			m.ID = s.cfg.NewID()
		}
		m.Parent, last = last, m.ID
		m.Time = s.cfg.Now()
		out[i] = m
	}
	if err := s.cfg.Log.Append(out...); err != nil {
		return nil, err
	}
	s.last, s.coming = last, coming
	return out, nil
}

// asker puts questions to the front end and waits for the answer op. Those of a sub-agent wait at the outermost
// session, which gets the answers.
func (s *Session) asker(emit func(event.Event) error) func(context.Context, event.Ask) (event.Answer, error) {
	return func(ctx context.Context, a event.Ask) (event.Answer, error) {
		top := s
		for top.cfg.Parent != nil {
			top = top.cfg.Parent
		}
		if top.cfg.Answer != nil {
			return top.cfg.Answer(ctx, a)
		}
		if !top.cfg.CanAsk {
			return event.Answer{}, turn.ErrNobody
		}
		if a.AgentID = s.cfg.Agent.ID; a.AgentID != "" {
			a.ID += "-" + a.AgentID // calls of several conversations may have one id
		}
		answer := make(chan event.Answer, 1)
		top.mu.Lock()
		top.asks[a.ID] = answer
		top.mu.Unlock()
		defer func() { top.mu.Lock(); delete(top.asks, a.ID); top.mu.Unlock() }()
		if err := emit(a); err != nil {
			return event.Answer{}, err
		}
		if s.cfg.Asking != nil {
			s.cfg.Asking(a)
		}
		select {
		case got := <-answer:
			return got, nil
		case <-ctx.Done():
			_ = emit(event.AskWithdrawn{ID: a.ID}) // whoever shows it may take it back
			return event.Answer{}, context.Cause(ctx)
		}
	}
}

// Interrupt stops the running turn. Without one it does nothing.
func (s *Session) Interrupt(cause error) {
	s.mu.Lock()
	cancel := s.cancel
	s.mu.Unlock()
	if cancel != nil {
		cancel(cause)
	}
}

// Halt stops the session where it stands: nothing more is written, told, or done as a consequence. It is for a
// process that is about to exit and whose children are being killed: their ends are not results.
func (s *Session) Halt() { s.cfg.Halted.Store(true) }

func (s *Session) standStill() {
	if s.cfg.Halted.Load() {
		select {} // until the process exits
	}
}

// Answer answers a question; an unknown id is ignored, since the question may have been withdrawn.
func (s *Session) Answer(a event.Answer) {
	s.mu.Lock()
	ch := s.asks[a.ID]
	s.mu.Unlock()
	if ch != nil {
		select {
		case ch <- a:
		default:
		}
	}
}
