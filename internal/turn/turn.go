package turn

import (
	"context"
	"errors"
	"fmt"
	"time"

	"lathe/internal/event"
	"lathe/internal/msg"
	"lathe/internal/provider"
)

// Turn is one prompt on its way to an answer. Stages read and change its exported fields, each only those that
// its row in the table names.
type Turn struct {
	ID      string
	Session string
	Started time.Time
	Step    int          // model calls so far
	Input   event.Prompt // as it came

	Messages []msg.Message // the whole conversation; only ever appended to, through Append
	View     []msg.Message // what this call sees of it, written by compact
	System   []msg.Block   // system prompt, frozen with the session
	Static   int           // number of System blocks before the boundary
	Tools    []msg.ToolDef // tool definitions, frozen with the session
	Request  *provider.Request
	Reply    *Reply

	Model  string // may be overridden for the turn
	Effort string
	Ultra  bool // the prompt asked for more thinking

	CacheHour bool // what this turn adds to the prompt cache lives an hour instead of five minutes

	Mentions []Mention // @ mentions of the prompt, for attach

	Usage   msg.Usage     // main loop, this turn
	APIDur  time.Duration // time spent in model calls
	TTFT    time.Duration // first byte of the first answer
	Denials []event.Denial

	Structured []byte // the structured answer, once it was given
	Text       string // result text when no model was asked (a local command)
	Stop       *Stop  // why the turn ends, when not by a plain answer
	Result     *event.Result
	Done       bool

	notes       []string
	tracer      *Tracer
	unread      bool // nobody looks at the notes
	svc         Services
	interrupted <-chan struct{}
}

// Reply is the answer of one model call.
type Reply struct {
	APIID      string
	Message    msg.Message // the whole answer, blocks joined
	StopReason string
	Usage      msg.Usage
}

// Mention is an @ mention of the prompt.
type Mention struct {
	Ref      string // as typed, without @
	Path     string // absolute
	From, To int    // lines, from 1; zero: all
}

// Services is what a turn needs from the engine. Every function is safe for concurrent use.
type Services struct {
	// Emit hands an event to the front ends; it blocks while they are slow and fails when the turn was cancelled.
	Emit func(e event.Event) error
	// Persist writes messages to the session's log, setting id, parent and time. When it returns they are on disk.
	Persist func(m ...msg.Message) ([]msg.Message, error)
	// Shown gives a message as front ends see it; what is stored and sent stays as it is. Nil: as it is.
	Shown func(t *Turn, m msg.Message) msg.Message
	// Ask puts a question to a person; it returns ErrNobody at once when no one can answer.
	Ask func(ctx context.Context, a event.Ask) (event.Answer, error)
	// Now is the clock for stamps.
	Now func() time.Time
}

// ErrNobody says that nobody is there to answer a question.
var ErrNobody = errors.New("nobody is there to ask")

// New returns a turn for a prompt on a conversation.
func New(id, session string, in event.Prompt, history []msg.Message, s Services) *Turn {
	return &Turn{ID: id, Session: session, Input: in, Messages: history, Started: s.Now(), svc: s}
}

// Emit hands an event to the front ends.
func (t *Turn) Emit(e event.Event) error { return t.svc.Emit(e) }

// Ask puts a question to a person.
func (t *Turn) Ask(ctx context.Context, a event.Ask) (event.Answer, error) { return t.svc.Ask(ctx, a) }

// Now is the clock for stamps.
func (t *Turn) Now() time.Time { return t.svc.Now() }

// Append adds messages to the conversation: on disk first, then in Messages, then shown. A failed write ends
// the turn, since nothing may be shown as done that is not kept. Only the goroutine that runs the stage may
// call it.
func (t *Turn) Append(m ...msg.Message) error {
	if len(m) == 0 {
		return nil
	}
	kept, err := t.svc.Persist(m...)
	if err != nil {
		return fmt.Errorf("write the transcript: %w", err)
	}
	t.Messages = append(t.Messages, kept...)
	for _, k := range kept {
		if t.svc.Shown != nil {
			k = t.svc.Shown(t, k)
		}
		if err := t.Emit(event.Message{Msg: k}); err != nil {
			return err
		}
	}
	return nil
}

// Interrupted is closed when the turn was interrupted. The last stages, whose context outlives that, look at it
// where they wait for something.
func (t *Turn) Interrupted() <-chan struct{} { return t.interrupted }

// Tracer takes sub-records of the running stage; nil while nothing is recorded. It may be used concurrently.
func (t *Turn) Tracer() *Tracer { return t.tracer }

// Note records a decision of the running stage in words, for the trace and the demo. Without a reader it costs nothing.
func (t *Turn) Note(format string, args ...any) {
	if t.unread {
		return
	}
	t.notes = append(t.notes, fmt.Sprintf(format, args...))
}

// Stop is an error that ends the turn in a named way; it is a result, not a fault of the program.
type Stop struct {
	Subtype  string // of the result
	Terminal string // terminal reason
	Text     string // result text, for success with is_error
	Errors   []string
	Status   int    // HTTP status, for API failures
	Reason   string // why the model stopped, where its answer was whole and could not be used: refusal
	Err      error
	Deferred *Deferred // a hook wants this call to be decided later
	Fine     bool      // the turn ends well all the same (a hook ended it); Text is shown, the answer so far counts
}

// Deferred is a call that did not run and is not answered, since it is to be decided on later.
type Deferred = event.Deferred

func (s *Stop) Error() string {
	switch {
	case s.Text != "":
		return s.Text
	case len(s.Errors) > 0:
		return s.Errors[0]
	case s.Err != nil:
		return s.Err.Error()
	}
	return s.Terminal
}

func (s *Stop) Unwrap() error { return s.Err }

// ErrInterrupted is the cause of a context that an interrupt cancelled.
var ErrInterrupted = errors.New("interrupted")
