package fakeapi

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func answerWith(f ...Fault) Answer {
	return Answer{Blocks: []Block{{Text: "hello there"}, {Tool: "A", Input: json.RawMessage(`{"path":"a"}`)}}, Chunk: 6, Faults: f}
}

var goodEvents = []string{
	"message_start", "content_block_start", "ping", "content_block_delta", "content_block_delta", "content_block_stop",
	"content_block_start", "content_block_delta", "content_block_delta", "content_block_stop", "message_delta", "message_stop",
}

func askOnce(t *testing.T, a Answer, over obj) (*Server, got) {
	t.Helper()
	s, url := start(t, Options{Script: Sequence(a)})
	g := post(t, url, base(over))
	if bad := s.Violations(); len(bad) > 0 {
		t.Fatal(bad)
	}
	return s, g
}

func TestGoodStream(t *testing.T) {
	s, g := askOnce(t, answerWith(), nil)
	if diff := cmp.Diff(goodEvents, g.events()); diff != "" {
		t.Error(diff)
	}
	blocks, stop, usage := g.message(t)
	id := blocks[1].(obj)["id"]
	want := []any{text("hello there"), obj{"type": "tool_use", "id": id, "name": "A", "input": obj{"path": "a"}}}
	if diff := cmp.Diff(want, blocks); diff != "" || stop != "tool_use" || !toolID().MatchString(id.(string)) {
		t.Errorf("%s stop %s", diff, stop)
	}
	if usage["output_tokens"] != 7.0 || !strings.HasPrefix(g.header.Get("content-type"), "text/event-stream") {
		t.Errorf("usage %v, header %v", usage, g.header)
	}
	if r := s.Requests()[0]; r.Sent != len(goodEvents) || r.Status != 200 || r.Usage.Output != 7 || !r.Done {
		t.Errorf("record %+v", r)
	}
}

func TestGoodAnswerWithoutStream(t *testing.T) {
	_, g := askOnce(t, answerWith(), obj{"stream": false})
	var m struct {
		Type, Role, Model string
		Content           []obj
		StopReason        string `json:"stop_reason"`
		Usage             obj
	}
	if err := json.Unmarshal([]byte(g.body), &m); err != nil {
		t.Fatal(err)
	}
	if m.Type != "message" || m.StopReason != "tool_use" || len(m.Content) != 2 || m.Content[0]["text"] != "hello there" || m.Usage["output_tokens"] != 7.0 {
		t.Errorf("%+v", m)
	}
}

// TestFaultStreams compares the events that arrive with the good ones.
func TestFaultStreams(t *testing.T) {
	without := func(name string) []string {
		return slices.DeleteFunc(slices.Clone(goodEvents), func(e string) bool { return e == name })
	}
	insert := func(at int, names ...string) []string { return slices.Insert(slices.Clone(goodEvents), at, names...) }
	for _, tc := range []struct {
		name  string
		fault Fault
		want  []string
		part  string // of the body
		err   error
	}{
		{"missing message_stop", Fault{Kind: FaultDrop, Event: "message_stop"}, without("message_stop"), "", nil},
		{"missing content_block_stop", Fault{Kind: FaultDrop, Event: "content_block_stop"}, without("content_block_stop"), "", nil},
		{"second message_start", Fault{Kind: FaultDuplicate, Event: "message_start"}, insert(0, "message_start"), "", nil},
		{"error event", Fault{Kind: FaultErrorEvent, AfterEvents: 4}, insert(4, "error")[:5], `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`, nil},
		{"only an error event", Fault{Kind: FaultErrorEvent, Type: "invalid_request_error", Message: "bad tools"}, []string{"error"}, "bad tools", nil},
		{"malformed", Fault{Kind: FaultMalformed, AfterEvents: 4}, insert(4, "content_block_delta"), `"text_del` + "\n", nil},
		{"unknown", Fault{Kind: FaultUnknown, AfterEvents: 4}, insert(4, "content_block_mood", "content_block_delta"), "mood_delta", nil},
		{"pings", Fault{Kind: FaultPings, AfterEvents: 1, Count: 3}, insert(1, "ping", "ping", "ping"), "", nil},
		{"comment", Fault{Kind: FaultComment, AfterEvents: 1}, goodEvents, ": keep-alive", nil},
		{"early end", Fault{Kind: FaultEnd, AfterEvents: 5}, goodEvents[:5], "", nil},
		{"abort", Fault{Kind: FaultAbort, AfterEvents: 5}, goodEvents[:5], "", io.ErrUnexpectedEOF},
		{"reset", Fault{Kind: FaultReset, AfterEvents: 5}, nil, "", syscall.ECONNRESET},
		{"split into bytes", Fault{Kind: FaultSplit, Bytes: 1}, goodEvents, "", nil},
		{"crlf", Fault{Kind: FaultCRLF}, goodEvents, "\r\n\r\n", nil},
		{"data only", Fault{Kind: FaultDataOnly}, nil, `data: {"type":"message_stop"}`, nil},
		{"empty deltas", Fault{Kind: FaultEmptyDeltas}, nil, `"delta":{"type":"input_json_delta","partial_json":""}`, nil},
		{"stall for a time", Fault{Kind: FaultStall, AfterEvents: 2, For: Duration(time.Millisecond)}, goodEvents, "", nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, g := askOnce(t, answerWith(tc.fault), nil)
			if !errors.Is(g.err, tc.err) && !(tc.err == syscall.ECONNRESET && g.err != nil) {
				t.Fatalf("error %v, want %v", g.err, tc.err)
			}
			if diff := cmp.Diff(tc.want, g.events()); tc.want != nil && diff != "" {
				t.Error(diff)
			}
			if !strings.Contains(g.body, tc.part) {
				t.Errorf("%q is not in %s", tc.part, g.body)
			}
		})
	}
}

