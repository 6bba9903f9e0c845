package fakeapi

import (
	"bytes"
	"cmp"
	"encoding/json"
	"net/http"
	"slices"
	"time"
)

// Fault is one thing that goes wrong with an answer. Fields that a kind does not name are ignored by it.
type Fault struct {
	Kind string `json:"kind"` // one of the Fault constants

	AfterEvents int `json:"after_events,omitempty"` // where, counted in events of the stream
	AfterBytes  int `json:"after_bytes,omitempty"`  // where, counted in bytes of the body; wins over AfterEvents

	Status  int               `json:"status,omitempty"`
	Headers map[string]string `json:"headers,omitempty"`
	Type    string            `json:"type,omitempty"` // of an error; by default what belongs to the status
	Message string            `json:"message,omitempty"`
	Body    string            `json:"body,omitempty"`
	File    string            `json:"file,omitempty"` // Body from a file, relative to the script

	For   Duration `json:"for,omitempty"`   // how long; a stall without it waits for Release
	Count int      `json:"count,omitempty"` // how many pings, negative for ever
	Bytes int      `json:"bytes,omitempty"`
	Event string   `json:"event,omitempty"` // an event type
	Value string   `json:"value,omitempty"`
}

// The kinds of faults.
const (
	FaultStatus        = "status"        // an error answer: Status, Headers, Type, Message, or a whole Body
	FaultResetEarly    = "reset_early"   // connection reset before any header
	FaultStallEarly    = "stall_early"   // no header until released, or For long and then the answer
	FaultSlowHeaders   = "slow_headers"  // the same as stall_early with For
	FaultContentType   = "content_type"  // Value as content type of an otherwise good answer
	FaultHTML          = "html"          // a page with status 200, or Status
	FaultEmpty         = "empty"         // status 200 and no body
	FaultRaw           = "raw"           // Body or File as it is, with Status and content type Value
	FaultReset         = "reset"         // connection reset at After…
	FaultAbort         = "abort"         // connection closed inside the body at After…
	FaultEnd           = "end"           // the body ends in order at After…
	FaultStall         = "stall"         // silence at After…, For long or until released
	FaultPings         = "pings"         // Count pings at AfterEvents, For between them
	FaultSplit         = "split"         // the body is written and flushed Bytes at a time
	FaultErrorEvent    = "error_event"   // an error event (Type, Message) at AfterEvents, then the end
	FaultMalformed     = "malformed"     // an event with broken JSON at AfterEvents
	FaultUnknown       = "unknown"       // an unknown event and an unknown delta at AfterEvents
	FaultDrop          = "drop"          // all events of type Event are missing
	FaultDuplicate     = "duplicate"     // the first event of type Event comes twice
	FaultCRLF          = "crlf"          // line ends are CR LF
	FaultComment       = "comment"       // an SSE comment line at AfterEvents
	FaultDataOnly      = "data_only"     // no event: lines
	FaultCutInput      = "cut_input"     // the last tool input ends after Bytes, stop reason max_tokens
	FaultDuplicateIDs  = "duplicate_ids" // all tool calls have the id of the first
	FaultEmptyDeltas   = "empty_deltas"  // an empty delta before each delta
	FaultNoContentType = "no_content_type"
)

func faultKinds() []string {
	return []string{
		FaultStatus, FaultResetEarly, FaultStallEarly, FaultSlowHeaders, FaultContentType, FaultHTML, FaultEmpty, FaultRaw,
		FaultReset, FaultAbort, FaultEnd, FaultStall, FaultPings, FaultSplit, FaultErrorEvent, FaultMalformed, FaultUnknown,
		FaultDrop, FaultDuplicate, FaultCRLF, FaultComment, FaultDataOnly, FaultCutInput, FaultDuplicateIDs, FaultEmptyDeltas,
		FaultNoContentType,
	}
}

func (a Answer) fault(kind string) (Fault, bool) {
	i := slices.IndexFunc(a.Faults, func(f Fault) bool { return f.Kind == kind })
	if i < 0 {
		return Fault{}, false
	}
	return a.Faults[i], true
}

func (a Answer) hasFault(kind string) bool {
	_, ok := a.fault(kind)
	return ok
}

// cutInput says after how many bytes the input of block i is cut, -1 for not at all.
func cutInput(a Answer, list []Block, i int) int {
	f, ok := a.fault(FaultCutInput)
	if !ok || i != len(list)-1 {
		return -1
	}
	return f.Bytes
}

