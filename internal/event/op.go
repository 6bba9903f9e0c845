package event

import (
	"encoding/json"
	"strings"

	"lathe/internal/msg"
)

// Op is what a front end asks of the engine.
type Op interface{ op() }

// Prompt starts a turn, or is queued when one runs; a queued prompt enters at the next pass of the loop.
type Prompt struct {
	ID      string      // uuid of the user message; made when empty
	Text    string      // as typed
	Blocks  []msg.Block // further content: images, documents
	Images  []string    // paths of images to attach
	NoQuery bool        // add to the conversation without a turn
	Literal bool        // no slash commands, no @ mentions
	// Typed is how much of Text, in bytes, the user wrote; the rest was passed on (piped in), and mentions in it mean
	// nothing. 0: all; below 0: nothing, all was passed on.
	Typed int
	// Origin says what asks, where that is no person: "task-notification", when background work has ended.
	Origin string
}

// Empty reports whether there is nothing in the prompt.
func (p Prompt) Empty() bool {
	return strings.TrimSpace(p.Text) == "" && len(p.Blocks)+len(p.Images) == 0
}

// Interrupt stops the running turn; what was queued stays queued unless DropQueued.
type Interrupt struct{ DropQueued bool }

// Answer answers an Ask.
type Answer struct {
	ID      string // of the Ask
	Allow   bool
	Message string          // to the model, when refused
	Input   json.RawMessage // changed input, when allowed; nil: as asked
	Stop    bool            // refused, and the turn ends here
	// Save makes an allowed answer last: the rules that the question suggested, exactly, are kept for the session, or
	// in the local, project or user settings. Empty: this call only.
	Save Scope
	// Updates are permission updates in the documented form, for hosts that grant more than was suggested.
	Updates json.RawMessage
}

// Scope says for how long and for whom a lasting answer holds.
type Scope string

// The scopes of a lasting answer.
const (
	SaveSession Scope = "session"
	SaveLocal   Scope = "local"
	SaveProject Scope = "project"
	SaveUser    Scope = "user"
)

// SetMode changes the permission mode, SetModel the model, from the next pass on.
type (
	SetMode  struct{ Mode string }
	SetModel struct{ Model string }
)

// Query asks the session for something by name, or changes a setting that may be refused; the answer is a Reply with
// the same ID. What there is to ask is documented with the front ends that offer it.
type Query struct {
	ID      string
	Kind    string
	Payload json.RawMessage
}

// Withdraw takes back a Query that was not answered yet: what it waits for ends, and there is no Reply.
type Withdraw struct{ ID string }

// HostGone is the error of a Return for a question that the host cannot be asked any more.
const HostGone = "the host has gone"

// Return answers a Call. Err is empty on success.
type Return struct {
	ID    string
	Value json.RawMessage
	Err   string
}

// Close ends the session after the running turn.
type Close struct{}

func (Prompt) op()    {}
func (Interrupt) op() {}
func (Answer) op()    {}
func (SetMode) op()   {}
func (SetModel) op()  {}
func (Query) op()     {}
func (Withdraw) op()  {}
func (Return) op()    {}
func (Close) op()     {}
