package normalize

import (
	"encoding/json"
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"lathe/internal/msg"
	"lathe/internal/provider"
)

var idPool = []string{"1", "1", "2", "3", "1_2", "a.b", "a_b", "", "toolu_01"}

// anyBlock draws a block as it may stand in a history: good, damaged, foreign, or in the wrong place.
func anyBlock(depth int) *rapid.Generator[msg.Block] {
	return rapid.Custom(func(t *rapid.T) msg.Block {
		id := rapid.SampledFrom(idPool).Draw(t, "id")
		text := rapid.SampledFrom([]string{"", " \n", "hi", "日本", "x \xff", "end  \n"}).Draw(t, "text")
		switch rapid.IntRange(0, 11).Draw(t, "kind") {
		case 0, 1:
			return msg.Text(text)
		case 2:
			return thinking(text, rapid.SampledFrom([]string{"", "sig"}).Draw(t, "sig"))
		case 3:
			return msg.Block{Type: msg.TypeRedactedThinking, Data: rapid.SampledFrom([]string{"", "d"}).Draw(t, "data")}
		case 4, 5:
			input := rapid.SampledFrom([]string{"", "{}", `{"a":1}`, `{"a":`, "[1]", "null", `"x"`, " {}"}).Draw(t, "input")
			return msg.ToolUse(id, rapid.SampledFrom([]string{"Bash", "Gone", "", "a b"}).Draw(t, "name"), json.RawMessage(input))
		case 6, 7:
			b := msg.Block{Type: msg.TypeToolResult, ToolUseID: id, IsError: rapid.Bool().Draw(t, "error")}
			if depth > 0 {
				b.Content = rapid.SliceOfN(anyBlock(depth-1), 0, 3).Draw(t, "content")
			}
			return b
		case 8:
			return msg.Image(rapid.SampledFrom([]string{"image/png", "image/bmp", ""}).Draw(t, "media"), rapid.SampledFrom([]string{"", "aaaa", tinyPNG}).Draw(t, "data"))
		case 9:
			return msg.Block{Type: msg.TypeDocument, Source: rapid.SampledFrom([]*msg.Source{
				nil, {Type: "text", MediaType: "text/plain", Data: "x"}, {Type: "url", URL: "u"}, {Type: "odd"}, {Type: "base64", MediaType: "application/pdf", Data: "x"},
			}).Draw(t, "source")}
		case 10:
			return raw(rapid.SampledFrom([]string{
				`{"type":"server_tool_use","id":"s1","name":"web_search","input":{}}`, `{"type":"server_tool_use","id":"s2","name":"web_search","input":{}}`,
				`{"type":"web_search_tool_result","tool_use_id":"s1","content":[]}`, `{"type":"mcp_tool_use","id":"1","name":"x","input":{}}`,
				`{"type":"mcp_tool_result","tool_use_id":"1","content":[]}`, `{"type":"tool_reference","tool_name":"Bash"}`, `{"type":"tool_reference","tool_name":"Gone"}`,
				`{"type":"hologram"}`, `{"type":"search_result","source":"u","title":"t","content":[{"type":"text","text":"x"}]}`,
				`{"type":"tool_use","id":"1","name":"Bash","input":{},"caller":{"type":"direct"}}`, `{"type":"text","text":"","citations":null}`,
				`{"type":"text","text":"cited","citations":[{"type":"x"}]}`, `{"type":"compaction","content":null}`,
			}).Draw(t, "raw"))
		}
		return msg.Block{Type: rapid.SampledFrom([]string{"", "odd", "server_tool_use"}).Draw(t, "type"), Raw: json.RawMessage(rapid.SampledFrom([]string{"", "{", "null", "[]"}).Draw(t, "bad"))}
	})
}

func anyMessage(answers []string) *rapid.Generator[msg.Message] {
	return rapid.Custom(func(t *rapid.T) msg.Message {
		m := msg.Message{
			ID:     rapid.SampledFrom([]string{"", "", "", "m1", "m2", "m3"}).Draw(t, "uuid"),
			Kind:   rapid.SampledFrom([]msg.Kind{msg.KindUser, msg.KindUser, msg.KindUser, msg.KindAssistant, msg.KindAssistant, msg.KindAssistant, msg.KindAttachment, msg.KindSystem, msg.KindSummary, msg.KindTombstone, "odd"}).Draw(t, "kind"),
			Blocks: rapid.SliceOfN(anyBlock(1), 0, 4).Draw(t, "blocks"),
		}
		switch m.Kind {
		case msg.KindAssistant:
			m.APIID = rapid.SampledFrom(answers).Draw(t, "api")
			m.StopReason = rapid.SampledFrom([]string{"", "", "tool_use", "pause_turn"}).Draw(t, "stop")
			m.Aborted = rapid.Bool().Draw(t, "aborted")
			m.APIError = rapid.SampledFrom([]string{"", "", "", "overloaded"}).Draw(t, "apierror")
		case msg.KindTombstone:
			m.Withdraws = []string{rapid.SampledFrom([]string{"", "m1", "m9"}).Draw(t, "withdraws")}
		}
		m.Virtual = rapid.IntRange(0, 9).Draw(t, "virtual") == 0
		return m
	})
}

