package mcp

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"
)

// server is an entry and its connection.
type server struct {
	set   *Set
	cfg   Config
	named bool // Replace named it; of the set's lock

	mu      sync.Mutex
	state   State
	problem string
	failure error         // of the last attempt to connect
	settled chan struct{} // closed while the state is not Pending
	gone    bool          // it was taken out of the set, and never connects again
	turn    int           // counts beginnings and ends: what belongs to an earlier one is dropped
	cancel  context.CancelFunc
	conn    *connection // nil unless Connected
	notes   *tail       // of the last process
}

func newServer(s *Set, c Config) *server {
	return &server{set: s, cfg: c, state: Pending, settled: make(chan struct{}), notes: &tail{}}
}

// settle closes the channel; the caller holds the lock, or nobody else knows the server yet.
func (sv *server) settle() {
	select {
	case <-sv.settled:
	default:
		close(sv.settled)
	}
}

// unsettle makes a new channel where the old one is closed: who waits on one that is open waits on. The caller holds the lock.
func (sv *server) unsettle() {
	select {
	case <-sv.settled:
		sv.settled = make(chan struct{})
	default:
	}
}

func (sv *server) settledChan() <-chan struct{} {
	sv.mu.Lock()
	defer sv.mu.Unlock()
	return sv.settled
}

// begin connects in the background. A server that was switched off stays so.
func (sv *server) begin() {
	sv.mu.Lock()
	if sv.state != Pending || sv.gone {
		sv.mu.Unlock()
		return
	}
	ctx, turn := sv.next()
	sv.mu.Unlock()
	sv.set.spawn(func() { sv.connect(ctx, turn, 0) })
}

// next starts a new turn. The caller holds the lock.
func (sv *server) next() (context.Context, int) {
	if sv.cancel != nil {
		sv.cancel()
	}
	sv.turn++
	var ctx context.Context
	ctx, sv.cancel = context.WithCancel(sv.set.ctx)
	return ctx, sv.turn
}

// restart ends the connection and begins anew; it returns how that went. With lost it does so only while that is still the
// connection: of several calls that see it lost only one replaces it, and the others wait for what that one gets.
func (sv *server) restart(ctx context.Context, lost *connection) error {
	sv.mu.Lock()
	if !sv.gone && (lost == nil || lost == sv.conn) {
		conn := sv.conn
		sv.conn, sv.state, sv.problem = nil, Pending, ""
		sv.unsettle()
		fresh, turn := sv.next()
		sv.mu.Unlock()
		if conn != nil {
			conn.close()
		}
		sv.set.spawn(func() { sv.connect(fresh, turn, 0) })
		sv.mu.Lock()
	}
	settled := sv.settled
	sv.mu.Unlock()
	select {
	case <-settled:
	case <-ctx.Done():
		return fmt.Errorf("it is still connecting: %w", context.Cause(ctx))
	case <-sv.set.ctx.Done():
		return errEnded
	}
	st := sv.status()
	if st.State != Connected {
		return errors.New(or(st.Error, string(st.State)))
	}
	return nil
}

var errEnded = errors.New("the session has ended")

// end ends the connection, or the attempt to make one. The state is not Pending.
func (sv *server) end(state State, why string) {
	sv.mu.Lock()
	if sv.cancel != nil {
		sv.cancel()
		sv.cancel = nil
	}
	sv.turn++
	conn := sv.conn
	sv.conn, sv.state, sv.problem = nil, state, why
	sv.settle()
	sv.mu.Unlock()
	if conn != nil {
		conn.close()
	}
}

// connect makes the connection of a turn. lost is how often it was tried again after a connection was lost; 0 is the
// first connection.
func (sv *server) connect(ctx context.Context, turn, lost int) {
	slots := sv.set.local
	if sv.cfg.Remote() {
		slots = sv.set.remote
	}
	select {
	case slots <- struct{}{}:
	case <-ctx.Done():
		return
	}
	conn, err := sv.try(ctx, lost)
	<-slots
	sv.mu.Lock()
	if sv.turn != turn { // it was ended meanwhile
		sv.mu.Unlock()
		if conn != nil {
			conn.close()
		}
		return
	}
	sv.failure = err
	switch {
	case err == nil:
		sv.state, sv.problem, sv.conn = Connected, "", conn
		conn.noticed = make(chan struct{})
		sv.set.spawn(func() { sv.watch(conn, turn) })
	case errors.Is(err, errNeedsAuth):
		sv.state, sv.problem = NeedsAuth, "it asks for a sign-in: run lathe mcp login "+sv.cfg.Name+", then /mcp reconnect "+sv.cfg.Name
	default:
		sv.state, sv.problem = Failed, err.Error()
	}
	sv.settle()
	sv.mu.Unlock()
	sv.set.changed(sv.cfg.Name)
}

