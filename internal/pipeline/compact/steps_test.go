package compact

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"lathe/internal/msg"
	"lathe/internal/price"
	"lathe/internal/token"
)

func call(api, id, name, input string) msg.Message {
	return msg.Message{ID: "m" + id, Kind: msg.KindAssistant, APIID: api, Blocks: []msg.Block{
		{Type: msg.TypeThinking, Text: "thought " + id, Signature: "s"}, msg.ToolUse(id, name, json.RawMessage(input)),
	}}
}

func result(id, s string) msg.Message {
	return msg.Message{ID: "r" + id, Kind: msg.KindUser, Blocks: []msg.Block{msg.ToolResult(id, false, msg.Text(s))}}
}

func end(api string) msg.Message {
	return msg.Message{ID: "e" + api, Kind: msg.KindAssistant, APIID: api, StopReason: "end_turn", Blocks: []msg.Block{msg.Text("done " + api)}}
}

// shape writes a view in short: ids, and what of thinking and results is left.
func shape(view []msg.Message) []string {
	var out []string
	for _, m := range view {
		s := m.ID
		for _, b := range m.Blocks {
			switch {
			case b.IsThinking():
				s += " thinking"
			case b.Type == msg.TypeToolResult:
				s += " " + clip(msg.JoinText(b.Content), 70)
			case m.Kind == msg.KindSummary:
				s += " " + clip(b.Text, 40)
			}
		}
		out = append(out, s)
	}
	return out
}

var long = strings.Repeat("some words of a long result\n", 200)

func session() []msg.Message {
	return []msg.Message{
		user("one"),
		call("a", "1", "Read", `{"file_path":"/x"}`), result("1", long),
		call("b", "2", "Edit", `{"file_path":"/y"}`), result("2", "Edited."),
		end("c"),
		user("keep this #pin"),
		call("d", "3", "Read", `{"file_path":"/x"}`), result("3", long),
		call("e", "4", "Bash", `{"command":"go test"}`), result("4", long),
		end("f"),
		user("two"),
		call("g", "5", "Bash", `{"command":"go test"}`), result("5", long),
		end("h"),
		user("three"),
	}
}

func TestSteps(t *testing.T) {
	tests := []struct {
		step string
		set  Settings
		want []string
	}{
		{"microcompact", Settings{}, []string{
			"one", "m1 thinking", "r1 [Left out: /x was read again later]", "m2", "r2 Edited.", "ec", "keep this #pin",
			"m3", "r3 " + clip(long, 70), "m4", "r4 [Left out: the same Bash call was made again later]", "ef",
			"two", "m5", "r5 " + clip(long, 70), "eh", "three",
		}},
		{"microcompact", Settings{Recent: 4}, []string{
			"one", "m1 thinking", "r1 [Left out: /x was read again later]", "m2", "r2 Edited.", "ec", "keep this #pin",
			"m3", "r3 " + clip(long, 70), "m4", "r4 " + clip(long, 70), "ef",
			"two", "m5", "r5 " + clip(long, 70), "eh", "three",
		}},
		{"collapse", Settings{}, []string{
			"one", "cut m1 [Tool calls of this turn, shortened. Th…", "ec", "keep this #pin", "cut m3 [Tool calls of this turn, shortened. Th…", "ef",
			"two", "m5", "r5 " + clip(long, 70), "eh", "three",
		}},
		{"snip", Settings{Target: 2500}, []string{
			"one", "m1 thinking", "r1 " + clip(long, 70), "m2 thinking", "r2 Edited.", "ec", "keep this #pin", "m3 thinking", "r3 " + clip(long, 70),
			"cut m4 [7 earlier messages of this conversatio…", "three",
		}},
	}
	for _, tt := range tests {
		i := slices.IndexFunc(Steps(), func(s Step) bool { return s.Name == tt.step })
		in := session()
		out, r := Steps()[i].Apply(in, tt.set)
		if diff := cmp.Diff(tt.want, shape(out)); diff != "" {
			t.Errorf("%s: %s\n%+v", tt.step, diff, r)
		}
		if diff := cmp.Diff(shape(session()), shape(in)); diff != "" {
			t.Errorf("%s changed what it was given: %s", tt.step, diff)
		}
		if r.TokensAfter >= r.TokensBefore || r.Edit == nil {
			t.Errorf("%s: %+v", tt.step, r)
		}
	}
}

