package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// returns fails the test when f does not return. The time is only for a test that has failed.
func returns(t *testing.T, what string, f func()) {
	t.Helper()
	done := make(chan struct{})
	go func() { defer close(done); f() }()
	select {
	case <-done:
	case <-time.After(time.Minute):
		t.Fatalf("%s: it does not return", what)
	}
}

// A server that does one thing at a time takes large calls in parallel: what is written to it does not keep its answers
// from being read.
func TestLargeCallsInParallel(t *testing.T) {
	b := newBench(t, nil, childEntry("s", "line"))
	b.env["MAX_MCP_OUTPUT_TOKENS"] = "10000000"
	b.up()
	text := strings.Repeat("x", 400<<10)
	returns(t, "four calls", func() {
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				if got := b.call(t.Context(), "mcp__s__echo", `{"text":"`+text+`"}`); got != text {
					t.Errorf("%d bytes came back: %.200s", len(got), got)
				}
			})
		}
		wg.Wait()
	})
}

// A call ends with its context though the server reads nothing, and so do the calls that wait behind it, and Close.
func TestCallOfDeafServerEnds(t *testing.T) {
	b := newBench(t, nil, childEntry("s", "deaf")).up()
	text := strings.Repeat("x", 1<<20)
	returns(t, "two calls", func() {
		var wg sync.WaitGroup
		for range 2 {
			wg.Go(func() {
				ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
				defer cancel()
				if got := b.call(ctx, "mcp__s__echo", `{"text":"`+text+`"}`); !strings.Contains(got, "deadline") {
					t.Error(got)
				}
			})
		}
		wg.Wait()
	})
	returns(t, "Close", b.Close)
}

// answering is a server in the host's process that answers each method with a text; without one it never answers.
func answering(answers map[string]string) Exchange {
	return func(ctx context.Context, _ string, message json.RawMessage) (json.RawMessage, error) {
		var m struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
		}
		if err := json.Unmarshal(message, &m); err != nil {
			return nil, err
		}
		result, ok := answers[m.Method]
		switch {
		case m.ID == nil:
			return json.RawMessage(`{"jsonrpc":"2.0","result":{},"id":0}`), nil
		case !ok:
			<-ctx.Done()
			return nil, ctx.Err()
		}
		return json.RawMessage(`{"jsonrpc":"2.0","id":` + string(m.ID) + `,"result":` + result + `}`), nil
	}
}

const greets = `{"protocolVersion":"2025-11-25","capabilities":{"tools":{},"prompts":{},"resources":{}},"serverInfo":{"name":"x","version":"1"}}`

// goodAnswers are what a server should say.
func goodAnswers() map[string]string {
	return map[string]string{
		"initialize":               greets,
		"server/discover":          `{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{},"prompts":{},"resources":{}}}`,
		"tools/list":               `{"tools":[null,{"name":"t","inputSchema":{"type":"object"}}]}`,
		"prompts/list":             `{"prompts":[null,{"name":"p","arguments":[null,{"name":"a"}]}]}`,
		"resources/list":           `{"resources":[null,{"uri":"u","name":"r"}]}`,
		"resources/templates/list": `{"resourceTemplates":[null,{"uriTemplate":"u/{x}","name":"r"}]}`,
		"resources/read":           `{"contents":[null,{"uri":"u","text":"content"}]}`,
		"prompts/get":              `{"messages":[null,{"role":"user","content":{"type":"text","text":"words"}}]}`,
		"tools/call":               `{"content":[{"type":"text","text":"done"}]}`,
	}
}

// overHTTP serves answers over HTTP.
func overHTTP(t *testing.T, answers map[string]string) string {
	inner := answering(answers)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		switch {
		case err != nil || r.Method != http.MethodPost:
			w.WriteHeader(http.StatusMethodNotAllowed)
			return
		case !strings.Contains(string(body), `"id"`):
			w.WriteHeader(http.StatusAccepted)
			return
		}
		answer, err := inner(r.Context(), "", body)
		if err != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(answer)
	}))
	t.Cleanup(srv.Close)
	return srv.URL
}

// nullForms are questions whose form has null somewhere.
func nullForms() (out []string) {
	for _, property := range []string{`null`, `{"type":"string","oneOf":[null]}`, `{"type":"string","enum":[null],"enumNames":[null]}`, `{"type":"array","items":null}`, `{"type":"array","items":{"anyOf":[null]}}`, `{"type":"number","default":null}`} {
		out = append(out, `{"message":"m","requestedSchema":{"type":"object","properties":{"name":`+property+`},"required":[null]}}`,
			`{"message":"m","requestedSchema":{"type":"object","properties":{"name":`+property+`}}}`)
	}
	return out
}

