package trace

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
)

// Body puts together the body that a call sent, from its record. exact reports whether it is what was sent, byte for
// byte, by its checksum; it is not where secrets were taken out of the trace.
func (t *Trace) Body(r Record) (body []byte, exact bool, err error) {
	if r.Call == nil {
		return nil, false, fmt.Errorf("the record is not one of a call")
	}
	if r.Stage == SideStage {
		if body = t.Blob(r.Call.Head); body == nil {
			return nil, false, errors.New("the trace has not kept this request: it was too large")
		}
		return body, matches(body, r.Call), nil
	}
	head, ok := bytes.CutSuffix(t.Blob(r.Call.Head), []byte(`,"messages":[]}`))
	if !ok {
		return nil, false, fmt.Errorf("the trace has not kept the head of this request")
	}
	body = append(body, head...)
	marks := map[string]json.RawMessage{}
	for _, m := range r.Call.Marks {
		marks[fmt.Sprint(m.At, m.Index, "/", m.Block)] = markValue(m)
	}
	lost := 0
	part := func(name, key string, one func(i int, ref Ref, b []byte)) {
		list := r.After.Items[name]
		if len(list) == 0 && key != "messages" {
			return
		}
		body = append(body, `,"`+key+`":[`...)
		for i, ref := range list {
			if i > 0 {
				body = append(body, ',')
			}
			b := t.Blob(ref.Hash)
			if b == nil {
				lost++
				b = []byte("null")
			}
			one(i, ref, b)
		}
		body = append(body, ']')
	}
	single := func(at string) func(int, Ref, []byte) {
		return func(i int, _ Ref, b []byte) { body = append(body, withMark(b, marks[fmt.Sprint(at, i, "/", 0)])...) }
	}
	part(Tools, "tools", single("tools"))
	part(System, "system", single("system"))
	part(Sent, "messages", func(i int, ref Ref, b []byte) {
		body = append(body, `{"role":"`+ref.Kind+`","content":`...)
		body = append(body, markBlocks(b, func(j int) json.RawMessage { return marks[fmt.Sprint("messages", i, "/", j)] })...)
		body = append(body, '}')
	})
	body = append(body, '}')
	if lost > 0 {
		err = fmt.Errorf("%d parts of this request were not kept", lost)
	}
	return body, matches(body, r.Call), err
}

// matches reports whether a body is the one that was sent, by its checksum.
func matches(body []byte, c *Call) bool {
	return fmt.Sprintf("%08x", crc32.Checksum(body, crc32.MakeTable(crc32.Castagnoli))) == c.Body
}

func markValue(m Mark) json.RawMessage {
	if m.Hour {
		return json.RawMessage(`{"type":"ephemeral","ttl":"1h"}`)
	}
	return json.RawMessage(`{"type":"ephemeral"}`)
}

// withMark adds a cache mark to an object, at its end.
func withMark(b, mark []byte) []byte {
	open, ok := bytes.CutSuffix(b, []byte("}"))
	if mark == nil || !ok {
		return b
	}
	return append(append(append(bytes.Clone(open), `,"cache_control":`...), mark...), '}')
}

// markBlocks adds marks to the blocks of an array.
func markBlocks(b []byte, mark func(i int) json.RawMessage) []byte {
	var blocks []json.RawMessage
	if json.Unmarshal(b, &blocks) != nil {
		return b
	}
	changed := false
	for i, block := range blocks {
		if m := mark(i); m != nil {
			blocks[i], changed = withMark(block, m), true
		}
	}
	if !changed {
		return b
	}
	out := append([]byte{'['}, bytes.Join(rawBytes(blocks), []byte{','})...)
	return append(out, ']')
}

func rawBytes(in []json.RawMessage) [][]byte {
	out := make([][]byte, len(in))
	for i, b := range in {
		out[i] = b
	}
	return out
}
