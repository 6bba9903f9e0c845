package e2e

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"lathe/internal/fakeapi"
)

// faultCase is a script of failures and what must come of them.
type faultCase struct {
	name    string
	script  *fakeapi.Script
	args    []string
	env     []string
	calls   int      // of the API in all
	code    int      // exit code
	out     []string // in standard output, text format
	err     []string // on standard error, text format
	retries int      // api_retry lines, stream-json format
	later   []string // in the next request of the session
	never   []string // not in it
	check   func(t *testing.T, r *rig)
}

// TestFaults drives the program through every row of the retry table and every fault of the stream, in text and in
// stream-json format. The exit code, what the user is told, and the number of calls are as documented, no request
// breaks a rule, and the session goes on with a legal request that holds the prompt.
func TestFaults(t *testing.T) {
	t.Parallel()
	for _, c := range faultCases() {
		for _, format := range []string{"text", "stream-json"} {
			t.Run(c.name+"/"+format, func(t *testing.T) {
				t.Parallel()
				c.run(t, format)
			})
		}
	}
}

func (c *faultCase) run(t *testing.T, format string) {
	r := newRig(t, c.script)
	r.env = append(r.env, c.env...)
	o := r.run(append([]string{"-p", "first words", "--permission-mode", "acceptEdits", "--allowedTools", "Bash", "--output-format", format}, c.args...)...)
	if o.code != c.code {
		t.Errorf("exit code %d, want %d\n%s\n%s", o.code, c.code, o.out, o.err)
	}
	if n := len(r.api.Requests()); n != c.calls {
		t.Errorf("%d requests, want %d\n%s\n%s", n, c.calls, o.out, o.err)
	}
	if strings.Contains(o.err, "panic") || strings.Contains(o.err, "goroutine") {
		t.Errorf("standard error: %s", o.err)
	}
	if format == "text" {
		for _, want := range c.out {
			if !strings.Contains(o.out, want) {
				t.Errorf("standard output does not hold %q:\n%s", want, o.out)
			}
		}
		for _, want := range c.err {
			if !strings.Contains(o.err, want) {
				t.Errorf("standard error does not hold %q:\n%s", want, o.err)
			}
		}
	} else {
		c.lines(t, o)
	}
	r.legalButKeys()
	if c.check != nil {
		c.check(t, r)
	}
	if format != "text" && len(c.later)+len(c.never) == 0 {
		return
	}
	next := r.goesOn(append([]string{"first words"}, c.later...)...)
	for _, text := range c.never {
		if strings.Contains(string(next.Body), quoted(text)) {
			t.Errorf("the next request holds %q:\n%s", text, next.Body)
		}
	}
}

// lines checks the stream-json form of a failure.
func (c *faultCase) lines(t *testing.T, o outcome) {
	retries := 0
	for _, l := range jsonLines(t, o.out) {
		if l["subtype"] == "api_retry" {
			retries++
			if l["error"] == "" || l["attempt"] == nil || l["max_retries"] == nil || l["retry_delay_ms"] == nil {
				t.Errorf("a retry that tells too little: %v", l)
			}
		}
	}
	if retries != c.retries {
		t.Errorf("%d api_retry lines, want %d\n%s", retries, c.retries, o.out)
	}
	if res := resultOf(t, o.out); res["is_error"] != (c.code != 0) {
		t.Errorf("is_error is %v\n%v", res["is_error"], res)
	}
}

// legalButKeys is legal, but a refused key is no fault of the program.
func (r *rig) legalButKeys() {
	r.t.Helper()
	for _, v := range r.api.Violations() {
		if v.Status != 401 {
			r.t.Errorf("request %d broke the rule %s: %v", v.Request, v.Rule, v)
		}
	}
}

func status(code int, message string, headers ...string) fakeapi.Fault {
	f := fakeapi.Fault{Kind: fakeapi.FaultStatus, Status: code, Message: message}
	for i := 0; i+1 < len(headers); i += 2 {
		f.Headers = map[string]string{headers[i]: headers[i+1]}
	}
	return f
}

// broken is an answer with text and a call, and a fault.
func broken(f fakeapi.Fault) fakeapi.Answer {
	return fakeapi.Answer{Blocks: []fakeapi.Block{{Thinking: "hm"}, {Text: "partial words"}, bash("echo x >> count.txt")}, Chunk: 5, Faults: []fakeapi.Fault{f}}
}

