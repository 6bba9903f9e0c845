package anthropic

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"lathe/internal/msg"
	"lathe/internal/provider"
	"lathe/internal/provider/wire"
)

const (
	startEvent = "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"msg_1\",\"model\":\"m\",\"usage\":{\"input_tokens\":1}}}\n\n"
	stopEvent  = "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n"
)

func serve(t *testing.T, h http.HandlerFunc) string {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s.URL
}

func client(t *testing.T, o Options) *Client {
	t.Helper()
	c, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func request() *provider.Request {
	return &provider.Request{
		Model: "m", MaxTokens: 5,
		Messages: []provider.Message{{Role: msg.RoleUser, Content: []msg.Block{msg.Text("hi")}}},
	}
}

// collect returns the kinds of the chunks, without signs of life, and the error.
func collect(ctx context.Context, c *Client, req *provider.Request) (kinds []provider.ChunkKind, meta *provider.Meta, err error) {
	for chunk, e := range c.Stream(ctx, req) {
		if e != nil {
			return kinds, meta, e
		}
		if chunk.Meta != nil {
			meta = chunk.Meta
		}
		if chunk.Kind != provider.ChunkPing {
			kinds = append(kinds, chunk.Kind)
		}
	}
	return kinds, meta, nil
}

func TestEndpoint(t *testing.T) {
	tests := []struct{ in, want string }{
		{"", "https://api.anthropic.com/v1/messages"},
		{"https://a", "https://a/v1/messages"},
		{"https://a/", "https://a/v1/messages"},
		{"https://a/v1", "https://a/v1/messages"},
		{"https://a/v1/", "https://a/v1/messages"},
		{"https://a/v1/messages", "https://a/v1/messages"},
		{" http://a:80/x/y/?k=1", "http://a:80/x/y/v1/messages?k=1"},
		{"a.example", ""},
		{"ftp://a", ""},
		{"https://", ""},
		{"http://[", ""},
	}
	for _, tt := range tests {
		got, err := endpoint(tt.in)
		if got != tt.want || (err == nil) != (tt.want != "") {
			t.Errorf("%q: %q, %v, want %q", tt.in, got, err, tt.want)
		}
	}
}

func TestRequest(t *testing.T) {
	helper := func(context.Context, bool) (string, error) { return "helped", nil }
	tests := []struct {
		name string
		opts Options
		req  func(*provider.Request)
		want map[string]string
	}{
		{"key", Options{APIKey: "k"}, nil, map[string]string{
			"x-api-key": "k", "authorization": "", "anthropic-version": "2023-06-01", "content-type": "application/json",
			"accept": "text/event-stream, application/json", "anthropic-beta": "", "user-agent": "lathe",
		}},
		{"token", Options{APIKey: "k", AuthToken: "t", Version: "2026-10-21", UserAgent: "lathe/1"}, nil, map[string]string{
			"x-api-key": "", "authorization": "Bearer t", "anthropic-version": "2026-10-21", "user-agent": "lathe/1",
		}},
		{"helper", Options{KeyHelper: helper}, nil, map[string]string{"x-api-key": "helped", "authorization": "Bearer helped"}},
		{"headers win", Options{APIKey: "k", Headers: http.Header{"x-api-key": {"other"}, "X-Team": {"a"}}}, nil, map[string]string{"x-api-key": "other", "x-team": "a"}},
		{"betas", Options{Betas: []string{"a", "b"}}, func(r *provider.Request) {
			r.Betas = []string{"b", "c"}
			r.Thinking = provider.Thinking{Type: "adaptive", OnMismatch: "drop_block"}
			r.NoStream = true
		}, map[string]string{"anthropic-beta": "a,b,c,thinking-binding-controls-2026-08-01", "accept": "application/json"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			req := request()
			if tt.req != nil {
				tt.req(req)
			}
			tt.opts.BaseURL = serve(t, func(w http.ResponseWriter, r *http.Request) {
				body, _ := io.ReadAll(r.Body)
				if diff := cmp.Diff(string(wire.AppendRequest(nil, req)), string(body)); diff != "" {
					t.Errorf("body (-want +got):\n%s", diff)
				}
				for k, v := range tt.want {
					if got := r.Header.Get(k); got != v {
						t.Errorf("header %s: %q, want %q", k, got, v)
					}
				}
				if r.Method != http.MethodPost || r.URL.Path != "/v1/messages" {
					t.Errorf("%s %s", r.Method, r.URL)
				}
				w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
				w.Header().Set("Request-Id", "req_1")
				fmt.Fprint(w, startEvent, ": comment\n\n", stopEvent)
			})
			kinds, meta, err := collect(t.Context(), client(t, tt.opts), req)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff([]provider.ChunkKind{provider.ChunkStart, provider.ChunkStop}, kinds); diff != "" {
				t.Errorf("chunks (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(&provider.Meta{ID: "msg_1", Model: "m", RequestID: "req_1"}, meta); diff != "" {
				t.Errorf("meta (-want +got):\n%s", diff)
			}
		})
	}
}

func TestAnswers(t *testing.T) {
	const whole = `{"id":"msg_1","type":"message","content":[{"type":"text","text":"hi"}],"stop_reason":"end_turn","usage":{}}`
	stream := []provider.ChunkKind{provider.ChunkStart, provider.ChunkStop}
	full := []provider.ChunkKind{
		provider.ChunkStart, provider.ChunkBlockStart, provider.ChunkBlockDelta, provider.ChunkBlockEnd, provider.ChunkDelta, provider.ChunkStop,
	}
	tests := []struct {
		name   string
		status int
		header map[string]string
		body   string
		kinds  []provider.ChunkKind
		err    *provider.Error // message: its beginning
	}{
		{name: "json", header: map[string]string{"content-type": "application/json"}, body: whole, kinds: full},
		{name: "json without a type", header: map[string]string{"content-type": ""}, body: " " + whole, kinds: full},
		{name: "stream without a type", header: map[string]string{"content-type": ""}, body: startEvent + stopEvent, kinds: stream},
		{name: "stream as text", header: map[string]string{"content-type": "text/plain"}, body: startEvent + stopEvent, kinds: stream},
		{name: "strange events", body: "event: foo\ndata: bar\n\n" + startEvent + "data: [DONE]\n\n" + stopEvent, kinds: []provider.ChunkKind{provider.ChunkUnknown, provider.ChunkStart, provider.ChunkUnknown, provider.ChunkStop}},
		{
			name: "login page", header: map[string]string{"content-type": "text/html"}, body: "<html>",
			err: &provider.Error{Kind: provider.Malformed, Status: 200, NoRetry: true, Message: "the answer is text/html and not of the Messages API"},
		},
		{
			name: "login page without a type", header: map[string]string{"content-type": "text/plain"}, body: "\n<html>",
			err: &provider.Error{Kind: provider.Malformed, Status: 200, NoRetry: true, Message: "the answer is HTML"},
		},
		{name: "nothing", header: map[string]string{"content-type": ""}, err: &provider.Error{Kind: provider.Malformed, Status: 200, Message: "the server's answer is empty"}},
		{name: "other json", header: map[string]string{"content-type": "application/json"}, body: `{"ok":true}`, err: &provider.Error{Kind: provider.Malformed, Message: "the answer has an event"}},
		{name: "no stop", body: startEvent, kinds: stream[:1], err: &provider.Error{Kind: provider.Truncated, Message: "the stream ended before its last event"}},
		{name: "half an event", body: startEvent + `data: {"type":"mess`, kinds: stream[:1], err: &provider.Error{Kind: provider.Truncated, Message: "the stream was cut inside an event"}},
		{name: "no blank line at the end", body: startEvent + strings.TrimSpace(stopEvent), kinds: stream},
		{name: "junk", body: startEvent + "data: {\"type\n\n" + stopEvent, kinds: stream[:1], err: &provider.Error{Kind: provider.Malformed, Message: "the answer has an event"}},
		{
			name: "error event", header: map[string]string{"request-id": "req_9"},
			body: "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}\n\n",
			err:  &provider.Error{Kind: provider.Overloaded, Message: "Overloaded", RequestID: "req_9"},
		},
		{
			name: "429", status: 429, header: map[string]string{"retry-after": "7", "request-id": "req_9"},
			body: `{"type":"error","error":{"type":"rate_limit_error","message":"slow"}}`,
			err:  &provider.Error{Kind: provider.RateLimit, Status: 429, Message: "slow", After: 7 * time.Second, RequestID: "req_9"},
		},
		{
			name: "500, not to be retried", status: 500, header: map[string]string{"x-should-retry": "false"}, body: "oops",
			err: &provider.Error{Kind: provider.Server, Status: 500, Message: "oops", NoRetry: true},
		},
		{
			name: "redirect", status: 307, header: map[string]string{"location": "https://elsewhere/"},
			err: &provider.Error{Kind: provider.Malformed, Status: 307, NoRetry: true, Message: "the server sends us elsewhere (https://elsewhere/)"},
		},
		{name: "204", status: 204, err: &provider.Error{Kind: provider.Malformed, Status: 204, Message: "No Content"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			url := serve(t, func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", "text/event-stream")
				for k, v := range tt.header {
					w.Header()[http.CanonicalHeaderKey(k)] = []string{v}
					if v == "" {
						w.Header()[http.CanonicalHeaderKey(k)] = nil
					}
				}
				if tt.status != 0 {
					w.WriteHeader(tt.status)
				}
				_, _ = io.WriteString(w, tt.body)
			})
			kinds, _, err := collect(t.Context(), client(t, Options{BaseURL: url}), request())
			if diff := cmp.Diff(tt.kinds, kinds); diff != "" {
				t.Errorf("chunks (-want +got):\n%s", diff)
			}
			var got *provider.Error
			errors.As(err, &got)
			if tt.err != nil && got != nil && strings.HasPrefix(got.Message, tt.err.Message) {
				got.Message = tt.err.Message
			}
			if diff := cmp.Diff(tt.err, got, cmpopts.IgnoreFields(provider.Error{}, "Err")); diff != "" {
				t.Errorf("error (-want +got):\n%s", diff)
			}
		})
	}
}

func TestRetryAfter(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	tests := []struct {
		in   string
		want time.Duration
	}{
		{"", 0},
		{"3", 3 * time.Second},
		{"0.5", 500 * time.Millisecond},
		{"-1", 0},
		{"NaN", 0},
		{"1e300", 0},
		{"soon", 0},
		{"Fri, 02 Jan 2026 03:05:05 GMT", time.Minute},
		{"Fri, 02 Jan 2026 03:03:05 GMT", 0},
	}
	for _, tt := range tests {
		if got := retryAfter(tt.in, now); got != tt.want {
			t.Errorf("%q: %s, want %s", tt.in, got, tt.want)
		}
	}
}

func TestNetworkErrors(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	dead := "http://" + l.Addr().String()
	l.Close()
	hangup := serve(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // what is not read makes a close a reset
		conn, _, _ := http.NewResponseController(w).Hijack()
		conn.Close()
	})
	reset := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, startEvent)
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	})
	tlsServer := httptest.NewUnstartedServer(http.NotFoundHandler())
	tlsServer.Config.ErrorLog = log.New(io.Discard, "", 0)
	tlsServer.StartTLS()
	defer tlsServer.Close()
	tests := []struct {
		url     string
		kind    provider.Kind
		noRetry bool
		says    string
	}{
		{dead, provider.Absent, false, "(ANTHROPIC_BASE_URL): connection refused"},
		{hangup, provider.Network, false, "without an answer"},
		{reset, provider.Truncated, false, "closed before"},
		{tlsServer.URL, provider.Network, true, "NODE_EXTRA_CA_CERTS"},
	}
	for _, tt := range tests {
		_, _, err := collect(t.Context(), client(t, Options{BaseURL: tt.url}), request())
		var e *provider.Error
		if !errors.As(err, &e) || e.Kind != tt.kind || e.NoRetry != tt.noRetry || !strings.Contains(e.Message, tt.says) {
			t.Errorf("error %#v, want %s that says %q", err, tt.kind, tt.says)
		}
	}
}

