package msg

import (
	"encoding/json"
	"time"
)

// Kind says what a message is and whether it reaches the model (see Message.ForModel).
type Kind string

// The kinds of messages. Their zero value is invalid.
const (
	KindUser       Kind = "user"       // typed text, images, documents, or tool results
	KindAssistant  Kind = "assistant"  // one finished block of an answer, or several
	KindAttachment Kind = "attachment" // context that the program adds by itself (stage 3)
	KindSystem     Kind = "system"     // notices; never sent to the model
	KindSummary    Kind = "summary"    // replaces what stands before a compact boundary
	KindTombstone  Kind = "tombstone"  // withdraws earlier messages, named in Withdraws
)

// Subtypes of system messages.
const (
	SubCompactBoundary = "compact_boundary"
	SubLocalCommand    = "local_command"
	SubInformational   = "informational"
	SubTurnDuration    = "turn_duration"
)

// Role is a role of the Messages API.
type Role string

// The two roles.
const (
	RoleUser      Role = "user"
	RoleAssistant Role = "assistant"
)

// SourceCommand is the Source of the user message with the text that a typed command stands for.
const SourceCommand = "command"

// Message is one element of a conversation's append-only list. It is never changed after it was appended.
//
// An answer of the model is stored as one Message for each finished block, all with the same APIID, so that a
// finished block is on disk at once; normalisation joins them again.
type Message struct {
	ID     string // uuid
	Parent string // uuid of the message before it; empty at a root
	Kind   Kind
	Time   time.Time
	Blocks []Block

	// Assistant messages.
	APIID      string // the API's message id; equal on all blocks of one answer
	Model      string
	StopReason string // empty on all but the last block of an answer
	RequestID  string
	Usage      *Usage // counted once for each APIID, the last one wins
	Partial    bool   // more blocks of the answer may follow: Usage is not final
	Aborted    bool   // cut off by an interrupt
	APIError   string // made by the program to show an API failure: the error's category

	// User messages that carry tool results.
	ToolOutput      json.RawMessage // structured output of the tool, for front ends and viewers
	SourceAssistant string          // uuid of the assistant message that asked

	// Attachments.
	Source string // name of the stage 3 source, such as "memory"
	Key    string // what exactly was attached (a path and hash, say), so that it is attached once

	// System messages.
	Subtype string
	Level   string          // info, notice, warning, error
	Extra   json.RawMessage // fields of the subtype, an object

	Withdraws []string // tombstones: uuids of the withdrawn messages

	Meta           bool // made by the program, hidden from the user
	TranscriptOnly bool // shown in the transcript view only
	Virtual        bool // front end only, never sent, never stored
	Sidechain      bool // belongs to a sub-agent
}

// ForModel reports whether messages of this kind are part of what the model is sent. Whether a single message
// is depends on Virtual and on tombstones too.
func (m Message) ForModel() bool {
	switch m.Kind {
	case KindUser, KindAssistant, KindAttachment, KindSummary:
		return !m.Virtual
	}
	return false
}

// Role is the API role that the message is sent under.
func (m Message) Role() Role {
	if m.Kind == KindAssistant {
		return RoleAssistant
	}
	return RoleUser
}

// Text joins the text blocks of the message.
func (m Message) Text() string { return JoinText(m.Blocks) }

// JoinText joins the text of text blocks, nothing between them.
func JoinText(blocks []Block) string {
	var s string
	for _, b := range blocks {
		if b.Type == TypeText {
			s += b.Text
		}
	}
	return s
}

// ToolUses returns the tool_use blocks of the message.
func (m Message) ToolUses() []Block {
	var out []Block
	for _, b := range m.Blocks {
		if b.Type == TypeToolUse {
			out = append(out, b)
		}
	}
	return out
}
