package account

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"lathe/internal/event"
	"lathe/internal/msg"
	"lathe/internal/turn"
)

// notices lists what the user was told.
func (w *world) notices() []string {
	var out []string
	for _, e := range w.events {
		if n, ok := e.(event.Notice); ok {
			out = append(out, n.Level+": "+n.Text)
		}
	}
	return out
}

// A turn goes on while under nine tenths of its task budget, and ends after three continuations running that brought
// fewer than 500 tokens each.
func TestTaskBudget(t *testing.T) {
	for name, c := range map[string]struct {
		budget int
		output []int // of each answer
		stop   string
		ends   bool // with the last answer
		told   string
	}{
		"none":                 {0, []int{10}, "end_turn", true, ""},
		"used up":              {1000, []int{900}, "end_turn", true, ""},
		"just under":           {1000, []int{899}, "end_turn", false, ""},
		"worth going on":       {9000, []int{10, 500, 500, 500, 500, 500}, "end_turn", false, ""},
		"not worth it":         {9000, []int{10, 499, 499, 499}, "end_turn", true, "brought next to nothing"},
		"twice is not enough":  {9000, []int{10, 499, 499}, "end_turn", false, ""},
		"not running":          {9000, []int{10, 499, 499, 500, 499, 499}, "end_turn", false, ""},
		"the third one after":  {9000, []int{10, 499, 500, 1, 1, 1}, "end_turn", true, "brought next to nothing"},
		"a refusal stays one":  {9000, []int{10}, "refusal", true, ""},
		"the limit cut it off": {9000, []int{10}, "max_tokens", true, ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld()
			l := w.ledger(Config{TaskBudget: c.budget})
			for i, n := range c.output {
				w.Usage = w.Usage.Add(msg.Usage{Output: n})
				w.Reply, w.Done = reply("x", c.stop), true
				if err := l.Run(t.Context(), w.Turn); err != nil {
					t.Fatal(err)
				}
				if last := i == len(c.output)-1; w.Done != (last && c.ends) {
					t.Fatalf("after answer %d: done %v", i+1, w.Done)
				}
			}
			nudges := 0
			for _, m := range w.Messages {
				if m.Meta && strings.Contains(m.Text(), "output tokens for this task") {
					nudges++
				}
			}
			want := len(c.output)
			if c.ends {
				want--
			}
			if nudges != want || !strings.Contains(strings.Join(w.notices(), "\n"), c.told) {
				t.Errorf("%d nudges, want %d; told %q", nudges, want, w.notices())
			}
		})
	}
}

// A stopped turn, a local command and a structured answer end whatever is left.
func TestTaskBudgetDoesNotHoldWhatIsDone(t *testing.T) {
	for name, set := range map[string]func(*turn.Turn){
		"stopped":    func(t *turn.Turn) { t.Stop = &turn.Stop{Subtype: event.ErrDuring} },
		"structured": func(t *turn.Turn) { t.Structured = []byte("{}") },
		"local":      func(t *turn.Turn) { t.Reply, t.Text = nil, "help" },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld()
			w.Reply, w.Done = reply("x", "end_turn"), true
			set(w.Turn)
			if err := w.ledger(Config{TaskBudget: 9000}).Run(t.Context(), w.Turn); err != nil || !w.Done {
				t.Errorf("done %v, %v", w.Done, err)
			}
		})
	}
}

// The user is warned once at each share of the dollar budget, by what the main loop and side questions spent together,
// and a side question that would go over it is not made.
func TestDollarBudget(t *testing.T) {
	w := newWorld()
	l := w.ledger(Config{MaxBudget: 1})
	var got []string
	for _, in := range []int{100_000, 30_000, 70_000, 25_000, 20_000} { // $0.4, 0.52, 0.8, 0.9, 0.98 of Opus
		l.Side("a question", model, msg.Usage{Input: in}, 0)
		if err := l.Guard(t.Context(), w.Turn); err != nil {
			t.Fatal(err)
		}
		got = append(got, strings.Join(w.notices(), "; "))
		w.events = nil
	}
	want := []string{
		"", "warning: 50% of the budget of $1 is used ($0.5200)", "warning: 80% of the budget of $1 is used ($0.8000)", "",
		"warning: 95% of the budget of $1 is used ($0.9800)",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	done, err := l.Allow(model, 1000, 100, 0)
	if err != nil {
		t.Fatalf("a cheap call was refused: %v", err)
	}
	done()
	if _, err := l.Allow(model, 5000, 500, 0); err == nil || !strings.Contains(err.Error(), "over the budget of $1") {
		t.Errorf("a call over the budget: %v", err)
	}
	if _, err := l.Allow(model, 1000, 100, 2); err == nil { // $0.006 of tokens, $0.02 of searches
		t.Error("searches over the budget were not refused")
	}
	if _, err := w.ledger(Config{}).Allow(model, 1<<30, 500, 0); err != nil {
		t.Errorf("without a budget: %v", err)
	}
}

// A call that the main loop makes instead of its own, such as one for a summary, is not refused for what was set aside
// for that one.
func TestBudgetForACallInsteadOfAnother(t *testing.T) {
	w := newWorld()
	w.Request = request(strings.Repeat("word ", 8000))
	l := w.ledger(Config{MaxBudget: w.ledger(Config{}).predict(start, request(strings.Repeat("word ", 8000))) * 1.5})
	if err := l.Guard(t.Context(), w.Turn); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Allow(model, 8000, 8000, 0); err == nil {
		t.Error("another call is allowed what is set aside")
	}
	if _, err := l.AllowSame(start, w.Request); err != nil {
		t.Error(err)
	}
}