func anyRules(t *rapid.T) Rules {
	r := testRules()
	r.DropThinking = rapid.Bool().Draw(t, "drop")
	r.OneHour = rapid.Bool().Draw(t, "hour")
	if rapid.Bool().Draw(t, "few") {
		r.Limits.Media = 2
	}
	return r
}

// TestAnyHistory: whatever a history is, the request is valid, building it twice gives the same, and building it
// from its own output changes nothing.
func TestAnyHistory(t *testing.T) { rapid.Check(t, checkAnyHistory) }

func FuzzNormalize(f *testing.F) { f.Fuzz(rapid.MakeFuzz(checkAnyHistory)) }

func checkAnyHistory(t *rapid.T) {
	view := rapid.SliceOfN(anyMessage([]string{"", "a", "b", "c"}), 0, 12).Draw(t, "view")
	view = view[:rapid.IntRange(0, len(view)).Draw(t, "crash")]
	if len(view) > 0 && rapid.Bool().Draw(t, "sidechain") {
		view[0].Sidechain = true
	}
	r := anyRules(t)
	out, bps, _ := Normalize(view, r)
	if err := Check(requestOf(out, bps)); err != nil {
		t.Fatalf("%v\n%s", err, dump(out))
	}
	again, _, _ := Normalize(view, r)
	if a, b := dump(out), dump(again); a != b {
		t.Fatalf("not deterministic:\n%s\n%s", a, b)
	}
	twice, _, _ := Normalize(asView(out), r)
	if a, b := dump(out), dump(twice); a != b {
		t.Fatalf("not idempotent:\n%s\n%s", a, b)
	}
	r.Flatten = true
	flat, bps, _ := Normalize(view, r)
	if err := Check(requestOf(flat, bps)); err != nil {
		t.Fatalf("flat: %v\n%s", err, dump(flat))
	}
	req := requestOf(flat, nil)
	req.Tools = nil
	if err := Check(req); err != nil {
		t.Fatalf("flat, without tools: %v", err)
	}
}

// TestAppendOnly: wherever a request was sent and an answer came, the next requests begin with it, block for block.
func TestAppendOnly(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var view []msg.Message
		var sent []int
		var answers []string
		paused := false
		for i := range rapid.IntRange(1, 5).Draw(t, "calls") {
			answers = append(answers, fmt.Sprint("api", i))
			older := append([]string{"x", "y"}, answers[:i]...)
			between := rapid.SliceOfN(anyMessage(older).Filter(notTombstone), 0, 5).Draw(t, "between")
			for j := range between {
				between[j].StopReason = "" // the API never leaves a pause without its end
			}
			view = append(view, between...)
			sent = append(sent, len(view))
			a := answer(answers[i], msg.Text("answer"))
			if paused {
				a.Blocks = append([]msg.Block{raw(fmt.Sprintf(`{"type":"web_search_tool_result","tool_use_id":"srv%d","content":[]}`, i-1))}, a.Blocks...)
			}
			if paused = rapid.Bool().Draw(t, "pause"); paused {
				a.Blocks = append(a.Blocks, raw(fmt.Sprintf(`{"type":"server_tool_use","id":"srv%d","name":"web_search","input":{}}`, i)))
				a.StopReason = "pause_turn"
			} else {
				a.Blocks = append(a.Blocks, rapid.SliceOfN(anyBlock(1), 0, 3).Draw(t, "more")...)
			}
			view = append(view, a)
		}
		view = append(view, rapid.SliceOfN(anyMessage(answers).Filter(notTombstone), 0, 4).Draw(t, "rest")...)
		r := testRules()
		whole, _, _ := Normalize(view, r)
		for _, n := range sent {
			part, _, _ := Normalize(view[:n], r)
			if a, b := flatBlocks(part), flatBlocks(whole); len(a) > len(b) || fmt.Sprint(a) != fmt.Sprint(b[:len(a)]) {
				t.Fatalf("the request of %d messages is not the beginning of the later one\n%s\n%s", n, dump(part), dump(whole))
			}
		}
	})
}

func notTombstone(m msg.Message) bool { return m.Kind != msg.KindTombstone }

func flatBlocks(ms []provider.Message) []string {
	var out []string
	for _, m := range ms {
		for _, b := range m.Content {
			out = append(out, string(m.Role)+string(msg.AppendBlock(nil, b, nil)))
		}
	}
	return out
}

func dump(ms []provider.Message) string {
	var s string
	for _, m := range ms {
		s += string(m.Role) + " " + string(msg.AppendBlocks(nil, m.Content)) + "\n"
	}
	return s
}

// asView makes a conversation of a request.
func asView(ms []provider.Message) []msg.Message {
	var out []msg.Message
	for i, m := range ms {
		v := user(m.Content...)
		if m.Role == msg.RoleAssistant {
			v = answer(fmt.Sprint("api", i), m.Content...)
			if i == len(ms)-1 {
				v.StopReason = "pause_turn"
			}
		}
		out = append(out, v)
	}
	return out
}