// Whatever a server has null in place of, it harms only itself.
func TestNullAnswers(t *testing.T) {
	useAll := func(b *bench) *bench {
		ctx := t.Context()
		for _, tl := range b.Tools() {
			_, _ = b.Call(ctx, Call{Tool: tl})
		}
		_, _ = b.Resources(ctx, "")
		_, _, _ = b.ReadResource(ctx, "s", "u")
		for _, p := range b.Prompts() {
			_, _ = b.GetPrompt(ctx, p, nil)
		}
		return b
	}
	for kind, use := range map[string]func(t *testing.T, answers map[string]string) *bench{
		"host": func(t *testing.T, answers map[string]string) *bench {
			return useAll(newBench(t, func(d *Deps) { d.Exchange = answering(answers) }, Config{Name: "s", Scope: SDK, Type: Host}).up())
		},
		"http": func(t *testing.T, answers map[string]string) *bench {
			return useAll(newBench(t, nil, Config{Name: "s", Type: HTTP, URL: overHTTP(t, answers)}).up())
		},
	} {
		b := use(t, goodAnswers())
		list, err := b.Resources(t.Context(), "s")
		if err != nil || len(list) != 2 || len(b.Tools()) != 1 || len(b.Prompts()) != 1 {
			t.Errorf("%s: %+v %v, %d tools, %d prompts; %+v", kind, list, err, len(b.Tools()), len(b.Prompts()), b.state("s"))
		}
		for method := range goodAnswers() {
			for _, bad := range []string{
				`null`, `{}`, `[null]`, `{"tools":null,"prompts":null,"resources":null,"contents":null,"messages":null,"content":null,"inputRequests":null,"supportedVersions":null}`,
				`{"content":[null],"messages":[{"role":"user","content":null}],"contents":[{}],"prompts":[{"arguments":[null]}],"tools":[{"inputSchema":null,"name":"n"}],"capabilities":null}`,
				`{"protocolVersion":"2025-11-25","capabilities":null,"serverInfo":null,"inputRequests":{"a":null,"b":{}},"resultType":"input_required"}`,
				`{"supportedVersions":["2026-07-28"],"capabilities":null}`,
			} {
				answers := goodAnswers()
				answers[method] = bad
				t.Run(kind+" "+method+" "+bad, func(t *testing.T) { use(t, answers) })
			}
		}
	}
}

// What a server never answers ends by the limits of a call.
func TestSilentAnswersEnd(t *testing.T) {
	for _, env := range []string{"MCP_TOOL_TIMEOUT", "CLAUDE_CODE_MCP_TOOL_IDLE_TIMEOUT"} {
		answers := map[string]string{"initialize": greets, "tools/list": `{"tools":[]}`, "prompts/list": `{"prompts":[{"name":"p"}]}`}
		b := newBench(t, func(d *Deps) { d.Exchange = answering(answers) }, Config{Name: "s", Scope: SDK, Type: Host})
		b.env[env] = "20"
		b.up()
		for what, ask := range map[string]func() error{
			"resources/read": func() error { _, _, err := b.ReadResource(t.Context(), "s", "u"); return err },
			"resources/list": func() error { _, err := b.Resources(t.Context(), ""); return err },
			"prompts/get":    func() error { _, err := b.GetPrompt(t.Context(), b.Prompts()[0], nil); return err },
			"tools/call": func() error {
				_, err := b.Call(t.Context(), Call{Tool: Tool{Server: "s", Name: "t"}})
				return err
			},
		} {
			returns(t, what, func() {
				if err := ask(); err == nil || !strings.Contains(err.Error(), env) {
					t.Errorf("%s: %v", what, err)
				}
			})
		}
	}
}

// Of many calls that find their session forgotten one makes a new one, and all of them succeed with it.
func TestForgottenSessionIsReplacedOnce(t *testing.T) {
	var begun, waiting atomic.Int32
	var forgotten atomic.Value
	forgotten.Store("")
	all := make(chan struct{})
	const calls = 8
	url := httpServer(t, false, func(h http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			id := r.Header.Get("Mcp-Session-Id")
			switch {
			case id == "" && r.Method == http.MethodPost:
				begun.Add(1)
			case id == forgotten.Load() && r.Method == http.MethodPost && id != "":
				if waiting.Add(1) == calls { // all of them are on their way with the old session
					close(all)
				}
				<-all
				http.Error(w, "unknown session", http.StatusNotFound)
				return
			}
			h.ServeHTTP(w, r)
		})
	})
	b := newBench(t, nil, Config{Name: "w", Type: HTTP, URL: url})
	b.env["MCP_PROTOCOL_NEGOTIATION"] = "legacy"
	b.up()
	forgotten.Store(b.find("w").conn.session.ID())
	before := begun.Load()
	returns(t, "the calls", func() {
		var wg sync.WaitGroup
		for i := range calls {
			wg.Go(func() {
				if got := b.call(t.Context(), "mcp__w__echo", fmt.Sprintf(`{"text":"%d"}`, i)); got != fmt.Sprintf("%d toolu_1", i) {
					t.Error(got)
				}
			})
		}
		wg.Wait()
	})
	if n := begun.Load() - before; n != 1 {
		t.Errorf("%d new sessions", n)
	}
}

