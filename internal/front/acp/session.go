package acp

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"time"

	"lathe/internal/event"
	"lathe/internal/msg"
)

// session is one open conversation. Its events' goroutine writes everything that the editor sees of it, so that
// updates come in order and before the answer to the prompt that they belong to.
type session struct {
	srv     *server
	id, cwd string
	conn    event.Conn
	history []msg.Message
	client  clientCapabilities
	stop    func()
	ctx     context.Context
	cancel  context.CancelFunc
	loop    sync.WaitGroup // the events' goroutine
	answers sync.WaitGroup // questions that wait for the editor

	refreshing sync.Mutex

	mu        sync.Mutex
	prompts   []*prompt // the first one is with the engine, the others wait
	queries   map[string]chan event.Reply
	about     event.About
	ended     bool
	terminals map[string]string  // of the editor, by the call that they show
	open      map[string]*asking // what the editor was asked and has not answered, by the id of the question or call

	// Of the events' goroutine.
	calls    map[string]*call
	streamed map[string]bool // what was shown already of the block that is under way: "text", "thinking"
	said     bool            // an answer was shown in this turn
	used     int             // tokens of the conversation after the last answer
	titled   bool
}

// prompt is a session/prompt request that is not answered yet.
type prompt struct {
	request   string // id of the request
	in        event.Prompt
	reply     reply
	started   bool // its turn runs, or it joined one
	cancelled bool
}

func newSession(srv *server, o *Opened, cwd string, client clientCapabilities) *session {
	ctx, cancel := context.WithCancel(context.Background())
	s := &session{
		srv: srv, id: o.ID, cwd: cwd, conn: o.Conn, history: o.History, client: client, stop: o.Close, ctx: ctx, cancel: cancel,
		queries: map[string]chan event.Reply{}, calls: map[string]*call{}, open: map[string]*asking{}, terminals: map[string]string{}, streamed: map[string]bool{}, titled: len(o.History) > 0,
	}
	s.loop.Go(s.run)
	return s
}

// run reads events until the session ends.
func (s *session) run() {
	for env, err := range s.conn.Events(s.ctx) {
		switch {
		case err == nil:
			s.event(env)
		case s.ctx.Err() == nil:
			s.finish(nil, err)
		}
	}
	s.mu.Lock()
	s.ended = true
	for id, ch := range s.queries {
		delete(s.queries, id)
		close(ch)
	}
	open := s.prompts
	s.prompts = nil
	s.mu.Unlock()
	for _, p := range open {
		p.reply(obj{"stopReason": stopCancelled}, nil)
	}
}

// endLimit is how long a session that is closed may take to tell of the end of its turn.
const endLimit = 5 * time.Second

// end closes the session: a turn that runs is interrupted, prompts are answered as cancelled.
func (s *session) end() {
	s.interrupt()
	_ = s.conn.Send(s.ctx, event.Interrupt{DropQueued: true})
	_ = s.conn.Send(s.ctx, event.Close{})
	late := time.AfterFunc(endLimit, s.cancel)
	s.loop.Wait()
	late.Stop()
	s.cancel()
	s.answers.Wait()
	s.stop()
}

// asking is something that the editor was asked.
type asking struct{ cancel context.CancelFunc }

// asks notes that the editor is asked something. The context ends when that is withdrawn; answered is to be called when
// nobody waits any more.
func (s *session) asks(id string) (ctx context.Context, answered func()) {
	ctx, cancel := context.WithCancel(s.ctx)
	a := &asking{cancel}
	s.mu.Lock()
	s.open[id] = a
	s.mu.Unlock()
	return ctx, func() {
		cancel()
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.open[id] == a { // a call may be asked about again
			delete(s.open, id)
		}
	}
}

// withdraw takes back what the editor was asked, if it has not answered yet.
func (s *session) withdraw(id string) {
	s.mu.Lock()
	a := s.open[id]
	delete(s.open, id)
	s.mu.Unlock()
	if a != nil {
		a.cancel()
	}
}

// update tells the editor something about the session.
func (s *session) update(update obj) {
	s.srv.wire.notify("session/update", obj{"sessionId": s.id, "update": update})
}

// submit queues a prompt. The engine has one at a time, so that it is clear what its turn answers.
func (s *session) submit(p *prompt) {
	s.mu.Lock()
	if s.ended {
		s.mu.Unlock()
		p.reply(nil, unknown(s.id))
		return
	}
	s.prompts = append(s.prompts, p)
	first := len(s.prompts) == 1
	s.mu.Unlock()
	if first {
		s.send(p)
	}
}

func (s *session) send(p *prompt) {
	if err := s.conn.Send(s.ctx, p.in); err != nil {
		s.finish(nil, err)
	}
}

