package trace

import (
	"encoding/json"
	"time"

	"lathe/internal/msg"
)

// Ref names a piece of content (a message, block, tool definition or system block) by its hash. A message of the
// conversation is named by its id instead (Stored): its content is in the transcript, and to encode, search, hash and
// write it once more would be most of what a trace costs.
type Ref struct {
	ID     string `json:"id,omitempty"`
	Kind   string `json:"kind"`             // a message's kind or role, "result" for tool results, a block's type, "tool"
	Source string `json:"source,omitempty"` // of an attachment: the source that made it
	Key    string `json:"key,omitempty"`    // of an attachment: what was attached
	Hash   string `json:"hash"`
	Bytes  int    `json:"bytes"`
	Tokens int    `json:"tokens,omitempty"` // estimated
}

// stored begins the name of a content that is in the transcript.
const stored = "@"

// Stored is the name of the content of a message that the transcript has.
func Stored(id string) string { return stored + id }

// The lists of a View. Each item of system is a text block, of tools a definition, of the others an array of blocks.
const (
	Messages = "messages" // the whole conversation
	Seen     = "view"     // what this call sees of it
	System   = "system"
	Tools    = "tools"
	Request  = "request" // the messages of the request that normalize built
	Sent     = "sent"    // the messages that one call really sent; a retry may change them
)

// View is what the turn looked like at one moment.
type View struct {
	Fields map[string]any   `json:"fields,omitempty"` // values that == compares
	Items  map[string][]Ref `json:"items,omitempty"`
}

// Note is one decision of a stage with its reason, such as "kept 3 of 41 results: over budget".
type Note struct {
	Text string         `json:"text"`
	Data map[string]any `json:"data,omitempty"`
}

// SideStage is the stage of calls outside the conversation.
const SideStage = "side"

// Record is one run of one stage, or one part of it.
//
// A writer gives only what changed: a list that is missing is what it was in the record before. Reading fills in
// Before and After of a stage's record whole; a sub-record has in After the lists that concern it.
type Record struct {
	Run     string        `json:"run,omitempty"` // of the program; the recorder sets it
	Session string        `json:"session"`
	Turn    string        `json:"turn"`
	Stage   string        `json:"stage"`
	Parent  string        `json:"parent,omitempty"` // of a sub-record: the stage
	Step    int           `json:"step"`             // model calls so far
	Start   time.Time     `json:"start"`
	Dur     time.Duration `json:"dur_ns"`
	Before  View          `json:"before"`
	After   View          `json:"after"`
	Notes   []Note        `json:"notes,omitempty"`
	Err     string        `json:"err,omitempty"`

	Call *Call `json:"call,omitempty"` // sub-record of stage model
	Tool *Tool `json:"tool,omitempty"` // sub-record of stage tools
}

// Call is one attempt to get an answer.
type Call struct {
	Model     string            `json:"model"`
	Head      string            `json:"head"` // blob: the request's body without tools, system and messages
	Marks     []Mark            `json:"marks,omitempty"`
	Body      string            `json:"body"` // CRC-32C of the body, eight hex digits
	Bytes     int               `json:"bytes"`
	Headers   map[string]string `json:"headers,omitempty"` // of the request, without secrets; a writer may leave out the ones of the call before
	Attempt   int               `json:"attempt"`           // from 1, within one answer
	Wait      time.Duration     `json:"wait_ns,omitempty"` // before it
	Why       string            `json:"why,omitempty"`     // it was tried again
	TTFT      time.Duration     `json:"ttft_ns,omitempty"`
	Usage     *msg.Usage        `json:"usage,omitempty"`
	Cost      float64           `json:"cost_usd,omitempty"`
	Stop      string            `json:"stop,omitempty"` // reason
	APIID     string            `json:"api_id,omitempty"`
	RequestID string            `json:"request_id,omitempty"`
	Status    int               `json:"status,omitempty"` // HTTP, of a failure
	Failure   string            `json:"failure,omitempty"`

	// Purpose is what a call outside the conversation is for, in few words; such a record has SideStage as its stage and
	// parent. Head is its whole body then, "" where that was too large to keep.
	Purpose string `json:"purpose,omitempty"`
}

// Mark is where the prompt cache was marked.
type Mark struct {
	At    string `json:"at"` // tools, system or messages
	Index int    `json:"index"`
	Block int    `json:"block,omitempty"` // of a message
	Hour  bool   `json:"hour,omitempty"`  // a lifetime of one hour
}

// Tool is one tool call: how it was judged, and what came of it.
type Tool struct {
	ID       string          `json:"id"`
	Name     string          `json:"name"`
	Input    json.RawMessage `json:"input,omitempty"` // as it was judged and run; left out where large, see InputRef
	InputRef string          `json:"input_ref,omitempty"`
	Summary  string          `json:"summary,omitempty"`
	Parallel bool            `json:"parallel,omitempty"`
	Decision Decision        `json:"decision"`
	IsError  bool            `json:"is_error,omitempty"`
	Bytes    int             `json:"bytes"` // of the result, before the result budget; the message that answers the call has it
	Ran      bool            `json:"ran"`
}

// Decision is a verdict with its whole proof.
type Decision struct {
	Verdict string   `json:"verdict"`
	Reason  string   `json:"reason,omitempty"`
	By      By       `json:"by"`
	Parts   []Part   `json:"parts,omitempty"`
	Suggest []string `json:"suggest,omitempty"` // rules that a lasting answer would save
}

// By is what decided: a rule with its place, a mode, a hook, a person, a default.
type By struct {
	Kind  string `json:"kind"`
	Rule  string `json:"rule,omitempty"`
	Scope string `json:"scope,omitempty"`
	File  string `json:"file,omitempty"`
	Line  int    `json:"line,omitempty"`
}

// Part is one piece of a call, and what was found on it.
type Part struct {
	Text    string `json:"text"`
	Verdict string `json:"verdict"`
	Reason  string `json:"reason,omitempty"`
	By      By     `json:"by"`
}

// Recorder keeps records. It is safe for concurrent use and never fails the turn: what cannot be written is
// counted and said at the end.
type Recorder interface {
	// Blob stores content once and returns its hash. The content is one JSON value. It does not keep b.
	Blob(b []byte) (hash string)
	Record(r Record)
}
