package engine

import (
	"context"
	"errors"
	"iter"
	"sync"
	"time"

	"lathe/internal/event"
	"lathe/internal/turn"
)

// ErrClosed is returned by Send after the session was closed.
var ErrClosed = errors.New("the session is closed")

// Conn serves front ends that stay: it owns the goroutine that runs turns one after the other.
type Conn struct {
	s    *Session
	ctx  context.Context
	stop context.CancelFunc

	order chan struct{} // capacity 1, held from an event's number to its last subscriber: events come in the order of their numbers

	mu      sync.Mutex
	subs    map[*subscriber]struct{}
	arrived chan struct{} // closed when the first subscriber came
	work    chan struct{} // capacity 1: something was queued or Close was asked for
	closed  bool
	queries sync.WaitGroup
	asked   map[string]*asked // queries that are not answered, by their id
	done    chan struct{}     // closed when the loop has ended
}

// asked is a query that is being answered.
type asked struct {
	cancel    context.CancelFunc
	withdrawn bool
}

// subscriber is one reader of the events.
type subscriber struct {
	ch   chan item
	gone chan struct{} // closed when it has left
}

// ahead is how many events a turn may run ahead of who reads them. Deltas come in bursts, and to change between
// goroutines for each of them would cost more than all else that is done with it.
const ahead = 64

type item struct {
	env event.Envelope
	err error
}

var _ event.Conn = (*Conn)(nil)

// Connect starts the session's loop. The caller must Close it, or cancel ctx, and Wait.
func (s *Session) Connect(ctx context.Context) *Conn {
	ctx, stop := context.WithCancel(ctx)
	c := &Conn{
		s: s, ctx: ctx, stop: stop, subs: map[*subscriber]struct{}{}, asked: map[string]*asked{},
		order: make(chan struct{}, 1), arrived: make(chan struct{}), work: make(chan struct{}, 1), done: make(chan struct{}),
	}
	s.calls.connect(ctx, c.ask)
	s.outlet.connect(c)
	go c.loop()
	return c
}

// Wait returns when the loop has ended.
func (c *Conn) Wait() { <-c.done }

// Send queues an op. A closed session takes no prompts and queries any more, but its last turn may still be answered
// and interrupted.
func (c *Conn) Send(_ context.Context, op event.Op) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		switch op.(type) {
		case event.Prompt, event.Query:
			return ErrClosed
		}
	}
	switch o := op.(type) {
	case event.Prompt:
		if o.ID == "" {
			o.ID = c.s.cfg.NewID()
		}
		c.s.Queue(o)
		c.wake()
	case event.Interrupt:
		if o.DropQueued {
			c.s.TakeQueued()
			if b := c.s.cfg.Background; b != nil {
				b.Stop()
			}
		}
		c.s.Interrupt(turn.ErrInterrupted)
	case event.Answer:
		c.s.Answer(o)
	case event.SetMode:
		c.s.SetMode(o.Mode)
	case event.SetModel:
		c.s.SetModel(o.Model)
	case event.Query:
		ctx, cancel := context.WithCancel(c.ctx)
		a := &asked{cancel: cancel}
		c.asked[o.ID] = a
		c.queries.Go(func() { c.query(ctx, o, a) })
	case event.Withdraw:
		if a := c.asked[o.ID]; a != nil {
			a.withdrawn = true
			a.cancel()
		}
	case event.Return:
		c.s.calls.answer(o)
	case event.Close:
		c.closed = true
		c.wake()
	}
	return nil
}

// Followed is an answer to a query with events that are told right before it and behind it; nil: none.
type Followed struct {
	First event.Event
	Value any
	Then  event.Event
}

// query answers a query, for whoever is subscribed once the first one has come.
func (c *Conn) query(ctx context.Context, q event.Query, a *asked) {
	told := c.reply(ctx, q)
	a.cancel()
	c.mu.Lock()
	if c.asked[q.ID] == a {
		delete(c.asked, q.ID)
	}
	withdrawn := a.withdrawn
	c.mu.Unlock()
	if withdrawn {
		return
	}
	select {
	case <-c.arrived:
		for _, e := range told {
			if e != nil {
				c.tell("", event.Envelope{Event: e})
			}
		}
	case <-c.ctx.Done():
	}
}

// reply answers a query, and gives what is told of it, in order. The goroutine that runs it is joined when the loop ends.
func (c *Conn) reply(ctx context.Context, q event.Query) []event.Event {
	if c.s.cfg.Query == nil {
		return []event.Event{event.Reply{ID: q.ID, Err: "this session answers no queries"}}
	}
	v, err := c.s.cfg.Query(ctx, q.Kind, q.Payload)
	if err != nil {
		r := event.Reply{ID: q.ID, Err: err.Error()}
		var coded interface{ Code() string }
		if errors.As(err, &coded) {
			r.Code = coded.Code()
		}
		return []event.Event{r}
	}
	f, ok := v.(Followed)
	if !ok {
		f.Value = v
	}
	return []event.Event{f.First, event.Reply{ID: q.ID, Value: event.Encode(f.Value)}, f.Then}
}

func (c *Conn) wake() {
	select {
	case c.work <- struct{}{}:
	default:
	}
}

