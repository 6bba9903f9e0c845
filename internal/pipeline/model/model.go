package model

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"time"

	"lathe/internal/event"
	"lathe/internal/msg"
	"lathe/internal/provider"
	"lathe/internal/turn"
)

// Deps is what the stage uses of others. All but Provider may be nil.
type Deps struct {
	Provider provider.Provider
	Fallback []string // models to change to, in order, when one stays overloaded

	// Before is asked once a pass, before the first call: the guard of budgets and turn limits. Its error (a
	// *turn.Stop, say) ends the turn.
	Before func(ctx context.Context, t *turn.Turn) error
	// StartTool may start a completed call while the rest of the answer still streams. It reports whether it
	// did; an answer with a started call is never withdrawn.
	StartTool func(ctx context.Context, t *turn.Turn, call msg.Block) bool
	// Reduce makes the conversation smaller and builds Turn.Request anew. It reports whether anything changed. counted
	// is how many tokens the request had where the provider said so, else 0.
	Reduce func(ctx context.Context, t *turn.Turn, counted int) (bool, error)
	// Reducible reports whether Reduce has anything to do; it is asked before an answer is withdrawn for that.
	Reducible func(t *turn.Turn) bool
	// ReduceMedia takes images and documents out instead, for requests that were refused because of them.
	ReduceMedia func(ctx context.Context, t *turn.Turn) (bool, error)
	// Refresh gets a new credential. It reports whether there is a way to get one.
	Refresh func(ctx context.Context) (bool, error)
	// DropMismatch remembers for the session that the API is asked to drop thinking blocks that no longer fit, which
	// made it take a request. Nil: the provider cannot be asked.
	DropMismatch func(t *turn.Turn)
	// DropThinking remembers for the session that thinking blocks are not to be sent any more.
	DropThinking func(t *turn.Turn)
	// Retarget changes a request to another model: what the model can do may differ. Nil: only the name changes.
	Retarget func(t *turn.Turn, req *provider.Request, model string)
	// Slow is told that fast mode was refused, and the standard speed is asked for instead: for a while where a limit was
	// reached (after: as long as the server says), else for good. Nil: nobody is told.
	Slow func(t *turn.Turn, limit bool, after time.Duration)
	// MaxOutput is the output limit of a model, 0 if unknown.
	MaxOutput func(model string) int
	// Size estimates a request in tokens and bytes, for event.Requesting.
	Size func(req *provider.Request) (tokens, bytes int)
	// Headers are those that a request is sent with, without secrets, for the trace.
	Headers func(req *provider.Request) map[string]string
	// Sum is the checksum and the length of the body that a request was sent with, for the trace.
	Sum func(req *provider.Request) (hash string, bytes int)
	// Cost is the price of an answer in USD, for the trace.
	Cost func(model string, u msg.Usage) float64
	// Answered is told of each whole answer with the request that it answers and when that was sent.
	Answered func(t *turn.Turn, req *provider.Request, sent time.Time, u msg.Usage)

	// Spent is told of the usage of every answer, also of those that were withdrawn.
	Spent func(t *turn.Turn, model string, u msg.Usage)

	Rand  func() float64                                   // in [0,1), for jitter
	Sleep func(ctx context.Context, d time.Duration) error // returns early when ctx ends
}

// Config is the stage's numbers. Zero values mean the defaults.
type Config struct {
	MaxRetries int           // retries of one answer, of every kind: 0 the table's own numbers, -1 none; at most 15
	Idle       time.Duration // how long a stream may be silent: 300 s
	NoStream   time.Duration // how long an answer without streaming may take: 600 s
	StreamOnly bool          // never ask without streaming

	Base           time.Duration // first back-off: 500 ms; 1 s after a 429
	OverloadedBase time.Duration // first back-off after a 529: 2 s
	OverloadedMax  time.Duration // longest: 60 s
	MaxWait        time.Duration // a server that asks for a longer wait gets none: 10 min

	RaiseTo int // output limit after a cut answer: 64,000 tokens
}

// continuations is how often a cut or broken answer is gone on with.
const continuations = 3

// pauses is how often a turn that the server paused is sent on.
const pauses = 10

func (c Config) withDefaults() Config {
	set := func(d *time.Duration, v time.Duration) {
		if *d <= 0 {
			*d = v
		}
	}
	set(&c.Idle, 300*time.Second)
	set(&c.NoStream, 600*time.Second)
	set(&c.Base, 500*time.Millisecond)
	set(&c.OverloadedBase, 2*time.Second)
	set(&c.OverloadedMax, 60*time.Second)
	set(&c.MaxWait, 10*time.Minute)
	c.MaxRetries = min(c.MaxRetries, 15)
	if c.RaiseTo <= 0 {
		c.RaiseTo = 64_000
	}
	return c
}

// New returns the stage. One stage serves one session.
func New(d Deps, c Config) func(ctx context.Context, t *turn.Turn) error {
	if d.Rand == nil {
		d.Rand = rand.Float64
	}
	if d.Sleep == nil {
		d.Sleep = sleep
	}
	s := &stage{deps: d, conf: c.withDefaults()}
	return s.run
}

type stage struct {
	deps Deps
	conf Config

	mu  sync.Mutex
	cut cutCall // the last call that the output limit cut
}

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-timer.C:
		return nil
	}
}

// pass is one run of the stage: one answer, or several that belong together (continuations).
type pass struct {
	*stage
	t   *turn.Turn
	req *provider.Request // ours: changed by retries and continuations
	cur *attempt          // the running or last attempt

	blocks  []msg.Block // of the answer so far, all continuations joined
	cuts    int         // continuations after a cut
	bad     int         // continuations after calls with unusable input
	paused  int
	shrunk  bool // Reduce was called in this pass
	noMedia bool // ReduceMedia was
	lower   int  // the output limit before it was raised
	refused bool // the raised limit was refused
}

func (s *stage) run(ctx context.Context, t *turn.Turn) error {
	if s.deps.Before != nil {
		if err := s.deps.Before(ctx, t); err != nil {
			return err
		}
	}
	p := &pass{stage: s, t: t}
	p.load()
	for {
		err := p.answer(ctx)
		if err != nil {
			return p.fail(ctx, err)
		}
		again, err := p.settle(ctx)
		if err != nil {
			return p.fail(ctx, err)
		}
		if !again {
			return nil
		}
	}
}

// load takes a copy of the turn's request, whose own value belongs to normalize.
func (p *pass) load() {
	req := *p.t.Request
	p.req = &req
}

// notice tells the person something; an error means that the turn was cancelled.
func (p *pass) notice(level, text string) error {
	return p.t.Emit(event.Notice{Level: level, Text: text})
}

// withdraw takes back messages of an answer that is void: on disk by a tombstone, on screens by an event.
func (p *pass) withdraw(a *attempt, reason string) error {
	if !a.asm.started {
		return nil
	}
	var ids []string
	for _, m := range a.kept {
		ids = append(ids, m.ID)
	}
	a.kept, a.asm.started = nil, false
	if len(ids) > 0 {
		p.t.Note("withdrew %d messages of %s: %s", len(ids), a.asm.meta.ID, reason)
		if err := p.t.Append(msg.Message{Kind: msg.KindTombstone, Withdraws: ids}); err != nil {
			return err
		}
	}
	return p.t.Emit(event.Discarded{APIID: a.asm.meta.ID, IDs: ids, Reason: reason})
}

// apiError returns the provider's error in err, nil if there is none.
func apiError(err error) *provider.Error {
	var e *provider.Error
	if errors.As(err, &e) {
		return e
	}
	return nil
}
