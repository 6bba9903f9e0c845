package normalize

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"lathe/internal/msg"
)

func TestNormalize(t *testing.T) {
	bash := ` Bash {"command":"x"}`
	withID := func(id string, m msg.Message) msg.Message { m.ID = id; return m }
	from := func(source string, m msg.Message) msg.Message { m.Source = source; return m }
	paused := func(id string, blocks ...msg.Block) msg.Message {
		m := answer(id, blocks...)
		m.StopReason = "pause_turn"
		return m
	}
	search := raw(`{"type":"server_tool_use","id":"s1","name":"web_search","input":{"q":"x"}}`)
	found := raw(`{"type":"web_search_tool_result","tool_use_id":"s1","content":[]}`)
	tests := []struct {
		name string
		view []msg.Message
		want []string
	}{
		{"plain", []msg.Message{user(msg.Text("hi")), answer("a", msg.Text("ho")), user(msg.Text("and?"))}, []string{"U | hi", "A | ho", "U | and?"}},
		{"nothing", nil, []string{"U | <start>"}},
		{"only notices", []msg.Message{{Kind: msg.KindSystem, Blocks: []msg.Block{msg.Text("x")}}}, []string{"U | <start>"}},
		{"blocks of one answer come together", []msg.Message{
			user(msg.Text("go")), answer("a", thinking("t", "s")), answer("a", use("1")), user(result("1", "r1")),
			answer("a", use("2")), user(result("2", "r2")),
		}, []string{"U | go", "A | think t | use 1" + bash + " | use 2" + bash, "U | result 1 r1 | result 2 r2"}},
		{"results come first and in the order asked", []msg.Message{
			user(msg.Text("go")), answer("a", use("1"), use("2")), attachment("queued"), user(result("2", "r2")), attachment("mem"), user(result("1", "r1")),
		}, []string{"U | go", "A | use 1" + bash + " | use 2" + bash, "U | result 1 r1 | result 2 r2 | queued | mem"}},
		{"B011: interrupted call, then a new prompt", []msg.Message{
			user(msg.Text("go")), answer("a", use("1")), user(msg.Text("[Request interrupted by user]")), user(msg.Text("hi")),
		}, []string{"U | go", "A | use 1" + bash, "U | result 1 error <lost> | [Request interrupted by user] | hi"}},
		{"crash right after the call", []msg.Message{user(msg.Text("go")), answer("a", use("1"))}, []string{
			"U | go", "A | use 1" + bash, "U | result 1 error <lost>",
		}},
		{"a late result is an orphan", []msg.Message{
			user(msg.Text("go")), answer("a", use("1")), user(msg.Text("hi")), answer("b", msg.Text("ok")), user(result("1", "late")), user(msg.Text("so")),
		}, []string{"U | go", "A | use 1" + bash, "U | result 1 error <lost> | hi", "A | ok", "U | so"}},
		{"B010: one id twice in an answer", []msg.Message{
			user(msg.Text("go")), answer("a", use("1"), use("1")), user(result("1", "first"), result("1", "second"), result("1", "third")),
		}, []string{"U | go", "A | use 1" + bash + " | use 1_2" + bash, "U | result 1 first | result 1_2 second"}},
		{"one id in two answers", []msg.Message{
			user(msg.Text("go")), answer("a", use("1")), user(result("1", "r")), answer("b", use("1")), user(result("1", "s")),
		}, []string{"U | go", "A | use 1" + bash, "U | result 1 r", "A | use 1_2" + bash, "U | result 1_2 s"}},
		{"odd ids and names", []msg.Message{
			user(msg.Text("go")), answer("a", msg.ToolUse("f.Bash:0", "Ba sh", json.RawMessage(`"rm"`)), msg.ToolUse("", "", nil)), user(result("f.Bash:0", "r")),
		}, []string{"U | go", `A | use f_Bash_0 Ba_sh {"invalid_input":"\"rm\""} | use call unknown_tool {}`, "U | result f_Bash_0 r | result call error <lost>"}},
		{"long names", []msg.Message{user(msg.Text("go")), answer("a", msg.ToolUse("1", strings.Repeat("n", 300), json.RawMessage(`{}`))), user(result("1", "r"))}, []string{
			"U | go", "A | use 1 " + strings.Repeat("n", 200) + " {}", "U | result 1 r",
		}},
		{"B016: reasoning only, blank text, silent result", []msg.Message{
			user(msg.Text("go")), answer("a", thinking("", "sig"), msg.Text(" \n")), user(msg.Text("so")),
			answer("b", use("1")), user(msg.ToolResult("1", false, msg.Text(""))),
		}, []string{"U | go", "A | think  | <no text>", "U | so", "A | use 1" + bash, "U | result 1 (no output)"}},
		{"unsigned thinking goes, and its empty answer with it", []msg.Message{
			user(msg.Text("go")), answer("a", thinking("half", "")), user(msg.Text("again")),
		}, []string{"U | go | again"}},
		{"two answers in a row", []msg.Message{user(msg.Text("go")), answer("a", msg.Text("x ")), answer("b", msg.Text("y"))}, []string{
			"U | go", "A | x ", "U | <continue>", "A | y", "U | <continue>",
		}},
		{"starts with an answer", []msg.Message{answer("a", msg.Text("x")), user(msg.Text("go"))}, []string{"U | <start>", "A | x", "U | go"}},
		{"orphans only", []msg.Message{user(result("9", "x")), user(msg.Text("go"))}, []string{"U | go"}},
		{"an orphan between answers", []msg.Message{
			user(msg.Text("go")), answer("a", msg.Text("x")), user(result("9", "x")), answer("b", msg.Text("y")), user(msg.Text("z")),
		}, []string{"U | go", "A | x", "U | <continue>", "A | y", "U | z"}},
		{"tombstone, copy, API error, virtual", []msg.Message{
			withID("1", user(msg.Text("go"))), withID("1", user(msg.Text("go"))), withID("2", answer("a", msg.Text("part"))),
			{Kind: msg.KindTombstone, Withdraws: []string{"2"}},
			{Kind: msg.KindAssistant, APIError: "overloaded", Blocks: []msg.Block{msg.Text("API Error")}},
			{Kind: msg.KindUser, Virtual: true, Blocks: []msg.Block{msg.Text("v")}},
			answer("b", msg.Text("whole")), user(msg.Text("ok")),
		}, []string{"U | go", "A | whole", "U | ok"}},
		{"blocks that do not belong", []msg.Message{
			user(msg.Text("go"), thinking("x", "s"), use("5")), answer("a", msg.Text("x"), result("5", "y"), msg.Image("image/png", tinyPNG)), user(raw(`{"type":"hologram","x":1}`), msg.Text("z")),
		}, []string{"U | go", "A | x | [An image that stood here cannot be sent: answers hold none.]", "U | z"}},
		{"references to tools that are gone", []msg.Message{
			user(msg.Text("go")), answer("a", use("1")), user(msg.ToolResult("1", false,
				raw(`{"type":"tool_reference","tool_name":"Read"}`), raw(`{"type":"tool_reference","tool_name":"Gone"}`))),
		}, []string{"U | go", "A | use 1" + bash, "U | result 1 tool_reference"}},
		{"bad media", []msg.Message{
			user(msg.Image("image/bmp", "Qk1hYWFh"), msg.Image("image/png", ""), msg.Block{Type: msg.TypeDocument}, msg.Image("image/png", "a?"), msg.Image("image/jpeg", tinyPNG)),
		}, []string{"U | [An image that stood here cannot be sent: its type is not supported.] | [An image that stood here cannot be sent: it is empty.] | [A document that stood here cannot be sent: it has no source.] | [An image that stood here cannot be sent: its data is damaged.] | image"}},
		{"a failed result with an image", []msg.Message{
			user(msg.Text("go")), answer("a", use("1")), user(msg.ToolResult("1", true, msg.Text("no"), msg.Image("image/png", tinyPNG))),
		}, []string{"U | go", "A | use 1" + bash, "U | result 1 [The call failed.] no image"}},
		{"summary", []msg.Message{{Kind: msg.KindSummary, Blocks: []msg.Block{msg.Text("sum")}}, attachment("mem"), user(msg.Text("go"))}, []string{"U | sum | mem | go"}},
		{"instruction files come before the first prompt, and later ones where they stand", []msg.Message{
			user(msg.Text("go")), from("memory", attachment("mem")), from("date", attachment("today")), from("todo", attachment("list")), answer("a", msg.Text("x")),
			user(msg.Text("two")), from("memory", attachment("changed")),
		}, []string{"U | mem | today | go | list", "A | x", "U | two | changed"}},
		{"answers without an id stay apart", []msg.Message{
			user(msg.Text("go")), answer("", use("1")), user(result("1", "r")), answer("", msg.Text("x")), user(msg.Text("ok")),
		}, []string{"U | go", "A | use 1" + bash, "U | result 1 r", "A | x", "U | ok"}},
		{"a paused answer ends the request", []msg.Message{user(msg.Text("go")), paused("a", search)}, []string{"U | go", "A | server_tool_use"}},
		{"and goes on in the next", []msg.Message{user(msg.Text("go")), paused("a", search), answer("b", found, msg.Text("x")), user(msg.Text("ok"))}, []string{
			"U | go", "A | server_tool_use | web_search_tool_result | x", "U | ok",
		}},
		{"a paused answer that a prompt came upon", []msg.Message{user(msg.Text("go")), paused("a", msg.Text("x"), search), user(msg.Text("hi")), answer("b", found, msg.Text("y"))}, []string{
			"U | go", "A | x", "U | hi", "A | y", "U | <continue>",
		}},
		{"a server call without result, a result without call", []msg.Message{
			user(msg.Text("go")), answer("a", search, msg.Text("x")), user(msg.Text("ok")), answer("b", found), user(msg.Text("so")),
		}, []string{"U | go", "A | x", "U | ok", "A | <no text>", "U | so"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			before, _ := json.Marshal(tt.view)
			got, bps, _ := Normalize(tt.view, testRules())
			if diff := cmp.Diff(tt.want, short(got)); diff != "" {
				t.Error(diff)
			}
			if err := Check(requestOf(got, bps)); err != nil {
				t.Error(err)
			}
			if after, _ := json.Marshal(tt.view); string(after) != string(before) {
				t.Error("the view was changed")
			}
		})
	}
}

