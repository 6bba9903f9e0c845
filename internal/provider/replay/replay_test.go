package replay

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"lathe/internal/msg"
	"lathe/internal/provider"
	"lathe/internal/provider/wire"
)

// canned is a provider that answers with events and then an error.
type canned struct {
	events []string
	err    error
}

func (c canned) Stream(context.Context, *provider.Request) iter.Seq2[provider.Chunk, error] {
	return func(yield func(provider.Chunk, error) bool) {
		for _, e := range c.events {
			chunk, err := wire.Decode([]byte(e))
			if err != nil {
				panic(err)
			}
			if !yield(chunk, nil) || chunk.Kind == provider.ChunkStop {
				return
			}
		}
		yield(provider.Chunk{}, c.err)
	}
}

func ask(text string) *provider.Request {
	return &provider.Request{Model: "m", MaxTokens: 5, Messages: []provider.Message{
		{Role: msg.RoleUser, Content: []msg.Block{msg.Text("first")}},
		{Role: msg.RoleAssistant, Content: []msg.Block{msg.Text("second")}},
		{Role: msg.RoleUser, Content: []msg.Block{msg.ToolResult("id", false, msg.Text(text))}},
	}}
}

func drain(p provider.Provider, req *provider.Request) (events []string, err error) {
	for c, e := range p.Stream(context.Background(), req) {
		if e != nil {
			return events, e
		}
		if c.Raw != nil {
			events = append(events, string(c.Raw))
		}
	}
	return events, nil
}

func delta(kind, field, text string) string {
	return `{"type":"content_block_delta","index":0,"delta":{"type":"` + kind + `","` + field + `":` + string(msg.AppendString(nil, text)) + `}}`
}

const stop = `{"type":"message_stop"}`

// A recording made in one directory plays in another, though the model sent the path in pieces.
func TestRecordAndPlay(t *testing.T) {
	file := filepath.Join(t.TempDir(), "rec.jsonl")
	answer := []string{
		`{"type":"message_start","message":{"id":"msg_1","model":"m"}}`,
		`{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"a","name":"Read","input":{}}}`,
		delta("input_json_delta", "partial_json", `{"path":"/ho`), delta("input_json_delta", "partial_json", `me/me/pro`),
		delta("input_json_delta", "partial_json", `j/a.go","n":1}`), `{"type":"content_block_stop","index":0}`, stop,
	}
	rec, err := Create(file, canned{events: answer}, RecordOptions{Vars: map[string]string{"DIR": "/home/me/proj", "HOME": "/home/me", "NONE": "", "ROOT": "/"}})
	if err != nil {
		t.Fatal(err)
	}
	got, err := drain(rec, ask("ran in /home/me/proj <ok>"))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(answer, got); diff != "" {
		t.Errorf("recording changes the answer (-want +got):\n%s", diff)
	}
	if err := rec.Close(); err != nil {
		t.Fatal(err)
	}
	raw, _ := os.ReadFile(file)
	if bytes.Contains(raw, []byte("/home")) || !bytes.Contains(raw, []byte("<ok>")) {
		t.Errorf("recording: %s", raw)
	}
	if st, _ := os.Stat(file); st.Mode().Perm()&0o077 != 0 && os.PathSeparator == '/' {
		t.Errorf("mode %v", st.Mode())
	}
	if _, err := Open(file, Options{Vars: map[string]string{"HOME": "/"}}); err == nil || !strings.Contains(err.Error(), "variable DIR") {
		t.Errorf("error %v, want one on DIR", err)
	}
	p, err := Open(file, Options{Vars: map[string]string{"DIR": "/tmp/x", "HOME": `/root "q"`}})
	if err != nil {
		t.Fatal(err)
	}
	got, err = drain(p, ask("ran in /tmp/x <ok>"))
	if err != nil {
		t.Fatal(err)
	}
	if in := input(t, got); in != `{"path":"/tmp/x/a.go","n":1}` {
		t.Errorf("input %s", in)
	}
	if p.Left() != 0 || p.Model() != "m" {
		t.Errorf("left %d, model %q", p.Left(), p.Model())
	}
	_, err = drain(p, ask("more"))
	wantReplay(t, err, "rec.jsonl has 1 calls and this is number 2")
}

