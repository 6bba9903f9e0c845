package fakeapi

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// talk plays a client that keeps the history and sends it back.
type talk struct {
	t      *testing.T
	url    string
	over   obj
	msgs   []any
	header []string
}

func (k *talk) send(m ...any) got {
	k.t.Helper()
	k.msgs = append(k.msgs, m...)
	over := maps.Clone(k.over)
	if over == nil {
		over = obj{}
	}
	over["messages"] = k.msgs
	g := post(k.t, k.url, base(over), k.header...)
	if g.status == 200 {
		blocks, _, _ := g.message(k.t)
		k.msgs = append(k.msgs, assistant(blocks...))
	}
	return g
}

func (k *talk) block(msg, i int) obj {
	return k.msgs[msg].(obj)["content"].([]any)[i].(obj)
}

func thinkScript() *Script {
	call := func(id string) Answer {
		return Answer{Blocks: []Block{{Thinking: "think " + id}, {Text: "I look."}, {Redacted: true, Thinking: "secret"}, {Tool: "A", ID: id}}}
	}
	return Sequence(call("t1"), call("t2"), Answer{Blocks: []Block{{Thinking: "last"}, {Text: "done"}}}, Text("more"), Text("more"), Text("more"))
}

// conversation runs a whole tool loop: user, call, result, call, result, answer.
func conversation(t *testing.T, over obj, header ...string) (*Server, *talk) {
	t.Helper()
	s, url := start(t, Options{Script: thinkScript()})
	k := &talk{t: t, url: url, over: over, header: header}
	for _, m := range []obj{user(text("hi")), user(result("t1", "r1")), user(result("t2", "r2"))} {
		if g := k.send(m); g.status != 200 {
			t.Fatal(g.body)
		}
	}
	if bad := s.Violations(); len(bad) > 0 {
		t.Fatal(bad)
	}
	return s, k
}

func TestThinkingComesBackUnchanged(t *testing.T) {
	for _, display := range []string{"", "summarized", "omitted"} {
		over := obj{"thinking": obj{"type": "adaptive"}}
		if display != "" {
			over = obj{"thinking": obj{"type": "adaptive", "display": display}}
		}
		s, k := conversation(t, over)
		want := "think t1"
		if display != "summarized" {
			want = ""
		}
		if got := k.block(1, 0)["thinking"]; got != want {
			t.Errorf("display %q shows %q", display, got)
		}
		k.over["output_config"] = obj{"effort": "low"} // may change between requests
		if g := k.send(user(text("go on"))); g.status != 200 {
			t.Errorf("display %q: %s", display, g.body)
		}
		if len(s.Violations()) > 0 {
			t.Error(s.Violations())
		}
	}
}

func TestThinkingMismatch(t *testing.T) {
	summarized := obj{"thinking": obj{"type": "adaptive", "display": "summarized"}}
	dropBlock := func(k *talk, msg, i int) {
		m := k.msgs[msg].(obj)
		m["content"] = slices.Delete(slices.Clone(m["content"].([]any)), i, i+1)
	}
	strip := func(k *talk, from int) {
		for _, m := range k.msgs[from:] {
			m.(obj)["content"] = slices.DeleteFunc(slices.Clone(m.(obj)["content"].([]any)), func(b any) bool {
				return strings.Contains(b.(obj)["type"].(string), "thinking")
			})
		}
	}
	for _, tc := range []struct {
		name   string
		change func(k *talk)
		want   string // "" is good
	}{
		{"nothing", func(*talk) {}, ""},
		{"text of a block", func(k *talk) { k.block(1, 0)["thinking"] = "other" }, "messages.1.content.0: `thinking` or `redacted_thinking` blocks in the latest"},
		{"signature", func(k *talk) { k.block(3, 0)["signature"] = "AAAA" }, "messages.3.content.0: Invalid `signature` in `thinking` block"},
		{"redacted data", func(k *talk) { k.block(3, 2)["data"] = "AAAA" }, "messages.3.content.2: Invalid `signature` in `redacted_thinking` block"},
		{"system", func(k *talk) { k.over["system"] = "now with a system prompt" }, "messages.1.content.0: thinking block does not match"},
		{"tools", func(k *talk) { k.over["tools"] = []any{tool("A")} }, "messages.1.content.0: thinking"},
		{"deferred tool", func(k *talk) {
			k.over["tools"] = []any{obj{"name": "B", "defer_loading": true, "input_schema": obj{"type": "object"}}}
		}, "tools: At least one"},
		{"first user message", func(k *talk) { k.block(0, 0)["text"] = "hello" }, "messages.1.content.0: thinking"},
		{"old tool result", func(k *talk) { k.msgs[2] = user(result("t1", "[cleared]")) }, "messages.3.content.0: thinking"},
		{"old tool input", func(k *talk) { k.block(1, 3)["input"] = obj{"x": 1} }, "messages.3.content.0: thinking"},
		{"reminder added to an old turn", func(k *talk) { k.msgs[2] = user(result("t1", "r1"), text("reminder")) }, "messages.3.content.0: thinking"},
		{"text between blocks", func(k *talk) { k.block(1, 1)["text"] = "You look." }, "messages.1.content.2: thinking"},
		{"cache mark moved", func(k *talk) { k.block(0, 0)["cache_control"] = obj{"type": "ephemeral"} }, ""},
		{"content as string", func(k *talk) { k.msgs[0] = obj{"role": "user", "content": "hi"} }, ""},
		{"block out of the middle", func(k *talk) { dropBlock(k, 3, 0) }, "messages.3.content.1: thinking"},
		{"first block", func(k *talk) { dropBlock(k, 1, 0) }, ""},
		{"last block", func(k *talk) { dropBlock(k, 5, 0) }, ""},
		{"all of it", func(k *talk) { strip(k, 0) }, ""},
		{"edit, and all from there on", func(k *talk) { k.msgs[2] = user(result("t1", "short")); strip(k, 3) }, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s, k := conversation(t, maps.Clone(summarized))
			tc.change(k)
			g := k.send(user(text("go on")))
			if tc.want == "" {
				if g.status != 200 || len(s.Violations()) > 0 {
					t.Fatal(g.body)
				}
				return
			}
			if g.status != 400 || !strings.Contains(g.body, tc.want) {
				t.Fatalf("%d %s", g.status, g.body)
			}
		})
	}
}

