package acp

import (
	"encoding/json"
	"io"
	"strings"
	"testing"

	"lathe/internal/event"
)

// A question that nobody waits for any more is taken back, and an answer to it does nothing.
func TestWithdrawn(t *testing.T) {
	r := newRig(t)
	p := r.begin()
	for _, tool := range []string{"Bash", "AskUserQuestion"} {
		p.tell(event.Ask{ID: "q-" + tool, Tool: tool, CallID: "c", Input: json.RawMessage(`{"questions":[{"question":"which?","options":[{"label":"a"}]}]}`)})
		asked := r.until(method("session/request_permission"))
		p.tell(event.AskWithdrawn{ID: "q-" + tool})
		if m := r.until(method("$/cancel_request")); string(m.Params) != `{"requestId":`+string(asked.ID)+`}` {
			t.Errorf("taken back: %s, asked with id %s", m.Params, asked.ID)
		}
		r.say(`{"jsonrpc":"2.0","id":%s,"result":{"outcome":{"outcome":"selected","optionId":"allow"}}}`, asked.ID)
	}
	r.say(`{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"s1"}}`)
	if op, ok := p.next(t).(event.Interrupt); !ok {
		t.Errorf("an answer came before: %+v", op)
	}
	r.end()
}

// What was answered leaves nothing behind, and is not taken back later.
func TestAnsweredIsForgotten(t *testing.T) {
	read, out := io.Pipe()
	lines := json.NewDecoder(read)
	srv := &server{wire: newWire(strings.NewReader(""), out, func(string) {}), o: Options{NewID: func() string { return "id" }}}
	p := newPlayed("s")
	var client clientCapabilities
	client.FS.Read = true
	s := newSession(srv, &Opened{ID: "s", Conn: p, Close: func() { close(p.ended) }}, "/", client)
	answer := func(method, result string) event.Op {
		t.Helper()
		var m message
		if err := lines.Decode(&m); err != nil || m.Method != method {
			t.Fatalf("asked: %+v, %v", m, err)
		}
		srv.wire.take([]byte(`{"id":` + string(m.ID) + `,"result":` + result + `}`))
		return p.next(t)
	}
	p.tell(event.Call{ID: "c1", Kind: "fs/read_text_file", Payload: json.RawMessage(`{"path":"/a"}`)})
	if got, ok := answer("fs/read_text_file", `{"content":"x"}`).(event.Return); !ok || got.ID != "c1" || got.Err != "" {
		t.Errorf("the file: %+v", got)
	}
	p.tell(event.Ask{ID: "q", Tool: "Bash", Input: json.RawMessage("{}")})
	if got, ok := answer("session/request_permission", `{"outcome":{"outcome":"selected","optionId":"allow"}}`).(event.Answer); !ok || !got.Allow {
		t.Errorf("the answer: %+v", got)
	}
	p.tell(event.Ask{ID: "q", Tool: "AskUserQuestion", Input: json.RawMessage(`{"questions":[]}`)})
	if got, ok := p.next(t).(event.Answer); !ok || got.ID != "q" {
		t.Errorf("no question: %+v", got)
	}
	go s.end()
	<-p.ended
	if len(s.open) > 0 {
		t.Errorf("still open: %v", s.open)
	}
	out.Close()
	for lines.More() {
		var m message
		if err := lines.Decode(&m); err != nil || m.Method == "$/cancel_request" {
			t.Errorf("taken back: %+v, %v", m, err)
		}
	}
}
