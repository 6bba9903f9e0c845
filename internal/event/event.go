package event

import (
	"encoding/json"
	"fmt"
	"time"

	"lathe/internal/msg"
	"lathe/internal/perm"
)

// Event is a fact about the session. The set is closed; switches over it are exhaustive.
type Event interface{ event() }

// Session

// Ready says what the session is; it comes before the first event of each turn.
type Ready struct {
	Session        string
	Cwd            string
	Model          string
	PermissionMode string
	KeySource      string // where the credential comes from
	Version        string
	Tools          []string
	Commands       []string
	Agents, Skills []string
	Servers        []Server
	Plugins        []Plugin
	PluginErrors   []PluginError
	ServerErrors   []ServerError
	OutputStyle    string
	Fast           string // on, off or cooldown
	Resumed        bool
}

// Server is an MCP server and its state.
type Server struct{ Name, Status, Source string }

// Plugin is a plugin that was loaded.
type Plugin struct{ Name, Path, Version string }

// ServerError is an entry of an MCP server on the command line that was skipped.
type ServerError struct {
	Name    string `json:"name"`
	Type    string `json:"type"` // invalid_config, unknown_type, url_missing_type, reserved_name
	Message string `json:"message"`
}

// PluginError is a plugin that was not loaded.
type PluginError struct {
	Plugin  string `json:"plugin"` // inline[0], …: it has no name yet
	Type    string `json:"type"`
	Message string `json:"message"`
	Path    string `json:"path"`
}

// Status says what the session is busy with that is no answer: "compacting", or "" when that has ended, with its
// result (success, failed).
type Status struct{ Status, Result, Err string }

// Notice is something that the person should know and the model is not told.
type Notice struct {
	Level string // info, warning, error
	Text  string
	Ends  bool // nothing more happens in this turn
}

// Reply answers a Query. Err is empty on success.
type Reply struct {
	ID    string
	Value json.RawMessage
	Err   string
	Code  string // of the error, for programs; may be empty
}

// State says whether the session has work: "running" when it takes up a prompt while it was idle, "idle" when nothing
// is queued or runs any more.
type State struct{ State string }

// PromptDropped says that a queued prompt was taken back before a turn took it up.
type PromptDropped struct{ ID string }

// Turn

// TurnStarted opens a turn. TurnDone closes it.
type TurnStarted struct{ Prompt Prompt }

// StageDone is told of each stage when the session's options ask for it.
type StageDone struct {
	Stage string
	Step  int
	Dur   time.Duration
	Notes []string // what the stage did, in words
	Err   string
}

// Message is a message that was appended to the conversation and is on disk.
type Message struct{ Msg msg.Message }

// Model

// Requesting says that a model call starts.
type Requesting struct {
	Model  string
	Tokens int // estimated size of the prompt
	Bytes  int
}

// Stream is one event of the provider's stream, in Messages API form. Text is set for text and thinking deltas.
type Stream struct {
	Raw   json.RawMessage
	Text  string
	Think bool
	TTFT  time.Duration // on the first event: time since the request
}

// Discarded withdraws an unfinished answer: messages that were shown with these ids are void.
type Discarded struct {
	APIID  string
	IDs    []string
	Reason string
}

// Retry says that a call failed and will be tried again.
type Retry struct {
	Attempt, Max int
	Delay        time.Duration
	Status       int
	Category     string // see provider.Kind
	Text         string // what failed and what is done about it, without the wait
}

// Line is the text with the wait and the count of tries, for front ends that show no countdown.
func (r Retry) Line() string {
	if r.Delay <= 0 {
		return r.Text
	}
	return fmt.Sprintf("%s: trying again in %s (%d of %d)", r.Text, r.Delay.Round(100*time.Millisecond), r.Attempt, r.Max)
}

// Tools

// ToolStarted says that a permitted call runs. Its result comes as a Message.
type ToolStarted struct {
	ID, Name, Summary string
	Input             json.RawMessage
}

