package model

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"lathe/internal/event"
	"lathe/internal/fakeapi"
	"lathe/internal/msg"
	"lathe/internal/provider"
	"lathe/internal/provider/anthropic"
	"lathe/internal/turn"
)

// Every fault of the strict fake, over real HTTP: the turn ends as the retry table says, no request breaks a rule,
// and what is on disk can be sent back.
func TestFaultsOverHTTP(t *testing.T) {
	fault := func(f fakeapi.Fault) fakeapi.Answer {
		return fakeapi.Answer{
			Blocks: []fakeapi.Block{{Text: "some words of an answer that breaks"}, fakeapi.Call("Read", map[string]any{"file_path": "/a"})},
			Chunk:  5, Faults: []fakeapi.Fault{f},
		}
	}
	ok := fakeapi.Text("done")
	calls := []string{"done", `Read{"file_path":"/a"}`}
	tests := []struct {
		name  string
		fault fakeapi.Fault
		times int      // how often the fault comes before the good answer
		want  []string // text of the reply, and its calls; or how the failure begins
		reqs  int
	}{
		{"reset before any header", fakeapi.Fault{Kind: fakeapi.FaultResetEarly}, 2, calls[:1], 3},
		{"silence before any header", fakeapi.Fault{Kind: fakeapi.FaultStallEarly}, 1, calls[:1], 2},
		{"wrong type", fakeapi.Fault{Kind: fakeapi.FaultContentType, Value: "application/pdf"}, 1, []string{"!API Error: 200 the answer is application/pdf"}, 1},
		{"no type", fakeapi.Fault{Kind: fakeapi.FaultNoContentType}, 1, []string{"some words of an answer that breaks", calls[1]}, 1},
		{"login page", fakeapi.Fault{Kind: fakeapi.FaultHTML}, 1, []string{"!API Error: 200 the answer is text/html"}, 1},
		{"empty", fakeapi.Fault{Kind: fakeapi.FaultEmpty}, 2, calls[:1], 3},
		{"reset", fakeapi.Fault{Kind: fakeapi.FaultReset, AfterEvents: 5}, 1, calls[:1], 2},
		{"abort", fakeapi.Fault{Kind: fakeapi.FaultAbort, AfterEvents: 12}, 2, calls[:1], 3},
		{"end", fakeapi.Fault{Kind: fakeapi.FaultEnd, AfterBytes: 700}, 1, calls[:1], 2},
		{"stall", fakeapi.Fault{Kind: fakeapi.FaultStall, AfterEvents: 4}, 1, calls[:1], 2},
		{"pings", fakeapi.Fault{Kind: fakeapi.FaultPings, AfterEvents: 4, Count: 3}, 1, []string{"some words of an answer that breaks", calls[1]}, 1},
		{"split", fakeapi.Fault{Kind: fakeapi.FaultSplit, Bytes: 3}, 1, []string{"some words of an answer that breaks", calls[1]}, 1},
		{"error event", fakeapi.Fault{Kind: fakeapi.FaultErrorEvent, AfterEvents: 3, Type: "overloaded_error"}, 2, calls[:1], 3},
		{"final error event", fakeapi.Fault{Kind: fakeapi.FaultErrorEvent, AfterEvents: 3, Type: "invalid_request_error", Message: "bad"}, 1, []string{"!API Error: bad"}, 1},
		{"malformed", fakeapi.Fault{Kind: fakeapi.FaultMalformed, AfterEvents: 3}, 1, calls[:1], 2},
		{"unknown", fakeapi.Fault{Kind: fakeapi.FaultUnknown, AfterEvents: 3}, 1, []string{"some words of an answer that breaks", calls[1]}, 1},
		{"no message_stop", fakeapi.Fault{Kind: fakeapi.FaultDrop, Event: "message_stop"}, 1, []string{"some words of an answer that breaks", calls[1]}, 1},
		{"no message_delta", fakeapi.Fault{Kind: fakeapi.FaultDrop, Event: "message_delta"}, 1, []string{"some words of an answer that breaks", calls[1]}, 1},
		{"no block stops", fakeapi.Fault{Kind: fakeapi.FaultDrop, Event: "content_block_stop"}, 1, []string{"some words of an answer that breaks", calls[1]}, 1},
		{"no message_start", fakeapi.Fault{Kind: fakeapi.FaultDrop, Event: "message_start"}, 1, calls[:1], 2},
		{"two starts", fakeapi.Fault{Kind: fakeapi.FaultDuplicate, Event: "message_start"}, 1, []string{"some words of an answer that breaks", calls[1]}, 1},
		{"line ends", fakeapi.Fault{Kind: fakeapi.FaultCRLF}, 1, []string{"some words of an answer that breaks", calls[1]}, 1},
		{"comment", fakeapi.Fault{Kind: fakeapi.FaultComment, AfterEvents: 3}, 1, []string{"some words of an answer that breaks", calls[1]}, 1},
		{"data only", fakeapi.Fault{Kind: fakeapi.FaultDataOnly}, 1, []string{"some words of an answer that breaks", calls[1]}, 1},
		{"empty deltas", fakeapi.Fault{Kind: fakeapi.FaultEmptyDeltas}, 1, []string{"some words of an answer that breaks", calls[1]}, 1},
		{"cut call", fakeapi.Fault{Kind: fakeapi.FaultCutInput, Bytes: 9}, 1, []string{"some words of an answer that breaksdone"}, 2},
		{"429", fakeapi.Fault{Kind: fakeapi.FaultStatus, Status: 429, Headers: map[string]string{"retry-after": "0.01"}}, 3, calls[:1], 4},
		{"529", fakeapi.Fault{Kind: fakeapi.FaultStatus, Status: 529}, 5, calls[:1], 6},
		{"503", fakeapi.Fault{Kind: fakeapi.FaultStatus, Status: 503}, 3, calls[:1], 4},
		{"400", fakeapi.Fault{Kind: fakeapi.FaultStatus, Status: 400, Message: "no"}, 1, []string{"!API Error: 400 no (request req_"}, 1},
		{"403", fakeapi.Fault{Kind: fakeapi.FaultStatus, Status: 403, Message: "no"}, 1, []string{"!API Error: 403 no (request req_"}, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var answers []fakeapi.Answer
			for range tt.times {
				answers = append(answers, fault(tt.fault))
			}
			server, err := fakeapi.New(fakeapi.Options{Script: fakeapi.Sequence(append(answers, ok)...)})
			if err != nil {
				t.Fatal(err)
			}
			url, err := server.Start()
			if err != nil {
				t.Fatal(err)
			}
			defer server.Close()
			idle := time.Minute
			if strings.Contains(tt.fault.Kind, "stall") { // the only ones that are met by waiting
				idle = time.Second
			}
			got, w := overHTTP(t, url, idle)
			if len(got) > 0 && strings.HasPrefix(tt.want[0], "!") && strings.HasPrefix(got[0], tt.want[0]) {
				got = tt.want
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s\ntold: %v", diff, w.told())
			}
			if n := len(server.Requests()); n != tt.reqs {
				t.Errorf("%d requests, want %d; told: %v", n, tt.reqs, w.told())
			}
			if v := server.Violations(); len(v) > 0 {
				t.Errorf("rules broken: %v", v)
			}
			w.checkDisk(t)
			if len(got) > 0 && got[0] == "done" && len(w.log()) != 1 {
				t.Errorf("the broken answer is still there: %v", w.log())
			}
		})
	}
}