// times is the fault n times (for ever when negative), and then the answers.
func times(n int, f fakeapi.Fault, then ...fakeapi.Answer) *fakeapi.Script {
	s := &fakeapi.Script{Turns: []fakeapi.Turn{{Times: n, Answer: broken(f)}}}
	for _, a := range then {
		s.Turns = append(s.Turns, fakeapi.Turn{Answer: a})
	}
	return s
}

func faultCases() []faultCase {
	return append(append(retryCases(), stopCases()...), streamCases()...)
}

// retryCases are the rows of the retry table that answer with a status.
func retryCases() []faultCase {
	ok := fakeapi.Text("done")
	fallback := []string{"--fallback-model", "claude-sonnet-5"}
	return []faultCase{
		{name: "429 then well", script: times(3, status(429, "slow down"), ok), calls: 4, out: []string{"done"}, err: []string{"slow down", "trying again"}, retries: 3},
		{name: "429 four times", script: times(-1, status(429, "slow down")), calls: 4, code: 1, out: []string{"429"}, err: []string{"429", "wait"}, retries: 3},
		{
			name: "429 with retry-after", script: times(1, status(429, "slow down", "retry-after", "1"), ok), calls: 2, out: []string{"done"}, err: []string{"trying again in 1s"}, retries: 1,
			check: func(t *testing.T, r *rig) {
				all := r.api.Requests()
				if d := all[1].Time.Sub(all[0].Time); d < time.Second {
					t.Errorf("tried again after %s, asked to wait 1s", d)
				}
			},
		},
		{name: "429 with a wait of hours", script: times(-1, status(429, "used up", "retry-after", "7200")), calls: 1, code: 1, out: []string{"2h0m0s"}, err: []string{"2h0m0s"}},
		{name: "529 then well", script: times(5, status(529, ""), ok), calls: 6, retries: 5, err: []string{"Overloaded"}, out: []string{"done"}},
		{
			name: "529 with a fall-back", script: times(6, status(529, ""), ok), args: fallback, calls: 7, out: []string{"done"}, err: []string{"claude-sonnet-5"}, retries: 6,
			check: func(t *testing.T, r *rig) {
				if m := r.last().Model; m != "claude-sonnet-5" {
					t.Errorf("the last call went to %s", m)
				}
			},
		},
		{name: "529 everywhere", script: times(-1, status(529, "")), args: fallback, calls: 12, code: 1, retries: 11, out: []string{"529"}, err: []string{"529"}},
		{name: "500 then well", script: times(2, status(500, "oops"), ok), calls: 3, out: []string{"done"}, err: []string{"oops"}, retries: 2},
		{name: "502 with a page", script: times(1, fakeapi.Fault{Kind: fakeapi.FaultStatus, Status: 502, Body: "<html>bad gateway</html>"}, ok), calls: 2, out: []string{"done"}, retries: 1},
		{name: "503 for ever", script: times(-1, status(503, "down")), calls: 8, code: 1, retries: 7, out: []string{"503 down"}, err: []string{"503 down", "try again later"}},
		{name: "504", script: times(1, status(504, "late"), ok), calls: 2, out: []string{"done"}, retries: 1},
		{name: "retries switched off", script: times(-1, status(503, "down")), env: []string{"CLAUDE_CODE_MAX_RETRIES=0"}, calls: 1, code: 1},
		{
			name: "connection refused", script: times(-1, status(500, "")), env: []string{"ANTHROPIC_BASE_URL=http://127.0.0.1:1"}, calls: 0, code: 1, retries: 3,
			out: []string{"API Error", "ANTHROPIC_BASE_URL"}, err: []string{"trying again"}, check: func(_ *testing.T, r *rig) { r.env = nil },
		},
		{name: "401", script: times(-1, status(401, "invalid x-api-key")), calls: 1, code: 1, out: []string{"ANTHROPIC_API_KEY"}, err: []string{"401 invalid x-api-key"}},
		{name: "400", script: times(-1, status(400, "tools.3: bad")), calls: 1, code: 1, out: []string{"400 tools.3: bad"}, err: []string{"req_fake_000001"}},
		{name: "402", script: times(-1, status(402, "no credit")), calls: 1, code: 1, out: []string{"no credit"}, err: []string{"Add credit"}},
		{name: "403", script: times(-1, status(403, "not you")), calls: 1, code: 1, out: []string{"403 not you"}, err: []string{"req_fake_000001"}},
		{name: "404", script: times(-1, status(404, "model: x")), calls: 1, code: 1, out: []string{"404 model: x"}, err: []string{"--model"}},
		{name: "413", script: times(-1, status(413, "too large")), calls: 1, code: 1, out: []string{"too large"}, err: []string{"remove images"}},
		{
			name: "prompt too long", script: times(-1, status(400, "prompt is too long: 210000 tokens > 200000 maximum")), calls: 1, code: 1,
			out: []string{"Prompt is too long"}, err: []string{"Start a new session"},
		},
		{
			name: "no room for the answer", script: times(1, status(400, "input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000, decrease input length or `max_tokens` and try again"), ok),
			calls: 2, out: []string{"done"}, err: []string{"output limit"}, retries: 1,
		},
		keyHelper(),
		thinkingRefused(),
	}
}

