package fakeapi

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
)

// messages answers a model call: check, price, choose a turn, compose, write.
func (x *exchange) messages() {
	x.in.mu.Lock()
	x.in.calls++
	call := x.in.calls
	x.in.mu.Unlock()
	x.s.update(func() { x.rec.Call = call })
	st, ok := x.admit(false)
	if !ok {
		return
	}
	p, ok := x.price(st)
	if !ok {
		return
	}
	x.s.mu.Lock()
	view := *x.rec
	x.s.mu.Unlock()
	a, turn, ok := x.in.choose(view)
	if !ok {
		x.refuse(Violation{Rule: "script", Status: http.StatusBadRequest, Type: "invalid_request_error", Message: fmt.Sprintf("fake api: the script %q has no turn left for call %d", x.in.key, call)})
		return
	}
	x.s.update(func() { x.rec.Turn = turn })
	if x.wholeFault(a) {
		return
	}
	r := x.compose(a, st, p)
	x.send(a, r, p)
}

// compose makes the reply and remembers which thinking it hands out.
func (x *exchange) compose(a Answer, st thinkingState, p plan) reply {
	on, omitted := x.c.thinks()
	r := reply{
		id:    "msg_" + shortHash(x.in.key, fmt.Sprint(x.rec.Call), string(x.rec.Body)),
		model: x.c.model.ID, fast: x.c.body.str("speed") == "fast", usage: p.usage, override: a.Usage, stop: a.StopReason, stopSeq: a.StopSequence, details: a.StopDetails,
	}
	s := &sealer{model: x.c.model.ID, omitted: omitted, state: st.end.next("role assistant", nil), prev: st.prev}
	bind := s.state.id()
	var calls map[string][]string
	r.blocks, calls = compose(a, r.id, on, s)
	for _, b := range r.blocks {
		tokens := (b.size + bytesPerToken - 1) / bytesPerToken
		r.usage.Output += tokens
		if b.thinks {
			r.usage.Thinking += tokens
		}
	}
	r.usage.Output = max(1, r.usage.Output)
	if r.stop == "" {
		r.stop = "end_turn"
		if len(calls) > 0 {
			r.stop = "tool_use"
		}
		if a.hasFault(FaultCutInput) {
			r.stop = "max_tokens"
		}
	}
	if x.c.beta(bindingBeta) {
		i := 0
		for _, m := range x.c.body.get("messages").items() {
			for _, b := range contentBlocks(m.get("content")) {
				if why := st.dropped[b]; why != "" {
					r.transforms = append(r.transforms, map[string]string{"type": "thinking_dropped", "path": st.paths[i], "reason": why})
					i++
				}
			}
		}
	}
	x.in.mu.Lock()
	for id, sigs := range calls {
		x.in.handed[id] = handed{model: x.c.model.ID, bind: bind, sigs: sigs}
	}
	x.in.mu.Unlock()
	x.s.update(func() { x.rec.Usage = r.usage })
	return r
}

// send writes the reply as a stream or as one JSON message.
func (x *exchange) send(a Answer, r reply, p plan) {
	steps := []step{{data: r.message(true), wait: a.Delay.std()}}
	contentType := "application/json"
	if x.rec.Stream {
		steps, contentType = r.steps(a), "text/event-stream; charset=utf-8"
	}
	split := 0
	for _, f := range a.Faults {
		steps = f.apply(steps)
		if f.Kind == FaultSplit {
			split = max(1, f.Bytes)
		}
	}
	h := x.w.Header()
	h.Set("Content-Type", contentType)
	h.Set("Cache-Control", "no-cache")
	h.Set("Request-Id", x.requestID())
	for k, v := range a.Headers {
		h.Set(k, v)
	}
	if f, ok := a.fault(FaultContentType); ok {
		h.Set("Content-Type", f.Value)
	}
	if a.hasFault(FaultNoContentType) {
		h["Content-Type"] = nil
	}
	x.s.update(func() {
		x.rec.Status = http.StatusOK
		x.s.cache.commit(p)
	})
	x.w.WriteHeader(http.StatusOK)
	x.write(steps, split)
}

