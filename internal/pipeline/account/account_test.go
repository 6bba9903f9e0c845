package account

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"lathe/internal/event"
	"lathe/internal/msg"
	"lathe/internal/price"
	"lathe/internal/provider"
	"lathe/internal/turn"
)

const model = "claude-opus-5-5"

var start = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

// world is a turn and what it did to the outside.
type world struct {
	*turn.Turn
	events []event.Event
	kept   map[string]any
	fail   error
}

func newWorld(history ...msg.Message) *world {
	w := &world{kept: map[string]any{}}
	now := start
	w.Turn = turn.New("t1", "s1", event.Prompt{}, history, turn.Services{
		Emit:    func(e event.Event) error { w.events = append(w.events, e); return nil },
		Persist: func(m ...msg.Message) ([]msg.Message, error) { return m, w.fail },
		Now:     func() time.Time { now = now.Add(time.Second); return now },
	})
	w.Model = model
	return w
}

func (w *world) keep(kind string, v any) error { w.kept[kind] = v; return nil }

func (w *world) ledger(cfg Config) *Ledger {
	return New(Deps{Price: price.Default(), Keep: w.keep}, cfg)
}

func reply(text, stop string) *turn.Reply {
	return &turn.Reply{StopReason: stop, Message: msg.Message{Blocks: []msg.Block{msg.Text(text)}}}
}

func TestResults(t *testing.T) {
	denial := event.Denial{Tool: "Bash", ID: "1"}
	usage := msg.Usage{Input: 1000, Output: 100}
	used := map[string]event.ModelUsage{model: {Input: 1000, Output: 100, Cost: 0.006, Window: 1_000_000, MaxOutput: 128_000}}
	base := func(change func(*event.Result)) event.Result {
		r := event.Result{
			Subtype: event.Success, Terminal: "completed", Turns: 1, Dur: 2 * time.Second, APIDur: time.Second, TTFT: time.Millisecond,
			Usage: usage, ModelUsage: used, Cost: 0.006, Denials: []event.Denial{denial}, LinesAdded: 3, LinesRemoved: 1,
		}
		change(&r)
		return r
	}
	tests := []struct {
		name string
		set  func(*turn.Turn)
		want event.Result
		note string
	}{
		{"done", func(t *turn.Turn) { t.Reply = reply("Done.", "end_turn") }, base(func(r *event.Result) { r.Text, r.StopReason = "Done.", "end_turn" }), ""},
		{"local command", func(t *turn.Turn) { t.Text = "help" }, base(func(r *event.Result) { r.Text = "help" }), ""},
		{"API failure", func(t *turn.Turn) {
			t.Stop = &turn.Stop{Subtype: event.Success, Terminal: "api_error", Text: "API Error: 400 no", Status: 400}
		}, base(func(r *event.Result) {
			r.IsError, r.Terminal, r.Text, r.APIStatus = true, "api_error", "API Error: 400 no", 400
		}), ""},
		{"interrupted while streaming", func(t *turn.Turn) {
			t.Stop = &turn.Stop{Subtype: event.ErrDuring, Terminal: "aborted_streaming", Err: turn.ErrInterrupted}
		}, base(func(r *event.Result) {
			r.IsError, r.Subtype, r.Terminal, r.Errors = true, event.ErrDuring, "aborted_streaming", []string{"interrupted"}
		}), "[Request interrupted by user]"},
		{"interrupted in a tool", func(t *turn.Turn) {
			t.Reply = reply("I run it.", "tool_use")
			t.Stop = &turn.Stop{Subtype: event.ErrDuring, Terminal: "aborted_tools", Errors: []string{"interrupted"}}
		}, base(func(r *event.Result) {
			r.IsError, r.Subtype, r.Terminal, r.Errors = true, event.ErrDuring, "aborted_tools", []string{"interrupted"}
			r.Text, r.StopReason = "I run it.", "tool_use"
		}), "[Request interrupted by user for tool use]"},
		{"a fault without a subtype", func(t *turn.Turn) { t.Stop = &turn.Stop{Terminal: "error", Err: errors.New("disk full")} }, base(func(r *event.Result) {
			r.IsError, r.Subtype, r.Terminal, r.Errors = true, event.ErrDuring, "error", []string{"disk full"}
		}), ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld()
			l := w.ledger(Config{})
			w.Step, w.Usage, w.APIDur, w.TTFT = 1, usage, time.Second, time.Millisecond
			w.Denials = []event.Denial{denial}
			if err := l.Guard(context.Background(), w.Turn); err != nil {
				t.Fatal(err)
			}
			l.Spent(w.Turn, model, usage)
			l.Changed(3, 1)
			tt.set(w.Turn)
			if err := l.Run(context.Background(), w.Turn); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, *w.Result); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(event.TurnDone{Result: tt.want}, w.events[len(w.events)-1]); diff != "" {
				t.Error(diff)
			}
			got := ""
			for _, m := range w.Messages {
				got += m.Text()
			}
			if got != tt.note {
				t.Errorf("note %q, want %q", got, tt.note)
			}
			if w.kept[KeepKind].(Totals).Cost != 0.006 {
				t.Errorf("kept %+v", w.kept)
			}
		})
	}
}

