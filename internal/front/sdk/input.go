package sdk

import (
	"encoding/json"
	"errors"
	"io"
	"maps"
	"slices"
	"strings"

	"lathe/internal/event"
)

// read takes frames until the input ends; then the session is closed, which lets queued turns finish.
func (s *server) read(in *Reader) {
	if s.o.First != nil {
		s.frame(*s.o.First)
	}
	for {
		f, err := in.Next()
		if err != nil {
			if !errors.Is(err, io.EOF) {
				s.o.Warn("standard input ended: " + err.Error())
			}
			break
		}
		s.frame(f)
	}
	s.mu.Lock()
	s.closed = true
	var open []string
	for id := range s.asks {
		open = append(open, id)
	}
	clear(s.asks)
	calls := slices.Collect(maps.Keys(s.calls))
	clear(s.calls)
	s.mu.Unlock()
	for _, id := range open {
		s.answer(event.Answer{ID: id, Message: "the host has closed the channel, so nobody can be asked"})
	}
	for _, id := range calls {
		s.give(event.Return{ID: id, Err: event.HostGone})
	}
	_ = s.conn.Send(s.ctx, event.Close{})
}

// frame acts on one line. Types that are not known are ignored, as the protocol asks.
func (s *server) frame(f Frame) {
	switch f.Type {
	case "user":
		s.user(f)
	case "control_request":
		s.control(f)
	case "control_response":
		s.response(f)
	case "control_cancel_request": // of a request of the host's own; one that is answered already is over
		_ = s.conn.Send(s.ctx, event.Withdraw{ID: f.RequestID}) // so is every request of a closed session
	case "keep_alive":
	}
}

func (s *server) user(f Frame) {
	if f.Message == nil {
		s.o.Warn("a user message without a message was left out")
		return
	}
	p, err := content(f.Message.Content)
	if err != nil {
		s.o.Warn(err.Error() + "; the message was left out")
		return
	}
	if len(f.Pasted) > 0 {
		p.Typed = len(p.Text)
		if p.Typed == 0 {
			p.Typed = -1
		}
		p.Text = strings.TrimPrefix(p.Text+"\n"+strings.Join(f.Pasted, "\n"), "\n")
	}
	p.ID, p.Literal = f.UUID, f.Composed
	p.NoQuery = f.ShouldQuery != nil && !*f.ShouldQuery
	if p.ID != "" {
		s.mu.Lock()
		session := s.session
		s.mu.Unlock()
		s.mark(session, p.ID, queued)
	}
	if err := s.conn.Send(s.ctx, p); err != nil {
		s.o.Warn(err.Error())
	}
}

// control answers a request of the host: an interrupt here, everything else by a query.
func (s *server) control(f Frame) {
	kind := f.Subtype()
	switch kind {
	case "":
		s.line(failure(f.RequestID, "the request has no subtype", "unsupported_request"))
	default:
		if kind == "interrupt" { // at once, so that it hits no turn that is asked for after it
			var in struct {
				Drop bool `json:"cancel_queued"`
			}
			_ = json.Unmarshal(f.Request, &in)
			s.interrupt(f, in.Drop)
			return
		}
		if err := s.conn.Send(s.ctx, event.Query{ID: f.RequestID, Kind: kind, Payload: f.Request}); err != nil {
			s.line(failure(f.RequestID, err.Error(), ""))
		}
	}
}

// interrupt stops the turn, and drops what waits where the host wants that.
func (s *server) interrupt(f Frame, drop bool) {
	_ = s.conn.Send(s.ctx, event.Interrupt{DropQueued: drop})
	rest := s.waiting()
	receipt := map[string]any{"still_queued": append([]string{}, rest...)}
	if drop {
		receipt["still_queued"], receipt["cancelled"] = []string{}, append([]string{}, rest...)
		s.mu.Lock()
		session := s.session
		s.mu.Unlock()
		for _, id := range rest {
			s.mark(session, id, dropped)
		}
	}
	s.line(success(f.RequestID, event.Encode(receipt)))
}

// permission is the host's answer to can_use_tool.
type permission struct {
	Behavior           string          `json:"behavior"`
	UpdatedInput       json.RawMessage `json:"updatedInput"`
	UpdatedPermissions json.RawMessage `json:"updatedPermissions"`
	Message            string          `json:"message"`
	Interrupt          bool            `json:"interrupt"`
}

// response takes the answer to a question of ours. Whatever is not a plain allow is a no: an error, another shape.
func (s *server) response(f Frame) {
	if f.Response == nil || s.returned(f) {
		return
	}
	s.mu.Lock()
	a, open := s.asks[f.Response.RequestID]
	delete(s.asks, f.Response.RequestID)
	session, more := s.session, len(s.asks)
	s.mu.Unlock()
	if !open {
		return // withdrawn, or not ours
	}
	if more == 0 {
		s.state(event.Envelope{Session: session}, "running")
	}
	out := event.Answer{ID: a.ID, Message: f.Response.Error}
	var p permission
	if f.Response.Subtype == "success" && json.Unmarshal(f.Response.Response, &p) == nil {
		out.Allow = p.Behavior == "allow"
		out.Message, out.Stop = p.Message, p.Interrupt && p.Behavior == "deny"
		if out.Allow {
			out.Input, out.Updates = present(p.UpdatedInput), present(p.UpdatedPermissions)
		}
	}
	s.answer(out)
}

func present(raw json.RawMessage) json.RawMessage {
	if string(raw) == "null" {
		return nil
	}
	return raw
}
