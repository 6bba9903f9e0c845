package inspect

import (
	"time"

	"lathe/internal/msg"
	"lathe/internal/trace"
)

// Session is all that is known of a session, for people and machines.
type Session struct {
	ID       string     `json:"id"`
	Path     string     `json:"path"`
	Dir      string     `json:"dir,omitempty"`
	Title    string     `json:"title,omitempty"`
	Traced   bool       `json:"traced"`           // there is a trace of at least a part of it
	Requests []*Request `json:"requests"`         // of the conversation itself
	Agents   []*Agent   `json:"agents,omitempty"` // sub-agents, in the order in which they began
	Side     []*Request `json:"side,omitempty"`   // calls outside the conversations, as far as they were traced
	Order    []string   `json:"order"`            // the labels of all requests, as people read them (see All)
	Parts    []Part     `json:"parts"`            // what it came to, part by part; Usage and Cost are their sums
	Usage    msg.Usage  `json:"usage"`
	Cost     float64    `json:"cost_usd"`
	Hit      float64    `json:"cache_hit"` // share of the prompts' tokens that was read from the cache
	Lost     int        `json:"lost_tokens"`
	LostCost float64    `json:"lost_usd"`
	Notes    []string   `json:"notes,omitempty"`

	traces []*trace.Trace
}

// Agent is a sub-agent with the requests that it made.
type Agent struct {
	N        int        `json:"n"` // from 1
	ID       string     `json:"id"`
	Type     string     `json:"type"`
	Name     string     `json:"name,omitempty"` // by which messages reach it
	Task     string     `json:"task,omitempty"`
	Call     string     `json:"call,omitempty"`  // the tool use that began it
	Under    string     `json:"under,omitempty"` // the request whose answer made that call
	Depth    int        `json:"depth"`           // 1: begun by the session itself
	Requests []*Request `json:"requests"`
	Usage    msg.Usage  `json:"usage"`
	Cost     float64    `json:"cost_usd"`
	Hit      float64    `json:"cache_hit"`
	Lost     int        `json:"lost_tokens"`
	LostCost float64    `json:"lost_usd"`
}

// Part is a part of what a session came to.
type Part struct {
	Kind    string    `json:"kind"`              // one of those below
	Purpose string    `json:"purpose,omitempty"` // of PartSide: what the calls were for
	Calls   int       `json:"calls,omitempty"`   // 0: not known
	Usage   msg.Usage `json:"usage"`
	Cost    float64   `json:"cost_usd"`
}

// The kinds of parts.
const (
	PartMain   = "conversation"
	PartAgents = "sub-agents"
	PartSide   = "side"
	PartRest   = "not listed" // counted, but nothing says more of it: answers that were withdrawn, branches that were left
)

// Request is one pass of the loop: one answer, with all attempts to get it.
type Request struct {
	Label  string        `json:"label"`           // what it is called: 3; of sub-agent 2: a2.3; outside the conversations: s3
	N      int           `json:"n"`               // from 1, within its conversation
	Agent  int           `json:"agent,omitempty"` // the sub-agent that made it
	Under  string        `json:"under,omitempty"` // of a sub-agent: the request whose answer set it to work
	By     string        `json:"by,omitempty"`    // and the tool use that did
	For    string        `json:"purpose,omitempty"`
	Turn   string        `json:"turn,omitempty"`
	Step   int           `json:"step,omitempty"` // within the turn
	At     time.Time     `json:"at"`
	Dur    time.Duration `json:"dur_ns,omitempty"` // of the call
	Model  string        `json:"model"`
	Prompt string        `json:"prompt,omitempty"` // what the person asked, on the first request of a turn
	Usage  msg.Usage     `json:"usage"`
	Cost   float64       `json:"cost_usd"`
	Stop   string        `json:"stop,omitempty"`
	Fail   string        `json:"failure,omitempty"`
	Traced bool          `json:"traced"`
	Bytes  int           `json:"bytes,omitempty"` // of the body
	APIID  string        `json:"api_id,omitempty"`

	Compacted bool `json:"compacted,omitempty"` // the conversation was compacted since the request before

	Shares []Share `json:"shares"`           // what filled the context, in a stable order
	Fitted bool    `json:"fitted,omitempty"` // they come to what the API counted
	Miss   *Miss   `json:"miss,omitempty"`

	Stages []Stage `json:"stages,omitempty"`
	Calls  []Call  `json:"calls,omitempty"`
	Tools  []Tool  `json:"tools,omitempty"`
	Diff   *Change `json:"diff,omitempty"` // of what was sent, to the request before

	records []trace.Record
	call    trace.Record // the last attempt
	trace   *trace.Trace // that has it; nil: none has
}

