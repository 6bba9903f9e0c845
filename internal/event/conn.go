package event

import (
	"context"
	"iter"
	"time"
)

// Envelope is an event with its place in the session.
type Envelope struct {
	Seq     uint64 // from 1, no gaps
	Time    time.Time
	Session string
	Turn    string // empty outside a turn
	Parent  string // tool-use id of the Agent call, when a sub-agent speaks
	Agent   Agent  // the sub-agent that speaks; zero for the session itself
	Event   Event
}

// Agent names a sub-agent: its id, its type, and what it was asked to do in a few words.
type Agent struct {
	ID, Type, Task string
	Dir            string // its own work tree; "": it works where the session does
}

// Conn is all that a front end knows of a session.
//
// Every subscriber gets every event in order. A slow subscriber slows the producer: nothing is dropped or
// merged. What the events report as finished (messages) is on disk before it is delivered. After Discarded a
// front end throws away the named unfinished answer. Events that happen before the first subscriber came wait
// for it. Events ends when the session is closed or ctx ends; breaking out of the loop unsubscribes, and when
// the last subscriber leaves, a running turn is interrupted.
type Conn interface {
	// Send queues an op. It does not wait for its effect. It fails when the session is closed.
	Send(ctx context.Context, op Op) error
	Events(ctx context.Context) iter.Seq2[Envelope, error]
}
