package agent

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"sync"
	"time"

	"github.com/google/uuid"

	"lathe/internal/app"
	"lathe/internal/event"
	"lathe/internal/msg"
)

// Errors of a Session.
var (
	ErrClosed = errors.New("the session is closed")
	ErrBusy   = errors.New("a prompt is being worked on; wait for its end, or interrupt it")
)

// Session is one conversation. Its methods may be called from several goroutines; one prompt is worked on at a time.
type Session struct {
	app  *app.Session
	conn event.Conn
	o    Options
	ctx  context.Context // of the callbacks; ends with the session
	stop context.CancelFunc
	loop sync.WaitGroup // the goroutine that reads events
	work sync.WaitGroup // callbacks

	turn sync.Mutex // held by the prompt that is worked on

	close   sync.Once
	closing chan struct{} // closed when Close is called

	mu     sync.Mutex
	closed bool
	now    *submission
	open   map[string]*question // callbacks that run, by the id of the question

	names map[string]string // tools of open calls; of the events' goroutine
}

// submission is a prompt that is being worked on.
type submission struct {
	id      string
	begun   bool
	stopped bool // was interrupted, perhaps before its turn began
	events  chan item
	gone    chan struct{} // closed when nobody reads any more
}

type item struct {
	event Event
	err   error
}

// Open begins a session, or goes on with one. Nothing is sent before the first prompt. The caller closes it.
func Open(o Options) (*Session, error) {
	opts, err := o.session()
	if err != nil {
		return nil, err
	}
	a, err := app.Open(opts)
	if err != nil {
		return nil, err
	}
	ctx, stop := context.WithCancel(context.Background())
	s := &Session{
		app: a, conn: a.Start(context.Background()), o: o, ctx: ctx, stop: stop, open: map[string]*question{}, names: map[string]string{},
		closing: make(chan struct{}),
	}
	s.loop.Go(s.read)
	return s, nil
}

// ID is the session's id, for Options.Resume.
func (s *Session) ID() string { return s.app.ID() }

// Messages is the conversation so far.
func (s *Session) Messages() []Message { return s.app.Messages() }

// Interrupt stops the prompt that is worked on. The conversation stays valid and can go on.
func (s *Session) Interrupt() {
	s.mu.Lock()
	if s.now != nil {
		s.now.stopped = true
	}
	s.mu.Unlock()
	s.app.Interrupt()
}

// closeLimit is how long Close waits for the end of an interrupted turn to be told.
const closeLimit = 10 * time.Second

// Close interrupts what runs and ends the session with everything that it started. It may be called more than once, and
// inside the loop of Submit, which gets no more than what it had been sent. It waits for callbacks, so none may call it.
func (s *Session) Close() error {
	s.close.Do(s.end)
	return nil
}

func (s *Session) end() {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	close(s.closing)
	s.Interrupt()
	_ = s.conn.Send(s.ctx, event.Close{})
	late := time.AfterFunc(closeLimit, s.stop)
	s.loop.Wait()
	late.Stop()
	s.stop()
	s.work.Wait()
	s.app.Close()
}

// Prompt is what a session is given to do.
type Prompt struct {
	Text   string
	Images []Image
	// Literal takes a leading slash and @ mentions as text.
	Literal bool
}

// Image is a png, jpeg, gif or webp.
type Image struct {
	MediaType string
	Data      []byte
}

func (p Prompt) event(id string) event.Prompt {
	out := event.Prompt{ID: id, Text: p.Text, Literal: p.Literal}
	for _, i := range p.Images {
		out.Blocks = append(out.Blocks, msg.Image(i.MediaType, base64.StdEncoding.EncodeToString(i.Data)))
	}
	return out
}

// Run works on a prompt to its end. Its error says that there is no result (the session is closed, the transcript cannot
// be written) or that ctx ended; a turn that failed has a Result with IsError.
func (s *Session) Run(ctx context.Context, prompt string) (Result, error) {
	var result Result
	for e, err := range s.Submit(ctx, Prompt{Text: prompt}) {
		if err != nil {
			return result, err
		}
		if d, ok := e.(Done); ok {
			result = d.Result
		}
	}
	return result, context.Cause(ctx)
}

// Submit works on a prompt and yields what happens, Done last. A slow reader slows the turn; who leaves the loop, or
// ends ctx, interrupts it. An error ends the loop.
func (s *Session) Submit(ctx context.Context, p Prompt) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		if ctx.Err() != nil {
			yield(nil, context.Cause(ctx))
			return
		}
		if s.isClosed() { // also when two come at once: neither is told that the session is busy
			yield(nil, ErrClosed)
			return
		}
		if !s.turn.TryLock() {
			yield(nil, ErrBusy)
			return
		}
		defer s.turn.Unlock()
		sub := &submission{id: uuid.NewString(), events: make(chan item, 64), gone: make(chan struct{})}
		s.mu.Lock()
		closed := s.closed
		s.now = sub
		s.mu.Unlock()
		defer s.leave(sub)
		if closed {
			yield(nil, ErrClosed)
			return
		}
		if err := s.conn.Send(ctx, p.event(sub.id)); err != nil {
			yield(nil, ErrClosed)
			return
		}
		s.deliver(ctx, sub, yield)
	}
}

// deliver yields the events of a submission until its end. When the reader leaves early, the turn is interrupted and
// its end waited for.
func (s *Session) deliver(ctx context.Context, sub *submission, yield func(Event, error) bool) {
	ended, reading := ctx.Done(), true
	for {
		select {
		case it, ok := <-sub.events:
			if !ok {
				if reading {
					yield(nil, ErrClosed)
				}
				return
			}
			if reading && !yield(it.event, it.err) {
				reading = false
				s.Interrupt()
			}
			if _, last := it.event.(Done); last || it.err != nil {
				return
			}
		case <-ended:
			ended = nil
			s.Interrupt()
		}
	}
}

