package compact

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"lathe/internal/event"
	"lathe/internal/msg"
	"lathe/internal/perm"
	"lathe/internal/price"
	"lathe/internal/token"
	"lathe/internal/turn"
)

// full is a stage and a turn whose conversation has reached the limit, by the provider's count.
type full struct {
	*Stage
	t      *turn.Turn
	deps   Deps
	asked  int      // summaries
	hooked int      // questions to the hook
	told   []string // notices
	fail   error    // of the summary
}

func newFull(ms ...msg.Message) *full {
	f := &full{}
	n := 0
	f.t = turn.New("t", "s", event.Prompt{}, ms, turn.Services{
		Now: time.Now,
		Emit: func(e event.Event) error {
			if x, ok := e.(event.Notice); ok {
				f.told = append(f.told, x.Text)
			}
			return nil
		},
		Persist: func(m ...msg.Message) ([]msg.Message, error) {
			for i := range m {
				if n++; m[i].ID == "" {
					m[i].ID = fmt.Sprint("new", n)
				}
			}
			return m, nil
		},
	})
	f.t.Model, f.t.Step = "claude-haiku-4-5", 1
	f.deps = Deps{
		Info: price.Default().Info, NewID: func() string { n++; return fmt.Sprint("id", n) },
		Summarise: func(context.Context, *turn.Turn, []msg.Message, string) (string, error) {
			f.asked++
			return "<summary>what was said</summary>", f.fail
		},
	}
	f.Stage = NewStage(f.deps, Config{Auto: true})
	return f
}

func (f *full) run(t *testing.T) {
	t.Helper()
	if err := f.Run(t.Context(), f.t); err != nil {
		t.Fatal(err)
	}
}

// counted is an answer to a prompt of so many tokens.
func counted(api string, tokens int) msg.Message {
	m := end(api)
	m.Usage = &msg.Usage{Input: tokens}
	return m
}

func words(tokens int) string { return strings.Repeat("one two three ", tokens*4/14) }

// Where next to nothing can be compacted no summary is made, and it is told once.
func TestNothingToCompact(t *testing.T) {
	rules := msg.Message{ID: "rules", Kind: msg.KindAttachment, Source: "memory", Key: "start 1", Meta: true, Blocks: []msg.Block{msg.Text(words(170_000))}}
	f := newFull(rules, user("one "+words(3000)), counted("a", 190_000), user("two"))
	f.run(t)
	f.run(t)
	if f.asked != 0 || len(f.told) != 1 || !strings.Contains(f.told[0], "next to nothing to compact") {
		t.Errorf("%d summaries; told %q", f.asked, f.told)
	}
}

// A hook that does not want the compaction is asked once a turn.
func TestBlockedCompaction(t *testing.T) {
	f := newFull(user("one "+words(30_000)), counted("a", 190_000), user("two"))
	f.deps.Before = func(context.Context, *turn.Turn, string, string) turn.Hooked {
		f.hooked++
		return turn.Hooked{Decision: &perm.Decision{Verdict: perm.Deny, Reason: "not now"}}
	}
	f.Stage = NewStage(f.deps, Config{Auto: true})
	f.run(t)
	f.t.Step++
	f.run(t)
	if f.asked != 0 || f.hooked != 1 || len(f.told) != 1 || !strings.Contains(f.told[0], "not now") {
		t.Errorf("%d summaries, the hook was asked %d times; told %q", f.asked, f.hooked, f.told)
	}
}

// The steps without a model take the summary's place where they cost less over the calls to come, and only there.
func TestStepsOrSummary(t *testing.T) {
	read := func(id string, tokens int) []msg.Message {
		return []msg.Message{call("a"+id, id, "Read", `{"file_path":"/f`+fmt.Sprint(len(id))+`"}`), result(id, words(tokens))}
	}
	for _, tt := range []struct {
		name  string
		stale int // tokens of results that a newer one supersedes
		rest  int // tokens of the others
		asked int
	}{
		{"nearly all is out of date", 185_000, 2_000, 0},
		{"a part is", 60_000, 125_000, 1},
	} {
		ms := slices.Concat([]msg.Message{user("one")}, read("1", tt.stale))
		for i := range 7 { // the newest calls keep their results
			ms = append(ms, read(strings.Repeat("x", i+2), tt.rest/8)...)
		}
		ms = append(ms, read("2", tt.rest/8)...)
		ms = append(ms, counted("e", 190_000), user("two"))
		now := time.Now()
		for i := range ms {
			ms[i].Time = now
		}
		f := newFull(ms...)
		f.run(t)
		if f.asked != tt.asked {
			t.Errorf("%s: %d summaries, want %d; told %q", tt.name, f.asked, tt.asked, f.told)
		}
	}
}

