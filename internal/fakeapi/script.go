package fakeapi

import (
	"encoding/json"
	"fmt"
	"time"
)

// Script says how one conversation is answered. A Script must not be changed after it was given to a server.
type Script struct {
	Vars   map[string]string `json:"vars,omitempty"`   // values of placeholders
	Keys   []string          `json:"keys,omitempty"`   // accepted API keys; none: any key
	Betas  []string          `json:"betas,omitempty"`  // feature headers accepted beside the public ones
	Models []json.RawMessage `json:"models,omitempty"` // added to or changed in the table: Model's fields, and "like"

	Turns   []Turn  `json:"turns,omitempty"`
	Default *Answer `json:"default,omitempty"` // when no turn is left; without it the request is refused

	// Scripts are further scripts, by API key or by the name in a path /s/<name>/v1/messages.
	Scripts map[string]*Script `json:"scripts,omitempty"`

	// Func computes an answer; nil means that the turns decide. It may be called concurrently.
	Func func(Request) *Answer `json:"-"`
}

// Turn is one answer and when it is given. Turns with When are tried first, in order; the others are taken one
// after the other.
type Turn struct {
	When    *When     `json:"when,omitempty"`
	Times   int       `json:"times,omitempty"` // how often, 0 means once (with When: always), negative for ever
	Capture []Capture `json:"capture,omitempty"`
	Answer
}

// When matches requests. All fields that are set must match.
type When struct {
	User       string `json:"user,omitempty"`        // in the text of the last user message
	UserRegexp string `json:"user_regexp,omitempty"` // over the same text
	ToolResult string `json:"tool_result,omitempty"` // in the last tool result of the last user message
	System     string `json:"system,omitempty"`      // in the system prompt
	Body       string `json:"body,omitempty"`        // in the raw body
	Model      string `json:"model,omitempty"`       // in the model's id
	Tool       string `json:"tool,omitempty"`        // a tool of this name is offered
	NoTools    bool   `json:"no_tools,omitempty"`    // no tool is offered
	Call       int    `json:"call,omitempty"`        // the n-th model call of this script, from 1
	Stream     *bool  `json:"stream,omitempty"`
}

// Capture takes a value out of the request for the placeholders of this answer and of all later ones.
type Capture struct {
	Name   string `json:"name"`
	From   string `json:"from,omitempty"` // last_tool_result (the default), last_user, system, body
	Regexp string `json:"regexp"`         // its first group, or all of it, is the value
}

// Answer is what the server answers to one request.
type Answer struct {
	Text   string  `json:"text,omitempty"` // short for one text block, before Blocks
	Blocks []Block `json:"blocks,omitempty"`

	StopReason   string          `json:"stop_reason,omitempty"` // tool_use or end_turn by default
	StopSequence string          `json:"stop_sequence,omitempty"`
	StopDetails  json.RawMessage `json:"stop_details,omitempty"`
	Usage        map[string]int  `json:"usage,omitempty"` // overrides of what the cache simulation counted

	Chunk      int               `json:"chunk,omitempty"`       // bytes of text or JSON in one delta, 64 by default
	Delay      Duration          `json:"delay,omitempty"`       // after the first event, before the first block
	EventDelay Duration          `json:"event_delay,omitempty"` // before each later event
	Rate       int               `json:"rate,omitempty"`        // events a second, by the clock: those that are due at once leave in one write
	PingEvery  int               `json:"ping_every,omitempty"`  // a ping after every n events
	Headers    map[string]string `json:"headers,omitempty"`     // of the HTTP answer
	Faults     []Fault           `json:"faults,omitempty"`      // applied in order
}

// Block is one block of an answer. Which fields are set says its type.
type Block struct {
	Text     string          `json:"text,omitempty"`
	Thinking string          `json:"thinking,omitempty"` // the server makes the signature; left out when the request does not think
	Redacted bool            `json:"redacted,omitempty"` // redacted_thinking
	Tool     string          `json:"tool,omitempty"`     // tool_use: the name
	Input    json.RawMessage `json:"input,omitempty"`    // tool_use: an object, {} by default
	ID       string          `json:"id,omitempty"`       // tool_use: made up by default
	Raw      json.RawMessage `json:"raw,omitempty"`      // any other block, as it is

	// Chunks are the deltas to send instead of cutting up the text or the input; for a tool_use they may be any
	// text, also such that is no JSON.
	Chunks []string `json:"chunks,omitempty"`
}

// Text returns an answer of one text block.
func Text(s string) Answer { return Answer{Text: s} }

// Call returns a tool_use block; input is marshalled, a json.RawMessage is taken as it is.
func Call(tool string, input any) Block {
	data, err := json.Marshal(input)
	if err != nil {
		panic(fmt.Sprintf("fakeapi.Call: %v", err))
	}
	return Block{Tool: tool, Input: data}
}

// Sequence returns a script that gives the answers one after the other.
func Sequence(answers ...Answer) *Script {
	s := &Script{}
	for _, a := range answers {
		s.Turns = append(s.Turns, Turn{Answer: a})
	}
	return s
}

// Duration is a time.Duration that is written as "150ms" in scripts.
type Duration time.Duration

// UnmarshalJSON reads the text form.
func (d *Duration) UnmarshalJSON(data []byte) error {
	var s string
	if err := json.Unmarshal(data, &s); err != nil {
		return fmt.Errorf("a duration is a text such as \"150ms\": %w", err)
	}
	v, err := time.ParseDuration(s)
	if err != nil {
		return fmt.Errorf("duration: %w", err)
	}
	*d = Duration(v)
	return nil
}

// MarshalJSON writes the text form.
func (d Duration) MarshalJSON() ([]byte, error) { return json.Marshal(time.Duration(d).String()) }