func input(t *testing.T, events []string) string {
	t.Helper()
	var b strings.Builder
	for _, e := range events {
		c, err := wire.Decode([]byte(e))
		if err != nil {
			t.Fatal(err)
		}
		if c.Kind == provider.ChunkBlockDelta {
			b.WriteString(c.Text)
		}
	}
	return b.String()
}

func wantReplay(t *testing.T, err error, text string) {
	t.Helper()
	var e *provider.Error
	if !errors.As(err, &e) || e.Kind != provider.Replay || !e.NoRetry || !strings.Contains(e.Message, text) {
		t.Errorf("error %v, want a replay mismatch that says %q", err, text)
	}
}

func TestMatch(t *testing.T) {
	record := func(match string, req *provider.Request) string {
		var out bytes.Buffer
		rec, err := newRecorder(&out, canned{events: []string{stop}}, RecordOptions{Match: match, Ignore: []string{`[0-9.]+s`}})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := drain(rec, req); err != nil {
			t.Fatal(err)
		}
		return out.String()
	}
	change := func(f func(r *provider.Request)) *provider.Request {
		r := ask("ok in 0.1s")
		f(r)
		return r
	}
	system := change(func(r *provider.Request) { r.System = []msg.Block{msg.Text("You are other")} })
	tests := []struct {
		name, match string
		req         *provider.Request
		want        string // empty: it fits
	}{
		{"same", MatchExact, ask("ok in 0.1s"), ""},
		{"ignored", MatchExact, ask("ok in 7.25s"), ""},
		{"text", MatchExact, ask("ok at 0.1s"), `at messages[2].content[0].content[0].text, byte 3: recorded "ok in …", sent "ok at …"`},
		{"system", MatchExact, system, `at system: recorded nothing, sent [{"text":"You are other","type":"text"}]`},
		{"marks", MatchExact, change(func(r *provider.Request) {
			r.Breakpoints = []provider.Breakpoint{{At: provider.AtMessage, Index: 2}}
		}), ""},
		{"system, last only", MatchLast, system, ""},
		{"text, last only", MatchLast, ask("OK"), `at messages[2].content[0].content[0].text, byte 0: recorded "ok in …", sent "OK"`},
		{"error flag", MatchLast, change(func(r *provider.Request) { r.Messages[2].Content[0].IsError = true }), `at messages[2].content[0].is_error: recorded nothing, sent true`},
		{"one more", MatchLast, change(func(r *provider.Request) {
			r.Messages[2].Content = append(r.Messages[2].Content, msg.Text("x"))
		}), `at messages[2].content[1]: recorded nothing, sent {"text":"x","type":"text"}`},
		{"type", MatchLast, change(func(r *provider.Request) { r.Messages[2].Content[0] = msg.Text("x") }), `at messages[2].content[0].content: recorded`},
		{"no messages", MatchLast, &provider.Request{}, `at messages[0]: recorded`},
		{"none", MatchNone, &provider.Request{}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p, err := New(strings.NewReader(record(tt.match, ask("ok in 0.1s"))), "r", Options{})
			if err != nil {
				t.Fatal(err)
			}
			_, err = drain(p, tt.req)
			if tt.want == "" {
				if err != nil {
					t.Errorf("error %v, want none", err)
				}
				return
			}
			wantReplay(t, err, "call 1 of r is another request: "+tt.want)
		})
	}
}

// A failure is played as it was recorded, and a call that its reader left as a cut.
func TestRecordedFailures(t *testing.T) {
	var out bytes.Buffer
	failed := &provider.Error{Kind: provider.RateLimit, Status: 429, Message: "slow", After: 2 * time.Second, RequestID: "req_1"}
	rec, err := newRecorder(&out, canned{events: []string{`{"type":"ping"}`}, err: failed}, RecordOptions{})
	if err != nil {
		t.Fatal(err)
	}
	_, _ = drain(rec, ask("x"))
	for range rec.Stream(context.Background(), ask("x")) {
		break
	}
	p, err := New(&out, "r", Options{})
	if err != nil {
		t.Fatal(err)
	}
	_, err = drain(p, ask("x"))
	want := &provider.Error{Kind: provider.RateLimit, Status: 429, Message: "slow", After: 2 * time.Second}
	if diff := cmp.Diff(error(want), err, cmp.Comparer(func(a, b error) bool { return a.Error() == b.Error() })); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	var e *provider.Error
	if _, err = drain(p, ask("x")); !errors.As(err, &e) || e.Kind != provider.Truncated {
		t.Errorf("error %v, want a cut", err)
	}
}

