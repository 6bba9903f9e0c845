package replay

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"time"

	"lathe/internal/provider"
)

// Modes of comparing a request with the recording.
const (
	MatchExact = "exact"
	MatchLast  = "last"
	MatchNone  = "none"
)

type header struct {
	Recording int               `json:"recording"`
	Model     string            `json:"model,omitempty"`
	Match     string            `json:"match,omitempty"`
	Vars      map[string]string `json:"vars,omitempty"`
	Ignore    []string          `json:"ignore,omitempty"`
}

type call struct {
	Match   string            `json:"match,omitempty"`
	Request json.RawMessage   `json:"request,omitempty"`
	Events  []json.RawMessage `json:"events,omitempty"`
	SSE     string            `json:"sse,omitempty"`
	Error   *failure          `json:"error,omitempty"`
	DelayMS int               `json:"delay_ms,omitempty"`
}

// failure is a provider.Error at rest.
type failure struct {
	Kind         provider.Kind `json:"kind"`
	Status       int           `json:"status,omitempty"`
	Message      string        `json:"message,omitempty"`
	RetryAfterMS int64         `json:"retry_after_ms,omitempty"`
	NoRetry      bool          `json:"no_retry,omitempty"`
}

func (f *failure) err() *provider.Error {
	return &provider.Error{
		Kind: f.Kind, Status: f.Status, Message: f.Message, NoRetry: f.NoRetry,
		After: time.Duration(f.RetryAfterMS) * time.Millisecond,
	}
}

func failureOf(err error) *failure {
	var e *provider.Error
	if !errors.As(err, &e) {
		return &failure{Kind: provider.Truncated, Message: "the call was given up: " + err.Error()}
	}
	return &failure{Kind: e.Kind, Status: e.Status, Message: e.Message, NoRetry: e.NoRetry, RetryAfterMS: e.After.Milliseconds()}
}

// recording is a file that was read.
type recording struct {
	header
	ignore []*regexp.Regexp
	calls  []call
}

func read(r io.Reader) (*recording, error) {
	var rec recording
	in := bufio.NewReader(r)
	for n := 1; ; n++ {
		line, err := in.ReadBytes('\n')
		if err != nil && err != io.EOF {
			return nil, err
		}
		if line = bytes.TrimSpace(line); len(line) > 0 {
			if err := rec.line(line); err != nil {
				return nil, fmt.Errorf("line %d: %w", n, err)
			}
		}
		if err == io.EOF {
			break
		}
	}
	if rec.Recording == 0 {
		return nil, errors.New("it is empty: want a header line with \"recording\":1")
	}
	return &rec, nil
}

func (rec *recording) line(line []byte) error {
	if rec.Recording == 0 {
		if err := json.Unmarshal(line, &rec.header); err != nil {
			return err
		}
		if rec.Recording != 1 {
			return errors.New("no recording that this version can play: want a header line with \"recording\":1")
		}
		for _, p := range rec.Ignore {
			re, err := regexp.Compile(p)
			if err != nil {
				return fmt.Errorf("ignore: %w", err)
			}
			rec.ignore = append(rec.ignore, re)
		}
		return checkMatch(rec.Match)
	}
	var c call
	if err := json.Unmarshal(line, &c); err != nil {
		return err
	}
	if c.Match == "" {
		c.Match = rec.Match
	}
	if c.Match == "" {
		c.Match = MatchLast
	}
	if c.Request == nil {
		c.Match = MatchNone
	}
	rec.calls = append(rec.calls, c)
	return checkMatch(c.Match)
}

func checkMatch(m string) error {
	switch m {
	case "", MatchExact, MatchLast, MatchNone:
		return nil
	}
	return fmt.Errorf("match %q: want %s, %s or %s", m, MatchExact, MatchLast, MatchNone)
}