// TestFaultAtEveryByte cuts the stream at every byte: what arrived must be exactly that much of it.
func TestFaultAtEveryByte(t *testing.T) {
	r := reply{id: "m", model: "x", stop: "end_turn", blocks: []outBlock{composeText(Block{Text: "hello"}, 2)}}
	var whole string
	for _, s := range r.steps(Answer{}) {
		whole += string(s.data)
	}
	for n := 1; n < len(whole); n++ {
		var sent string
		for _, s := range (Fault{Kind: FaultAbort, AfterBytes: n}).apply(r.steps(Answer{})) {
			sent += string(s.data)
			if s.act == actAbort {
				break
			}
		}
		if sent != whole[:n] {
			t.Fatalf("after %d bytes: %q", n, sent)
		}
	}
}

func TestFaultWholeAnswers(t *testing.T) {
	for _, tc := range []struct {
		name   string
		fault  Fault
		status int
		ctype  string
		part   string
		header [2]string
	}{
		{
			"429",
			Fault{Kind: FaultStatus, Status: 429, Headers: map[string]string{"retry-after": "7"}, Message: "slow down"},
			429, "application/json",
			`{"type":"error","error":{"type":"rate_limit_error","message":"slow down"},"request_id":"req_fake_000001"}`,
			[2]string{"retry-after", "7"},
		},
		{"529", Fault{Kind: FaultStatus, Status: 529}, 529, "application/json", `"overloaded_error","message":"Overloaded"`, [2]string{"request-id", "req_fake_000001"}},
		{"500 no retry", Fault{Kind: FaultStatus, Headers: map[string]string{"x-should-retry": "false"}}, 500, "application/json", "api_error", [2]string{"x-should-retry", "false"}},
		{"402", Fault{Kind: FaultStatus, Status: 402}, 402, "application/json", "billing_error", [2]string{}},
		{"403", Fault{Kind: FaultStatus, Status: 403}, 403, "application/json", "permission_error", [2]string{}},
		{"404", Fault{Kind: FaultStatus, Status: 404}, 404, "application/json", "not_found_error", [2]string{}},
		{"409", Fault{Kind: FaultStatus, Status: 409}, 409, "application/json", "conflict_error", [2]string{}},
		{"413", Fault{Kind: FaultStatus, Status: 413}, 413, "application/json", "request_too_large", [2]string{}},
		{"504", Fault{Kind: FaultStatus, Status: 504}, 504, "application/json", "timeout_error", [2]string{}},
		{"own type", Fault{Kind: FaultStatus, Status: 400, Type: "x_error"}, 400, "application/json", "x_error", [2]string{}},
		{"gateway page", Fault{Kind: FaultStatus, Status: 502, Body: "<h1>Bad gateway</h1>"}, 502, "text/html", "Bad gateway", [2]string{}},
		{"html with 200", Fault{Kind: FaultHTML}, 200, "text/html; charset=utf-8", "sign in", [2]string{}},
		{"empty", Fault{Kind: FaultEmpty}, 200, "text/event-stream", "", [2]string{}},
		{"raw", Fault{Kind: FaultRaw, Body: "data: 1\n\n"}, 200, "text/event-stream", "data: 1", [2]string{}},
		{"wrong content type", Fault{Kind: FaultContentType, Value: "text/plain"}, 200, "text/plain", "message_stop", [2]string{}},
		{"no content type", Fault{Kind: FaultNoContentType}, 200, "", "message_stop", [2]string{}},
		{"slow headers", Fault{Kind: FaultSlowHeaders, For: Duration(time.Millisecond)}, 200, "text/event-stream; charset=utf-8", "message_stop", [2]string{}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, g := askOnce(t, answerWith(tc.fault), nil)
			if g.status != tc.status || g.header.Get("content-type") != tc.ctype || !strings.Contains(g.body, tc.part) || g.err != nil {
				t.Errorf("%d %v %s %v", g.status, g.header, g.body, g.err)
			}
			if tc.header[0] != "" && g.header.Get(tc.header[0]) != tc.header[1] {
				t.Errorf("header %v", g.header)
			}
			if tc.fault.Kind == FaultEmpty && g.body != "" {
				t.Errorf("body %q", g.body)
			}
		})
	}
}

