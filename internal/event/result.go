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
	Shown      *string  // Text as hooks word it for people; nil: as it is
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

	Fast                     string // on, off or cooldown
	LinesAdded, LinesRemoved int    // whole session
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

func resultFields(r Result) obj {
	denials := r.Denials
	if denials == nil {
		denials = []Denial{}
	}
	o := obj{
		"is_error": r.IsError, "duration_ms": r.Dur.Milliseconds(), "duration_api_ms": r.APIDur.Milliseconds(),
		"num_turns": r.Turns, "total_cost_usd": r.Cost, "usage": usageFields(r.Usage), "modelUsage": modelUsage(r.ModelUsage),
		"permission_denials": denials, "stop_reason": nil, "queued_turn_count": r.Queued,
	}
	if r.StopReason != "" {
		o["stop_reason"] = r.StopReason
	}
	if r.Terminal != "" {
		o["terminal_reason"] = r.Terminal
	}
	if r.Fast != "" && r.Fast != "off" {
		o["fast_mode_state"] = r.Fast
	}
	if r.TTFT > 0 {
		o["ttft_ms"] = r.TTFT.Milliseconds()
	}
	if r.Subtype == Success {
		o["result"] = r.Text
	} else {
		o["errors"] = list(r.Errors)
	}
	if r.Origin != "" {
		o["origin"] = obj{"kind": r.Origin}
	}
	if r.APIStatus != 0 {
		o["api_error_status"] = r.APIStatus
	}
	if r.Deferred != nil {
		o["deferred_tool_use"] = r.Deferred
	}
	if r.Structured != nil {
		o["structured_output"] = r.Structured
	}
	return o
}

func usageFields(u msg.Usage) obj {
	c := msg.CacheCreation{}
	if u.CacheCreation != nil {
		c = *u.CacheCreation
	}
	s := msg.ServerTools{}
	if u.ServerTools != nil {
		s = *u.ServerTools
	}
	o := obj{
		"input_tokens": u.Input, "output_tokens": u.Output, "cache_creation_input_tokens": u.CacheWrite,
		"cache_read_input_tokens": u.CacheRead, "cache_creation": c, "server_tool_use": s, "service_tier": u.ServiceTier,
		"speed": "standard", "inference_geo": "", "iterations": []any{},
	}
	if u.Speed != "" {
		o["speed"] = u.Speed
	}
	if u.ServiceTier == "" {
		o["service_tier"] = "standard"
	}
	return o
}

func modelUsage(m map[string]ModelUsage) obj {
	o := obj{}
	for name, u := range m {
		o[name] = obj{
			"inputTokens": u.Input, "outputTokens": u.Output, "cacheReadInputTokens": u.CacheRead,
			"cacheCreationInputTokens": u.CacheWrite, "webSearchRequests": u.WebSearch, "costUSD": u.Cost,
			"contextWindow": u.Window, "maxOutputTokens": u.MaxOutput,
		}
	}
	return o
}
