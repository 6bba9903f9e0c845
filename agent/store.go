package agent

import "lathe/internal/session"

// Store keeps sessions. A program that has a place of its own for them implements it:
//
//	Create(id, dir string) (Log, error)         a new session; ErrExists
//	Open(id string) (*State, Log, error)        what a session was, and its log; ErrNotFound
//	List(dir string) ([]Meta, error)            the newest first; of all directories when dir is empty
//
// State.Messages are all that were appended, in order; State.Frozen and State.Kept what was frozen and kept last. All of
// it keeps its form through encoding/json.
type Store = session.Store

// Log is what a session is appended to:
//
//	ID() string
//	Path() string                               of a file, for people; empty: there is none
//	Append(m ...Message) error                  when it returns, the messages are kept
//	Freeze(f Frozen) error                      what is sent at the start of each request; the last one counts
//	Keep(kind string, v any) error              a small state record; the last one of a kind counts
//	Close() error
type Log = session.Log

// Types of a Store.
type (
	// State is what a session is resumed from: Meta, Messages, Frozen, and Kept by kind.
	State = session.State
	// Meta is what is known of a session without reading all of it: ID, Dir, Created, Modified, Title, Prompt.
	Meta = session.Meta
	// Frozen is the system prompt and the tools of a session, which are sent again byte for byte.
	Frozen = session.Frozen
	// Memory is a Store that lives as long as the program; its zero value is ready.
	Memory = session.Memory
)

// Errors of a Store.
var (
	ErrNotFound = session.ErrNotFound
	ErrExists   = session.ErrExists
)
