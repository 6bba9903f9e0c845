package agent

import (
	"encoding/json"
	"time"

	"lathe/internal/event"
	"lathe/internal/msg"
)

// Event is something that happened. Programs switch on its type and pass over those that they do not know: more may
// come. Agent is the id of the Agent call whose sub-agent speaks; empty: the session itself.
type Event interface{ agentEvent() }

// Started opens a turn.
type Started struct {
	Session, Model, Mode string
	Dir                  string
	Tools                []string
}

// Text is a piece of the answer, or of the thinking before it, as it comes.
type Text struct {
	Text     string
	Thinking bool
	Agent    string
}

// Discarded says that the pieces since the last Appended are void: the answer was cut off and is asked for again.
type Discarded struct {
	Reason string
	Agent  string
}

// Appended is a message that was added to the conversation and is kept.
type Appended struct {
	Message Message
	Agent   string
}

// ToolStarted says that a call runs, ToolOutput what it has printed since, ToolDone how it ended.
type (
	ToolStarted struct {
		ID, Name, Summary string
		Input             json.RawMessage
		Agent             string
	}
	ToolOutput struct {
		ID, Name, Text string
		Agent          string
	}
	ToolDone struct {
		ID, Name string
		Failed   bool
		Text     string          // what the model is told
		Output   json.RawMessage // the same for programs; nil: there is none
		Agent    string
	}
)

// Denied says that a call was refused without asking.
type Denied struct {
	ID, Name string
	Input    json.RawMessage
	Reason   string
	Agent    string
}

// Retry says that a model call failed and is tried again.
type Retry struct {
	Attempt, Max int
	Delay        time.Duration
	Text         string
}

// Notice is something that a person should know. Level is info, warning or error.
type Notice struct{ Level, Text string }

// Done ends a turn. It is the last event.
type Done struct{ Result Result }

func (Started) agentEvent()     {}
func (Text) agentEvent()        {}
func (Discarded) agentEvent()   {}
func (Appended) agentEvent()    {}
func (ToolStarted) agentEvent() {}
func (ToolOutput) agentEvent()  {}
func (ToolDone) agentEvent()    {}
func (Denied) agentEvent()      {}
func (Retry) agentEvent()       {}
func (Notice) agentEvent()      {}
func (Done) agentEvent()        {}

// Message is a message of the conversation. Kind is user, assistant, attachment, system, summary or tombstone; Blocks
// are its content. A user's message with tool results has ToolOutput. It keeps its form through encoding/json.
type Message = msg.Message

// Block is one block of a message: Type is text, thinking, tool_use, tool_result, image, document or another of the
// Messages API.
type Block = msg.Block

// Result is how a turn ended. Subtype is success or one of the error_ kinds, IsError says whether it failed, Text is the
// answer, Errors what went wrong; Structured is the answer that fits Options.Schema. Cost is in USD, of the whole session,
// as is ModelUsage; Usage and Turns are of this turn. Terminal says what ended it in one word.
type Result = event.Result

// Usage counts tokens.
type Usage = msg.Usage

// convert turns an event of the engine into ours; nil: there is none for it.
func (s *Session) convert(env event.Envelope) []Event {
	switch e := env.Event.(type) {
	case event.Ready:
		if env.Parent == "" {
			return []Event{Started{Session: e.Session, Model: e.Model, Mode: e.PermissionMode, Dir: e.Cwd, Tools: e.Tools}}
		}
	case event.Stream:
		if e.Text != "" {
			return []Event{Text{e.Text, e.Think, env.Parent}}
		}
	case event.Discarded:
		return []Event{Discarded{e.Reason, env.Parent}}
	case event.Message:
		return append(s.results(env.Parent, e.Msg), Appended{e.Msg, env.Parent})
	case event.ToolStarted:
		return []Event{ToolStarted{e.ID, e.Name, e.Summary, e.Input, env.Parent}}
	case event.ToolProgress:
		if e.Text == "" {
			return nil
		}
		return []Event{ToolOutput{e.ID, e.Name, e.Text, env.Parent}}
	case event.Denied:
		return []Event{Denied{e.ID, e.Name, e.Input, e.Decision.Reason, env.Parent}}
	case event.Retry:
		return []Event{Retry{e.Attempt, e.Max, e.Delay, e.Text}}
	case event.Notice:
		return []Event{Notice{e.Level, e.Text}}
	case event.TurnDone:
		if env.Parent == "" {
			return []Event{Done{e.Result}}
		}
	}
	return nil
}

// results are the ends of calls that a message tells of.
func (s *Session) results(parent string, m msg.Message) []Event {
	var out []Event
	for _, b := range m.Blocks {
		switch b.Type {
		case msg.TypeToolUse:
			s.names[b.ID] = b.Name
		case msg.TypeToolResult:
			out = append(out, ToolDone{
				ID: b.ToolUseID, Name: s.names[b.ToolUseID], Failed: b.IsError, Text: msg.JoinText(b.Content), Output: m.ToolOutput, Agent: parent,
			})
			delete(s.names, b.ToolUseID)
		}
	}
	return out
}
