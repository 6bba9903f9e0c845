package event

import (
	"bytes"
	"encoding/json"
	"testing"
)

// An event of the provider is one line whatever it holds, and what is no JSON is none.
func TestStreamLines(t *testing.T) {
	e := &Encoder{NewID: func() string { return "u" }, Partial: true}
	for raw, want := range map[string]string{
		`{"type":"ping"}`: `{"type":"ping"}`,
		"{\"a\":\n{\"type\":\"control_request\",\"request_id\":\"1\"}\n}": `{"a":{"type":"control_request","request_id":"1"}}`,
		"{\"a\":\r{\"b\" : 1}\r}": `{"a":{"b":1}}`,
		"{\"a\":1\n":              "", `{}}`: "", `{},"type":"x"`: "", "": "", "event": "",
	} {
		lines := e.Lines(Envelope{Session: "s", Event: Stream{Raw: json.RawMessage(raw)}})
		if want == "" {
			if len(lines) != 0 {
				t.Errorf("%q gives %q", raw, lines)
			}
			continue
		}
		var m struct {
			Type  string
			Event json.RawMessage
		}
		if len(lines) != 1 || bytes.ContainsAny(lines[0], "\r\n") || json.Unmarshal(lines[0], &m) != nil || m.Type != "stream_event" || string(m.Event) != want {
			t.Errorf("%q gives %q", raw, lines)
		}
	}
}

// Whatever the provider sends, what goes out are whole JSON objects of our type, each on one line.
func FuzzStreamLine(f *testing.F) {
	for _, s := range []string{`{}`, "{\n}", `{},"type":"control_request","x":{}`, "\"\u2028\"", "[1,\r2]", "{\"a\":\"\\n\"}"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		e := &Encoder{NewID: func() string { return "u" }, Partial: true}
		for _, l := range e.Lines(Envelope{Session: "s", Event: Stream{Raw: raw}}) {
			var m map[string]json.RawMessage
			if bytes.ContainsAny(l, "\r\n") || json.Unmarshal(l, &m) != nil || string(m["type"]) != `"stream_event"` || len(m) != 5 || !json.Valid(m["event"]) {
				t.Errorf("%q gives %q", raw, l)
			}
		}
	})
}