func TestResultComesEvenWhenTheDiskIsFull(t *testing.T) {
	w := newWorld()
	w.Step, w.fail = 1, errors.New("no space left")
	w.Stop = &turn.Stop{Subtype: event.ErrDuring, Terminal: "aborted_streaming"}
	err := w.ledger(Config{}).Run(context.Background(), w.Turn)
	if err == nil || len(w.events) != 1 || w.Result == nil {
		t.Errorf("%v, %d events", err, len(w.events))
	}
}

// A Stop hook that ends the turn is named as what ended it.
func TestStopHookEndsTheTurn(t *testing.T) {
	w := newWorld()
	l := New(Deps{Price: price.Default(), Keep: w.keep, Stop: func(context.Context, *turn.Turn, bool) turn.Hooked {
		return turn.Hooked{Stop: turn.StoppedByHook("enough")}
	}}, Config{})
	w.Reply, w.Done = reply("Done.", "end_turn"), true
	if err := l.Run(t.Context(), w.Turn); err != nil {
		t.Fatal(err)
	}
	if w.Result == nil || w.Result.Terminal != "stop_hook_prevented" {
		t.Errorf("%+v", w.Result)
	}
}

func TestMaxTurns(t *testing.T) {
	w := newWorld()
	l := w.ledger(Config{MaxTurns: 2})
	for range 2 {
		if err := l.Guard(context.Background(), w.Turn); err != nil {
			t.Fatal(err)
		}
	}
	var stop *turn.Stop
	if err := l.Guard(context.Background(), w.Turn); !errors.As(err, &stop) {
		t.Fatal(err)
	}
	want := &turn.Stop{Subtype: event.ErrMaxTurns, Terminal: "max_turns", Errors: []string{"Reached maximum number of turns (2)"}}
	if diff := cmp.Diff(want, stop); diff != "" {
		t.Error(diff)
	}
	w.Stop = stop
	_ = l.Run(context.Background(), w.Turn)
	if w.Result.Turns != 2 || w.Result.Subtype != event.ErrMaxTurns {
		t.Errorf("%+v", w.Result)
	}
	if err := l.Guard(context.Background(), w.Turn); err != nil {
		t.Errorf("the next turn starts with used calls: %v", err)
	}
}

func request(prompt string) *provider.Request {
	return &provider.Request{Model: model, MaxTokens: 32_000, Messages: []provider.Message{{Role: msg.RoleUser, Content: []msg.Block{msg.Text(prompt)}}}}
}