// The end of the context closes the connection at once, and its cause is the error.
// What HTTP does not take is named, without its value, and is no failure of the network. A line end behind a key, as
// files have it, is no part of the key.
func TestHeaders(t *testing.T) {
	key := ""
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		key = r.Header.Get("X-Api-Key")
		fmt.Fprint(w, startEvent+stopEvent)
	})
	if _, _, err := collect(t.Context(), client(t, Options{BaseURL: url, APIKey: " k1\n"}), request()); err != nil || key != "k1" {
		t.Errorf("key %q, %v", key, err)
	}
	two := func(context.Context, bool) (string, error) { return "s1\ns2", nil }
	for name, c := range map[string]struct {
		o    Options
		want provider.Kind
	}{
		"a key of two lines":      {Options{APIKey: "s1\ns2"}, provider.Auth},
		"a token of two lines":    {Options{AuthToken: "s1\ns2"}, provider.Auth},
		"a helper with two lines": {Options{KeyHelper: two}, provider.Auth},
		"a header's name":         {Options{APIKey: "k", Headers: http.Header{"X A": {"s1"}}}, provider.Invalid},
		"a header's value":        {Options{APIKey: "k", Headers: http.Header{"X-A": {"s1\x00"}}}, provider.Invalid},
	} {
		c.o.BaseURL = url
		_, _, err := collect(t.Context(), client(t, c.o), request())
		var e *provider.Error
		if !errors.As(err, &e) || e.Kind != c.want || !e.NoRetry || strings.Contains(e.Error(), "s1") {
			t.Errorf("%s: %+v", name, err)
		}
	}
}