// Who waits for a server that is still connecting waits no longer because it was begun anew.
func TestWaitOutlastsRestart(t *testing.T) {
	answers := map[string]string{"initialize": greets, "tools/list": `{"tools":[]}`, "prompts/list": `{"prompts":[]}`}
	var asked atomic.Int32
	first := make(chan struct{})
	b := newBench(t, func(d *Deps) {
		inner := answering(answers)
		d.Exchange = func(ctx context.Context, server string, message json.RawMessage) (json.RawMessage, error) {
			if strings.Contains(string(message), `"initialize"`) && asked.Add(1) == 1 {
				close(first)
				<-ctx.Done()
				return nil, ctx.Err()
			}
			return inner(ctx, server, message)
		}
	}, Config{Name: "s", Scope: SDK, Type: Host})
	b.Start()
	<-first
	settled := b.find("s").settledChan()
	if err := b.Reconnect(t.Context(), "s"); err != nil {
		t.Fatal(err)
	}
	select {
	case <-settled:
	default:
		t.Error("who waited before the restart waits still")
	}
}

// endless is a body that has no end.
type endless struct{}

func (endless) Read(p []byte) (int, error) { clear(p); return len(p), nil }
func (endless) Close() error               { return nil }

// replying is a transport that gives one reply to all requests.
type replying http.Response

func (r *replying) RoundTrip(*http.Request) (*http.Response, error) {
	resp := http.Response(*r)
	return &resp, nil
}

// A reply that is read whole has a limit, whatever it says; an event stream may go on.
func TestRepliesAreBounded(t *testing.T) {
	const more = maxBody + 1
	for _, c := range []struct {
		status int
		kind   string
		want   int64
	}{
		{200, "application/json", maxBody}, {200, "", maxBody}, {200, "text/event-stream; charset=utf-8", more}, {400, "text/event-stream", maxRefusal}, {500, "text/html", maxRefusal},
	} {
		next := &replying{StatusCode: c.status, Header: http.Header{"Content-Type": {c.kind}}, Body: endless{}}
		for _, tr := range []http.RoundTripper{&headerTripper{next: next, origin: "http://x.test:80"}, bounded{next}} {
			req, err := http.NewRequest(http.MethodGet, "http://x.test/", nil)
			if err != nil {
				t.Fatal(err)
			}
			resp, err := tr.RoundTrip(req)
			if err != nil {
				t.Fatal(err)
			}
			n, err := io.CopyN(io.Discard, resp.Body, more)
			if n != c.want || (err != nil) != (c.want < more) {
				t.Errorf("%d %s: %d bytes, %v", c.status, c.kind, n, err)
			}
		}
	}
}

// Whatever a server asks or tells the client of its own accord, with whatever it has in place of parameters, it gets an answer.
func TestNullQuestions(t *testing.T) {
	answers := map[string]string{"initialize": greets, "tools/list": `{"tools":[]}`, "prompts/list": `{"prompts":[]}`, "tools/call": `{"content":[]}`}
	replies := make(chan string, 1000)
	inner := answering(answers)
	b := newBench(t, func(d *Deps) {
		d.Exchange = func(ctx context.Context, server string, message json.RawMessage) (json.RawMessage, error) {
			if !strings.Contains(string(message), `"method"`) {
				replies <- string(message)
				return nil, nil
			}
			return inner(ctx, server, message)
		}
	}, Config{Name: "s", Scope: SDK, Type: Host}).up()
	var asked int
	for _, params := range append(nullForms(), `null`, `{}`, `[]`, `[null]`, `7`, `{"progressToken":null,"message":null,"requestedSchema":null,"messages":[null],"level":null,"uri":null,"requestId":null,"_meta":null}`) {
		for _, method := range []string{
			"notifications/progress", "notifications/message", "notifications/tools/list_changed", "notifications/prompts/list_changed",
			"notifications/resources/list_changed", "notifications/resources/updated", "notifications/cancelled", "notifications/elicitation/complete", "notifications/unknown",
		} {
			b.Deliver("s", json.RawMessage(`{"jsonrpc":"2.0","method":"`+method+`","params":`+params+`}`))
		}
		for _, method := range []string{"elicitation/create", "sampling/createMessage", "roots/list", "ping", "unknown"} {
			asked++
			b.Deliver("s", json.RawMessage(fmt.Sprintf(`{"jsonrpc":"2.0","id":"q%d","method":"%s","params":%s}`, asked, method, params)))
		}
	}
	returns(t, "the answers", func() {
		for range asked {
			<-replies
		}
	})
	if st := b.state("s"); st.State != Connected {
		t.Errorf("%+v", st)
	}
}