// What is carried over a boundary stands there once: of instruction files the newest, of what was attached last and not seen
// yet each, of the date the last.
func TestCarriedOnce(t *testing.T) {
	attached := func(id, source, key string) msg.Message {
		return msg.Message{ID: id, Kind: msg.KindAttachment, Source: source, Key: key, Meta: true, Blocks: []msg.Block{msg.Text(id)}}
	}
	view := []msg.Message{
		attached("old rules", "memory", "start 1"), attached("of a folder", "memory", "/d #1"), user("one"), end("a"),
		attached("new rules", "memory", "start 1 2"), attached("yesterday", "date", "1"), user("two"), attached("today", "date", "2"), attached("a file", "mention", "m"), attached("list", "todo", "t 1"),
	}
	kept, n := (&Stage{}).keep(sight{view: view})
	var got []string
	for _, m := range kept {
		got = append(got, m.Blocks[0].Text)
	}
	if d := cmp.Diff([]string{"new rules", "of a folder", "today", "two", "a file"}, got); d != "" || n.rules != 2 || n.open != 2 {
		t.Errorf("%+v %s", n, d)
	}
}

// A cut that was made is not made again, where what it began with was kept.
func TestCutOnce(t *testing.T) {
	c := Cut{From: "one", To: "ea", Text: "cut", Keep: []string{"one"}}
	view, at := c.apply([]msg.Message{user("one"), end("a"), user("two")})
	if d := cmp.Diff([]string{"cut one cut", "one", "two"}, shape(view)); d != "" || at != 0 {
		t.Fatal(d)
	}
	again := append(slices.Clone(view), end("a"))
	if out, at := c.apply(again); at != -1 || len(out) != len(again) {
		t.Errorf("cut at %d: %v", at, shape(out))
	}
}

// Thinking behind an edit goes, but for that of the turn that runs where the model must have it.
func TestThinkingOfTheRunningTurn(t *testing.T) {
	picture := func(id string) msg.Message {
		return msg.Message{ID: id, Kind: msg.KindUser, Blocks: []msg.Block{msg.Image("image/png", "aa")}}
	}
	earlier := []msg.Message{picture("one"), call("a", "1", "Bash", `{}`), result("1", "x"), end("b")}
	for _, tt := range []struct {
		name string
		more []msg.Message
		step int
		want []string
	}{
		{"in its middle", []msg.Message{user("two"), call("c", "2", "Bash", `{}`), result("2", "y")}, 2, []string{"m2 thinking"}},
		{"at its start, which no person has asked for", []msg.Message{{ID: "news", Kind: msg.KindUser, Meta: true, Blocks: []msg.Block{msg.Text("a task ended")}}}, 1, nil},
	} {
		f := newFull(slices.Concat(earlier, tt.more)...)
		f.t.Step = tt.step
		if changed, err := f.ReduceMedia(t.Context(), f.t); err != nil || !changed {
			t.Fatal(changed, err)
		}
		var thinks []string
		for _, s := range shape(Edited(f.t.Messages)) {
			if strings.HasSuffix(s, " thinking") {
				thinks = append(thinks, s)
			}
		}
		if d := cmp.Diff(tt.want, thinks); d != "" {
			t.Errorf("%s: %s", tt.name, d)
		}
	}
}

// running is a turn that has got results of so many tokens, the last but one counted by the provider. No thinking would go,
// and nothing is in the cache.
func running(counted int, results ...int) []msg.Message {
	ms := []msg.Message{user("one")}
	for i, tokens := range results {
		id := fmt.Sprint(i)
		c := call("a"+id, id, "Bash", `{"command":"`+id+`"}`)
		c.Blocks = c.Blocks[1:]
		ms = append(ms, c, result(id, words(tokens)))
	}
	ms[len(ms)-2].Usage = &msg.Usage{Input: counted}
	return ms
}

