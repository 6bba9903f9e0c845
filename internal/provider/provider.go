package provider

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"time"

	"lathe/internal/msg"
)

// Provider streams one answer.
type Provider interface {
	// Stream sends the request and yields chunks until exactly one ChunkStop, or an error of type *Error (or
	// the context's error). The end of the input before ChunkStop is an *Error of kind Truncated. It never
	// retries. It may be called concurrently. Breaking out of the loop closes the connection.
	Stream(ctx context.Context, req *Request) iter.Seq2[Chunk, error]
}

// Request is one model call, independent of the wire format. Its encoding must be a pure function of it.
type Request struct {
	Model     string
	MaxTokens int
	System    []msg.Block // text blocks
	Tools     []msg.ToolDef
	// ServerTools are tools that the provider runs itself, each as it is sent; they come behind Tools.
	ServerTools []json.RawMessage
	Messages    []Message

	Thinking Thinking
	Effort   string // low, medium, high, xhigh, max; empty: the model's default
	Fast     bool   // in fast mode, which the model must have

	Breakpoints []Breakpoint               // where the prompt cache is marked, at most 4
	NoStream    bool                       // ask for one JSON answer instead of a stream (the last resort of the retry table)
	Betas       []string                   // extra feature headers
	Extra       map[string]json.RawMessage // extra body fields, sorted by key when encoded

	SessionID string // sent as a header where the provider wants one
}

// Message is one message as the API takes it: normalised, roles alternate.
type Message struct {
	Role    msg.Role
	Content []msg.Block
}

// Thinking is the request's thinking parameter.
type Thinking struct {
	Type       string // "", adaptive, enabled, disabled
	Budget     int    // tokens, for enabled
	Display    string // "", summarized, omitted
	OnMismatch string // "", drop_block: what the API does with blocks that no longer fit the prefix
}

// Breakpoint marks the end of a cacheable prefix.
type Breakpoint struct {
	At      Place
	Index   int  // of the tool, system block or message
	Block   int  // of the content block, when At is AtMessage
	OneHour bool // lifetime of one hour instead of five minutes
}

// Place says what a breakpoint's index counts.
type Place int

// The places of a breakpoint.
const (
	AtTool Place = iota + 1
	AtSystem
	AtMessage
)

// ChunkKind says what a Chunk is.
type ChunkKind int

// The kinds of chunks, in the order in which a good stream has them.
const (
	ChunkStart      ChunkKind = iota + 1 // Meta and Usage are set; voids what came before on this stream
	ChunkBlockStart                      // Index and Block (its text, input and signature still empty)
	ChunkBlockDelta                      // Index, Delta and Text
	ChunkBlockEnd                        // Index
	ChunkDelta                           // StopReason and Usage (cumulative)
	ChunkStop
	ChunkPing    // a sign of life
	ChunkUnknown // an event that we do not know; only Raw is set
)

// DeltaKind says what a block delta adds to.
type DeltaKind int

// The kinds of deltas.
const (
	DeltaText DeltaKind = iota + 1
	DeltaThinking
	DeltaSignature
	DeltaInput // a piece of a tool call's JSON text
	DeltaOther // only Raw is set
)

// Chunk is one event of an answer's stream.
type Chunk struct {
	Kind  ChunkKind
	Index int
	Block *msg.Block
	Delta DeltaKind
	Text  string

	Meta        *Meta
	StopReason  string
	StopSeq     string
	StopDetails json.RawMessage
	Usage       *msg.Usage // fields that the event does not carry are zero; see UsageSet
	UsageRaw    json.RawMessage

	// Raw is the event as the provider sent it (Messages API form), for front ends that pass events on. It may
	// alias a buffer that is valid only until the next chunk.
	Raw []byte
}

// Meta is what an answer says of itself at its start.
type Meta struct {
	ID        string
	Model     string
	RequestID string
}

// Kind is the cause of an Error; retry and front ends branch on it.
type Kind string

// The kinds of errors.
const (
	Auth        Kind = "authentication_failed" // 401
	Forbidden   Kind = "permission"            // 403
	Billing     Kind = "billing_error"         // 402, exhausted credit: not retried
	RateLimit   Kind = "rate_limit"            // 429
	Overloaded  Kind = "overloaded"            // 529
	Server      Kind = "server_error"          // 5xx
	Network     Kind = "network"               // refused, reset, unreachable, TLS
	Absent      Kind = "absent"                // no server at an address that the user set and that never answered
	Truncated   Kind = "truncated"             // the stream ended before its stop event
	Malformed   Kind = "malformed"             // an answer that is not what the protocol says
	Idle        Kind = "idle"                  // no bytes for the idle limit
	TooLong     Kind = "prompt_too_long"
	TooLarge    Kind = "request_too_large" // 413
	NotFound    Kind = "model_not_found"   // 404
	Invalid     Kind = "invalid_request"   // any other 400
	Thinking400 Kind = "thinking_mismatch" // a 400 that names a thinking block
	Replay      Kind = "replay_mismatch"   // a recording that does not fit; never retried
)

// Error is a failed model call.
type Error struct {
	Kind      Kind
	Status    int           // HTTP status, 0 without one
	After     time.Duration // the server's retry-after, 0 if none
	NoRetry   bool          // the server asked not to retry
	Message   string        // the provider's own words
	RequestID string
	Err       error
}

func (e *Error) Error() string {
	s := e.Message
	if s == "" && e.Err != nil {
		s = e.Err.Error()
	}
	if e.Status != 0 {
		s = fmt.Sprintf("%d %s", e.Status, s)
	}
	if e.RequestID != "" {
		s += " (request " + e.RequestID + ")"
	}
	return s
}

func (e *Error) Unwrap() error { return e.Err }