func TestCancel(t *testing.T) {
	gone := make(chan struct{})
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, startEvent)
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
		close(gone)
	})
	cause := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	c := client(t, Options{BaseURL: url})
	var last error
	for chunk, err := range c.Stream(ctx, request()) {
		last = err
		if chunk.Kind == provider.ChunkStart {
			cancel(cause)
		}
	}
	var failed *provider.Error
	if !errors.Is(last, cause) || errors.As(last, &failed) {
		t.Errorf("error %#v, want %v, which is no failure of the provider", last, cause)
	}
	<-gone
}

// The request id of an error that names one is that, else the response's.
func TestRequestIDOfErrors(t *testing.T) {
	for id, more := range map[string]string{"req_header": "", "req_inner": `,"request_id":"req_inner"`} {
		url := serve(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			w.Header().Set("request-id", "req_header")
			_, _ = io.WriteString(w, startEvent+`data: {"type":"error","error":{"type":"overloaded_error","message":"x"}`+more+"}\n\n")
		})
		_, _, err := collect(t.Context(), client(t, Options{BaseURL: url}), request())
		var failed *provider.Error
		if !errors.As(err, &failed) || failed.RequestID != id {
			t.Errorf("%#v, want the id %s", err, id)
		}
	}
}

// An answer without end is not kept in memory.
func TestHugeAnswer(t *testing.T) {
	url := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		for chunk := []byte(strings.Repeat(" ", 1<<20)); ; {
			if _, err := w.Write(chunk); err != nil {
				return
			}
		}
	})
	_, _, err := collect(t.Context(), client(t, Options{BaseURL: url}), request())
	var failed *provider.Error
	if !errors.As(err, &failed) || failed.Kind != provider.Malformed || failed.Message != "the answer is too large" {
		t.Errorf("error %v", err)
	}
}