// In the running turn the results that lie far back become one line, but for those that count on; thinking behind them
// goes, unless the model wants that of its running turn.
func TestCollapseInTheRunningTurn(t *testing.T) {
	use := func(id, tool string) []msg.Message {
		return []msg.Message{call("a"+id, id, tool, `{"file_path":"/`+id+`"}`), result(id, long)}
	}
	short := result("6", "short")
	failed := use("8", "Bash")
	failed[1].Blocks[0].IsError = true
	view := slices.Concat([]msg.Message{user("zero")}, use("0", "Read"), use("9", "Read"), []msg.Message{end("z"), user("one")},
		use("1", "Read"), use("2", "Skill"), use("3", "AskUserQuestion"), use("4", "Agent"), failed, []msg.Message{user("and this")}, use("5", "Bash"),
		use("6", "Read")[:1], []msg.Message{short}, use("7", "Read"))
	c, whole := token.Counter{}, " "+clip(long, 70)
	for _, tt := range []struct {
		tail int
		want []string
	}{
		{0, nil},
		{c.Messages(view[len(view)-1:]), []string{
			"zero", "m0 thinking", "r0" + whole, "m9 thinking", "r9" + whole, "ez", "one",
			"m1 thinking", "r1 " + clip(leftOut, 70), "m2", "r2" + whole, "m3", "r3" + whole, "m4", "r4" + whole, "m8", "r8" + whole, "and this", "m5", "r5 " + clip(leftOut, 70),
			"m6", "r6 short", "m7", "r7" + whole,
		}},
		{c.Messages(view), nil},
	} {
		out, r := Collapse(view, Settings{Running: tt.tail})
		if tt.want == nil {
			if r.FirstChanged >= 0 {
				t.Errorf("tail of %d: %v", tt.tail, shape(out))
			}
			continue
		}
		if diff := cmp.Diff(tt.want, shape(out)); diff != "" {
			t.Errorf("tail of %d: %s", tt.tail, diff)
		}
		e := *r.Edit
		e.KeepFrom = "m1"
		kept, _ := e.apply(view, len(view))
		for _, m := range kept {
			if has := slices.ContainsFunc(m.Blocks, msg.Block.IsThinking); has != (m.Kind == msg.KindAssistant && m.ID != "ez") {
				t.Errorf("thinking of %s: %v", m.ID, has)
			}
		}
	}
}

// Results that no answer has seen stay, however many calls were made at once.
func TestCollapseLeavesWhatIsNew(t *testing.T) {
	both := call("b", "2", "Read", `{"file_path":"/2"}`)
	both.Blocks = append(both.Blocks, msg.ToolUse("3", "Read", []byte(`{"file_path":"/3"}`)))
	view := []msg.Message{user("one"), call("a", "1", "Read", `{"file_path":"/1"}`), result("1", long), both, result("2", long), result("3", long)}
	out, _ := Collapse(view, Settings{Running: 1})
	whole := " " + clip(long, 70)
	if diff := cmp.Diff([]string{"one", "m1 thinking", "r1 " + clip(leftOut, 70), "m2", "r2" + whole, "r3" + whole}, shape(out)); diff != "" {
		t.Error(diff)
	}
}

