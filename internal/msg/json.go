package msg

import (
	"bytes"
	"encoding/json"
	"fmt"
	"unicode/utf8"
)

// The JSON form of a block is that of the Messages API. Encoding is by hand for two reasons: a request carries
// the whole history on every call, so it must be fast; and what was sent once must be sent again byte for
// byte, so it must not depend on map order, escaping options or library versions.

// MarshalJSON returns the API form of the block.
func (b Block) MarshalJSON() ([]byte, error) { return AppendBlock(nil, b, nil), nil }

// AppendBlock appends the API form of b to dst. A mark that is not nil is written as its cache_control field.
func AppendBlock(dst []byte, b Block, mark json.RawMessage) []byte {
	if b.Raw != nil {
		return appendRaw(dst, b.Raw, mark)
	}
	dst = append(dst, `{"type":`...)
	dst = AppendString(dst, b.Type)
	switch b.Type {
	case TypeText:
		dst = appendField(dst, "text", b.Text)
	case TypeThinking:
		dst = appendField(dst, "thinking", b.Text)
		dst = appendField(dst, "signature", b.Signature)
	case TypeRedactedThinking:
		dst = appendField(dst, "data", b.Data)
	case TypeToolUse:
		dst = appendField(dst, "id", b.ID)
		dst = appendField(dst, "name", b.Name)
		dst = append(dst, `,"input":`...)
		if len(b.Input) == 0 {
			dst = append(dst, '{', '}')
		} else {
			dst = append(dst, b.Input...)
		}
	case TypeToolResult:
		dst = appendField(dst, "tool_use_id", b.ToolUseID)
		dst = append(dst, `,"content":`...)
		dst = AppendBlocks(dst, b.Content)
		if b.IsError {
			dst = append(dst, `,"is_error":true`...)
		}
	case TypeImage, TypeDocument:
		dst = appendSource(dst, b.Source)
	}
	dst = appendMark(dst, mark)
	return append(dst, '}')
}

// AppendBlocks appends a JSON array of blocks.
func AppendBlocks(dst []byte, blocks []Block) []byte {
	dst = append(dst, '[')
	for i, b := range blocks {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = AppendBlock(dst, b, nil)
	}
	return append(dst, ']')
}

func appendSource(dst []byte, s *Source) []byte {
	if s == nil {
		return dst
	}
	dst = append(dst, `,"source":{"type":`...)
	dst = AppendString(dst, s.Type)
	for _, f := range [...]struct{ k, v string }{{"media_type", s.MediaType}, {"data", s.Data}, {"url", s.URL}, {"file_id", s.FileID}} {
		if f.v != "" {
			dst = appendField(dst, f.k, f.v)
		}
	}
	return append(dst, '}')
}

func appendField(dst []byte, key, value string) []byte {
	dst = append(dst, ',', '"')
	dst = append(dst, key...)
	dst = append(dst, '"', ':')
	return AppendString(dst, value)
}

func appendMark(dst []byte, mark json.RawMessage) []byte {
	if mark == nil {
		return dst
	}
	dst = append(dst, `,"cache_control":`...)
	return append(dst, mark...)
}

func appendRaw(dst, raw []byte, mark json.RawMessage) []byte {
	if mark == nil || len(raw) < 2 || raw[len(raw)-1] != '}' {
		return append(dst, raw...)
	}
	dst = append(dst, raw[:len(raw)-1]...)
	dst = appendMark(dst, mark)
	return append(dst, '}')
}

const hex = "0123456789abcdef"

// AppendString appends s as a JSON string. HTML characters stay as they are; invalid UTF-8 becomes U+FFFD.
func AppendString(dst []byte, s string) []byte {
	dst = append(dst, '"')
	start := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c < utf8.RuneSelf {
			if c >= 0x20 && c != '"' && c != '\\' {
				i++
				continue
			}
			dst = append(dst, s[start:i]...)
			switch c {
			case '"', '\\':
				dst = append(dst, '\\', c)
			case '\n':
				dst = append(dst, '\\', 'n')
			case '\r':
				dst = append(dst, '\\', 'r')
			case '\t':
				dst = append(dst, '\\', 't')
			default:
				dst = append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&0xf])
			}
			i++
			start = i
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && n == 1 {
			dst = append(dst, s[start:i]...)
			dst = append(dst, "\ufffd"...)
			i++
			start = i
			continue
		}
		i += n
	}
	dst = append(dst, s[start:]...)
	return append(dst, '"')
}

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
func (b *Block) UnmarshalJSON(data []byte) error {
	var w wire
	if err := json.Unmarshal(data, &w); err != nil {
		return fmt.Errorf("content block: %w", err)
	}
	if w.Type == "" {
		return fmt.Errorf("content block: no type in %.60s", data)
	}
	*b = Block{Type: w.Type, Text: w.Text, Signature: w.Signature, Data: w.Data, ID: w.ID, Name: w.Name,
		ToolUseID: w.ToolUseID, IsError: w.IsError, Source: w.Source}
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