func TestThinkingMustComeBackInToolTurn(t *testing.T) {
	s, url := start(t, Options{Script: thinkScript()})
	k := &talk{t: t, url: url}
	k.send(user(text("hi")))
	m := k.msgs[1].(obj)
	whole := m["content"].([]any)
	m["content"] = whole[1:]
	if g := k.send(user(result("t1", "r"))); g.status != 400 || !strings.Contains(g.body, "every thinking block must be passed back") {
		t.Fatalf("%d %s", g.status, g.body)
	}
	// After such a refusal a client may strip all thinking once and go on.
	m["content"] = []any{whole[1], whole[3]}
	if g := k.send(); g.status != 200 {
		t.Fatal(g.body)
	}
	if n := len(s.Violations()); n != 1 {
		t.Errorf("%d violations", n)
	}
}

func TestThinkingDropBlock(t *testing.T) {
	over := obj{"thinking": obj{"type": "adaptive", "block_binding": obj{"prefix_mismatch_behavior": "drop_block"}}}
	s, k := conversation(t, over, "anthropic-beta", bindingBeta)
	k.msgs[2] = user(result("t1", "changed"))
	g := k.send(user(text("go on")))
	want := `"input_transformations":[{"path":"messages.3.content.0","reason":"prefix_binding_mismatch","type":"thinking_dropped"},{"path":"messages.3.content.2"`
	if g.status != 200 || !strings.Contains(g.body, want) {
		t.Fatalf("%d %s", g.status, g.body)
	}
	calls := s.Calls("")
	if diff := cmp.Diff([]string{"messages.3.content.0", "messages.3.content.2", "messages.5.content.0"}, calls[len(calls)-1].Dropped); diff != "" {
		t.Error(diff)
	}
}

func TestThinkingOfAnotherModel(t *testing.T) {
	s, k := conversation(t, obj{"model": "claude-opus-5-5"})
	k.over["model"] = "claude-haiku-4-5" // cannot read it: dropped without an error
	if g := k.send(user(text("go on"))); g.status != 200 {
		t.Fatal(g.body)
	}
	k.over["model"] = "claude-opus-5-5" // and readable again
	if g := k.send(user(text("go on"))); g.status != 200 {
		t.Fatal(g.body)
	}
	calls := s.Calls("")
	if len(calls[3].Dropped) != 5 || len(calls[4].Dropped) != 0 || len(s.Violations()) > 0 {
		t.Errorf("dropped %v, then %v; %v", calls[3].Dropped, calls[4].Dropped, s.Violations())
	}
}

func TestModelWithoutBinding(t *testing.T) {
	s, k := conversation(t, obj{"model": "claude-opus-4-8", "thinking": obj{"type": "adaptive"}})
	k.block(0, 0)["text"] = "hello"
	if g := k.send(user(text("go on"))); g.status != 200 || len(s.Violations()) > 0 {
		t.Fatal(g.body)
	}
}

// A signature is good on another server too, as after a restart.
func TestSignatureOutlivesTheServer(t *testing.T) {
	_, k := conversation(t, nil)
	_, url := start(t, Options{Script: Sequence(Text("x"))})
	k.url = url
	if g := k.send(user(text("go on"))); g.status != 200 {
		t.Fatal(g.body)
	}
}
