package sdk

import (
	"encoding/json"

	"lathe/internal/event"
)

// call passes a question of the engine on to the host: a hook of the host, a message for an MCP server in its process.
// A host that has closed its side is not asked.
func (s *server) call(c event.Call) {
	s.mu.Lock()
	gone := s.closed
	if !gone {
		s.calls[c.ID] = struct{}{}
	}
	s.mu.Unlock()
	if gone {
		s.give(event.Return{ID: c.ID, Err: event.HostGone})
		return
	}
	fields := map[string]any{}
	var payload map[string]json.RawMessage
	_ = json.Unmarshal(c.Payload, &payload) // one that is no object has no fields
	for k, v := range payload {
		fields[k] = v
	}
	fields["subtype"] = c.Kind
	if c.CallID != "" {
		fields["tool_use_id"] = c.CallID
	}
	s.line(request(c.ID, fields))
}

// returned takes the answer to a call. It reports whether the call was open.
func (s *server) returned(f Frame) bool {
	s.mu.Lock()
	_, open := s.calls[f.Response.RequestID]
	delete(s.calls, f.Response.RequestID)
	s.mu.Unlock()
	if !open {
		return false
	}
	r := event.Return{ID: f.Response.RequestID, Value: f.Response.Response}
	if f.Response.Subtype != "success" {
		if r.Err = f.Response.Error; r.Err == "" {
			r.Err = "the host answered with an error"
		}
	}
	s.give(r)
	return true
}

// recall withdraws a question or a call that nobody waits for any more.
func (s *server) recall(id string) {
	s.mu.Lock()
	_, called := s.calls[id]
	_, asked := s.asks[id]
	delete(s.calls, id)
	delete(s.asks, id)
	s.mu.Unlock()
	if called || asked {
		s.line(cancelled(id))
	}
}

func (s *server) give(r event.Return) { _ = s.conn.Send(s.ctx, r) } // a closed session needs no answer