// What a running turn has found out goes by price only: where the window forces it, a summary keeps it.
func TestAFullWindowInARunningTurn(t *testing.T) {
	ms := running(175_000, 60_000, 40_000, 40_000, 40_000, 25_000)
	for i, m := range ms {
		if m.Kind == msg.KindAssistant { // so that it pays too little by itself
			if i > 1 {
				m.Blocks[0].Name = "Agent"
			}
			ms[i].Blocks = append([]msg.Block{{Type: msg.TypeThinking, Text: "hm", Signature: "s"}}, m.Blocks...)
		}
	}
	f := newFull(ms...)
	f.t.Step = 5
	f.run(t)
	if f.asked != 1 {
		t.Errorf("%d summaries; told %q", f.asked, f.told)
	}
}

// In a running turn that has become long, results far back are left out where that pays, whatever the step, and this is said;
// not where a step is always taken: that one knows no price.
func TestALongRunningTurn(t *testing.T) {
	for _, tt := range []struct {
		always []string
		want   bool
	}{{nil, true}, {[]string{"collapse"}, false}} {
		f := newFull(running(100_000, 60_000, 20_000, 20_000, 5000)...)
		f.Stage = NewStage(f.deps, Config{Auto: true, Always: tt.always})
		f.t.Step = 5
		f.run(t)
		gone := strings.Contains(strings.Join(shape(f.t.View), "\n"), "r0 [Left out")
		if told := len(f.told) == 1 && strings.Contains(f.told[0], "no longer sent word for word (collapse)"); gone != tt.want || told != tt.want || f.asked != 0 {
			t.Errorf("always %v: left out: %v; told %q", tt.always, gone, f.told)
		}
	}
}

// Neither what is always taken nor that superseded results go is told of each time.
func TestSupersededResultsGoSilently(t *testing.T) {
	ms := []msg.Message{user("one")}
	for i := range 9 {
		id := fmt.Sprint(i)
		ms = append(ms, call("a"+id, id, "Read", `{"file_path":"/x"}`), result(id, long))
	}
	for _, always := range [][]string{nil, {"microcompact"}} {
		f := newFull(append(slices.Clone(ms), end("e"), user("two"))...)
		f.Stage = NewStage(f.deps, Config{Auto: true, Always: always})
		f.run(t)
		if len(f.told) != 0 || cmp.Equal(shape(f.t.View), shape(f.t.Messages)) {
			t.Errorf("always %v: told %q; %q", always, f.told, shape(f.t.View))
		}
	}
}

// Results of the running turn are looked at once half of the window is used.
func TestWhenResultsOfTheRunningTurnCount(t *testing.T) {
	for _, tt := range []struct{ size, step, want int }{{93_500, 1, 0}, {93_500, 2, 93_500 / 4}, {93_499, 2, 0}} {
		f := newFull(user("one"), counted("a", tt.size))
		f.t.Step = tt.step
		if got := f.look(f.t).set.Running; got != tt.want {
			t.Errorf("%d tokens in step %d: %d, want %d", tt.size, tt.step, got, tt.want)
		}
	}
}

// After an undo the conversation is as large as what is sent again, whatever was counted behind the summary.
func TestSizeAfterAnUndo(t *testing.T) {
	f := newFull(user("one "+words(50_000)), counted("a", 60_000))
	if _, err := f.Compact(t.Context(), f.t, ""); err != nil {
		t.Fatal(err)
	}
	if err := f.t.Append(user("two"), counted("b", 3000)); err != nil {
		t.Fatal(err)
	}
	if n := f.look(f.t).size; n != 3000 {
		t.Errorf("%d tokens before the undo", n)
	}
	if _, err := f.Undo(f.t); err != nil {
		t.Fatal(err)
	}
	if n := f.look(f.t).size; n < 35_000 || n > 65_000 {
		t.Errorf("%d tokens after it", n)
	}
}

// An undo counts what earlier steps had left out as left out.
func TestSizeAfterAnUndoOfEdits(t *testing.T) {
	f := newFull(append(running(100_000, 60_000, 20_000, 20_000, 5000), end("e"))...)
	f.t.Step = 5
	e := Edit{Step: "collapse", Clear: []Clear{{Call: "0", Text: leftOut}}, Saved: 60_000}
	m, err := e.record()
	if err != nil {
		t.Fatal(err)
	}
	if err := f.t.Append(m); err != nil {
		t.Fatal(err)
	}
	before := f.look(f.t).size
	if _, err := f.Compact(t.Context(), f.t, ""); err != nil {
		t.Fatal(err)
	}
	if err := f.t.Append(user("two"), counted("b", 3000)); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Undo(f.t); err != nil {
		t.Fatal(err)
	}
	if n := f.look(f.t).size; n < before-10_000 || n > before+10_000 {
		t.Errorf("%d tokens, %d before the compaction", n, before)
	}
}

