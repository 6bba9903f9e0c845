package msg

import "encoding/json"

// Block types of the Messages API that the program handles by name. Any other type is carried in Block.Raw.
const (
	TypeText             = "text"
	TypeThinking         = "thinking"
	TypeRedactedThinking = "redacted_thinking"
	TypeToolUse          = "tool_use"
	TypeToolResult       = "tool_result"
	TypeImage            = "image"
	TypeDocument         = "document"
)

// Block is one content block. One struct serves all types; which fields count depends on Type.
type Block struct {
	Type string

	Text string // text and thinking: the text

	Signature string // thinking: opaque, sent back as it came
	Data      string // redacted_thinking: opaque

	ID    string          // tool_use: the call's id
	Name  string          // tool_use: the tool's name
	Input json.RawMessage // tool_use: compact JSON, never re-encoded

	ToolUseID string  // tool_result: the call that it answers
	Content   []Block // tool_result: text, image and document blocks
	IsError   bool    // tool_result

	Source *Source // image, document

	// Raw, when set, is the whole block as compact JSON and wins over every other field when the block is
	// encoded. It carries block types and fields that we do not model, byte for byte.
	Raw json.RawMessage
}

// Source is where the bytes of an image or document are.
type Source struct {
	Type      string `json:"type"`                 // base64, url, file, text
	MediaType string `json:"media_type,omitempty"` // for base64 and text
	Data      string `json:"data,omitempty"`       // for base64 and text
	URL       string `json:"url,omitempty"`
	FileID    string `json:"file_id,omitempty"`
}

// Text returns a text block.
func Text(s string) Block { return Block{Type: TypeText, Text: s} }

// ToolUse returns a tool_use block; input must be compact JSON.
func ToolUse(id, name string, input json.RawMessage) Block {
	return Block{Type: TypeToolUse, ID: id, Name: name, Input: input}
}

// ToolResult returns a tool_result block that answers the call id.
func ToolResult(id string, isError bool, content ...Block) Block {
	return Block{Type: TypeToolResult, ToolUseID: id, IsError: isError, Content: content}
}

// Image returns an image block with inline data (base64 text).
func Image(mediaType, data string) Block {
	return Block{Type: TypeImage, Source: &Source{Type: "base64", MediaType: mediaType, Data: data}}
}

// IsThinking reports whether the block is thinking, readable or redacted.
func (b Block) IsThinking() bool { return b.Type == TypeThinking || b.Type == TypeRedactedThinking }

// ToolDef is what the model is told about one tool.
type ToolDef struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	InputSchema json.RawMessage `json:"input_schema"` // compact JSON, an object at the root
}