// Share is a part of the context by where it comes from. Tokens are estimated, and fitted where the total is known.
type Share struct {
	Name   string `json:"name"`
	Tokens int    `json:"tokens"`
	Bytes  int    `json:"bytes"`
}

// Miss is what the prompt cache was expected to have and had not, and why.
type Miss struct {
	Cause    string  `json:"cause"`
	Text     string  `json:"text"`
	Stage    string  `json:"stage,omitempty"`
	Where    string  `json:"where,omitempty"`
	Byte     int     `json:"byte"`
	BodyAt   int     `json:"body_at"`
	Was      string  `json:"was,omitempty"`
	IsNow    string  `json:"is_now,omitempty"`
	Expected int     `json:"expected_tokens"`
	Read     int     `json:"read_tokens"`
	Lost     int     `json:"lost_tokens"`
	Cost     float64 `json:"cost_usd"`
}

// Stage is one run of a stage.
type Stage struct {
	Name    string        `json:"name"`
	Dur     time.Duration `json:"dur_ns"`
	Notes   []string      `json:"notes,omitempty"`
	Err     string        `json:"err,omitempty"`
	Changes []Change      `json:"changes,omitempty"`
	Fields  []Field       `json:"fields,omitempty"`
}

// Field is a small value that a stage changed.
type Field struct {
	Name   string `json:"name"`
	Before string `json:"before"`
	After  string `json:"after"`
}

// Change is what became of one list: of the conversation, the view, the request.
type Change struct {
	List    string `json:"list"`
	Before  Size   `json:"before"`
	After   Size   `json:"after"`
	Kept    int    `json:"kept"` // items at the start that stayed
	Removed []Item `json:"removed,omitempty"`
	Added   []Item `json:"added,omitempty"`
	Tail    int    `json:"tail,omitempty"` // items at the end that stayed
	Cut     int    `json:"not_listed,omitempty"`
}

// Size is how large a list is.
type Size struct {
	Items  int `json:"items"`
	Tokens int `json:"tokens"`
	Bytes  int `json:"bytes"`
}

// Item is one entry of a list. Its content is stored under its hash.
type Item struct {
	Index int `json:"index"`
	trace.Ref
}

// Call is one attempt to get the answer.
type Call struct {
	trace.Call
	At  time.Time     `json:"at"`
	Dur time.Duration `json:"dur_ns"`
	Err string        `json:"err,omitempty"`
}

// Tool is one tool call of the answer.
type Tool struct {
	trace.Tool
	Dur time.Duration `json:"dur_ns"`
	Err string        `json:"err,omitempty"`
}

// Sent is a request as the explanation of a miss needs it.
type Sent struct {
	Body                    []byte
	At                      time.Time
	Model                   string
	Usage                   msg.Usage
	Messages, View, Request []string // names of the items by id and content
	Summary                 bool     // Messages begin with the summary of a compaction
}

// AgentInput is what is known of a sub-agent: its own transcript and trace, and what began it.
type AgentInput struct {
	ID, Type, Name, Task string
	Call, Parent         string // the tool use that began it, and the id of the sub-agent that made it, "" for the session
	Messages             []msg.Message
	Trace                *trace.Trace
}

// Input is what a Session is made of.
type Input struct {
	ID, Path, Dir, Title string
	Messages             []msg.Message // of the transcript
	Trace                *trace.Trace  // nil: there is none
	Agents               []AgentInput

	// Kept is what the session's own account says: its whole cost, and what of it were calls outside the conversations.
	// It knows of calls that left no message. Zero: there is none.
	Kept struct {
		Usage msg.Usage
		Cost  float64
		Side  []Part
	}

	Cost    func(model string, u msg.Usage) float64
	Count   func(model string, m msg.Message) int // tokens, estimated
	Explain func(prev, next func() Sent) *Miss    // nil: nothing was missed
	Missed  func(prev, next msg.Usage) bool       // whether it is worth asking
}
