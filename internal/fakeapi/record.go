package fakeapi

import (
	"encoding/json"
	"fmt"
	"net/http"
	"time"
)

// Request is the record of one request to the server. Values handed out are copies; Body and Header are shared
// and must not be changed.
type Request struct {
	N      int           `json:"n"`      // 1, 2, … over the whole server
	Key    string        `json:"key"`    // which script answered, "" is the default one
	Call   int           `json:"call"`   // 1, 2, … within the script, model calls only
	Method string        `json:"method"` // of HTTP
	Path   string        `json:"path"`   // without the /s/<name> prefix
	Query  string        `json:"query,omitempty"`
	Header http.Header   `json:"-"`
	Body   []byte        `json:"-"`
	Time   time.Time     `json:"time"`            // when it came, by the server's clock
	Took   time.Duration `json:"took"`            // until the handler ended, 0 while it runs
	Done   bool          `json:"done"`            // the handler has ended
	Gone   bool          `json:"gone,omitempty"`  // the client went away before the end
	Status int           `json:"status"`          // 0 when no header was sent
	Sent   int           `json:"sent"`            // stream events written
	Turn   int           `json:"turn"`            // index of the script's turn, -1: none was taken
	Error  string        `json:"error,omitempty"` // message of the refusal

	Model      string      `json:"model,omitempty"`
	Stream     bool        `json:"stream,omitempty"`
	Usage      Usage       `json:"usage"`           // as the rules of the cache say, before overrides of a script
	Tokens     int         `json:"tokens"`          // estimate of the prompt
	Units      float64     `json:"units"`           // price of the prompt in units of one uncached input token
	Dropped    []string    `json:"dropped"`         // paths of thinking blocks that the server left out
	Violations []Violation `json:"violations"`      // all that is wrong with it, not only what was reported
	Prefix     []string    `json:"prefix"`          // hash of each cacheable position, for finding the first change
	Marks      []int       `json:"marks,omitempty"` // positions of the breakpoints in Prefix
	Hit        int         `json:"hit"`             // positions read from the cache

	body *node
}

// JSON decodes the body into v.
func (r Request) JSON(v any) error {
	if err := json.Unmarshal(r.Body, v); err != nil {
		return fmt.Errorf("request %d: %w", r.N, err)
	}
	return nil
}

// Violation is one broken rule.
type Violation struct {
	Request int    `json:"request"`
	Key     string `json:"key"`
	Rule    string `json:"rule"` // short name: header, field, role, pairing, text, thinking, binding, tool, cache, image, …
	Path    string `json:"path"` // messages.1.content.0 or a header's name
	Status  int    `json:"status"`
	Type    string `json:"type"` // the API's error type
	Message string `json:"message"`
}

// String is the message as the API words it.
func (v Violation) String() string {
	if v.Path == "" {
		return v.Message
	}
	return v.Path + ": " + v.Message
}

// Usage counts the tokens of one answer.
type Usage struct {
	Input    int `json:"input_tokens"` // neither read from nor written to the cache
	Write5m  int `json:"write_5m"`
	Write1h  int `json:"write_1h"`
	Read     int `json:"cache_read_input_tokens"`
	Output   int `json:"output_tokens"`
	Thinking int `json:"thinking_tokens"`
}

// Prompt is the true size of the prompt.
func (u Usage) Prompt() int { return u.Input + u.Write5m + u.Write1h + u.Read }

// units prices the prompt in units of one uncached input token.
func (u Usage) units(readPrice float64) float64 {
	return float64(u.Input) + 1.25*float64(u.Write5m) + 2*float64(u.Write1h) + readPrice*float64(u.Read)
}

// Totals sums up the model calls of a script.
type Totals struct {
	Calls int     `json:"calls"`
	Usage Usage   `json:"usage"`
	Units float64 `json:"units"` // price of all prompts in units of one uncached input token
}

// HitRatio is the part of all prompt tokens that was read from the cache.
func (t Totals) HitRatio() float64 {
	if t.Usage.Prompt() == 0 {
		return 0
	}
	return float64(t.Usage.Read) / float64(t.Usage.Prompt())
}

// Cost is the price in dollars, given the price of a million input and of a million output tokens.
func (t Totals) Cost(input, output float64) float64 {
	return (t.Units*input + float64(t.Usage.Output)*output) / 1e6
}

func (t *Totals) add(r *Request) {
	t.Calls++
	t.Usage.Input += r.Usage.Input
	t.Usage.Write5m += r.Usage.Write5m
	t.Usage.Write1h += r.Usage.Write1h
	t.Usage.Read += r.Usage.Read
	t.Usage.Output += r.Usage.Output
	t.Usage.Thinking += r.Usage.Thinking
	t.Units += r.Units
}