func TestFaultResetBeforeHeaders(t *testing.T) {
	_, g := askOnce(t, answerWith(Fault{Kind: FaultResetEarly}), nil)
	if g.err == nil || g.status != 0 {
		t.Fatalf("%d %v", g.status, g.err)
	}
}

func TestFaultToolInputs(t *testing.T) {
	_, g := askOnce(t, answerWith(Fault{Kind: FaultCutInput, Bytes: 8}), nil)
	if _, stop, _ := g.message(t); stop != "max_tokens" || !strings.Contains(g.body, `"partial_json":"{\"path"`) || !strings.Contains(g.body, `"partial_json":"\":"`) {
		t.Errorf("cut input: %s %s", stop, g.body)
	}
	_, g = askOnce(t, Answer{Blocks: []Block{{Tool: "A"}, {Tool: "B", Chunks: []string{`{"a":`, `1`}}}, Faults: []Fault{{Kind: FaultDuplicateIDs}}}, nil)
	blocks, _, _ := g.message(t)
	if blocks[0].(obj)["id"] != blocks[1].(obj)["id"] {
		t.Errorf("ids: %v", blocks)
	}
	if !strings.Contains(g.body, `"partial_json":"1"}`) || blocks[1].(obj)["input"] != nil {
		t.Errorf("chunks: %v", blocks)
	}
}

func TestStallUntilReleasedOrGone(t *testing.T) {
	stalled := answerWith(Fault{Kind: FaultStall, AfterEvents: 2})
	s, url := start(t, Options{Script: Sequence(stalled, answerWith(Fault{Kind: FaultStallEarly}), stalled)})
	for range 2 {
		done := make(chan got)
		n := len(s.Requests())
		go func() { done <- post(t, url, base(nil)) }()
		if err := s.Wait(t.Context(), func(r []Request) bool { return len(r) == n+1 && r[n].Turn == n }); err != nil {
			t.Fatal(err)
		}
		var g got
		for open := true; open; {
			s.Release() // until the handler has come to its stall
			select {
			case g = <-done:
				open = false
			case <-time.After(time.Millisecond):
			}
		}
		if diff := cmp.Diff(goodEvents, g.events()); diff != "" {
			t.Error(diff)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	req := newRequest(t, url, base(nil)).WithContext(ctx)
	res, err := client().Do(req)
	if err != nil {
		t.Fatal(err)
	}
	body := bufio.NewReader(res.Body)
	for events := 0; events < 2; { // the client leaves when it has both
		line, err := body.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		if strings.TrimSpace(line) == "" {
			events++
		}
	}
	cancel()
	_ = res.Body.Close()
	if err := s.Wait(t.Context(), func(r []Request) bool { return r[2].Done }); err != nil {
		t.Fatal(err)
	}
	if r := s.Requests()[2]; !r.Gone || r.Sent != 2 {
		t.Errorf("record of a client that left: %+v", r)
	}
}

func TestCloseEndsStalledAnswers(t *testing.T) {
	s, err := New(Options{Script: Sequence(answerWith(Fault{Kind: FaultStall, AfterEvents: 1}))})
	if err != nil {
		t.Fatal(err)
	}
	url, err := s.Start()
	if err != nil {
		t.Fatal(err)
	}
	res, err := client().Do(newRequest(t, url, base(nil)))
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	_, _ = io.Copy(io.Discard, res.Body)
	_ = res.Body.Close()
	if _, err := http.Get(url); err == nil { //nolint:noctx // must be refused
		t.Error("still listening")
	}
}