// keyHelper is a key that is refused once; the helper command then gives another.
func keyHelper() faultCase {
	helper := `echo run >> "$HOME/runs"; if [ $(wc -l < "$HOME/runs") -lt 2 ]; then echo stale-key; else echo good-key; fi`
	settings, _ := json.Marshal(map[string]string{"apiKeyHelper": helper})
	return faultCase{
		name: "401 with a key helper", script: &fakeapi.Script{Keys: []string{"good-key"}, Turns: []fakeapi.Turn{{Answer: fakeapi.Text("done")}}},
		args: []string{"--settings", string(settings)}, env: []string{"ANTHROPIC_API_KEY="},
		calls: 2, out: []string{"done"}, err: []string{"new key"}, retries: 1,
		check: func(t *testing.T, r *rig) {
			if runs := r.read(filepath.Join(r.home, "runs")); runs != "run\nrun\n" {
				t.Errorf("the helper ran %q", runs)
			}
			r.env = append(r.env, "ANTHROPIC_API_KEY=k")
		},
	}
}

// thinkingRefused is a 400 that names a thinking block: it is dropped, now and for the rest of the session.
func thinkingRefused() faultCase {
	f := status(400, "messages.1.content.0: Invalid `signature` in `thinking` block")
	s := fakeapi.Sequence(answer(fakeapi.Block{Thinking: "deep"}, bash("echo ran")), broken(f), fakeapi.Text("done"))
	return faultCase{
		name: "400 about thinking", script: s, calls: 3, out: []string{"done"}, err: []string{"without"}, retries: 1,
		later: []string{"ran", "done"}, never: []string{`"type":"thinking"`},
	}
}