// try connects, more than once where a network lies between.
func (sv *server) try(ctx context.Context, lost int) (*connection, error) {
	tries := 1
	switch {
	case lost > 0:
		tries = retries
	case sv.cfg.Remote():
		tries = firstTries
	}
	delay := sv.set.deps.retryDelay
	for i := 1; ; i++ {
		if lost > 0 || i > 1 {
			select {
			case <-time.After(delay):
				delay *= 2
			case <-ctx.Done():
				return nil, context.Cause(ctx)
			}
		}
		limit := sv.set.milliseconds("MCP_TIMEOUT", startTime)
		limited, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("it did not answer within %s (MCP_TIMEOUT)", limit))
		conn, err := sv.open(limited)
		if err != nil && limited.Err() != nil && ctx.Err() == nil {
			err = context.Cause(limited)
		}
		cancel()
		if err == nil || ctx.Err() != nil || i >= tries || errors.Is(err, errNeedsAuth) || !transient(err) {
			return conn, err
		}
	}
}

// transientError marks failures that may pass by themselves.
type transientError struct{ error }

func (e transientError) Unwrap() error { return e.error }

func transient(err error) bool { return errors.As(err, new(transientError)) }

// watch waits for the end of a connection that nobody asked for.
func (sv *server) watch(conn *connection, turn int) {
	conn.wait()
	defer close(conn.noticed)
	sv.mu.Lock()
	if sv.turn != turn {
		sv.mu.Unlock()
		return
	}
	again := sv.cfg.Remote() && sv.set.ctx.Err() == nil
	sv.conn, sv.state, sv.problem = nil, Failed, "its connection broke; /mcp reconnect "+sv.cfg.Name+" starts it again"
	var ctx context.Context
	if again {
		sv.state, sv.problem = Pending, "the connection was lost and is being made again"
		sv.unsettle()
		ctx, turn = sv.next()
	}
	sv.mu.Unlock()
	if !again {
		why := conn.lostText() // takes a moment
		sv.mu.Lock()
		if sv.turn == turn {
			sv.problem = why + "; /mcp reconnect " + sv.cfg.Name + " starts it again"
		}
		sv.mu.Unlock()
	}
	conn.close()
	sv.set.changed(sv.cfg.Name)
	if again {
		sv.set.spawn(func() { sv.connect(ctx, turn, 1) })
	}
}

// ready returns the connection. It waits a while for one that is being made.
func (sv *server) ready(ctx context.Context) (*connection, error) {
	timer := time.NewTimer(lateTime)
	defer timer.Stop()
	select {
	case <-sv.settledChan():
	case <-timer.C:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	case <-sv.set.ctx.Done():
		return nil, errEnded
	}
	sv.mu.Lock()
	defer sv.mu.Unlock()
	switch {
	case sv.conn != nil:
		return sv.conn, nil
	case sv.state == Pending:
		return nil, fmt.Errorf("the MCP server %q is still connecting; try again later", sv.cfg.Name)
	}
	return nil, fmt.Errorf("the MCP server %q is not connected: %s", sv.cfg.Name, or(sv.problem, string(sv.state)))
}

func (sv *server) status() Status {
	sv.mu.Lock()
	defer sv.mu.Unlock()
	st := Status{Config: sv.cfg, State: sv.state, Error: sv.problem, Log: sv.notes.String(), Unproven: sv.state == Failed && errors.As(sv.failure, new(unprovenError))}
	if c := sv.conn; c != nil {
		st.Server, st.Version, st.Protocol, st.Instructions = c.name, c.version, c.protocol, c.instructions
		c.mu.Lock()
		st.Tools, st.Prompts, st.Resources, st.Withheld = c.tools, c.prompts, c.resources, slices.Clone(c.withheld)
		c.mu.Unlock()
		if c.changed {
			st.Withheld = append(st.Withheld, "instructions")
		}
	}
	return st
}

func (sv *server) toolList() []Tool {
	sv.mu.Lock()
	c := sv.conn
	sv.mu.Unlock()
	if c == nil {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.tools
}