// A whole answer gives its connection back; a loop that is left closes it.
func TestConnectionReuse(t *testing.T) {
	conns := map[string]bool{}
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		conns[r.RemoteAddr] = true
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, startEvent+stopEvent)
	})
	c := client(t, Options{BaseURL: url})
	for range 5 {
		if _, _, err := collect(t.Context(), c, request()); err != nil {
			t.Fatal(err)
		}
	}
	if len(conns) != 1 {
		t.Errorf("%d connections, want 1", len(conns))
	}
}

func TestRefresh(t *testing.T) {
	var forced []bool
	fail := errors.New("no key today")
	var result error
	c := client(t, Options{BaseURL: "http://127.0.0.1:1", KeyHelper: func(_ context.Context, force bool) (string, error) {
		forced = append(forced, force)
		return "k", result
	}})
	if ok, err := c.Refresh(t.Context()); !ok || err != nil {
		t.Errorf("refresh: %v, %v", ok, err)
	}
	result = fail
	if ok, err := c.Refresh(t.Context()); !ok || !errors.Is(err, fail) {
		t.Errorf("refresh: %v, %v", ok, err)
	}
	_, _, err := collect(t.Context(), c, request())
	var e *provider.Error
	if !errors.As(err, &e) || e.Kind != provider.Auth || !errors.Is(err, fail) {
		t.Errorf("error %#v", err)
	}
	if diff := cmp.Diff([]bool{true, true, false}, forced); diff != "" {
		t.Errorf("force (-want +got):\n%s", diff)
	}
	if ok, _ := client(t, Options{APIKey: "k", KeyHelper: c.opts.KeyHelper}).Refresh(t.Context()); ok {
		t.Error("a fixed key was refreshed")
	}
}