func TestThinking(t *testing.T) {
	view := []msg.Message{
		user(msg.Text("go")), answer("a", thinking("old", "s"), msg.Text("x")), user(msg.Text("on")),
		answer("b", thinking("new", "s"), use("1")), user(result("1", "r")),
	}
	view[1].Model = "theirs"
	tests := []struct {
		name   string
		change func(*Rules)
		want   []string
	}{
		{"kept", func(*Rules) {}, []string{"A | think old | x", `A | think new | use 1 Bash {"command":"x"}`}},
		{"dropped", func(r *Rules) { r.DropThinking = true }, []string{"A | x", `A | use 1 Bash {"command":"x"}`}},
		{"of another provider", func(r *Rules) { r.Foreign = func(m msg.Message) bool { return m.Model == "theirs" } }, []string{"A | x", `A | think new | use 1 Bash {"command":"x"}`}},
		{"flat", func(r *Rules) { r.Flatten = true }, []string{"A | x", `A | [Called the tool Bash with {"command":"x"}]`}},
		{"no tools", func(r *Rules) { r.Tools = nil }, []string{"A | think old | x", `A | think new | [Called the tool Bash with {"command":"x"}]`}},
	}
	for _, tt := range tests {
		r := testRules()
		tt.change(&r)
		got, _, _ := Normalize(view, r)
		s := short(got)
		if diff := cmp.Diff(tt.want, []string{s[1], s[3]}); diff != "" {
			t.Errorf("%s: %s", tt.name, diff)
		}
	}
}