// wholeFault answers with a fault that takes the place of the answer; true means that it did.
func (x *exchange) wholeFault(a Answer) bool {
	for _, f := range a.Faults {
		switch f.Kind {
		case FaultSlowHeaders, FaultStallEarly:
			if !x.stall(f.For.std()) {
				return true
			}
		case FaultResetEarly:
			x.reset()
			return true
		case FaultStatus:
			x.errorAnswer(f)
			return true
		case FaultHTML:
			body := cmp.Or(f.Body, "<!DOCTYPE html>\n<html><head><title>Sign in</title></head><body>Please sign in to the network.</body></html>\n")
			x.plain(f, "text/html; charset=utf-8", body)
			return true
		case FaultEmpty:
			x.plain(f, cmp.Or(f.Value, "text/event-stream"), "")
			return true
		case FaultRaw:
			x.plain(f, cmp.Or(f.Value, "text/event-stream"), f.Body)
			return true
		}
	}
	return false
}

func (x *exchange) errorAnswer(f Fault) {
	status := cmp.Or(f.Status, http.StatusInternalServerError)
	message := cmp.Or(f.Message, http.StatusText(status), "Overloaded")
	if strings.Contains(message, "thinking") {
		x.in.mu.Lock()
		x.in.refused = true
		x.in.mu.Unlock()
	}
	for k, v := range f.Headers {
		x.w.Header().Set(k, v)
	}
	if f.Body != "" {
		f.Status = status
		x.plain(f, cmp.Or(f.Value, "text/html"), f.Body)
		return
	}
	x.s.update(func() { x.rec.Error = message })
	x.writeJSON(status, errorBody(cmp.Or(f.Type, errorType(status)), message, x.requestID()))
}

func (x *exchange) plain(f Fault, contentType, body string) {
	h := x.w.Header()
	h.Set("Content-Type", contentType)
	h.Set("Request-Id", x.requestID())
	for k, v := range f.Headers {
		h.Set(k, v)
	}
	status := cmp.Or(f.Status, http.StatusOK)
	x.s.update(func() { x.rec.Status = status })
	x.w.WriteHeader(status)
	_, _ = x.w.Write([]byte(body))
}

// countTokens runs the same checks as a model call and returns the estimate.
func (x *exchange) countTokens() {
	st, ok := x.admit(true)
	if !ok {
		return
	}
	pos := x.c.flatten(st)
	total := 0
	if len(pos) > 0 {
		total = pos[len(pos)-1].tokens
	}
	x.s.update(func() { x.rec.Tokens = total })
	x.writeJSON(http.StatusOK, object("input_tokens", total))
}

func (x *exchange) admitGet() bool {
	x.c.checkAuth(x.in.script.Keys)
	x.c.checkVersion()
	if len(x.c.bad) > 0 {
		x.refuse(x.c.bad...)
	}
	return len(x.c.bad) == 0
}

func (x *exchange) listModels() {
	if !x.admitGet() {
		return
	}
	data := []json.RawMessage{}
	for _, m := range x.in.models {
		data = append(data, modelJSON(m))
	}
	x.writeJSON(http.StatusOK, object("data", data, "has_more", false, "first_id", x.in.models[0].ID, "last_id", x.in.models[len(x.in.models)-1].ID))
}

func (x *exchange) oneModel(id string) {
	if !x.admitGet() {
		return
	}
	m, ok := findModel(x.in.models, id)
	if !ok {
		x.refuse(Violation{Rule: "model", Status: http.StatusNotFound, Type: "not_found_error", Message: "model: " + id})
		return
	}
	x.writeJSON(http.StatusOK, modelJSON(m))
}

func modelJSON(m Model) json.RawMessage {
	types := map[string]any{}
	for _, t := range []string{"adaptive", "enabled", "disabled", "between_tools"} {
		supported := false
		for _, have := range m.Thinking {
			supported = supported || have == t
		}
		types[t] = map[string]bool{"supported": supported}
	}
	effort := map[string]any{}
	for _, e := range m.Efforts {
		effort[e] = map[string]bool{"supported": true}
	}
	return object("type", "model", "id", m.ID, "display_name", m.ID, "created_at", "2026-01-01T00:00:00Z",
		"line", nullable(m.Line), "max_input_tokens", m.Context, "max_tokens", m.MaxOutput,
		"capabilities", map[string]any{"thinking": map[string]any{"types": types}, "effort": effort})
}
