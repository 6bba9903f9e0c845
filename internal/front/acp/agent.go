package acp

import (
	"context"
	"errors"

	"lathe/internal/event"
	"lathe/internal/msg"
)

// Agent makes the sessions that the editor asks for. Its methods may be called from several goroutines.
type Agent interface {
	// Open begins a session, or goes on with the one that Start names. It fails with an error that wraps ErrAuth when
	// no model can be called, and ErrNotFound when there is no such session.
	Open(ctx context.Context, s Start) (*Opened, error)
	// List tells of the sessions of a directory, of all when cwd is empty, the newest first.
	List(ctx context.Context, cwd string) ([]Listed, error)
	// Delete removes a session that is not open for good.
	Delete(ctx context.Context, id string) error
	// Authenticate looks whether a model can be called by now. Its error wraps ErrAuth when not.
	Authenticate(ctx context.Context) error
}

// Errors that the editor is told with a code of their own.
var (
	ErrAuth     = errors.New("authentication required")
	ErrNotFound = errors.New("session not found")
)

// Start is what a session begins with.
type Start struct {
	ID      string // of the session to go on with; empty: a new one
	Cwd     string // absolute
	Dirs    []string
	Servers []Server
	// Calls reports which kinds of event.Call the editor answers.
	Calls func(kind string) bool
}

// Server is an MCP server that the editor brings along.
type Server struct {
	Type    string // stdio, http, sse
	Name    string
	Command string
	Args    []string
	Env     []Pair
	URL     string
	Headers []Pair
}

// Pair is a name with its value.
type Pair struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Opened is a session that runs.
type Opened struct {
	ID      string
	Conn    event.Conn
	History []msg.Message // of a session that is gone on with, oldest first
	Close   func()        // ends it and waits for that
}

// Listed is a session that could be gone on with.
type Listed struct {
	ID, Cwd, Title string
	Updated        string // RFC 3339
}
