package msg

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// wire is the union of the fields that we model, for decoding.
type wire struct {
	Type      string          `json:"type"`
	Text      string          `json:"text"`
	Thinking  string          `json:"thinking"`
	Signature string          `json:"signature"`
	Data      string          `json:"data"`
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Input     json.RawMessage `json:"input"`
	ToolUseID string          `json:"tool_use_id"`
	Content   json.RawMessage `json:"content"`
	IsError   bool            `json:"is_error"`
	Source    *Source         `json:"source"`
}

var modelled = map[string][]string{
	TypeText:             {"type", "text"},
	TypeThinking:         {"type", "thinking", "signature"},
	TypeRedactedThinking: {"type", "data"},
	TypeToolUse:          {"type", "id", "name", "input"},
	TypeToolResult:       {"type", "tool_use_id", "content", "is_error"},
	TypeImage:            {"type", "source"},
	TypeDocument:         {"type", "source"},
}

// UnmarshalJSON reads the API form. Types and fields that we do not model are kept in Raw; a cache_control
// field is dropped, since marks belong to one request and not to the block.
//
// A transcript of a hundred megabytes goes through here on resume, so the common shapes are read by hand and
// only what is odd goes through encoding/json. Both ways agree; a fuzz test holds them to it.
func (b *Block) UnmarshalJSON(data []byte) error {
	d := decoder{scanner: scanner{b: data}}
	start := d.space(0)
	if fast, end := d.block(start); end >= 0 && d.space(end) == len(data) {
		*b = fast
		return nil
	}
	return b.decodeAny(data)
}

// decodeAny reads every form that there is, by way of encoding/json.
func (b *Block) decodeAny(data []byte) error {
	var w wire
	if err := json.Unmarshal(data, &w); err != nil {
		// A type that we do not model may use our field names in its own way: a search_result's source is text.
		var other struct {
			Type string `json:"type"`
		}
		if json.Unmarshal(data, &other) != nil || other.Type == "" || modelled[other.Type] != nil {
			return fmt.Errorf("content block: %w", err)
		}
		*b = Block{Type: other.Type}
		return b.keepUnknown(data)
	}
	if w.Type == "" {
		return fmt.Errorf("content block: no type in %.60s", data)
	}
	*b = Block{
		Type: w.Type, Text: w.Text, Signature: w.Signature, Data: w.Data, ID: w.ID, Name: w.Name,
		ToolUseID: w.ToolUseID, IsError: w.IsError, Source: w.Source,
	}
	if w.Type == TypeThinking {
		b.Text = w.Thinking
	}
	if w.Type == TypeToolUse {
		b.Input = Compact(w.Input)
		if len(b.Input) == 0 || bytes.Equal(b.Input, []byte("null")) {
			b.Input = json.RawMessage("{}")
		}
	}
	if w.Type == TypeToolResult && len(w.Content) > 0 {
		content, err := DecodeContent(w.Content)
		if err != nil {
			return err
		}
		b.Content = content
	}
	return b.keepUnknown(data)
}

func (b *Block) keepUnknown(data []byte) error {
	known, ok := modelled[b.Type]
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(data, &fields); err != nil {
		return fmt.Errorf("content block: %w", err)
	}
	_, marked := fields["cache_control"]
	extra := !ok
	for k := range fields {
		if k != "cache_control" && !contains(known, k) {
			extra = true
		}
	}
	if !extra {
		return nil
	}
	if !marked {
		b.Raw = Compact(data)
		return nil
	}
	delete(fields, "cache_control")
	raw, err := json.Marshal(fields)
	b.Raw = raw
	return err
}

func contains(list []string, s string) bool {
	for _, x := range list {
		if x == s {
			return true
		}
	}
	return false
}

// DecodeContent reads message or tool_result content: a string (one text block) or an array of blocks.
func DecodeContent(data []byte) ([]Block, error) {
	data = bytes.TrimSpace(data)
	if len(data) == 0 || bytes.Equal(data, []byte("null")) {
		return nil, nil
	}
	d := decoder{scanner: scanner{b: data}}
	if blocks, end := d.content(0); end == len(data) {
		return blocks, nil
	}
	return decodeContentAny(data)
}

// ContentAt is DecodeContent for content that stands at b[i] within a larger document; it returns the index behind
// it too, or -1 for what is no content.
func ContentAt(b []byte, i int) ([]Block, int) {
	d := decoder{scanner: scanner{b: b}}
	if blocks, end := d.content(i); end >= 0 {
		return blocks, end
	}
	end := d.value(i, 0)
	if end < 0 {
		return nil, -1
	}
	blocks, err := DecodeContent(b[i:end])
	if err != nil {
		return nil, -1
	}
	return blocks, end
}

func decodeContentAny(data []byte) ([]Block, error) {
	if data[0] == '"' {
		var s string
		if err := json.Unmarshal(data, &s); err != nil {
			return nil, fmt.Errorf("content: %w", err)
		}
		return []Block{Text(s)}, nil
	}
	var blocks []Block
	if err := json.Unmarshal(data, &blocks); err != nil {
		return nil, fmt.Errorf("content: %w", err)
	}
	return blocks, nil
}

// Compact returns the JSON without insignificant space; keys, numbers and escapes stay as they are. What does
// not parse is returned as nil.
func Compact(raw []byte) json.RawMessage {
	var buf bytes.Buffer
	if err := json.Compact(&buf, raw); err != nil {
		return nil
	}
	return buf.Bytes()
}
