package acp

import (
	"encoding/json"

	"lathe/internal/event"
)

// answers reports which kinds of calls the editor answers: its methods for files and terminals, as it offered them.
func (c clientCapabilities) answers(kind string) bool {
	switch kind {
	case "fs/read_text_file":
		return c.FS.Read
	case "fs/write_text_file":
		return c.FS.Write
	case "terminal/create", "terminal/output", "terminal/wait_for_exit", "terminal/kill", "terminal/release":
		return c.Terminal
	}
	return false
}

// forward hands a call to the editor and its answer back. The payload is the method's parameters without the session.
func (s *session) forward(e event.Call) {
	if !s.client.answers(e.Kind) {
		_ = s.conn.Send(s.ctx, event.Return{ID: e.ID, Err: "the editor does not offer " + e.Kind})
		return
	}
	params := obj{}
	if err := json.Unmarshal(e.Payload, &params); err != nil {
		_ = s.conn.Send(s.ctx, event.Return{ID: e.ID, Err: err.Error()})
		return
	}
	params["sessionId"] = s.id
	ctx, answered := s.asks(e.ID)
	wait := s.srv.wire.call(e.Kind, params)
	s.answers.Go(func() {
		defer answered()
		var value json.RawMessage
		ret := event.Return{ID: e.ID}
		if err := wait(ctx, &value); err != nil {
			ret.Err = err.Error()
		}
		ret.Value = value
		if e.Kind == "terminal/create" {
			s.terminal(e.CallID, value)
		}
		_ = s.conn.Send(s.ctx, ret) // a closed session waits for nothing
	})
}

// terminal shows a new terminal as what the call prints.
func (s *session) terminal(callID string, created json.RawMessage) {
	var t struct {
		ID string `json:"terminalId"`
	}
	if callID == "" || json.Unmarshal(created, &t) != nil || t.ID == "" {
		return
	}
	s.mu.Lock()
	s.terminals[callID] = t.ID
	s.mu.Unlock()
	s.update(obj{"sessionUpdate": "tool_call_update", "toolCallId": callID, "content": shownTerminal(t.ID)})
}

func shownTerminal(id string) []toolContent {
	return []toolContent{{"type": "terminal", "terminalId": id}}
}