// stopCases are answers that end in a way that has a name.
func stopCases() []faultCase {
	stop := func(reason string, blocks ...fakeapi.Block) fakeapi.Answer {
		return fakeapi.Answer{Blocks: blocks, StopReason: reason}
	}
	text := func(s string) fakeapi.Block { return fakeapi.Block{Text: s} }
	refused := stop("refusal", text("I start to"))
	refused.StopDetails = json.RawMessage(`{"category":"cyber","explanation":"It looks dangerous."}`)
	cut := fakeapi.Answer{Blocks: []fakeapi.Block{fakeapi.Call("Write", map[string]any{"file_path": "a.txt", "content": "long"})}, Faults: []fakeapi.Fault{{Kind: fakeapi.FaultCutInput, Bytes: 18}}}
	noFile := func(t *testing.T, r *rig) {
		if m, _ := filepath.Glob(filepath.Join(r.dir, "*")); len(m) > 0 {
			t.Errorf("a cut call left %v", m)
		}
	}
	twice := answer(bash("echo x >> count.txt"), bash("echo y >> count.txt"))
	twice.Faults = []fakeapi.Fault{{Kind: fakeapi.FaultDuplicateIDs}}
	search := fakeapi.Block{Raw: json.RawMessage(`{"type":"server_tool_use","id":"srvtoolu_1","name":"web_search","input":{"query":"x"}}`)}
	done := fakeapi.Text("done")
	return []faultCase{
		{name: "max_tokens", script: fakeapi.Sequence(stop("max_tokens", text("half an ans")), fakeapi.Text("wer, whole")), calls: 2, out: []string{"half an answer, whole"}},
		{
			name: "max_tokens four times", calls: 4, script: fakeapi.Sequence(stop("max_tokens", text("one ")), stop("max_tokens", text("two ")), stop("max_tokens", text("three ")), stop("max_tokens", text("four"))),
			out: []string{"one two three four"}, err: []string{"still cut"},
		},
		{name: "max_tokens in a call (B001)", script: fakeapi.Sequence(cut, done), calls: 2, out: []string{"done"}, later: []string{"output limit", "smaller steps"}, check: noFile},
		{name: "max_tokens in the same call twice (B001)", script: fakeapi.Sequence(cut, cut), calls: 2, code: 1, err: []string{"same Write call twice"}, check: noFile},
		{name: "refusal", script: fakeapi.Sequence(refused), calls: 1, code: 1, out: []string{"It looks dangerous"}, err: []string{"refused"}, never: []string{"I start to"}},
		{name: "pause_turn", script: fakeapi.Sequence(stop("pause_turn", text("searching, "), search), fakeapi.Text("found")), calls: 2, out: []string{"found"}, later: []string{"searching"}},
		{name: "context window exceeded", script: fakeapi.Sequence(stop("model_context_window_exceeded", text("half"))), calls: 1, code: 1, out: []string{"Prompt is too long"}, err: []string{"context window is full"}, later: []string{"half"}},
		{
			name: "one id for two calls (B010)", script: fakeapi.Sequence(twice, done), calls: 2, out: []string{"done"},
			check: func(t *testing.T, r *rig) {
				if got := r.read(filepath.Join(r.dir, "count.txt")); got != "x\ny\n" {
					t.Errorf("the calls left %q", got)
				}
			},
		},
		{name: "a call without input (B004)", script: fakeapi.Sequence(answer(fakeapi.Block{Tool: "Glob", Chunks: []string{""}}), done), calls: 2, out: []string{"done"}, later: []string{"pattern is missing"}},
		{name: "input that is no JSON", script: fakeapi.Sequence(answer(fakeapi.Block{Tool: "Bash", Chunks: []string{`{"command": "ec`, `ho`}}), done), calls: 2, out: []string{"done"}, later: []string{"not a JSON object"}},
		{name: "thinking alone, then a silent command (B016)", script: fakeapi.Sequence(answer(bash("true")), answer(fakeapi.Block{Thinking: "hm"})), calls: 2, later: []string{"(no output)"}},
		{name: "nothing at all", script: fakeapi.Sequence(answer(text(" "))), calls: 1},
	}
}

// streamCases are the faults of the stream. Of a broken answer nothing stays; its call runs once.
func streamCases() []faultCase {
	good := answer(fakeapi.Block{Text: "whole words"}, bash("echo x >> count.txt"))
	ran := func(t *testing.T, r *rig) {
		if got := r.read(filepath.Join(r.dir, "count.txt")); got != "x\n" {
			t.Errorf("the call left %q", got)
		}
	}
	// again: the first answer breaks and is asked for again, as often as said.
	again := func(name string, n int, f fakeapi.Fault) faultCase {
		return faultCase{
			name: name, script: times(n, f, good, fakeapi.Text("done")), calls: n + 2, out: []string{"done"}, err: []string{"lathe: "}, retries: n,
			later: []string{"whole words", "done"}, never: []string{"partial words"}, check: ran,
		}
	}
	// passed: the fault is none.
	passed := func(name string, f fakeapi.Fault) faultCase {
		return faultCase{name: name, script: times(1, f, fakeapi.Text("done")), calls: 2, out: []string{"done"}, later: []string{"partial words", "done"}, check: ran}
	}
	fault := func(kind string) fakeapi.Fault { return fakeapi.Fault{Kind: kind, AfterEvents: 7} }
	out := []faultCase{
		again("reset before a header", 2, fault(fakeapi.FaultResetEarly)),
		impatient(again("silence before a header", 1, fault(fakeapi.FaultStallEarly))),
		again("reset", 1, fault(fakeapi.FaultReset)),
		again("reset twice, then without streaming", 2, fault(fakeapi.FaultReset)),
		again("abort", 1, fault(fakeapi.FaultAbort)),
		again("end without a stop", 1, fault(fakeapi.FaultEnd)),
		impatient(again("stall", 1, fault(fakeapi.FaultStall))),
		again("malformed JSON", 1, fault(fakeapi.FaultMalformed)),
		again("overloaded in the stream", 2, fault(fakeapi.FaultErrorEvent)),
		again("an empty body", 1, fault(fakeapi.FaultEmpty)),
		again("no message_start", 1, fakeapi.Fault{Kind: fakeapi.FaultDrop, Event: "message_start"}),
		passed("no message_stop", fakeapi.Fault{Kind: fakeapi.FaultDrop, Event: "message_stop"}),
		passed("no content_block_stop", fakeapi.Fault{Kind: fakeapi.FaultDrop, Event: "content_block_stop"}),
		passed("message_start twice", fakeapi.Fault{Kind: fakeapi.FaultDuplicate, Event: "message_start"}),
		passed("pings", fakeapi.Fault{Kind: fakeapi.FaultPings, AfterEvents: 4, Count: 5}),
		passed("unknown events", fault(fakeapi.FaultUnknown)), passed("CR LF", fault(fakeapi.FaultCRLF)),
		passed("comments", fault(fakeapi.FaultComment)), passed("data only", fault(fakeapi.FaultDataOnly)),
		passed("empty deltas", fault(fakeapi.FaultEmptyDeltas)), passed("no content type", fault(fakeapi.FaultNoContentType)),
		{
			name: "error event that no retry mends (B009)", script: times(-1, fakeapi.Fault{Kind: fakeapi.FaultErrorEvent, Type: "invalid_request_error", Message: "bad tools"}),
			calls: 1, code: 1, out: []string{"bad tools"}, err: []string{"bad tools"},
		},
		{name: "always reset", script: times(-1, fault(fakeapi.FaultReset)), calls: 3, code: 1, retries: 2, out: []string{"API Error"}, err: []string{"without streaming"}},
		impatient(faultCase{name: "always silent", script: times(-1, fault(fakeapi.FaultStallEarly)), calls: 2, code: 1, retries: 1, out: []string{"no data came"}, err: []string{"without streaming"}}),
		{name: "another content type", script: times(-1, fakeapi.Fault{Kind: fakeapi.FaultContentType, Value: "application/pdf"}), calls: 1, code: 1, out: []string{"application/pdf"}, err: []string{"ANTHROPIC_BASE_URL"}},
		{name: "a login page", script: times(-1, fakeapi.Fault{Kind: fakeapi.FaultHTML}), calls: 1, code: 1, out: []string{"text/html"}, err: []string{"ANTHROPIC_BASE_URL"}},
	}
	for _, n := range []int{1, 2, 3, 7, 64} {
		out = append(out, passed(fmt.Sprintf("pieces of %d bytes", n), fakeapi.Fault{Kind: fakeapi.FaultSplit, Bytes: n}))
	}
	return out
}