// What tells how things stand is not attached again while the conversation has it: no step takes the newest of it, nor what
// came with a prompt.
func TestStepsKeepHowThingsStand(t *testing.T) {
	context := func(id, source, key string) msg.Message {
		return msg.Message{ID: id, Kind: msg.KindAttachment, Source: source, Key: key, Meta: true, Blocks: []msg.Block{msg.Text(id)}}
	}
	view := []msg.Message{
		user("one"), context("first mcp", "mcp", "1"), context("file", "mention", "x"), context("date", "date", "1"),
		call("a", "1", "Read", `{"file_path":"/x"}`), result("1", long), context("second mcp", "mcp", "2"), context("third mcp", "mcp", "3"),
		context("plan mode", "plan_mode", "on"), context("diff", "changed_file", "k"),
		call("b", "2", "Read", `{"file_path":"/y"}`), result("2", strings.Repeat(long, 4)), context("folder", "directory_added", "/d"), context("off", "plan_mode", "off"),
		context("tomorrow", "date", "2"), end("c"), user("two"), end("d"), user("three"),
	}
	collapsed, _ := Collapse(view, Settings{})
	snipped, _ := Snip(view, Settings{Target: 100})
	for name, tt := range map[string]struct {
		got  []msg.Message
		want []string
	}{
		"collapse": {collapsed, []string{
			"one", "first mcp", "file", "date", "cut m1 [Tool calls of this turn, shortened. Th…", "third mcp", "folder", "off", "tomorrow", "ec", "two", "ed", "three",
		}},
		"snip": {snipped, []string{
			"one", "first mcp", "file", "date", "m1 thinking", "r1 " + clip(long, 70), "second mcp", "third mcp", "plan mode", "diff",
			"cut m2 [5 earlier messages of this conversatio…", "folder", "off", "tomorrow", "three",
		}},
	} {
		if d := cmp.Diff(tt.want, shape(tt.got)); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
	kept, _ := (&Stage{}).keep(sight{view: view})
	var names []string
	for _, m := range kept {
		names = append(names, m.Blocks[0].Text)
	}
	if d := cmp.Diff([]string{"third mcp", "folder", "off", "tomorrow", "three"}, names); d != "" {
		t.Errorf("carried over a compaction: %s", d)
	}
}

// Plan mode that an approved plan has ended does not come back with a compaction.
func TestPlanModeThatWasLeft(t *testing.T) {
	on := msg.Message{ID: "on", Kind: msg.KindAttachment, Source: "plan_mode", Key: "on", Meta: true, Blocks: []msg.Block{msg.Text("plan mode is on")}}
	view := []msg.Message{user("one"), on, call("a", "1", "ExitPlanMode", `{"plan":"p"}`)}
	if got := standing(view); !got[1] {
		t.Error("plan mode goes on while the plan is not approved")
	}
	if got := standing(append(view, result("1", "approved"))); len(got) > 0 {
		t.Errorf("got %v", got)
	}
}

func anyView(t *rapid.T) []msg.Message {
	var view []msg.Message
	n := 0
	for turn := range rapid.IntRange(1, 6).Draw(t, "turns") {
		text := fmt.Sprint("prompt ", turn)
		if rapid.IntRange(0, 3).Draw(t, "pin") == 0 {
			text += " #pin"
		}
		view = append(view, user(text))
		for range rapid.IntRange(0, 6).Draw(t, "calls") {
			n++
			api := fmt.Sprint("api", n)
			ids := []string{fmt.Sprint(n, "a")}
			if rapid.Bool().Draw(t, "two") {
				ids = append(ids, fmt.Sprint(n, "b"))
			}
			var results []msg.Message
			for _, id := range ids {
				name := rapid.SampledFrom([]string{"Read", "Edit", "Bash"}).Draw(t, "tool")
				view = append(view, call(api, id, name, fmt.Sprintf(`{"file_path":"/f%d"}`, rapid.IntRange(0, 2).Draw(t, "file"))))
				res := result(id, strings.Repeat("a line of a result\n", rapid.SampledFrom([]int{1, 300}).Draw(t, "lines")))
				if rapid.Bool().Draw(t, "early") { // started while the rest of the answer streamed
					view = append(view, res)
					if rapid.IntRange(0, 3).Draw(t, "queued") == 0 {
						view = append(view, user("meanwhile "+id))
					}
				} else {
					results = append(results, res)
				}
			}
			view = append(view, results...)
			if rapid.IntRange(0, 5).Draw(t, "rule") == 0 {
				view = append(view, msg.Message{ID: fmt.Sprint("rule", n), Kind: msg.KindAttachment, Source: "memory", Key: fmt.Sprint(n), Meta: true, Blocks: []msg.Block{msg.Text("rule")}})
			}
		}
		if rapid.IntRange(0, 3).Draw(t, "answered") > 0 {
			view = append(view, end(fmt.Sprint("end", turn)))
		}
	}
	return view
}

// TestStepsHoldWhatTheyPromise: no step parts a call from its result or an answer in two, or takes out a rule, a pin
// or a request without an answer; thinking behind an edit goes; and the record of an edit makes the same view again.
func TestStepsHoldWhatTheyPromise(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		view := anyView(t)
		set := Settings{Target: rapid.IntRange(1, 6000).Draw(t, "target"), Recent: rapid.IntRange(0, 4).Draw(t, "recent"), Running: rapid.SampledFrom([]int{0, 1, 500, 2000}).Draw(t, "running")}
		for _, step := range Steps()[1:] {
			out, r := step.Apply(view, set)
			if r.FirstChanged < 0 {
				continue
			}
			whole(t, step.Name, out)
			known := set // what is counted once is counted as anew
			known.known = map[sizeKey]int{}
			for range 2 {
				if _, again := step.Apply(view, known); again.TokensBefore != r.TokensBefore || again.TokensAfter != r.TokensAfter {
					t.Fatalf("%s: %+v where counts are remembered, else %+v", step.Name, again, r)
				}
			}
			for i, m := range view {
				if (protected(m, set) || i >= unanswered(view) && typed(m)) && indexOf(out, m.ID) < 0 {
					t.Fatalf("%s took out %s", step.Name, m.ID)
				}
			}
			if diff := cmp.Diff(view[:r.FirstChanged], out[:r.FirstChanged]); diff != "" {
				t.Fatalf("%s changed something before %d: %s", step.Name, r.FirstChanged, diff)
			}
			for api, n := range blocksOf(out) {
				if was := blocksOf(view)[api]; n != was {
					t.Fatalf("%s left %d of %d messages of the answer %s", step.Name, n, was, api)
				}
			}
			owner := "" // whose call the first thing that was changed answers
			for _, m := range view[:r.FirstChanged+1] {
				if m.Kind == msg.KindAssistant {
					owner = m.APIID
				}
			}
			for _, m := range out[r.FirstChanged+1:] {
				if m.Kind == msg.KindAssistant && m.APIID != owner && slices.ContainsFunc(m.Blocks, msg.Block.IsThinking) {
					t.Fatalf("%s left the thinking of %s behind what it changed at %d", step.Name, m.ID, r.FirstChanged)
				}
			}
			record, err := r.Edit.record()
			if err != nil {
				t.Fatal(err)
			}
			record.ID = "record of " + step.Name
			again := Edited(append(slices.Clone(view), record, user("later")))
			if diff := cmp.Diff(append(slices.Clone(out), record, user("later")), again); diff != "" {
				t.Fatalf("%s: from its record: %s", step.Name, diff)
			}
			view = again
		}
	})
}

