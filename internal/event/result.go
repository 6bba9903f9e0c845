package event

import (
	"encoding/json"
	"time"

	"lathe/internal/msg"
)

// Subtypes of a Result.
const (
	Success       = "success"
	ErrMaxTurns   = "error_max_turns"
	ErrMaxBudget  = "error_max_budget_usd"
	ErrDuring     = "error_during_execution"
	ErrStructured = "error_max_structured_output_retries"
)

// Result is how a turn ended.
type Result struct {
	Subtype    string
	IsError    bool
	Text       string   // of the last answer, for success; the error's text when an API failure ended the turn
	Errors     []string // for the error subtypes
	StopReason string
	Origin     string // of the prompt; see Prompt.Origin
	Terminal   string // completed, max_turns, budget_exhausted, api_error, aborted_streaming, aborted_tools, …
	APIStatus  int    // HTTP status of the failure that ended the turn

	Queued      int // prompts that waited when it ended
	Turns       int // model calls of this turn
	Dur, APIDur time.Duration
	TTFT        time.Duration

	Usage      msg.Usage             // main loop, this turn
	ModelUsage map[string]ModelUsage // whole session, by requested model
	Cost       float64               // USD, whole session
	Denials    []Denial
	Structured json.RawMessage
	Deferred   *Deferred // the call that a hook deferred

	LinesAdded, LinesRemoved int // whole session
}

// ModelUsage is what one model was used for.
type ModelUsage struct {
	Input, Output, CacheRead, CacheWrite, WebSearch int
	Cost                                            float64
	Window, MaxOutput                               int
}

// Deferred is a call that a hook deferred: the turn ended before it.
type Deferred struct {
	ID    string          `json:"id"`
	Name  string          `json:"name"`
	Input json.RawMessage `json:"input"`
}

// Denial is one refused call.
type Denial struct {
	Tool  string          `json:"tool_name"`
	ID    string          `json:"tool_use_id"`
	Input json.RawMessage `json:"tool_input"`
}