// impatient makes the program give up on silence soon, but not before an answer that comes on a busy machine.
func impatient(c faultCase) faultCase {
	c.env = append(c.env, "CLAUDE_STREAM_IDLE_TIMEOUT_MS=3000", "API_TIMEOUT_MS=3000")
	return c
}

// TestStreamCutAnywhere cuts an answer with thinking, text and a call at many bytes, in three ways. What is asked
// for again runs once, whatever was there of the first answer.
func TestStreamCutAnywhere(t *testing.T) {
	t.Parallel()
	step := 389
	if testing.Short() {
		step = 600
	}
	for _, kind := range []string{fakeapi.FaultReset, fakeapi.FaultAbort, fakeapi.FaultEnd} {
		for at := 1; at < 3400; at += step {
			t.Run(fmt.Sprintf("%s/%d", kind, at), func(t *testing.T) {
				t.Parallel()
				r := newRig(t, &fakeapi.Script{Func: func(req fakeapi.Request) *fakeapi.Answer {
					a := answer(fakeapi.Block{Thinking: "hm"}, fakeapi.Block{Text: "Some words."}, readFile("a.txt"), bash("echo x >> count.txt"))
					a.Chunk = 7
					switch {
					case strings.Contains(req.LastToolResult(), "(no output)"):
						a = fakeapi.Text("done")
					case len(req.ToolResults()) > 0: // the first call was whole and went on, the second was not
						a = answer(a.Blocks[3])
					case req.Call == 1:
						a.Faults = []fakeapi.Fault{{Kind: kind, AfterBytes: at}}
					}
					return &a
				}})
				r.file("a.txt", "content of a\n")
				o := r.must("-p", "first words", "--permission-mode", "acceptEdits", "--allowedTools", "Bash")
				if o.out != "done\n" {
					t.Errorf("result %q", o.out)
				}
				r.legal()
				if got, n := r.read(filepath.Join(r.dir, "count.txt")), len(r.api.Requests()); got != "x\n" || n > 4 {
					t.Errorf("the call left %q after %d requests", got, n)
				}
				r.goesOn("first words", "content of a", "done")
			})
			at += at % 13
		}
	}
}
