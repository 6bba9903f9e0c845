package acp

import "encoding/json"

// The protocol's types, as far as they are used. Fields that are not named here are passed over when they come, and
// kinds that are not known are handled by what does not need to know them.

const protocolVersion = 1

type initializeParams struct {
	ProtocolVersion    int                `json:"protocolVersion"`
	ClientCapabilities clientCapabilities `json:"clientCapabilities"`
}

type clientCapabilities struct {
	FS struct {
		Read  bool `json:"readTextFile"`
		Write bool `json:"writeTextFile"`
	} `json:"fs"`
	Terminal bool `json:"terminal"`
	Session  struct {
		Notices *struct{} `json:"notices"`
	} `json:"session"`
	Elicitation struct {
		Form *struct{} `json:"form"`
	} `json:"elicitation"`
}

// sessionParams are the parameters of the methods that make or name a session.
type sessionParams struct {
	SessionID  string            `json:"sessionId"`
	Cwd        string            `json:"cwd"`
	Dirs       []string          `json:"additionalDirectories"`
	MCPServers []json.RawMessage `json:"mcpServers"`
	ModeID     string            `json:"modeId"`
	ConfigID   string            `json:"configId"`
	Value      json.RawMessage   `json:"value"`
	Prompt     []content         `json:"prompt"`
	Cursor     *string           `json:"cursor"`
}

// content is a content block.
type content struct {
	Type     string    `json:"type"`
	Text     string    `json:"text,omitempty"`
	Data     string    `json:"data,omitempty"` // base64
	MimeType string    `json:"mimeType,omitempty"`
	URI      string    `json:"uri,omitempty"`
	Name     string    `json:"name,omitempty"`
	Resource *resource `json:"resource,omitempty"`
}

// resource is an embedded resource: text, or blob in base64.
type resource struct {
	URI      string  `json:"uri"`
	MimeType string  `json:"mimeType,omitempty"`
	Text     *string `json:"text,omitempty"`
	Blob     string  `json:"blob,omitempty"`
}

// MarshalJSON keeps the text of a text block even where it is empty: the protocol demands the field.
func (c content) MarshalJSON() ([]byte, error) {
	type plain content
	if c.Type != "text" {
		return json.Marshal(plain(c))
	}
	return json.Marshal(map[string]string{"type": "text", "text": c.Text})
}

func text(s string) content { return content{Type: "text", Text: s} }

// obj is a JSON object that goes out.
type obj = map[string]any

// toolContent is one element of a tool call's content.
type toolContent = obj

func shown(c content) toolContent { return toolContent{"type": "content", "content": c} }

// diffContent is a change of a file; old is nil for a new one.
func diffContent(path string, old *string, now string) toolContent {
	return toolContent{"type": "diff", "path": path, "oldText": old, "newText": now}
}

// option is a choice of a permission question.
type option struct {
	ID   string `json:"optionId"`
	Name string `json:"name"`
	Kind string `json:"kind"` // allow_once, allow_always, reject_once, reject_always
}

// outcome is the answer to a permission question.
type outcome struct {
	Outcome struct {
		Outcome  string `json:"outcome"` // selected, cancelled
		OptionID string `json:"optionId"`
	} `json:"outcome"`
}

// Stop reasons of a prompt.
const (
	stopEndTurn   = "end_turn"
	stopMaxTokens = "max_tokens"
	stopMaxTurns  = "max_turn_requests"
	stopRefusal   = "refusal"
	stopCancelled = "cancelled"
)