// TestMediaSteps checks that too many images go in steps, the oldest first, that the thinking made before a step
// goes with it, and that between steps nothing moves.
// Fields that another provider has put into a block would be refused; those of the provider's own blocks go back as they came.
func TestFieldsOfAnotherProvider(t *testing.T) {
	call := raw(`{"type":"tool_use","id":"1","name":"Bash","input":{"command":"x"},"more":1}`)
	for model, want := range map[string]bool{"ours": true, "theirs": false} {
		rules := testRules()
		rules.Foreign = func(m msg.Message) bool { return m.Model == "theirs" }
		a := answer("a", call)
		a.Model = model
		got, _, _ := Normalize([]msg.Message{user(msg.Text("go")), a, user(result("1", "r"))}, rules)
		if has := strings.Contains(string(got[1].Content[0].Raw), "more"); has != want {
			t.Errorf("%s: the field is sent: %v", model, has)
		}
	}
}

func TestMediaSteps(t *testing.T) {
	r := testRules()
	r.Limits.Media = 8 // steps of 2
	var view []msg.Message
	var before []string
	edits := 0
	for i := range 20 {
		id := string(rune('a' + i))
		view = append(view, user(msg.Text("look "+id), msg.Image("image/png", tinyPNG)))
		out, bps, _ := Normalize(view, r)
		if err := Check(requestOf(out, bps)); err != nil {
			t.Fatal(err)
		}
		now, images := short(out), 0
		for _, m := range out {
			for _, b := range m.Content {
				if b.Type == msg.TypeImage {
					images++
				}
			}
		}
		if images > 8 || i >= 8 && images < 7 {
			t.Errorf("%d images after %d", images, i+1)
		}
		if i > 0 && cmp.Diff(before, now[:len(before)]) != "" {
			edits++
			if old := strings.Join(now, "\n"); strings.Contains(old, "| think") {
				t.Errorf("old thinking was left behind an edit:\n%s", old)
			}
		} else if i > 0 && !strings.Contains(strings.Join(now, "\n"), "| think") {
			t.Errorf("thinking dropped without need: %s", now)
		}
		before = now
		view = append(view, answer(id, thinking("t"+id, "s"), msg.Text("seen "+id)))
	}
	if edits != 6 {
		t.Errorf("%d edits of what was sent, want 6 for 12 images over the limit", edits)
	}
}

