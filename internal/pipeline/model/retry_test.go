package model

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"lathe/internal/event"
	"lathe/internal/msg"
	"lathe/internal/provider"
	"lathe/internal/turn"
)

func repeat(n int, s step1) []step1 {
	var out []step1
	for range n {
		out = append(out, s)
	}
	return out
}

func rates(after time.Duration) step1 {
	return step1{err: &provider.Error{Kind: provider.RateLimit, Status: 429, Message: "slow", After: after}}
}

// outcome is all that a row of the retry table can be told by.
type outcome struct {
	Text     string // of the reply; of the failure when Failed
	Failed   bool
	Terminal string
	Status   int
	Told     []string
	At       []time.Duration // when each call began
	Log      []string
}

func TestRetryTable(t *testing.T) {
	ok := says("msg_ok", "done")
	okLog := []string{`assistant msg_ok "done" stop=end_turn`}
	partial := step1{events: seq(start("msg_1"), textBlock(0, "half"), textBlock(1, "more")[:2])}
	tests := []struct {
		name  string
		steps []step1
		setup func(w *world)
		want  outcome
		check func(t *testing.T, w *world)
	}{
		{
			name:  "429 with retry-after",
			steps: []step1{rates(7 * time.Second), ok},
			want:  outcome{Text: "done", Told: []string{"retry 1/3 7s 429 rate_limit"}, At: []time.Duration{0, 7 * time.Second}, Log: okLog},
		},
		{
			name:  "429 for ever: 4 tries",
			steps: repeat(9, rates(0)),
			want: outcome{
				Text:   "API Error: Request rejected (429): slow. The limits of the key are used up for now: wait a little, then send the prompt again.",
				Failed: true, Terminal: "api_error", Status: 429,
				Told: []string{"retry 1/3 1s 429 rate_limit", "retry 2/3 2s 429 rate_limit", "retry 3/3 4s 429 rate_limit"},
				At:   []time.Duration{0, 1 * time.Second, 3 * time.Second, 7 * time.Second},
			},
		},
		{
			name:  "429 in fast mode that asks for long: the standard speed",
			steps: []step1{rates(time.Hour), rates(7 * time.Second), ok},
			setup: func(w *world) {
				w.t.Request.Fast = true
				w.deps.Slow = func(_ *turn.Turn, limit bool, after time.Duration) { w.slowed = fmt.Sprint(limit, after) }
			},
			want: outcome{Text: "done", Told: []string{"retry 1/1 0s 429 rate_limit", "retry 1/3 7s 429 rate_limit"}, At: []time.Duration{0, 0, 7 * time.Second}, Log: okLog},
			check: func(t *testing.T, w *world) {
				if w.slowed != "true 1h0m0s" {
					t.Errorf("told of %q", w.slowed)
				}
				if r := w.script.reqs; !r[0].Fast || r[1].Fast || r[2].Fast {
					t.Error("the speed was not changed with the second try")
				}
			},
		},
		{
			name:  "429 in fast mode: a short wait keeps the cache, then the standard speed",
			steps: []step1{rates(7 * time.Second), rates(7 * time.Second), ok},
			setup: func(w *world) { w.t.Request.Fast = true },
			want:  outcome{Text: "done", Told: []string{"retry 1/3 7s 429 rate_limit", "retry 1/1 0s 429 rate_limit"}, At: []time.Duration{0, 7 * time.Second, 7 * time.Second}, Log: okLog},
		},
		{
			name:  "the API takes no fast mode",
			steps: []step1{fails(provider.Invalid, 400, "speed: 'fast' is not supported by claude"), ok},
			setup: func(w *world) {
				w.t.Request.Fast, w.t.Request.Betas = true, []string{"other", "fast-mode-2026-02-01"}
				w.deps.Slow = func(_ *turn.Turn, limit bool, after time.Duration) { w.slowed = fmt.Sprint(limit, after) }
			},
			want: outcome{Text: "done", Told: []string{"retry 1/1 0s 400 invalid_request"}, At: []time.Duration{0, 0}, Log: okLog},
			check: func(t *testing.T, w *world) {
				if w.slowed != "false 0s" {
					t.Errorf("told of %q", w.slowed)
				}
				if r := w.script.reqs; len(r[0].Betas) != 2 || !slices.Equal(r[1].Betas, []string{"other"}) {
					t.Errorf("the header may be what was refused: %q, then %q", r[0].Betas, r[1].Betas)
				}
			},
		},
		{
			name:  "429 that asks for hours",
			steps: []step1{rates(3 * time.Hour)},
			want: outcome{
				Text: "API Error: Request rejected (429): slow. The server asks to wait 3h0m0s.", Failed: true,
				Terminal: "api_error", Status: 429, At: []time.Duration{0},
			},
		},
		{
			name:  "529: 6 tries, then the fall-back model",
			steps: append(repeat(6, fails(provider.Overloaded, 529, "Overloaded")), ok),
			setup: func(w *world) { w.deps.Fallback = []string{"small"} },
			want: outcome{
				Text: "done",
				Told: []string{
					"retry 1/5 2s 529 overloaded", "retry 2/5 4s 529 overloaded", "retry 3/5 8s 529 overloaded",
					"retry 4/5 16s 529 overloaded", "retry 5/5 32s 529 overloaded", "model small", "retry 1/1 0s 529 overloaded",
				},
				At:  []time.Duration{0, 2 * time.Second, 6 * time.Second, 14 * time.Second, 30 * time.Second, 62 * time.Second, 62 * time.Second},
				Log: okLog,
			},
			check: func(t *testing.T, w *world) {
				if got := w.script.reqs[6].Model; got != "small" || w.t.Model != "small" {
					t.Errorf("the last call used %q, the turn has %q, want small", got, w.t.Model)
				}
			},
		},
		{
			name:  "529: a fall-back whose id differs from its name comes once",
			steps: repeat(9, fails(provider.Overloaded, 529, "Overloaded")),
			setup: func(w *world) {
				w.conf.MaxRetries, w.conf.OverloadedBase = 1, time.Millisecond
				w.deps.Fallback = []string{"small[1m]", "small[1m]"}
				w.deps.Retarget = func(_ *turn.Turn, req *provider.Request, model string) {
					req.Model = strings.TrimSuffix(model, "[1m]")
				}
			},
			want: outcome{
				Text:   "API Error: Repeated 529 Overloaded errors: Overloaded. Try again later, or set another model with --fallback-model.",
				Failed: true, Terminal: "api_error", Status: 529,
				Told: []string{"retry 1/1 1ms 529 overloaded", "model small[1m]", "retry 1/1 0s 529 overloaded", "retry 1/1 1ms 529 overloaded"},
				At:   []time.Duration{0, time.Millisecond, time.Millisecond, 2 * time.Millisecond},
			},
		},
		{
			name:  "529 without a fall-back, retries limited",
			steps: repeat(9, fails(provider.Overloaded, 529, "Overloaded")),
			setup: func(w *world) { w.conf.MaxRetries = 1; w.conf.OverloadedBase = time.Millisecond },
			want: outcome{
				Text:   "API Error: Repeated 529 Overloaded errors: Overloaded. Try again later, or set another model with --fallback-model.",
				Failed: true, Terminal: "api_error", Status: 529,
				Told: []string{"retry 1/1 1ms 529 overloaded"}, At: []time.Duration{0, time.Millisecond},
			},
		},
		{
			name:  "500, then no connection",
			steps: []step1{fails(provider.Server, 500, "boom"), fails(provider.Network, 0, "connection refused"), ok},
			want: outcome{
				Text: "done", Told: []string{"retry 1/7 500ms 500 server_error", "retry 2/7 1s 0 server_error"},
				At: []time.Duration{0, 500 * time.Millisecond, 1500 * time.Millisecond}, Log: okLog,
			},
		},
		{
			name:  "no server there: 4 tries",
			steps: repeat(9, fails(provider.Absent, 0, "cannot connect to localhost:1 (ANTHROPIC_BASE_URL): connection refused")),
			want: outcome{
				Text:   "API Error: cannot connect to localhost:1 (ANTHROPIC_BASE_URL): connection refused. No server has answered there yet. Is it running, and is the address in that variable right?",
				Failed: true, Terminal: "api_error",
				Told: []string{"retry 1/3 500ms 0 server_error", "retry 2/3 1s 0 server_error", "retry 3/3 2s 0 server_error"},
				At:   []time.Duration{0, 500 * time.Millisecond, 1500 * time.Millisecond, 3500 * time.Millisecond},
			},
		},
		{
			name:  "the server asks not to retry",
			steps: []step1{{err: &provider.Error{Kind: provider.Server, Status: 500, Message: "boom", NoRetry: true, RequestID: "req_1"}}},
			want: outcome{
				Text: "API Error: 500 boom (request req_1). The server failed; try again later.", Failed: true,
				Terminal: "api_error", Status: 500, At: []time.Duration{0},
			},
		},
		{
			name:  "no retries",
			steps: repeat(2, fails(provider.Server, 500, "boom")),
			setup: func(w *world) { w.conf.MaxRetries = -1 },
			want:  outcome{Text: "API Error: 500 boom. The server failed; try again later.", Failed: true, Terminal: "api_error", Status: 500, At: []time.Duration{0}},
		},
		{
			name:  "401 with a key helper",
			steps: []step1{fails(provider.Auth, 401, "bad key"), ok},
			setup: func(w *world) { w.deps.Refresh = func(context.Context) (bool, error) { return true, nil } },
			want:  outcome{Text: "done", Told: []string{"retry 1/1 0s 401 authentication_failed"}, At: []time.Duration{0, 0}, Log: okLog},
		},
		{
			name:  "401 twice",
			steps: repeat(3, fails(provider.Auth, 401, "bad key")),
			setup: func(w *world) { w.deps.Refresh = func(context.Context) (bool, error) { return true, nil } },
			want: outcome{
				Text:   "API Error: 401 bad key. The key that was sent is not accepted: check ANTHROPIC_API_KEY, ANTHROPIC_AUTH_TOKEN or the apiKeyHelper of the settings, and that it belongs to ANTHROPIC_BASE_URL.",
				Failed: true, Terminal: "api_error", Status: 401,
				Told: []string{"retry 1/1 0s 401 authentication_failed"}, At: []time.Duration{0, 0},
			},
		},
		{
			name:  "silence: once more without streaming",
			steps: []step1{{hang: true}, ok},
			want:  outcome{Text: "done", Told: []string{"retry 1/1 0s 0 server_error"}, At: []time.Duration{0, 5 * time.Minute}, Log: okLog},
			check: func(t *testing.T, w *world) {
				if w.script.reqs[0].NoStream || !w.script.reqs[1].NoStream {
					t.Errorf("streaming: first %v, second %v", !w.script.reqs[0].NoStream, !w.script.reqs[1].NoStream)
				}
			},
		},
		{
			name:  "silence twice",
			steps: repeat(3, step1{hang: true}),
			want: outcome{
				Text:   "API Error: no data came for 10m0s. The response above may be incomplete; send \"continue\" to go on.",
				Failed: true, Terminal: "api_error", Told: []string{"retry 1/1 0s 0 server_error"}, At: []time.Duration{0, 5 * time.Minute},
			},
		},
		{
			name:  "pings are signs of life",
			steps: []step1{{events: []string{start("msg_1")}, pings: 20, hang: true}, ok},
			want: outcome{
				Text: "done", Told: []string{"discarded msg_1 []", "retry 1/1 0s 0 server_error"},
				At: []time.Duration{0, 25 * time.Minute}, Log: okLog,
			},
		},
		{
			name:  "a stream that keeps breaking: once more, then without streaming",
			steps: []step1{partial, {events: []string{start("msg_2")}}, ok},
			want: outcome{
				Text: "done",
				Told: []string{"discarded msg_1 [m1]", "retry 1/2 500ms 0 server_error", "discarded msg_2 []", "retry 2/2 0s 0 server_error"},
				At:   []time.Duration{0, 500 * time.Millisecond, 500 * time.Millisecond}, Log: okLog,
			},
			check: func(t *testing.T, w *world) {
				if !w.script.reqs[2].NoStream {
					t.Error("the third call streams")
				}
			},
		},
		{
			name:  "a stream that breaks for ever keeps what was seen",
			steps: repeat(5, partial),
			want: outcome{
				Text:   "API Error: cut. The response above may be incomplete; send \"continue\" to go on.",
				Failed: true, Terminal: "api_error",
				Told: []string{"discarded msg_1 [m1]", "retry 1/2 500ms 0 server_error", "discarded msg_1 [m3]", "retry 2/2 0s 0 server_error"},
				At:   []time.Duration{0, 500 * time.Millisecond, 500 * time.Millisecond},
				Log:  []string{`assistant msg_1 "half"`, `assistant msg_1 "more" aborted`},
			},
		},
		{
			name:  "prompt too long: compacted once",
			steps: []step1{fails(provider.TooLong, 400, "prompt is too long: 210000 tokens > 200000 maximum"), ok},
			setup: func(w *world) {
				w.deps.Reduce = func(_ context.Context, t *turn.Turn, counted int) (bool, error) {
					if counted != 210_000 {
						return false, fmt.Errorf("counted %d", counted)
					}
					t.Request = &provider.Request{Model: "m", MaxTokens: 5}
					return true, nil
				}
			},
			want: outcome{Text: "done", Told: []string{"retry 1/1 0s 400 invalid_request"}, At: []time.Duration{0, 0}, Log: okLog},
			check: func(t *testing.T, w *world) {
				if w.script.reqs[1].MaxTokens != 5 {
					t.Error("the second call is not the reduced request")
				}
			},
		},
		{
			name:  "prompt too long, nothing to reduce",
			steps: []step1{fails(provider.TooLong, 400, "prompt is too long")},
			want: outcome{
				Text:   "Prompt is too long (API Error: 400 prompt is too long). Start a new session, or resume this one with a model that has a larger window.",
				Failed: true, Terminal: "prompt_too_long", Status: 400, At: []time.Duration{0},
			},
		},
		{
			name: "output limit does not fit",
			steps: []step1{
				fails(provider.TooLong, 400, "input length and `max_tokens` exceed context limit: 180000 + 32000 > 200000, decrease"), ok,
			},
			setup: func(w *world) { w.t.Request.MaxTokens = 32000 },
			want:  outcome{Text: "done", Told: []string{"retry 1/1 0s 400 invalid_request"}, At: []time.Duration{0, 0}, Log: okLog},
			check: func(t *testing.T, w *world) {
				if w.script.reqs[1].MaxTokens != 19000 {
					t.Errorf("max_tokens %d, want 19000", w.script.reqs[1].MaxTokens)
				}
			},
		},
		{
			name: "output limit does not fit, and room for the thinking would be gone",
			steps: []step1{
				fails(provider.TooLong, 400, "input length and `max_tokens` exceed context limit: 180000 + 32000 > 200000, decrease"), ok,
			},
			setup: func(w *world) {
				w.t.Request.MaxTokens, w.t.Request.Thinking.Budget = 32_000, 20_000
				w.deps.Reduce = func(context.Context, *turn.Turn, int) (bool, error) { return true, nil }
			},
			want: outcome{Text: "done", Told: []string{"retry 1/1 0s 400 invalid_request"}, At: []time.Duration{0, 0}, Log: okLog},
			check: func(t *testing.T, w *world) {
				if w.script.reqs[1].MaxTokens != 32_000 {
					t.Errorf("max_tokens %d, want those that were asked for", w.script.reqs[1].MaxTokens)
				}
			},
		},
		{
			name:  "images refused: left out once",
			steps: repeat(2, fails(provider.Invalid, 400, "image exceeds 5 MB maximum")),
			setup: func(w *world) {
				w.deps.ReduceMedia = func(context.Context, *turn.Turn) (bool, error) { w.t.Note("left out"); return true, nil }
			},
			want: outcome{
				Text:   "API Error: 400 image exceeds 5 MB maximum. The request is not valid as it is; if it was not your input, please report this.",
				Failed: true, Terminal: "api_error", Status: 400, Told: []string{"retry 1/1 0s 400 invalid_request"}, At: []time.Duration{0, 0},
			},
		},
		{
			name:  "thinking refused: dropped once",
			steps: []step1{fails(provider.Thinking400, 400, "bad thinking block"), ok},
			setup: func(w *world) {
				w.t.Request.Messages = append(w.t.Request.Messages,
					provider.Message{Role: msg.RoleAssistant, Content: []msg.Block{{Type: msg.TypeThinking, Text: "t", Signature: "s"}}},
					provider.Message{Role: msg.RoleUser, Content: []msg.Block{msg.Text("again")}})
			},
			want: outcome{Text: "done", Told: []string{"retry 1/1 0s 400 invalid_request"}, At: []time.Duration{0, 0}, Log: okLog},
			check: func(t *testing.T, w *world) {
				want := []msg.Block{msg.Text("(thinking only)")}
				if diff := cmp.Diff(want, w.script.reqs[1].Messages[1].Content); diff != "" {
					t.Errorf("second call (-want +got):\n%s", diff)
				}
				if !w.t.Request.Messages[1].Content[0].IsThinking() {
					t.Error("the turn's own request was changed")
				}
			},
		},
		{
			name:  "thinking refused: the API drops what no longer fits",
			steps: []step1{fails(provider.Thinking400, 400, "thinking block does not match the request"), ok},
			setup: bindable,
			want:  outcome{Text: "done", Told: []string{"retry 1/1 0s 400 invalid_request"}, At: []time.Duration{0, 0}, Log: okLog},
			check: thinkingSent("drop_block true"),
		},
		{
			name:  "thinking refused: the API does not know how to drop it",
			steps: []step1{fails(provider.Thinking400, 400, "thinking block does not match the request"), fails(provider.Invalid, 400, "unexpected beta"), ok},
			setup: bindable,
			want: outcome{
				Text: "done", Told: []string{"retry 1/1 0s 400 invalid_request", "retry 1/1 0s 400 invalid_request"},
				At: []time.Duration{0, 0, 0}, Log: okLog,
			},
			check: thinkingSent("drop_block true", " false"),
		},
		{
			name:  "thinking refused: a changed block is left out at once",
			steps: []step1{fails(provider.Thinking400, 400, "`thinking` blocks in the latest assistant message cannot be modified"), ok},
			setup: bindable,
			want:  outcome{Text: "done", Told: []string{"retry 1/1 0s 400 invalid_request"}, At: []time.Duration{0, 0}, Log: okLog},
			check: thinkingSent(" false"),
		},
		{
			name:  "400, 403 and 404 are not retried",
			steps: []step1{fails(provider.NotFound, 404, "model: x")},
			want: outcome{
				Text:   "API Error: 404 model: x. Does the model m exist, and may the key use it? Choose another with --model; check ANTHROPIC_BASE_URL too.",
				Failed: true, Terminal: "api_error", Status: 404, At: []time.Duration{0},
			},
		},
		{ // B009
			name:  "only an error event: shown at once",
			steps: []step1{{events: []string{`{"type":"error","error":{"type":"invalid_request_error","message":"bad tools"}}`}}},
			want: outcome{
				Text:   "API Error: bad tools. The request is not valid as it is; if it was not your input, please report this.",
				Failed: true, Terminal: "api_error", At: []time.Duration{0},
			},
		},
		{ // B009
			name:  "only an overloaded event: bounded retries",
			steps: repeat(20, step1{events: []string{`{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`}}),
			setup: func(w *world) { w.conf.MaxRetries = 2 },
			want: outcome{
				Text:   "API Error: Repeated 529 Overloaded errors: Overloaded. Try again later, or set another model with --fallback-model.",
				Failed: true, Terminal: "api_error", Told: []string{"retry 1/2 2s 0 overloaded", "retry 2/2 4s 0 overloaded"},
				At: []time.Duration{0, 2 * time.Second, 6 * time.Second},
			},
		},
		{
			name:  "no goodbye after a whole answer",
			steps: []step1{{events: seq(start("msg_ok"), textBlock(0, "done"), finish("end_turn")[:1])}},
			want:  outcome{Text: "done", At: []time.Duration{0}, Log: okLog},
		},
		{
			name:  "refusal",
			steps: []step1{{events: seq(start("msg_1"), textBlock(0, "part"), `{"type":"message_delta","delta":{"stop_reason":"refusal","stop_details":{"category":"cyber","explanation":"no."}}}`, `{"type":"message_stop"}`)}},
			want: outcome{
				Text:   "API Error: the model refused to answer (cyber): no. Its partial answer was taken back. Word the prompt in another way or choose another model; earlier messages may be the cause too, which a new session does not have.",
				Failed: true, Terminal: "model_error", Told: []string{"discarded msg_1 [m1]"}, At: []time.Duration{0},
			},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, tt.steps...)
				if tt.setup != nil {
					tt.setup(w)
				}
				err := w.run(t.Context())
				got := outcome{Told: w.told(), At: w.script.at, Log: w.log()}
				var stop *turn.Stop
				switch {
				case errors.As(err, &stop):
					got.Failed, got.Terminal, got.Status, got.Text = true, stop.Terminal, stop.Status, stop.Text
					if stop.Subtype != event.Success {
						t.Errorf("subtype %s", stop.Subtype)
					}
					last := len(got.Log) - 1
					if !strings.Contains(got.Log[last], " error=") {
						t.Errorf("no message shows the failure: %s", got.Log[last])
					}
					if got.Log = got.Log[:last]; last == 0 {
						got.Log = nil
					}
				case err != nil:
					t.Fatal(err)
				default:
					got.Text = w.t.Reply.Message.Text()
				}
				if diff := cmp.Diff(tt.want, got); diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
				if tt.check != nil {
					tt.check(t, w)
				}
				w.checkDisk(t)
			})
		})
	}
}