// blocksOf counts the messages of each answer.
func blocksOf(view []msg.Message) map[string]int {
	n := map[string]int{}
	for _, m := range view {
		if m.Kind == msg.KindAssistant {
			n[m.APIID]++
		}
	}
	return n
}

// whole checks that every call has its result, and no result stands alone.
func whole(t *rapid.T, name string, view []msg.Message) {
	open := map[string]bool{}
	for _, m := range view {
		for _, b := range m.Blocks {
			switch b.Type {
			case msg.TypeToolUse:
				open[b.ID] = true
			case msg.TypeToolResult:
				if !open[b.ToolUseID] {
					t.Fatalf("%s left the result %s alone", name, b.ToolUseID)
				}
				delete(open, b.ToolUseID)
			}
		}
	}
	if len(open) > 0 {
		t.Fatalf("%s left calls without results: %v", name, open)
	}
}

func TestPinned(t *testing.T) {
	for text, want := range map[string]bool{
		"#pin": true, "never do it. #pin": true, "a #pin, b": true, "x#pin": false, "#pinned": false, "#pin-up #pin": true, "no": false, "secret mark": true,
	} {
		if got := pinned(text, []string{"mark"}); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}

func TestThreshold(t *testing.T) {
	for _, tt := range []struct {
		cfg          Config
		window, want int
	}{
		{Config{}, 200_000, 187_000},
		{Config{}, 1_000_000, 987_000},
		{Config{}, 32_000, 28_800},
		{Config{AutoWindow: 200_000}, 1_000_000, 187_000},
		{Config{AutoWindow: 500_000}, 200_000, 187_000},
		{Config{Percent: 50}, 200_000, 100_000},
		{Config{Percent: 99}, 200_000, 187_000},
	} {
		if got := tt.cfg.Threshold(tt.window); got != tt.want {
			t.Errorf("%+v of %d: %d, want %d", tt.cfg, tt.window, got, tt.want)
		}
	}
}

// The planner takes an edit when the cache is cold, or when it pays over the calls to come, and not otherwise.
func TestWorth(t *testing.T) {
	info := price.Default().Info("claude-opus-5-5")
	now := time.Unix(100_000, 0)
	set := Settings{Counter: token.Counter{}}
	view := session()
	for i := range view {
		view[i].Time = now.Add(-time.Minute)
	}
	out, r := Microcompact(view, set)
	for _, tt := range []struct {
		name  string
		after time.Duration
		model string
		calls int
		want  bool
	}{
		{"warm, few calls", 0, "claude-opus-5-5", 5, false},
		{"warm, many calls", 0, "claude-opus-5-5", 500, true},
		{"cold", 10 * time.Minute, "claude-opus-5-5", 5, true},
	} {
		m := newMarket(sight{whole: view, view: view, of: price.Default().Info, info: info, size: 10_000, limit: 187_000}, tt.model, now.Add(tt.after), Config{})
		m.calls = tt.calls
		p := m.price(view, out, r, set)
		p.TurnStart = true
		if got, why := (&plan{steps: []Step{{Name: "microcompact"}}, price: p}).worth(10_000, 187_000); got != tt.want {
			t.Errorf("%s: %v, %s: %s", tt.name, got, p, why)
		}
	}
	for _, tt := range []struct {
		step        string
		size, limit int
		want        bool
	}{
		{"microcompact", 10_000, 987_000, true},
		{"collapse", 149_999, 987_000, false},
		{"collapse", 150_000, 987_000, true},
		{"collapse", 62_332, 187_000, false},
		{"collapse", 62_333, 187_000, true},
	} {
		p := plan{steps: []Step{{Name: tt.step}}, price: Price{Saved: 20_000, Cold: true}}
		if got, why := p.worth(tt.size, tt.limit); got != tt.want {
			t.Errorf("%s at %d of %d tokens: %v: %s", tt.step, tt.size, tt.limit, got, why)
		}
	}
	for saved, want := range map[int]bool{14_999: false, 15_000: true} { // a twentieth of the context
		p := plan{steps: []Step{{Name: "microcompact"}, {Name: "collapse"}}, price: Price{Saved: saved, Gain: 2, Rewrite: 1, TurnStart: true}}
		if got, why := p.worth(300_000, 987_000); got != want {
			t.Errorf("collapse that saves %d: %v: %s", saved, got, why)
		}
	}
	for _, tt := range []struct { // in a turn that runs, with thinking that would go
		size, saved int
		gain        float64
		want        bool
	}{
		{93_500, 60_000, 2.1, true},
		{93_499, 60_000, 2.1, false}, // under half of the window
		{93_500, 60_000, 2, false},
		{93_500, 31_000, 2.1, false}, // under a third
	} {
		p := plan{steps: []Step{{Name: "collapse"}}, price: Price{Saved: tt.saved, Gain: tt.gain, Rewrite: 1, Thinking: 500}}
		if got, why := p.worth(tt.size, 187_000); got != tt.want {
			t.Errorf("%+v: %v: %s", tt, got, why)
		}
	}
	for _, tt := range []struct {
		name string
		p    Price
		want bool
	}{
		{"cold, at a turn's start", Price{Cold: true, TurnStart: true, Thinking: 5}, true},
		{"cold, within a turn that thought", Price{Cold: true, Thinking: 5}, false},
		{"cold, within a turn without thinking", Price{Cold: true}, true},
		{"far more than it costs, within a turn that thought", Price{Gain: 3, Rewrite: 1, Thinking: 5}, false},
		{"far more than it costs, within a turn without thinking", Price{Gain: 3, Rewrite: 1}, true},
		{"more than it costs, within a turn", Price{Gain: 1.5, Rewrite: 1}, false},
	} {
		tt.p.Saved = 20_000
		p := plan{steps: []Step{{Name: "microcompact"}}, price: tt.p}
		if got, why := p.worth(100_000, 187_000); got != tt.want {
			t.Errorf("%s: %v: %s", tt.name, got, why)
		}
	}
	for saved, want := range map[int]bool{31_000: false, 32_000: true} { // without thinking a third is asked for, too
		p := plan{steps: []Step{{Name: "collapse"}}, price: Price{Saved: saved, Gain: 9, Rewrite: 1}}
		if got, why := p.worth(94_000, 187_000); got != want {
			t.Errorf("collapse in a turn that saves %d: %v: %s", saved, got, why)
		}
	}
	if m := newMarket(sight{whole: view, view: view, of: price.Default().Info, info: price.Default().Info("claude-sonnet-5-5"), size: 1, limit: 2}, "claude-sonnet-5-5", now, Config{NoCache: true}); !m.cold {
		t.Error("without a cache nothing is warm")
	}
}
