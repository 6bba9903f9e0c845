package compact

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"lathe/internal/event"
	"lathe/internal/msg"
	"lathe/internal/price"
	"lathe/internal/token"
	"lathe/internal/tool"
	"lathe/internal/turn"
)

func user(s string) msg.Message {
	return msg.Message{ID: s, Kind: msg.KindUser, Blocks: []msg.Block{msg.Text(s)}}
}

func boundary() msg.Message {
	return msg.Message{Kind: msg.KindSystem, Subtype: msg.SubCompactBoundary}
}

func newTurn(ms ...msg.Message) *turn.Turn {
	t := turn.New("t", "s", event.Prompt{}, ms, turn.Services{
		Emit: func(event.Event) error { return nil }, Now: time.Now,
	})
	t.Model = "claude-haiku-4-5"
	return t
}

func TestStage(t *testing.T) {
	summary := msg.Message{ID: "sum", Kind: msg.KindSummary, Blocks: []msg.Block{msg.Text("summary")}}
	tests := []struct {
		name string
		in   []msg.Message
		want []msg.Message
	}{
		{"empty", nil, nil},
		{"no boundary", []msg.Message{user("a"), user("b")}, []msg.Message{user("a"), user("b")}},
		{"last boundary", []msg.Message{user("a"), boundary(), user("b"), boundary(), summary, user("c")}, []msg.Message{summary, user("c")}},
	}
	for _, tt := range tests {
		tn := newTurn(tt.in...)
		if err := NewStage(Deps{Info: price.Default().Info}, Config{}).Run(context.Background(), tn); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(fmt.Sprint(tt.want), fmt.Sprint(tn.View)); diff != "" {
			t.Errorf("%s: %s", tt.name, diff)
		}
		if len(tn.Messages) != len(tt.in) {
			t.Errorf("%s: the conversation was changed", tt.name)
		}
	}
	tn := newTurn(user("a"), boundary(), user("b"))
	if err := NewStage(Deps{Info: price.Default().Info}, Config{Off: []string{"boundary"}}).Run(context.Background(), tn); err != nil || len(tn.View) != 3 {
		t.Errorf("switched off: %d messages, %v", len(tn.View), err)
	}
}

func TestContextFull(t *testing.T) {
	answer := func(prompt int) msg.Message {
		return msg.Message{Kind: msg.KindAssistant, APIID: "a", Blocks: []msg.Block{msg.Text("x")}, Usage: &msg.Usage{CacheRead: prompt - 10, Input: 10, Output: 5}}
	}
	long := strings.Repeat("func f(a, b int) int { return a + b }\n", 20_000)
	tests := []struct {
		name string
		in   []msg.Message
		full bool
	}{
		{"small", []msg.Message{user("a"), answer(196_000), user("b")}, false},
		{"counted", []msg.Message{user("a"), answer(197_000), user("b")}, true},
		{"counted before the boundary", []msg.Message{user("a"), answer(197_000), boundary(), user("b")}, false},
		{"estimated", []msg.Message{user(long)}, true},
	}
	for _, tt := range tests {
		err := NewStage(Deps{Info: price.Default().Info}, Config{}).Run(context.Background(), newTurn(tt.in...))
		var stop *turn.Stop
		if got := errors.As(err, &stop) && stop.Terminal == "blocking_limit" && strings.Contains(stop.Error(), "Context full"); got != tt.full {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
}

func TestSizeCountsAnAnswerOnce(t *testing.T) {
	u := &msg.Usage{Input: 1000, Output: 100}
	block := func(s string) msg.Message {
		return msg.Message{Kind: msg.KindAssistant, APIID: "a", Usage: u, Blocks: []msg.Block{msg.Text(s)}}
	}
	if got := Size([]msg.Message{user("q"), block("one"), block("two")}, token.Counter{}); got != 1100 {
		t.Errorf("%d", got)
	}
}

func text(n int) string {
	var b strings.Builder
	for i := 0; b.Len() < n; i++ {
		fmt.Fprintf(&b, "line %d é\n", i)
	}
	return b.String()[:n]
}

func TestBudget(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "tool-results")
	b := &Budget{Dir: func() string { return dir }}
	small := tool.TextResult(text(50_000))
	b.Apply("a", "Bash", &small)
	if got := msg.JoinText(small.Blocks); got != text(50_000) {
		t.Error("a result within the limit was changed")
	}
	big := text(60_000)
	for i, id := range []string{"../x", "../x"} { // the id comes from outside, and twice
		res := tool.Result{Blocks: []msg.Block{msg.Text(big[:30_000]), msg.Image("image/png", "aa"), msg.Text(big[30_000:])}}
		b.Apply(id, "Bash", &res)
		path := filepath.Join(dir, []string{"___x.txt", "___x-2.txt"}[i])
		got := msg.JoinText(res.Blocks)
		if stored, err := os.ReadFile(path); err != nil || string(stored) != big {
			t.Errorf("stored: %v", err)
		}
		if !strings.Contains(got, path) || !strings.Contains(got, "line 0") || !strings.HasSuffix(got, big[len(big)-500:]) || len(got) > 8000 {
			t.Errorf("replacement: %s", got)
		}
		if len(res.Blocks) != 2 || res.Blocks[1].Type != msg.TypeImage {
			t.Errorf("blocks: %+v", res.Blocks)
		}
	}
}

func TestBudgetOfOneMessage(t *testing.T) {
	b := &Budget{}
	shown := 0
	for i := range 10 {
		res := tool.TextResult(text(40_000))
		b.Apply(fmt.Sprint(i), "Read", &res)
		shown += len(msg.JoinText(res.Blocks))
	}
	if shown > 230_000 || shown < 160_000 {
		t.Errorf("%d characters in one message", shown)
	}
	b.next()
	res := tool.TextResult(text(40_000))
	b.Apply("x", "Read", &res)
	if msg.JoinText(res.Blocks) != text(40_000) {
		t.Error("the next answer starts with a used budget")
	}
}

func TestBudgetCannotStore(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{filepath.Join(file, "below"), ""} {
		b := &Budget{Dir: func() string { return dir }}
		res := tool.TextResult(text(60_000))
		b.Apply("a", "Bash", &res)
		got := msg.JoinText(res.Blocks)
		if !strings.Contains(got, "call the tool again") || !strings.Contains(got, "line 0") {
			t.Errorf("%q: %.300s", dir, got)
		}
	}
}

// TestBudgetCuts: any text, cut anywhere, gives valid UTF-8 of a bounded size whose parts are parts of the text.
func TestBudgetCuts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := strings.Repeat(rapid.StringOfN(rapid.RuneFrom([]rune("a\né日😀")), 1, 40, -1).Draw(t, "s"), rapid.IntRange(1, 300).Draw(t, "n"))
		b := &Budget{Limit: rapid.IntRange(700, 5000).Draw(t, "limit")}
		res := tool.TextResult(s)
		b.Apply("a", "Bash", &res)
		got := msg.JoinText(res.Blocks)
		if n := chars(got); n > b.Limit || strings.ToValidUTF8(got, "") != got {
			t.Fatalf("%d characters with a limit of %d", n, b.Limit)
		}
		if chars(s) <= b.Limit && got != s {
			t.Fatal("changed without need")
		}
	})
}
