package msg

import (
	"encoding/json"
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

// Size is how many bytes of text and data blocks hold, without their JSON.
func Size(blocks []Block) int {
	n := 0
	for _, b := range blocks {
		n += len(b.Text) + len(b.Signature) + len(b.Data) + len(b.Input) + len(b.Raw) + Size(b.Content)
		if b.Source != nil {
			n += len(b.Source.Data)
		}
	}
	return n
}