// errorType is the API's error type of a status.
func errorType(status int) string {
	switch status {
	case http.StatusUnauthorized:
		return "authentication_error"
	case http.StatusPaymentRequired:
		return "billing_error"
	case http.StatusForbidden:
		return "permission_error"
	case http.StatusNotFound:
		return "not_found_error"
	case http.StatusConflict:
		return "conflict_error"
	case http.StatusRequestEntityTooLarge:
		return "request_too_large"
	case http.StatusTooManyRequests:
		return "rate_limit_error"
	case http.StatusGatewayTimeout:
		return "timeout_error"
	case 529:
		return "overloaded_error"
	}
	if status >= 500 {
		return "api_error"
	}
	return "invalid_request_error"
}

func errorBody(typ, message, requestID string) []byte {
	pairs := []any{"type", "error", "error", json.RawMessage(object("type", typ, "message", message))}
	if requestID != "" {
		pairs = append(pairs, "request_id", requestID)
	}
	return object(pairs...)
}

// apply changes the stream as the fault says. Faults of the whole answer are none of its business.
func (f Fault) apply(in []step) []step {
	switch f.Kind {
	case FaultReset:
		return f.act(in, actReset)
	case FaultAbort:
		return f.act(in, actAbort)
	case FaultEnd:
		return f.act(in, actEnd)
	case FaultStall:
		return f.act(in, actStall)
	case FaultPings:
		return f.insert(in, f.pings()...)
	case FaultErrorEvent:
		typ := cmp.Or(f.Type, "overloaded_error")
		end := sse("error", errorBody(typ, cmp.Or(f.Message, "Overloaded"), ""))
		end.act = actEnd
		return f.insert(in, end)
	case FaultMalformed:
		return f.insert(in, sse("content_block_delta", []byte(`{"type":"content_block_delta","index":0,"delta":{"type":"text_del`)))
	case FaultUnknown:
		return f.insert(in,
			sse("content_block_mood", object("type", "content_block_mood", "mood", "fine")),
			sse("content_block_delta", object("type", "content_block_delta", "index", 0, "delta", json.RawMessage(`{"type":"mood_delta","mood":"fine"}`))))
	case FaultComment:
		return f.insert(in, step{data: []byte(": keep-alive\n\n")})
	case FaultDrop:
		return slices.DeleteFunc(in, func(s step) bool { return s.event == f.Event })
	case FaultDuplicate:
		if i := slices.IndexFunc(in, func(s step) bool { return s.event == f.Event }); i >= 0 {
			return slices.Insert(in, i+1, in[i])
		}
	case FaultCRLF, FaultDataOnly:
		for i := range in {
			in[i].data = f.reshape(in[i].data)
		}
	case FaultEmptyDeltas:
		return emptyDeltas(in)
	}
	return in
}

func (f Fault) reshape(data []byte) []byte {
	if f.Kind == FaultCRLF {
		return bytes.ReplaceAll(data, []byte("\n"), []byte("\r\n"))
	}
	if i := bytes.IndexByte(data, '\n'); bytes.HasPrefix(data, []byte("event:")) && i > 0 {
		return data[i+1:]
	}
	return data
}

func emptyDeltas(in []step) []step {
	var out []step
	for _, s := range in {
		for _, d := range []string{"text_delta", "thinking_delta", "input_json_delta"} {
			if s.event == "content_block_delta" && bytes.Contains(s.data, []byte(`"type":"`+d+`"`)) {
				field := map[string]string{"text_delta": "text", "thinking_delta": "thinking", "input_json_delta": "partial_json"}[d]
				var e struct {
					Index int `json:"index"`
				}
				_ = json.Unmarshal(bytes.TrimPrefix(s.data[bytes.IndexByte(s.data, '\n'):], []byte("\ndata:")), &e)
				out = append(out, sse("content_block_delta", object("type", "content_block_delta", "index", e.Index,
					"delta", json.RawMessage(object("type", d, field, "")))))
			}
		}
		out = append(out, s)
	}
	return out
}

func (f Fault) insert(in []step, more ...step) []step {
	return slices.Insert(in, min(f.AfterEvents, len(in)), more...)
}

func (f Fault) pings() []step {
	n := f.Count
	if n < 0 {
		n = 1 << 16 // more than any test waits for
	}
	out := make([]step, n)
	for i := range out {
		out[i] = ping()
		out[i].wait = max(time.Duration(f.For), time.Millisecond)
	}
	return out
}

// act puts an action at the place of the fault; a place in the middle of an event splits that event.
func (f Fault) act(in []step, a action) []step {
	s := step{act: a, stall: time.Duration(f.For)}
	if f.AfterBytes <= 0 {
		return f.insert(in, s)
	}
	left := f.AfterBytes
	for i, e := range in {
		if left < len(e.data) {
			head, tail := e, e
			head.data, tail.data, tail.wait = e.data[:left], e.data[left:], 0
			head.act, head.event = actNone, ""
			return slices.Concat(in[:i], []step{head, s, tail}, in[i+1:])
		}
		left -= len(e.data)
	}
	return append(in, s)
}
