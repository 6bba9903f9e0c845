package session

import (
	"encoding/json"
	"errors"
	"time"

	"lathe/internal/msg"
)

// ErrNotFound is wrapped by errors for a session that does not exist.
var ErrNotFound = errors.New("no such session")

// ErrExists is wrapped by errors for a new session whose chosen id is taken.
var ErrExists = errors.New("session exists")

// ErrAmbiguous is wrapped by errors for a name that several sessions have.
var ErrAmbiguous = errors.New("several sessions match")

// Meta is what is known of a session without reading all of it.
type Meta struct {
	ID       string
	Path     string // of its file, absolute
	Dir      string // working directory
	Created  time.Time
	Modified time.Time
	Title    string
	Prompt   string // first prompt, shortened
	Branch   string
	Headless bool // begun and last used without a terminal (print mode, an SDK)
}

// Frozen is what was sent at the start of the session and is sent again unchanged: the system prompt and the
// tool definitions. Stored with the session, it makes a resumed request the same bytes.
type Frozen struct {
	System []msg.Block   `json:"system"`
	Tools  []msg.ToolDef `json:"tools"`
	Model  string        `json:"model,omitempty"`
	Static int           `json:"static,omitempty"` // number of system blocks before the boundary
	Dir    string        `json:"dir,omitempty"`    // working directory that the system prompt names
}

// State is what a resumed session starts from.
type State struct {
	Meta     Meta
	Messages []msg.Message              // the live branch, oldest first
	Frozen   *Frozen                    // nil when nothing was sent yet, or by another program
	Kept     map[string]json.RawMessage // the last state record of each kind of ours (see Log.Keep)
	Notes    []string                   // what was repaired or skipped while reading, for the user

	// Earlier reads what stands before the compact boundary that Messages begins with, oldest first, for those
	// who show the past; requests never need it. It is nil when there is nothing.
	Earlier func() ([]msg.Message, error)
}

// Log appends to one session. It is safe for concurrent use. When Append returns, the records have been handed
// to the operating system whole; a crash can tear only the last line, which readers survive.
type Log interface {
	ID() string
	Path() string // empty when nothing is kept
	Append(m ...msg.Message) error
	Freeze(f Frozen) error
	// Keep stores a small state record (the mode, a title, cost so far); the last one of a kind wins.
	Keep(kind string, v any) error
	Close() error
}

// Syncer is a Log that can put what was appended on the medium itself, as at the end of a turn. Append alone
// survives the end of the process; Sync survives the loss of power.
type Syncer interface {
	Sync() error
}