// Where there are too many images and too many bytes, as many go as the stricter limit wants.
func TestBothLimitsOfMedia(t *testing.T) {
	var view []msg.Message
	for range 12 {
		view = append(view, user(msg.Image("image/png", tinyPNG)))
	}
	one := len(tinyPNG) + 40
	for _, tt := range []struct{ media, bytes, want int }{{4, 12*one - 1, 4}, {11, 4 * one, 4}, {12, 12 * one, 12}} {
		r := testRules()
		r.Limits.Media, r.Limits.TotalBytes = tt.media, tt.bytes
		out, _, _ := Normalize(view, r)
		if got := strings.Count(strings.Join(short(out), "\n"), "| image"); got != tt.want {
			t.Errorf("%d images of at most %d, %d bytes of at most %d: %d are sent, want %d", len(view), tt.media, len(view)*one, tt.bytes, got, tt.want)
		}
	}
}

func TestMarks(t *testing.T) {
	long := make([]msg.Block, 45)
	for i := range long {
		long[i] = msg.Text("x")
	}
	turn := []msg.Message{user(msg.Text("go")), answer("a", msg.Text("x")), user(msg.Text("on"))}
	tests := []struct {
		name   string
		view   []msg.Message
		change func(*Rules)
		want   [][3]int
	}{
		{"first call", turn[:1], func(*Rules) {}, [][3]int{{2, 0, 0}, {2, 1, 0}, {3, 0, 0}}},
		{"second call", turn, func(*Rules) {}, [][3]int{{2, 0, 0}, {2, 1, 0}, {3, 0, 0}, {3, 2, 0}}},
		{"no static part", turn, func(r *Rules) { r.Static = 0 }, [][3]int{{1, 1, 0}, {2, 1, 0}, {3, 0, 0}, {3, 2, 0}}},
		{"no system prompt", turn, func(r *Rules) { r.System, r.Static = 0, 0 }, [][3]int{{1, 1, 0}, {3, 0, 0}, {3, 2, 0}}},
		{"a long message", append(turn[:2:2], user(long...)), func(*Rules) {}, [][3]int{{2, 1, 0}, {3, 0, 0}, {3, 2, 24}, {3, 2, 44}}},
		{"none", turn, func(r *Rules) { r.NoCache = true }, nil},
	}
	for _, tt := range tests {
		r := testRules()
		tt.change(&r)
		_, bps, _ := Normalize(tt.view, r)
		var got [][3]int
		for _, p := range bps {
			got = append(got, [3]int{int(p.At), p.Index, p.Block})
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s: %s", tt.name, diff)
		}
	}
}