// A wait ends at once when the turn is interrupted.
func TestInterruptWhileWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, append(repeat(1, rates(60*time.Second)), says("x", "y"))...)
		ctx, cancel := context.WithCancelCause(t.Context())
		begin := time.Now()
		time.AfterFunc(time.Second, func() { cancel(turn.ErrInterrupted) })
		err := w.run(ctx)
		var stop *turn.Stop
		if !errors.As(err, &stop) || stop.Terminal != "aborted_streaming" || stop.Subtype != event.ErrDuring || !errors.Is(err, turn.ErrInterrupted) {
			t.Errorf("error %#v", err)
		}
		if d := time.Since(begin); d != time.Second {
			t.Errorf("ended after %s, want 1s", d)
		}
		if len(w.disk) != 0 {
			t.Errorf("log: %v", w.log())
		}
	})
}

// bindable is a world whose provider can be asked to drop thinking that does not fit, with a request that has some.
func bindable(w *world) {
	w.deps.DropMismatch = func(*turn.Turn) {}
	w.t.Request.Thinking = provider.Thinking{Type: "adaptive"}
	w.t.Request.Messages = append(w.t.Request.Messages,
		provider.Message{Role: msg.RoleAssistant, Content: []msg.Block{{Type: msg.TypeThinking, Text: "t", Signature: "s"}, msg.Text("x")}},
		provider.Message{Role: msg.RoleUser, Content: []msg.Block{msg.Text("again")}})
}

// thinkingSent checks, for each request after the first, what the API was asked to do and whether thinking was sent.
func thinkingSent(want ...string) func(*testing.T, *world) {
	return func(t *testing.T, w *world) {
		t.Helper()
		var got []string
		for _, r := range w.script.reqs[1:] {
			got = append(got, fmt.Sprint(r.Thinking.OnMismatch, " ", r.Messages[1].Content[0].IsThinking()))
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	}
}
