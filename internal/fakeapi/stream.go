package fakeapi

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"
)

// step is one thing that the writer does: it writes data, then acts. A stream is a list of steps, so that a
// fault is a function from steps to steps.
type step struct {
	event string // type of the event in data, "" for other bytes
	data  []byte
	wait  time.Duration // before the data
	at    time.Duration // when the data is due, counted from the first step
	act   action        // after the data
	stall time.Duration // for actStall: how long, 0 until released
}

type action int

const (
	actNone  action = iota
	actReset        // the connection is reset
	actAbort        // the connection is closed in the middle of the body
	actEnd          // the body ends in order, too early
	actStall
)

func sse(event string, data []byte) step {
	return step{event: event, data: fmt.Appendf(nil, "event: %s\ndata: %s\n\n", event, data)}
}

// usageJSON is the API's usage object, with a script's overrides laid over it.
func (r reply) usageJSON(output int) json.RawMessage {
	u := r.usage
	fields := map[string]any{
		"input_tokens": u.Input, "cache_creation_input_tokens": u.Write5m + u.Write1h, "cache_read_input_tokens": u.Read,
		"cache_creation": json.RawMessage(object("ephemeral_5m_input_tokens", u.Write5m, "ephemeral_1h_input_tokens", u.Write1h)),
		"output_tokens":  output, "service_tier": "standard",
	}
	if r.fast {
		fields["speed"] = "fast"
	}
	if u.Thinking > 0 {
		fields["output_tokens_details"] = json.RawMessage(object("thinking_tokens", u.Thinking))
	}
	searches := 0
	for _, b := range r.blocks {
		if b.search {
			searches++
		}
	}
	if searches > 0 {
		fields["server_tool_use"] = json.RawMessage(object("web_search_requests", searches, "web_fetch_requests", 0))
	}
	for k, v := range r.override {
		fields[k] = v
	}
	var pairs []any
	for _, k := range slices.Sorted(maps.Keys(fields)) {
		pairs = append(pairs, k, fields[k])
	}
	return object(pairs...)
}

func nullable(s string) any {
	if s == "" {
		return nil
	}
	return s
}

// message is the Message object: empty and unfinished for message_start, complete for a JSON answer.
func (r reply) message(complete bool) json.RawMessage {
	content := []json.RawMessage{}
	stop, output := "", 1
	if complete {
		for _, b := range r.blocks {
			content = append(content, b.whole)
		}
		stop, output = r.stop, r.usage.Output
	}
	pairs := []any{
		"id", r.id, "type", "message", "role", "assistant", "model", r.model, "content", content,
		"stop_reason", nullable(stop), "stop_sequence", nil,
	}
	if complete {
		pairs[len(pairs)-1] = nullable(r.stopSeq)
		if r.details != nil {
			pairs = append(pairs, "stop_details", r.details)
		}
	}
	pairs = append(pairs, "usage", r.usageJSON(output))
	if len(r.transforms) > 0 {
		pairs = append(pairs, "input_transformations", r.transforms)
	}
	return object(pairs...)
}

// steps is the reply as a stream.
func (r reply) steps(a Answer) []step {
	out := []step{sse("message_start", object("type", "message_start", "message", r.message(false)))}
	for i, b := range r.blocks {
		out = append(out, sse("content_block_start", object("type", "content_block_start", "index", i, "content_block", json.RawMessage(b.start))))
		if i == 0 {
			out = append(out, ping())
		}
		for _, d := range b.deltas {
			out = append(out, sse("content_block_delta", object("type", "content_block_delta", "index", i, "delta", json.RawMessage(d))))
		}
		out = append(out, sse("content_block_stop", object("type", "content_block_stop", "index", i)))
	}
	delta := []any{"stop_reason", nullable(r.stop), "stop_sequence", nullable(r.stopSeq)}
	if r.details != nil {
		delta = append(delta, "stop_details", r.details)
	}
	out = append(out,
		sse("message_delta", object("type", "message_delta", "delta", json.RawMessage(object(delta...)), "usage", r.usageJSON(r.usage.Output))),
		sse("message_stop", object("type", "message_stop")))
	return pace(out, a)
}

func ping() step { return sse("ping", object("type", "ping")) }

// pace puts in the delays and the extra pings of the answer.
func pace(in []step, a Answer) []step {
	var out []step
	for i, s := range in {
		if i == 1 {
			s.wait = time.Duration(a.Delay)
		}
		if i > 1 {
			s.wait = time.Duration(a.EventDelay)
		}
		if a.Rate > 0 {
			s.at = time.Duration(i) * time.Second / time.Duration(a.Rate)
		}
		out = append(out, s)
		if a.PingEvery > 0 && (i+1)%a.PingEvery == 0 {
			out = append(out, ping())
		}
	}
	return out
}