func (s *Session) isClosed() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.closed
}

func (s *Session) leave(sub *submission) {
	s.mu.Lock()
	if s.now == sub {
		s.now = nil
	}
	s.mu.Unlock()
	close(sub.gone)
}

// read takes the events of the session until it ends.
func (s *Session) read() {
	for env, err := range s.conn.Events(s.ctx) {
		if err != nil {
			s.hand(item{err: err})
			continue
		}
		switch e := env.Event.(type) {
		case event.Ask:
			s.answering(e.ID, func(ctx context.Context) { s.answer(ctx, env.Parent, e) })
		case event.Call:
			s.answering(e.ID, func(ctx context.Context) { s.call(ctx, e) })
		case event.CallCancelled:
			s.withdraw(e.ID)
		case event.AskWithdrawn:
			s.withdraw(e.ID)
		default:
			s.took(env)
			for _, out := range s.convert(env) {
				s.hand(item{event: out})
			}
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	if s.now != nil {
		close(s.now.events)
		s.now = nil
	}
}

// took notes that a prompt is being worked on: its turn has started, or it joined one.
func (s *Session) took(env event.Envelope) {
	id := ""
	switch e := env.Event.(type) {
	case event.TurnStarted:
		id = e.Prompt.ID
	case event.Message:
		id = e.Msg.ID
	}
	s.mu.Lock()
	begins := s.now != nil && env.Parent == "" && s.now.id == id && !s.now.begun
	again := false
	if begins {
		s.now.begun, again = true, s.now.stopped
	}
	s.mu.Unlock()
	if again {
		s.app.Interrupt() // the first one may have met nothing
	}
}

// hand gives an event to whoever reads. What happens outside a prompt (a background task ends) is not told, except
// that Started comes before the turn begins.
func (s *Session) hand(it item) {
	s.mu.Lock()
	sub := s.now
	skip := sub == nil
	if sub != nil && !sub.begun {
		_, start := it.event.(Started)
		skip = !start && it.err == nil
	}
	s.mu.Unlock()
	if skip {
		return
	}
	select {
	case sub.events <- it: // also while Close waits, as long as there is room
		return
	default:
	}
	select {
	case sub.events <- it:
	case <-sub.gone:
	case <-s.closing: // it may be called by the very loop that would read
	}
}

// answering runs a callback, whose context ends when the question is withdrawn.
func (s *Session) answering(id string, do func(ctx context.Context)) {
	ctx, cancel := context.WithCancel(s.ctx)
	q := &question{cancel}
	s.mu.Lock()
	s.open[id] = q
	s.mu.Unlock()
	s.work.Go(func() {
		defer s.answered(id, q)
		do(ctx)
	})
}

// question is something that the program was asked, and has not answered.
type question struct{ cancel context.CancelFunc }

func (s *Session) answered(id string, q *question) {
	q.cancel()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open[id] == q { // a call may be asked about again
		delete(s.open, id)
	}
}

func (s *Session) withdraw(id string) {
	s.mu.Lock()
	q := s.open[id]
	delete(s.open, id)
	s.mu.Unlock()
	if q != nil {
		q.cancel()
	}
}

// answer puts a question to the program.
func (s *Session) answer(ctx context.Context, parent string, a event.Ask) {
	q := Question{Tool: a.Tool, CallID: a.CallID, Input: a.Input, Summary: a.Summary, Reason: a.Decision.Reason, Agent: parent}
	for _, r := range a.Decision.Suggest {
		q.Rules = append(q.Rules, r.Text)
	}
	out := event.Answer{ID: a.ID}
	decide := s.permission
	if a.Tool == askTool && s.o.Ask != nil {
		decide = s.questions
	}
	got, err := decide(ctx, q)
	switch {
	case ctx.Err() != nil:
		return // nobody waits for it
	case err != nil:
		out.Message = err.Error()
	case got.Allow:
		out.Allow, out.Input = true, got.Input
		if got.Remember {
			out.Save = event.SaveSession
		}
	default:
		out.Message, out.Stop = got.Message, got.Stop
	}
	_ = s.conn.Send(ctx, out) // a closed session needs no answer
}

// permission calls the program's function. One that panics has refused.
func (s *Session) permission(ctx context.Context, q Question) (a Answer, err error) {
	defer func() {
		if p := recover(); p != nil {
			a, err = Answer{}, fmt.Errorf("the permission callback panicked: %v", p)
		}
	}()
	if s.o.Permission == nil {
		return Answer{Message: "nobody is there to allow it"}, nil
	}
	return s.o.Permission(ctx, q)
}

// Query asks the session for something by name, or changes a setting, as programs do over the control channel:
// set_model, set_permission_mode, get_context_usage and others; docs/sdk.md has them. payload is encoded as JSON.
func (s *Session) Query(ctx context.Context, kind string, payload any) (json.RawMessage, error) {
	if s.isClosed() {
		return nil, ErrClosed
	}
	return s.app.Query(ctx, kind, payload)
}

// SetModel changes the model from the next model call on; SetMode the permission mode at once.
func (s *Session) SetModel(ctx context.Context, model string) error {
	_, err := s.Query(ctx, "set_model", map[string]string{"model": model})
	return err
}

// SetMode changes the permission mode.
func (s *Session) SetMode(ctx context.Context, mode string) error {
	_, err := s.Query(ctx, "set_permission_mode", map[string]string{"mode": mode})
	return err
}