// The size after a compaction is told in the provider's measure, as the one before is.
func TestSizesOfOneMeasure(t *testing.T) {
	f := newFull(user("one "+words(20_000)), counted("a", 90_000))
	v := f.look(f.t)
	if _, err := f.Compact(t.Context(), f.t, ""); err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(f.t.Messages, func(m msg.Message) bool { return m.Subtype == msg.SubCompactBoundary })
	meta, _ := metadataOf(f.t.Messages[i])
	if saved := meta.Pre - meta.Post; meta.Pre != v.size || saved < 10_000 || saved > 25_000 {
		t.Errorf("from %d to %d tokens, where about 20,000 were left out", meta.Pre, meta.Post)
	}
}

// What the provider has refused is made smaller whatever we had counted, without a summary too.
func TestReduceWithoutASummary(t *testing.T) {
	var ms []msg.Message
	for i := range 20 {
		ms = append(ms, user(fmt.Sprint(i, words(2000))), counted(fmt.Sprint(i), 2000*(i+1)))
	}
	f := newFull(append(ms, user("now"))...)
	f.fail = errors.New("overloaded")
	before := (token.Counter{}).Messages(f.t.Messages)
	changed, err := f.Reduce(t.Context(), f.t, 210_000)
	if after := (token.Counter{}).Messages(f.t.View); err != nil || !changed || after > before*7/10 {
		t.Errorf("%v, %v: %d tokens of %d", changed, err, after, before)
	}
	if len(f.told) == 0 || !strings.Contains(f.told[0], "about 210000 of 200000 tokens") {
		t.Errorf("told %q", f.told)
	}
}

// A call whose result is missing is not parted from the one that will be supplied.
func TestStudyOfAMissingResult(t *testing.T) {
	a := study([]msg.Message{user("one"), call("a", "1", "Bash", `{}`), user("two"), end("b")}, Settings{})
	if d := cmp.Diff([]bool{true, true, false, true, true}, a.safe); d != "" {
		t.Error(d)
	}
}

// An answer in several messages is one call of the model.
func TestMarketCountsAnswers(t *testing.T) {
	var ms []msg.Message
	for i := range 5 {
		ms = append(ms, user(fmt.Sprint(i)), call(fmt.Sprint(i), fmt.Sprint(i, "a"), "Bash", `{}`), call(fmt.Sprint(i), fmt.Sprint(i, "b"), "Bash", `{}`))
	}
	if m := newMarket(sight{view: ms, whole: ms, of: price.Default().Info, size: 10, limit: 1000}, "m", time.Now(), Config{}); m.calls != 5 {
		t.Errorf("%d calls are expected", m.calls)
	}
}

// The to-do list is attached again where an edit has taken it out of the view, and not where it stands there still.
func TestTodosThatAreLost(t *testing.T) {
	todo := call("a", "1", "TodoWrite", `{}`)
	for _, tt := range []struct {
		name string
		view []msg.Message
		want int
	}{
		{"it is there", []msg.Message{user("one"), todo}, 0},
		{"it is gone", []msg.Message{user("one")}, 1},
	} {
		f := newFull(user("one"), todo, user("two"))
		f.Stage.deps.Todos = func() string { return "- wash up" }
		v := sight{view: tt.view}
		if err := f.showTodos(f.t, &v); err != nil || len(f.t.Messages) != 3+tt.want || len(v.view) != len(tt.view)+tt.want {
			t.Errorf("%s: %v, %d messages, of which %d are seen", tt.name, err, len(f.t.Messages), len(v.view))
		}
	}
}

// A cut that saves next to nothing is not made.
func TestSnipWorthItsTrouble(t *testing.T) {
	view := []msg.Message{user("one " + words(snipHead)), user("two " + words(500)), user("three #pin " + words(3000)), end("a"), user("four")}
	if out, r := Snip(view, Settings{Target: 4500}); r.FirstChanged >= 0 {
		t.Errorf("cut: %v", shape(out))
	}
}