// ToolProgress is new output of a running tool, or, without a text, the sign that it runs on.
type ToolProgress struct {
	ID, Name string
	Text     string
	Elapsed  time.Duration
}

// ToolDone says that a call ended.
type ToolDone struct {
	ID, Name string
	Dur      time.Duration
	IsError  bool
	Decision perm.Decision
}

// Denied says that a call was refused without asking anybody.
type Denied struct {
	ID, Name string
	Input    json.RawMessage
	Decision perm.Decision
}

// Hooks

// HookStarted says that a command of the user's hooks runs. HookDone says how it ended.
type HookStarted struct{ ID, Name, Event string }

// HookDone is the end of a hook's command. Name is the event and what its matcher was compared with.
type HookDone struct {
	ID, Name, Event string
	Stdout, Stderr  string
	Code            int
	Outcome         string // success, error, cancelled
	Dur             time.Duration
}

// People

// Ask is a question to the person: may this call run?
type Ask struct {
	ID       string
	CallID   string
	Tool     string
	Input    json.RawMessage
	Summary  string
	Decision perm.Decision
	Updates  json.RawMessage // what a lasting answer could grant, as permission updates in the documented form
	Blocked  string          // the path that is in the way
	AgentID  string          // of the sub-agent whose call it is; "" for the session's own
	Server   *Server         // the MCP server that the tool belongs to; nil: none
}

// AskWithdrawn takes a question back: its answer is not waited for any more.
type AskWithdrawn struct{ ID string }

// Call asks the host for something that only it can do: run a hook of its own, pass a message to an MCP server in its
// process, show a dialog, read a file as its editor has it. The host answers with a Return of the same id. A front
// end gets only kinds that the session's options name (engine.Config.CanCall).
type Call struct {
	ID      string
	Kind    string // hook_callback, mcp_message, elicitation, request_user_dialog, fs/read_text_file, …
	Payload json.RawMessage
	CallID  string // the tool use that it belongs to, where there is one
}

// CallCancelled withdraws a Call: its answer is not waited for any more.
type CallCancelled struct{ ID string }

// State

// ModeChanged and ModelChanged report a new setting.
type (
	ModeChanged  struct{ Mode string }
	ModelChanged struct{ Model, Reason string }
)

// CommandsChanged is the list of slash commands, whole, after it changed: objects with name, description, argumentHint
// and, where there are any, aliases and builtin.
type CommandsChanged struct{ Commands json.RawMessage }

// ConversationReset says that the session goes on as another conversation: a new, empty one (trigger clear), or one
// that was there before (resume). Prompt is the id of the prompt that asked for it.
type ConversationReset struct{ New, Trigger, Prompt string }

// Suggestion is a guess at what the user may want next.
type Suggestion struct{ Text string }

// TurnDone is the turn's result.
type TurnDone struct{ Result Result }

func (Ready) event()             {}
func (Notice) event()            {}
func (Reply) event()             {}
func (PromptDropped) event()     {}
func (Status) event()            {}
func (State) event()             {}
func (TurnStarted) event()       {}
func (StageDone) event()         {}
func (Message) event()           {}
func (Requesting) event()        {}
func (Stream) event()            {}
func (Discarded) event()         {}
func (Retry) event()             {}
func (ToolStarted) event()       {}
func (ToolProgress) event()      {}
func (ToolDone) event()          {}
func (Denied) event()            {}
func (HookStarted) event()       {}
func (HookDone) event()          {}
func (Ask) event()               {}
func (AskWithdrawn) event()      {}
func (Call) event()              {}
func (CallCancelled) event()     {}
func (ModeChanged) event()       {}
func (ModelChanged) event()      {}
func (CommandsChanged) event()   {}
func (ConversationReset) event() {}
func (Suggestion) event()        {}
func (TurnDone) event()          {}