// overHTTP runs the stage against a server and returns the reply in short.
func overHTTP(t *testing.T, url string, idle time.Duration) ([]string, *world) {
	t.Helper()
	client, err := anthropic.New(anthropic.Options{BaseURL: url, APIKey: "k"})
	if err != nil {
		t.Fatal(err)
	}
	w := newWorld(t)
	w.deps.Provider = client
	w.conf = Config{Idle: idle, Base: time.Millisecond, OverloadedBase: time.Millisecond}
	w.t.Model = "claude-sonnet-5"
	w.t.Request = &provider.Request{
		Model: "claude-sonnet-5", MaxTokens: 1000,
		Tools:    []msg.ToolDef{{Name: "Read", Description: "Reads a file.", InputSchema: []byte(`{"type":"object","properties":{"file_path":{"type":"string"}}}`)}},
		Messages: []provider.Message{{Role: msg.RoleUser, Content: []msg.Block{msg.Text("hi")}}},
	}
	err = w.run(t.Context())
	var stop *turn.Stop
	if errors.As(err, &stop) {
		return []string{"!" + stop.Text}, w
	}
	if err != nil {
		t.Fatal(err)
	}
	out := []string{w.t.Reply.Message.Text()}
	for _, b := range w.t.Reply.Message.Blocks {
		if b.Type == msg.TypeToolUse {
			out = append(out, b.Name+string(b.Input))
		}
	}
	return out, w
}

// An interrupt in the middle of a stream ends the stage at once and keeps the text that was seen.
func TestInterruptOverHTTP(t *testing.T) {
	server, err := fakeapi.New(fakeapi.Options{Script: fakeapi.Sequence(fakeapi.Answer{
		Text: "some words", Chunk: 5, Faults: []fakeapi.Fault{{Kind: fakeapi.FaultStall, AfterEvents: 5}},
	})})
	if err != nil {
		t.Fatal(err)
	}
	url, err := server.Start()
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	client, err := anthropic.New(anthropic.Options{BaseURL: url, APIKey: "k"})
	if err != nil {
		t.Fatal(err)
	}
	w := newWorld(t)
	w.deps.Provider, w.conf = client, Config{Idle: time.Minute, MaxRetries: -1}
	w.t.Request.Model = "claude-sonnet-5"
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	said := ""
	w.onEmit = func(e event.Event) error {
		if s, ok := e.(event.Stream); ok {
			if said += s.Text; said == "some words" {
				cancel(turn.ErrInterrupted)
			}
		}
		return nil
	}
	var stop *turn.Stop
	if err := w.run(ctx); !errors.As(err, &stop) || stop.Terminal != "aborted_streaming" {
		t.Fatalf("error %v", err)
	}
	if log := w.log(); len(log) != 1 || !strings.HasSuffix(log[0], `"some words" aborted`) {
		t.Errorf("log %v", log)
	}
}