// loop runs queued prompts as turns until the session is closed.
func (c *Conn) loop() {
	defer close(c.done)
	defer c.stop()
	defer c.shut()
	select {
	case <-c.arrived:
	case <-c.ctx.Done():
		return
	}
	busy := false
	var closed time.Time
	for {
		if p, ctx, cancel := c.next(); cancel != nil {
			if !busy {
				busy = true
				c.tell("", event.Envelope{Event: event.State{State: "running"}})
			}
			if err := c.s.turn(ctx, p, c.tell); err != nil {
				c.publish(item{err: err})
			}
			cancel(nil)
			continue
		}
		if busy && !c.s.works() {
			busy = false
			c.tell("", event.Envelope{Event: event.State{State: "idle"}})
			continue // a prompt may have come meanwhile
		}
		if !c.pause(&closed) {
			return
		}
	}
}

// pause waits until there may be something to do again. It reports false when the session is over: it was closed, and
// no work outside turns is worth waiting for any more, or its context has ended. closed is when it first saw that.
func (c *Conn) pause(closed *time.Time) bool {
	c.mu.Lock()
	over := c.closed
	c.mu.Unlock()
	var limit <-chan time.Time
	if over {
		if c.s.Waiting() {
			return true // it came between the last look and the end
		}
		if closed.IsZero() {
			*closed = time.Now()
		}
		wait := time.Duration(0)
		if b := c.s.cfg.Background; b != nil {
			wait = b.Linger(time.Since(*closed))
		}
		if wait <= 0 {
			return false
		}
		timer := time.NewTimer(wait)
		defer timer.Stop()
		limit = timer.C
	}
	select {
	case <-c.work:
	case <-limit:
	case <-c.ctx.Done():
		return false
	}
	return true
}

// next takes the oldest prompt, or the one that ended background work asks for, with the context of its turn, which an
// interrupt ends from here on: between the queue and the turn's start there is no moment at which one would be lost.
// cancel is nil when there is no prompt.
func (c *Conn) next() (p event.Prompt, ctx context.Context, cancel context.CancelCauseFunc) {
	if c.ctx.Err() != nil {
		return p, nil, nil
	}
	b := c.s.cfg.Background
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	switch {
	case len(c.s.queue) > 0:
		p = c.s.queue[0]
		c.s.queue = c.s.queue[1:]
	case b == nil:
		return p, nil, nil
	default:
		c.s.mu.Unlock()
		follow, ok := b.Next()
		c.s.mu.Lock()
		if !ok {
			return p, nil, nil
		}
		p = follow
	}
	ctx, cancel = context.WithCancelCause(c.ctx)
	c.s.cancel = cancel
	return p, ctx, cancel
}

// ask hands a question for the host to whoever is subscribed, once the first one has come, unless ctx ends before. It
// reports whether anybody was.
func (c *Conn) ask(ctx context.Context, e event.Event) bool {
	select {
	case <-c.arrived:
	case <-ctx.Done():
		return false
	case <-c.ctx.Done():
		return false
	}
	c.mu.Lock()
	somebody := len(c.subs) > 0
	c.mu.Unlock()
	return somebody && c.s.Relay(event.Envelope{Event: e}) == nil // in its place among what a turn has told
}

// pass hands on an event from outside the turns.
func (c *Conn) pass(e event.Envelope) {
	select {
	case <-c.arrived:
		e.Session = "" // the one of this moment
		c.tell("", e)
	case <-c.ctx.Done():
	}
}

// tell gives an event its number and hands it to every subscriber.
func (c *Conn) tell(turnID string, e event.Envelope) bool {
	c.order <- struct{}{}
	defer func() { <-c.order }()
	c.publish(item{env: c.s.stamp(turnID, e)})
	return true
}

// publish hands an item to every subscriber and waits for each.
func (c *Conn) publish(it item) {
	c.mu.Lock()
	subs := make([]*subscriber, 0, len(c.subs))
	for s := range c.subs {
		subs = append(subs, s)
	}
	c.mu.Unlock()
	for _, s := range subs {
		select {
		case s.ch <- it:
		case <-s.gone:
		}
	}
}

// Events yields the session's events from now on; the first subscriber misses nothing.
func (c *Conn) Events(ctx context.Context) iter.Seq2[event.Envelope, error] {
	return func(yield func(event.Envelope, error) bool) {
		s := &subscriber{ch: make(chan item, ahead), gone: make(chan struct{})}
		c.mu.Lock()
		c.subs[s] = struct{}{}
		first := len(c.subs) == 1
		if first {
			select {
			case <-c.arrived:
			default:
				close(c.arrived)
			}
		}
		c.mu.Unlock()
		defer c.leave(s)
		for {
			select {
			case it := <-s.ch:
				if !yield(it.env, it.err) {
					return
				}
			case <-c.done:
				s.rest(yield)
				return
			case <-ctx.Done():
				yield(event.Envelope{}, context.Cause(ctx))
				return
			}
		}
	}
}

// rest yields what was published before the loop ended.
func (s *subscriber) rest(yield func(event.Envelope, error) bool) {
	for {
		select {
		case it := <-s.ch:
			if !yield(it.env, it.err) {
				return
			}
		default:
			return
		}
	}
}

// leave unsubscribes; when nobody is left, the running turn is interrupted.
func (c *Conn) leave(s *subscriber) {
	close(s.gone)
	c.mu.Lock()
	delete(c.subs, s)
	last := len(c.subs) == 0
	c.mu.Unlock()
	if last {
		c.s.calls.abandon()
		c.s.Interrupt(turn.ErrInterrupted)
	}
}

// shut takes no more prompts and queries, also where the context ended without Close, and waits for the queries that run.
func (c *Conn) shut() {
	c.mu.Lock()
	c.closed = true
	c.mu.Unlock()
	c.queries.Wait()
}
