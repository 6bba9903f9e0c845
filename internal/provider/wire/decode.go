package wire

import (
	"bytes"
	"encoding/json"
	"fmt"

	"lathe/internal/msg"
	"lathe/internal/provider"
)

// event is the union of all events of a stream.
type event struct {
	Type    string          `json:"type"`
	Index   int             `json:"index"`
	Message *start          `json:"message"`
	Block   json.RawMessage `json:"content_block"`
	Delta   json.RawMessage `json:"delta"`
	Usage   json.RawMessage `json:"usage"`
}

type start struct {
	ID    string          `json:"id"`
	Model string          `json:"model"`
	Usage json.RawMessage `json:"usage"`
}

type delta struct {
	Type string `json:"type"`

	Text        string `json:"text"`
	Thinking    string `json:"thinking"`
	Signature   string `json:"signature"`
	PartialJSON string `json:"partial_json"`

	StopReason   string          `json:"stop_reason"`
	StopSequence string          `json:"stop_sequence"`
	StopDetails  json.RawMessage `json:"stop_details"`
}

// Decode reads one event of a stream. An error event comes back as a *provider.Error of the kind that it names,
// data that is no event as one of kind Malformed. Events that we do not know become ChunkUnknown. The chunk's Raw
// aliases data; nothing else in it does.
func Decode(data []byte) (provider.Chunk, error) {
	if c, ok := fastDelta(data); ok {
		return c, nil
	}
	var ev event
	if err := json.Unmarshal(data, &ev); err != nil {
		return decodeOdd(data, err)
	}
	c := provider.Chunk{Index: ev.Index, Raw: data}
	switch ev.Type {
	case "message_start":
		return decodeStart(c, &ev)
	case "content_block_start":
		c.Kind = provider.ChunkBlockStart
		c.Block = new(msg.Block)
		if err := json.Unmarshal(ev.Block, c.Block); err != nil {
			return c, malformed(data, err)
		}
	case "content_block_delta":
		c.Kind = provider.ChunkBlockDelta
		if err := setDelta(&c, ev.Delta); err != nil {
			return c, malformed(data, err)
		}
	case "content_block_stop":
		c.Kind = provider.ChunkBlockEnd
	case "message_delta":
		c.Kind = provider.ChunkDelta
		var d delta
		if raw := object(ev.Delta); raw != nil {
			if err := json.Unmarshal(raw, &d); err != nil {
				return c, malformed(data, err)
			}
		}
		c.StopReason, c.StopSeq, c.StopDetails = d.StopReason, d.StopSequence, object(d.StopDetails)
		c.Usage, c.UsageRaw = usage(ev.Usage)
	case "message_stop":
		c.Kind = provider.ChunkStop
	case "ping":
		c.Kind = provider.ChunkPing
	case "error":
		return c, Error(0, data)
	default:
		c.Kind = provider.ChunkUnknown
	}
	return c, nil
}

// decodeOdd judges what does not fit the shape of our events: of a type that we do not know it may be anything.
func decodeOdd(data []byte, cause error) (provider.Chunk, error) {
	if string(bytes.TrimSpace(data)) == "[DONE]" { // how streams of another API end; some gateways add it
		return provider.Chunk{Kind: provider.ChunkUnknown}, nil
	}
	var ev struct{ Type string }
	if json.Unmarshal(data, &ev) != nil || ev.Type == "" {
		return provider.Chunk{Raw: data}, malformed(data, cause)
	}
	switch ev.Type {
	case "error":
		return provider.Chunk{Raw: data}, Error(0, data)
	case "message_start", "content_block_start", "content_block_delta", "content_block_stop", "message_delta":
		return provider.Chunk{Raw: data}, malformed(data, cause)
	case "message_stop":
		return provider.Chunk{Kind: provider.ChunkStop, Raw: data}, nil
	}
	return provider.Chunk{Kind: provider.ChunkUnknown, Raw: data}, nil
}

func decodeStart(c provider.Chunk, ev *event) (provider.Chunk, error) {
	c.Kind = provider.ChunkStart
	c.Meta = &provider.Meta{}
	if ev.Message != nil {
		c.Meta.ID, c.Meta.Model = ev.Message.ID, ev.Message.Model
		c.Usage, c.UsageRaw = usage(ev.Message.Usage)
	}
	return c, nil
}

// setDelta fills in what a block delta adds. Of a type that we do not know it may hold anything.
func setDelta(c *provider.Chunk, raw json.RawMessage) error {
	c.Delta = provider.DeltaOther
	var kind struct{ Type string }
	if err := json.Unmarshal(raw, &kind); err != nil {
		return err
	}
	switch kind.Type {
	case "text_delta", "thinking_delta", "signature_delta", "input_json_delta":
	default:
		return nil
	}
	var d delta
	if err := json.Unmarshal(raw, &d); err != nil {
		return err
	}
	switch kind.Type {
	case "text_delta":
		c.Delta, c.Text = provider.DeltaText, d.Text
	case "thinking_delta":
		c.Delta, c.Text = provider.DeltaThinking, d.Thinking
	case "signature_delta":
		c.Delta, c.Text = provider.DeltaSignature, d.Signature
	case "input_json_delta":
		c.Delta, c.Text = provider.DeltaInput, d.PartialJSON
	}
	return nil
}

// usage reads token counts. A field of a strange type is taken as absent: no count is worth an answer.
func usage(raw json.RawMessage) (*msg.Usage, json.RawMessage) {
	if raw = object(raw); raw == nil {
		return nil, nil
	}
	var u msg.Usage
	_ = json.Unmarshal(raw, &u)
	return &u, raw
}

func object(raw json.RawMessage) json.RawMessage {
	if len(raw) == 0 || raw[0] != '{' {
		return nil
	}
	return raw
}

func malformed(data []byte, err error) *provider.Error {
	return &provider.Error{
		Kind:    provider.Malformed,
		Message: fmt.Sprintf("the answer has an event that is not of the Messages API: %.80q", data), Err: err,
	}
}