// interrupt stops what runs and answers what waits. The prompt that the engine has is answered when its turn has
// ended, however early it was cancelled.
func (s *session) interrupt() {
	s.mu.Lock()
	var waiting []*prompt
	if len(s.prompts) > 0 {
		s.prompts[0].cancelled = true
		waiting, s.prompts = s.prompts[1:], s.prompts[:1]
	}
	s.mu.Unlock()
	_ = s.conn.Send(s.ctx, event.Interrupt{}) // a closed session has nothing to stop
	for _, p := range waiting {
		p.reply(obj{"stopReason": stopCancelled}, nil)
	}
}

// asked reports whether the session has an open prompt that came with this request id.
func (s *session) asked(request string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range s.prompts {
		if p.request == request {
			return true
		}
	}
	return false
}

// begun notes that the prompt with this id is being worked on. One that was cancelled before is interrupted now: an
// interrupt from before its turn may have met nothing.
func (s *session) begun(id string) {
	s.mu.Lock()
	again := false
	if len(s.prompts) > 0 && s.prompts[0].in.ID == id {
		s.prompts[0].started = true
		again = s.prompts[0].cancelled
	}
	s.mu.Unlock()
	if again {
		_ = s.conn.Send(s.ctx, event.Interrupt{})
	}
}

// finish answers the prompt that the engine has, and hands it the next one. r is nil after a fault.
func (s *session) finish(r *event.Result, err error) {
	s.mu.Lock()
	if len(s.prompts) == 0 || r != nil && !s.prompts[0].started {
		s.mu.Unlock()
		return // a turn that the engine began by itself
	}
	p := s.prompts[0]
	s.prompts = s.prompts[1:]
	var next *prompt
	if len(s.prompts) > 0 {
		next = s.prompts[0]
	}
	s.mu.Unlock()
	switch {
	case p.cancelled:
		p.reply(obj{"stopReason": stopCancelled}, nil)
	case r == nil:
		p.reply(nil, err)
	default:
		p.reply(stopped(*r))
	}
	if next != nil {
		s.send(next)
	}
}

// stopped is the answer to a prompt whose turn has ended.
func stopped(r event.Result) (any, error) {
	reason := stopEndTurn
	switch {
	case strings.HasPrefix(r.Terminal, "aborted_"):
		reason = stopCancelled
	case r.Subtype == event.ErrMaxTurns, r.Subtype == event.ErrMaxBudget, r.Subtype == event.ErrStructured:
		reason = stopMaxTurns
	case r.StopReason == "refusal":
		reason = stopRefusal
	case r.Terminal == "turn_setup_failed": // was shown
	case r.IsError:
		code := codeInternal
		if r.APIStatus == 401 {
			code = codeAuth
		}
		return nil, &rpcError{Code: code, Message: event.Inert(failureText(r))}
	case r.StopReason == "max_tokens":
		reason = stopMaxTokens
	}
	return obj{"stopReason": reason}, nil
}

// failureText is what a failed turn says.
func failureText(r event.Result) string {
	if r.Subtype == event.Success || len(r.Errors) == 0 {
		return r.Text
	}
	return strings.Join(r.Errors, "\n")
}

// query asks the session for something by name. It must not be called by the events' goroutine.
func (s *session) query(kind string, payload any) (json.RawMessage, error) {
	id, ch, err := s.begin(kind, payload)
	if err != nil {
		return nil, err
	}
	defer func() { s.mu.Lock(); delete(s.queries, id); s.mu.Unlock() }()
	select {
	case r, ok := <-ch:
		switch {
		case !ok:
			return nil, unknown(s.id)
		case r.Err != "":
			return nil, fault(codeParams, "%s", r.Err)
		}
		return r.Value, nil
	case <-s.ctx.Done():
		return nil, unknown(s.id)
	}
}

func (s *session) begin(kind string, payload any) (string, chan event.Reply, error) {
	id, ch := s.srv.o.NewID(), make(chan event.Reply, 1)
	s.mu.Lock()
	if s.ended {
		s.mu.Unlock()
		return "", nil, unknown(s.id)
	}
	s.queries[id] = ch
	s.mu.Unlock()
	return id, ch, s.conn.Send(s.ctx, event.Query{ID: id, Kind: kind, Payload: event.Encode(payload)})
}

func (s *session) replied(r event.Reply) {
	s.mu.Lock()
	ch := s.queries[r.ID]
	delete(s.queries, r.ID)
	s.mu.Unlock()
	if ch != nil {
		ch <- r
	}
}

// describe asks what may be chosen, and keeps it.
func (s *session) describe() (event.About, error) {
	var a event.About
	raw, err := s.query("describe", obj{})
	if err == nil {
		err = json.Unmarshal(raw, &a)
	}
	if err != nil {
		return a, err
	}
	s.mu.Lock()
	s.about = a
	s.mu.Unlock()
	return a, nil
}

var errOption = errors.New("there is no such option")