func TestBudget(t *testing.T) {
	long := strings.Repeat("word ", 30_000)
	spent := msg.Usage{CacheWrite: 20_000, Output: 1000} // $0.12
	tests := []struct {
		name   string
		budget float64
		prompt string
		spend  bool
		stop   bool
	}{
		{"enough", 1, long, false, false},
		{"the request alone is over it", 0.05, long, false, true},
		{"spent all", 0.1, "x", true, true},
		{"the next is over it", 0.125, "x", true, true},
		{"the next, mostly cached, fits", 0.145, "x", true, false},
		{"the next, with a long result, does not", 0.145, long, true, true},
	}
	for _, tt := range tests {
		w := newWorld()
		l := w.ledger(Config{MaxBudget: tt.budget})
		if tt.spend {
			l.Spent(w.Turn, model, spent)
		}
		w.Request = request(tt.prompt)
		err := l.Guard(context.Background(), w.Turn)
		var stop *turn.Stop
		if got := errors.As(err, &stop) && stop.Subtype == event.ErrMaxBudget && stop.Terminal == "budget_exhausted"; got != tt.stop {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
}

func TestBudgetAfterTheLastAnswer(t *testing.T) {
	w := newWorld()
	l := w.ledger(Config{MaxBudget: 0.5})
	l.Spent(w.Turn, model, msg.Usage{Output: 50_000})
	w.Reply = reply("Done.", "end_turn")
	if err := l.Run(context.Background(), w.Turn); err != nil {
		t.Fatal(err)
	}
	if r := w.Result; r.Subtype != event.ErrMaxBudget || !r.IsError || r.Text != "Done." || r.Errors[0] != "Reached maximum budget ($0.5)" {
		t.Errorf("%+v", r)
	}
}

// TestRestore is B079: usage stands on each block of an answer and counts once; and what came after the kept
// record is counted, since a crash leaves answers without one.
func TestRestore(t *testing.T) {
	block := func(id string, out int) msg.Message {
		return msg.Message{Kind: msg.KindAssistant, APIID: id, Model: model, Usage: &msg.Usage{Input: 1000, Output: out}}
	}
	history := []msg.Message{block("a", 1), block("a", 1), {Kind: msg.KindUser}, block("a", 100), block("b", 7), block("b", 200)}
	whole := 2*0.004 + 300*20e-6
	for _, tt := range []struct {
		name, kept string
		want       float64
		fails      bool
	}{
		{"nothing kept", "", whole, false},
		{"kept up to a", `{"cost_usd":5,"last":"a","models":{"x":{"cost_usd":5}}}`, 5 + 0.004 + 200*20e-6, false},
		{"kept all", `{"cost_usd":5,"last":"b"}`, 5, false},
		{"kept on another branch", `{"cost_usd":5,"last":"z"}`, 5, false},
		{"damaged", `{"cost_usd":`, whole, true},
	} {
		l := newWorld().ledger(Config{MaxBudget: 1})
		err := l.Restore(json.RawMessage(tt.kept), history)
		if got := l.Totals(); math.Abs(got.Cost-tt.want) > 1e-9 || (err != nil) != tt.fails {
			t.Errorf("%s: %v, want %v (%v)", tt.name, got.Cost, tt.want, err)
		}
		w := newWorld()
		w.Request = request("x")
		if err := l.Guard(context.Background(), w.Turn); err != nil {
			t.Errorf("%s: what an earlier run spent counts against the budget: %v", tt.name, err)
		}
	}
}

func TestTotalsRoundTrip(t *testing.T) {
	w := newWorld()
	l := w.ledger(Config{})
	l.Spent(w.Turn, model, msg.Usage{Input: 10, Output: 20, CacheRead: 30, CacheWrite: 40, ServerTools: &msg.ServerTools{WebSearch: 1}})
	l.Side("a question", "claude-haiku-5-5", msg.Usage{Input: 5}, time.Second)
	l.Changed(1, 2)
	kept, err := json.Marshal(l.Totals())
	if err != nil {
		t.Fatal(err)
	}
	again := w.ledger(Config{})
	if err := again.Restore(kept, nil); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(l.Totals(), again.Totals()); diff != "" {
		t.Error(diff)
	}
}

func TestSummary(t *testing.T) {
	totals := Totals{
		Cost: 1.2345, API: 4300 * time.Millisecond, Wall: 75 * time.Second, Added: 3, Removed: 1,
		Models: map[string]ModelTotal{
			"claude-opus-5-5": {Input: 12, Output: 2100, CacheRead: 1_234_567, CacheWrite: 3400, Cost: 1.23, WebSearch: 2},
			"llama":           {Input: 5, Output: 6},
		},
		Side: map[string]SideTotal{"summary": {Calls: 1, ModelTotal: ModelTotal{Input: 3, CacheRead: 20_000, Output: 900, Cost: 0.02}}, "hook": {Calls: 2, ModelTotal: ModelTotal{Input: 12}}},
	}
	want := []string{
		"Total cost:            $1.23",
		"Total duration (API):  4.3s",
		"Total duration (wall): 1m15s",
		"Total code changes:    3 lines added, 1 line removed",
		"Usage by model:",
		"    claude-opus-5-5: 12 input, 2.1k output, 1.2M cache read, 3.4k cache write ($1.23), 2 web searches",
		"    llama: 5 input, 6 output, 0 cache read, 0 cache write (price unknown)",
		"Of that, on the side:",
		"    hook: 2 calls, 12 input, 0 output ($0.0000)",
		"    summary: 1 call, 20.0k input, 900 output ($0.0200)",
	}
	if diff := cmp.Diff(want, Summary(totals, price.Default())); diff != "" {
		t.Error(diff)
	}
	if got := Summary(Totals{}, price.Default()); got != nil {
		t.Errorf("nothing was used: %q", got)
	}
}