func TestReadErrors(t *testing.T) {
	tests := []struct{ in, want string }{
		{"", "recording r: it is empty"},
		{"{}", "recording r: line 1: no recording that this version can play"},
		{"{\"recording\":1,\"match\":\"most\"}", `recording r: line 1: match "most": want exact, last or none`},
		{"{\"recording\":1,\"ignore\":[\"(\"]}", "recording r: line 1: ignore: error parsing regexp"},
		{"{\"recording\":1}\n\n{\"events\":", "recording r: line 3: unexpected end of JSON input"},
	}
	for _, tt := range tests {
		_, err := New(strings.NewReader(tt.in), "r", Options{})
		if err == nil || !strings.HasPrefix(err.Error(), tt.want) {
			t.Errorf("%q: error %v, want %s", tt.in, err, tt.want)
		}
	}
	if _, err := Open(filepath.Join(t.TempDir(), "none"), Options{}); err == nil {
		t.Error("a missing file opens")
	}
}

// The body of a stream may stand in the recording as it came.
func TestRawStream(t *testing.T) {
	body, _ := json.Marshal("event: ping\ndata: {\"type\":\"ping\"}\n\ndata: " + delta("text_delta", "text", "in DIR") + "\n\ndata: " + stop + "\n\n")
	in := `{"recording":1,"vars":{"d":"DIR"}}` + "\n" + `{"sse":` + string(body) + `}`
	p, err := New(strings.NewReader(in), "r", Options{Vars: map[string]string{"d": "/x"}})
	if err != nil {
		t.Fatal(err)
	}
	got, err := drain(p, &provider.Request{})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{`{"type":"ping"}`, delta("text_delta", "text", "in /x"), stop}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}

func TestDelay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, err := New(strings.NewReader(`{"recording":1}`+"\n"+`{"events":[{"type":"ping"},{"type":"ping"},{"type":"message_stop"}]}`+"\n"+
			`{"events":[{"type":"ping"},{"type":"ping"}],"delay_ms":3600000}`), "r", Options{})
		if err != nil {
			t.Fatal(err)
		}
		p.opts.Delay = time.Second
		begin := time.Now()
		if _, err := drain(p, &provider.Request{}); err != nil {
			t.Fatal(err)
		}
		if d := time.Since(begin); d != 2*time.Second {
			t.Errorf("took %s, want 2s", d)
		}
		p.opts.Delay = 0
		cause := errors.New("stop")
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(time.Second, func() { cancel(cause) })
		var last error
		for _, err := range p.Stream(ctx, &provider.Request{}) {
			last = err
		}
		if !errors.Is(last, cause) || time.Since(begin) != 3*time.Second {
			t.Errorf("error %v after %s", last, time.Since(begin))
		}
	})
}

// However an answer is cut into pieces: what is played in another directory is the answer with the paths replaced.
func TestAnyPieces(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		parts := rapid.SliceOf(rapid.SampledFrom([]string{"/home/me", "/home/me/proj", "a", "é", "\"", "/", "\n"})).Draw(t, "parts")
		text := strings.Join(parts, "")
		want := strings.NewReplacer("/home/me/proj", "/tmp/x", "/home/me", "/root").Replace(text)
		events := []string{`{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`}
		for rest := text; rest != ""; {
			n := rapid.IntRange(1, len(rest)).Draw(t, "n")
			for n < len(rest) && rest[n]&0xc0 == 0x80 {
				n++
			}
			events = append(events, delta("text_delta", "text", rest[:n]))
			rest = rest[n:]
		}
		events = append(events, stop)
		var out bytes.Buffer
		rec, err := newRecorder(&out, canned{events: events}, RecordOptions{Match: MatchNone, Vars: map[string]string{"A": "/home/me/proj", "B": "/home/me"}})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := drain(rec, &provider.Request{}); err != nil {
			t.Fatal(err)
		}
		p, err := New(&out, "r", Options{Vars: map[string]string{"A": "/tmp/x", "B": "/root"}})
		if err != nil {
			t.Fatal(err)
		}
		got, err := drain(p, &provider.Request{})
		if err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		for _, e := range got {
			c, _ := wire.Decode([]byte(e))
			b.WriteString(c.Text)
		}
		if b.String() != want {
			t.Fatalf("played %q, want %q", b.String(), want)
		}
	})
}
