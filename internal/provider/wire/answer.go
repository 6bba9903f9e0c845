package wire

import (
	"encoding/json"
	"strconv"

	"lathe/internal/msg"
	"lathe/internal/provider"
)

// answer is a whole message, as it comes without streaming.
type answer struct {
	Type         string            `json:"type"`
	ID           string            `json:"id"`
	Model        string            `json:"model"`
	Content      []json.RawMessage `json:"content"`
	StopReason   string            `json:"stop_reason"`
	StopSequence string            `json:"stop_sequence"`
	StopDetails  json.RawMessage   `json:"stop_details"`
	Usage        json.RawMessage   `json:"usage"`
}

// Answer turns a whole message into the chunks that a stream would have brought, each with its event in Raw.
func Answer(data []byte) ([]provider.Chunk, error) {
	var a answer
	if err := json.Unmarshal(data, &a); err != nil {
		return nil, malformed(data, err)
	}
	if a.Type == "error" {
		return nil, Error(0, data)
	}
	if a.Type != "message" && (a.ID == "" || a.Content == nil) {
		return nil, malformed(data, nil)
	}
	chunks, err := decodeAll(nil, startEvent(&a))
	if err != nil {
		return nil, err
	}
	for i, raw := range a.Content {
		events, err := blockEvents(i, raw)
		if err != nil {
			return nil, err
		}
		if chunks, err = decodeAll(chunks, events...); err != nil {
			return nil, err
		}
	}
	return decodeAll(chunks, deltaEvent(&a), []byte(`{"type":"message_stop"}`))
}

func decodeAll(dst []provider.Chunk, events ...[]byte) ([]provider.Chunk, error) {
	for _, ev := range events {
		c, err := Decode(ev)
		if err != nil {
			return nil, err
		}
		dst = append(dst, c)
	}
	return dst, nil
}

func startEvent(a *answer) []byte {
	b := append([]byte(nil), `{"type":"message_start","message":{"id":`...)
	b = msg.AppendString(b, a.ID)
	b = append(b, `,"type":"message","role":"assistant","model":`...)
	b = msg.AppendString(b, a.Model)
	b = append(b, `,"content":[],"stop_reason":null,"stop_sequence":null`...)
	b = appendUsage(b, a.Usage)
	return append(b, '}', '}')
}

func deltaEvent(a *answer) []byte {
	b := append([]byte(nil), `{"type":"message_delta","delta":{"stop_reason":`...)
	b = appendOrNull(b, a.StopReason)
	b = append(b, `,"stop_sequence":`...)
	b = appendOrNull(b, a.StopSequence)
	if d := object(a.StopDetails); d != nil {
		b = append(append(b, `,"stop_details":`...), d...)
	}
	b = append(b, '}')
	b = appendUsage(b, a.Usage)
	return append(b, '}')
}

func appendUsage(b []byte, usage json.RawMessage) []byte {
	if u := object(usage); u != nil {
		b = append(append(b, `,"usage":`...), u...)
	}
	return b
}

func appendOrNull(b []byte, s string) []byte {
	if s == "" {
		return append(b, "null"...)
	}
	return msg.AppendString(b, s)
}

// blockEvents returns the events of one whole block. Blocks with fields that we do not model come whole in their
// first event; the others come as a stream has them, with their content in a delta.
func blockEvents(index int, raw json.RawMessage) ([][]byte, error) {
	var block msg.Block
	if err := json.Unmarshal(raw, &block); err != nil {
		return nil, malformed(raw, err)
	}
	head := `{"type":"content_block_delta","index":` + strconv.Itoa(index) + `,"delta":{"type":`
	var events [][]byte
	piece := func(kind, field, value string) {
		b := append([]byte(head), `"`+kind+`","`+field+`":`...)
		events = append(events, append(msg.AppendString(b, value), '}', '}'))
	}
	if block.Raw == nil {
		switch block.Type {
		case msg.TypeText:
			piece("text_delta", "text", block.Text)
			block.Text = ""
		case msg.TypeThinking:
			piece("thinking_delta", "thinking", block.Text)
			piece("signature_delta", "signature", block.Signature)
			block.Text, block.Signature = "", ""
		case msg.TypeToolUse:
			piece("input_json_delta", "partial_json", string(block.Input))
			block.Input = nil
		}
	}
	first := append([]byte(nil), `{"type":"content_block_start","index":`+strconv.Itoa(index)+`,"content_block":`...)
	first = append(msg.AppendBlock(first, block, nil), '}')
	last := []byte(`{"type":"content_block_stop","index":` + strconv.Itoa(index) + `}`)
	return append(append([][]byte{first}, events...), last), nil
}
