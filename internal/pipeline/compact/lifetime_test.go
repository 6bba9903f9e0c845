package compact

import (
	"testing"
	"time"

	"lathe/internal/msg"
	"lathe/internal/price"
	"lathe/internal/token"
)

// talk is a conversation about a long text, with the given pauses between an answer and the next prompt.
func talk(long int, pauses ...time.Duration) []msg.Message {
	now := time.Unix(100_000, 0)
	ask := func(id, text string) msg.Message { m := user(text); m.ID, m.Time = id, now; return m }
	text := make([]byte, long)
	for i := range text {
		text[i] = "some words "[i%11]
	}
	view := []msg.Message{ask("first", string(text))}
	for i, p := range append([]time.Duration{0}, pauses...) {
		if i > 0 {
			now = now.Add(p)
			view = append(view, ask("again", "And what of the rest?"))
		}
		now = now.Add(time.Second)
		view = append(view, msg.Message{ID: "answer", Kind: msg.KindAssistant, Time: now, StopReason: "end_turn", Blocks: []msg.Block{msg.Text("This.")}})
	}
	return view
}

// The longer lifetime is chosen where pauses let much expire that would be sent again, and where it has its price.
func TestHour(t *testing.T) {
	opus := price.Default().Info("claude-opus-5-5").Price
	same := opus
	same.Write1h = same.Write5m
	const m = time.Minute
	for _, tt := range []struct {
		name   string
		view   []msg.Message
		rates  price.Rates
		want   bool
		all, n int
	}{
		{"no pause yet", talk(300_000), opus, false, 0, 0},
		{"one long pause, and nothing but the long text", talk(300_000, 10*m), opus, false, 1, 1},
		{"long pauses", talk(300_000, 10*m, 20*m, 7*m), opus, true, 3, 3},
		{"quick work", talk(300_000, m, 2*m, m, 3*m), opus, false, 4, 0},
		{"longer than an hour", talk(300_000, 100*m, 200*m, 70*m), opus, false, 3, 0},
		{"one price", talk(300_000, 10*m, 20*m, 7*m), same, false, 3, 3},
	} {
		v := sight{whole: tt.view, view: tt.view, set: Settings{Counter: token.Counter{}}}
		got, why := v.hour(Steps()[1:], tt.rates)
		if all, n := pauses(tt.view); all != tt.all || n != tt.n || got != tt.want {
			t.Errorf("%s: %v (%s), %d pauses, %d long", tt.name, got, why, all, n)
		}
	}
}
