package model

import (
	"bytes"
	"encoding/json"

	"lathe/internal/msg"
)

// Blocks of types that we do not model are kept as the JSON that came. These few functions change single fields
// of such an object and leave the rest, and its order, as it is.

type field struct {
	key   string
	value json.RawMessage
}

// fields returns the members of an object in order, nil for anything else.
func fields(raw []byte) []field {
	dec := json.NewDecoder(bytes.NewReader(raw))
	if tok, err := dec.Token(); err != nil || tok != json.Delim('{') {
		return nil
	}
	var out []field
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return nil
		}
		name, ok := key.(string)
		var value json.RawMessage
		if !ok || dec.Decode(&value) != nil {
			return nil
		}
		out = append(out, field{name, value})
	}
	return out
}

// merge returns the JSON of b with some fields set; new ones come last, in the order of their names.
func merge(b msg.Block, set map[string]json.RawMessage) json.RawMessage {
	raw := b.Raw
	if raw == nil {
		raw = msg.AppendBlock(nil, b, nil)
	}
	out := []byte{'{'}
	add := func(key string, value json.RawMessage) {
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = msg.AppendString(out, key)
		out = append(out, ':')
		out = append(out, msg.Compact(value)...)
	}
	seen := map[string]bool{}
	for _, f := range fields(raw) {
		if seen[f.key] {
			continue
		}
		seen[f.key] = true
		if v, ok := set[f.key]; ok {
			f.value = v
		}
		add(f.key, f.value)
	}
	for _, key := range [...]string{"text", "thinking", "signature", "id", "input", "content", "encrypted_content", "citations"} {
		if v, ok := set[key]; ok && !seen[key] {
			add(key, v)
		}
	}
	return append(out, '}')
}

func quote(s string) json.RawMessage { return msg.AppendString(nil, s) }

// appendCites returns the citations of a block with more behind them.
func appendCites(raw json.RawMessage, more []json.RawMessage) json.RawMessage {
	var have struct {
		Citations []json.RawMessage `json:"citations"`
	}
	if raw != nil {
		_ = json.Unmarshal(raw, &have)
	}
	out := []byte{'['}
	for i, c := range append(have.Citations, more...) {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, c...)
	}
	return append(out, ']')
}
