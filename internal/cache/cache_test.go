package cache

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"lathe/internal/msg"
	"lathe/internal/provider"
	"lathe/internal/provider/wire"
)

// conversation is a request of n messages, marked where the product marks it.
func conversation(n int) *provider.Request {
	r := &provider.Request{
		Model: "claude-opus-4-5", MaxTokens: 1000, Effort: "high", Thinking: provider.Thinking{Type: "adaptive"},
		System: []msg.Block{msg.Text("Be careful."), msg.Text("Here and now.")},
		Tools:  []msg.ToolDef{{Name: "Read", Description: "Reads.", InputSchema: json.RawMessage(`{"type":"object"}`)}},
	}
	for i := range n {
		m := provider.Message{Role: msg.RoleUser, Content: []msg.Block{msg.Text(fmt.Sprintf("message %d, cache_control and all", i))}}
		if i%2 == 1 {
			m.Role = msg.RoleAssistant
			m.Content = append([]msg.Block{{Type: msg.TypeThinking, Text: "hm", Signature: "s"}}, m.Content...)
		}
		r.Messages = append(r.Messages, m)
	}
	mark(r)
	return r
}

func mark(r *provider.Request) {
	r.Breakpoints = []provider.Breakpoint{{At: provider.AtSystem, Index: 1}}
	last := len(r.Messages) - 1
	if last >= 2 {
		r.Breakpoints = append(r.Breakpoints, provider.Breakpoint{At: provider.AtMessage, Index: last - 2})
	}
	r.Breakpoints = append(r.Breakpoints, provider.Breakpoint{At: provider.AtMessage, Index: last, Block: len(r.Messages[last].Content) - 1})
}

func names(r *provider.Request) []string {
	var out []string
	for _, m := range r.Messages {
		out = append(out, string(msg.AppendBlocks(nil, m.Content)))
	}
	return out
}

var noon = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

// Each row changes one thing on the way from one request to the next, as the stage that is named would.
func TestExplain(t *testing.T) {
	type want struct{ Cause, Stage, Where, Text string }
	cases := []struct {
		name   string
		change func(r *provider.Request)
		view   func(names []string) []string // what compact made of it
		gap    time.Duration
		read   int
		want   want
	}{
		{name: "prompt: a tool", change: func(r *provider.Request) { r.Tools[0].Description = "Reads a file." }, want: want{Tools, "prompt", "tools[0]", "tools[0] differs from byte 35 on"}},
		{name: "prompt: a tool more", change: func(r *provider.Request) { r.Tools = append(r.Tools, msg.ToolDef{Name: "Late"}) }, want: want{Tools, "prompt", "system[0]", "system[0] is no longer there: tools[1] stands in its place"}},
		{name: "prompt: system", change: func(r *provider.Request) { r.System[1] = msg.Text("Here and then.") }, want: want{System, "prompt", "system[1]", "system[1] differs from byte 32 on"}},
		{name: "settings: model", change: func(r *provider.Request) { r.Model = "claude-haiku-4-5" }, want: want{Model, "settings", "", "the model changed from claude-opus-4-5 to claude-haiku-4-5"}},
		{name: "settings: thinking", change: func(r *provider.Request) { r.Thinking.Type = "disabled" }, want: want{Setting, "settings", "thinking", `thinking changed from {"type":"adaptive"} to {"type":"disabled"}`}},
		{name: "settings: effort", change: func(r *provider.Request) { r.Effort = "low" }, want: want{Setting, "settings", "output_config", "output_config changed from"}},
		{name: "settings: caching off", change: func(r *provider.Request) { r.Breakpoints = nil }, want: want{Unmarked, "settings", "", "the request has no cache marks"}},
		{
			name: "compact: a result shortened", change: func(r *provider.Request) { r.Messages[2].Content = []msg.Block{msg.Text("message gone")} },
			view: func(n []string) []string { n[2] = "short"; return n },
			want: want{Message, "compact", "messages[2].content[0]", "messages[2].content[0] differs from byte 31 on"},
		},
		{
			name: "normalize: a block added", change: func(r *provider.Request) {
				r.Messages[0].Content = append(r.Messages[0].Content, msg.Text("late"))
			},
			view: func([]string) []string { return nil },
			want: want{Message, "normalize", "messages[1].content[0]", "messages[1].content[0] is no longer there: messages[0].content[1] stands in its place"},
		},
		{
			name: "model: thinking dropped", change: func(r *provider.Request) { r.Messages[1].Content = r.Messages[1].Content[1:] },
			want: want{Message, "normalize", "messages[1].content[0]", "the thinking in messages[1].content[0] is no longer sent"},
		},
		{name: "session: cut", change: func(r *provider.Request) { r.Messages = r.Messages[:3]; mark(r) }, want: want{Message, "session", "messages[3].content[0]", "messages[3].content[0] is gone"}},
		{name: "time", gap: 6 * time.Minute, want: want{Expired, "", "", "6m0s went by since the request before, and what it put into the cache lives for 5m0s"}},
		{
			name: "normalize: marks too far", change: func(r *provider.Request) {
				for range 30 {
					last := &r.Messages[len(r.Messages)-1]
					last.Content = append(last.Content, msg.Text("more"))
				}
				r.Breakpoints = nil
				last := len(r.Messages) - 1
				r.Breakpoints = append(r.Breakpoints, provider.Breakpoint{At: provider.AtMessage, Index: last, Block: len(r.Messages[last].Content) - 1})
			}, want: want{Lookback, "normalize", "", "no mark of this request stands within 20 blocks"},
		},
		{name: "the server", want: want{Server, "", "", "nothing in the request changed"}},
		{name: "little lost", read: 19_500, want: want{None, "", "", ""}},
		{name: "little more than that", read: 17_900, want: want{Server, "", "", "nothing in the request changed"}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			before, after := conversation(5), conversation(7)
			if c.change != nil {
				c.change(after)
			}
			gap := max(c.gap, time.Second)
			prev := Sent{Body: wire.AppendRequest(nil, before), At: noon, Model: before.Model, Usage: msg.Usage{CacheRead: 5000, CacheWrite: 15_000}}
			next := Sent{Body: wire.AppendRequest(nil, after), At: noon.Add(gap), Model: after.Model, Usage: msg.Usage{CacheRead: c.read, CacheWrite: 22_000}}
			m := Explain(prev, next)
			a, b := Lists{Request: names(before)}, Lists{Request: names(after)}
			a.Messages, b.Messages = names(conversation(5)), names(conversation(len(after.Messages)))
			a.View, b.View = a.Messages, b.Messages
			if c.view != nil {
				b.View = append(c.view(names(conversation(5))), b.Messages[min(5, len(b.Messages)):]...)
				if c.view(names(conversation(5))) == nil {
					b.View = b.Messages
				}
			}
			m.Blame(a, b)
			got := want{m.Cause, m.Stage, m.Where, m.Text}
			if strings.HasPrefix(got.Text, c.want.Text) {
				got.Text = c.want.Text
			}
			if d := cmp.Diff(c.want, got); d != "" {
				t.Error(d)
			}
			if m.Cause == Message && m.BodyAt > 0 && !strings.Contains(string(next.Body[max(0, m.BodyAt-24):]), m.After) {
				t.Errorf("byte %d of the body is not where %q stands", m.BodyAt, m.After)
			}
			if c.want.Cause != None && (m.Lost != 20_000-c.read || m.Expected != 20_000) {
				t.Errorf("lost %d of %d", m.Lost, m.Expected)
			}
		})
	}
}

func TestExplainWithoutRequests(t *testing.T) {
	m := Explain(Sent{At: noon, Usage: msg.Usage{CacheWrite: 9000}}, Sent{At: noon.Add(time.Hour)})
	if m.Cause != Unknown || !strings.Contains(m.Text, "more than the usual lifetime") {
		t.Errorf("%+v", m)
	}
}

func TestInstead(t *testing.T) {
	u := msg.Usage{Input: 100, CacheWrite: 900, CacheRead: 50, Output: 7, CacheCreation: &msg.CacheCreation{FiveMinutes: 400, OneHour: 500}}
	got := Instead(u, 950)
	want := msg.Usage{Input: 50, CacheRead: 1000, Output: 7, CacheCreation: &msg.CacheCreation{}}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func FuzzExplain(f *testing.F) {
	f.Add(wire.AppendRequest(nil, conversation(3)), wire.AppendRequest(nil, conversation(5)))
	f.Add([]byte(`{"messages":[{"role":"user","content":"x"}],"system":"s"}`), []byte(`{"tools":[],"messages":[]}`))
	f.Fuzz(func(t *testing.T, a, b []byte) {
		Explain(Sent{Body: a, Usage: msg.Usage{CacheWrite: 9000}}, Sent{Body: b})
	})
}

// A process that takes a session up behind a compaction begins with its summary.
func TestBlameSummary(t *testing.T) {
	cases := []struct {
		name       string
		prev, next Lists
		want       string
	}{
		{"compacted", Lists{Messages: []string{"a", "b"}}, Lists{Messages: []string{"sum", "c"}, Summary: true}, "compact"},
		{"undone", Lists{Messages: []string{"sum"}, Summary: true}, Lists{Messages: []string{"a", "b"}}, "compact"},
		{"another branch behind the same one", Lists{Messages: []string{"sum", "b"}, Summary: true}, Lists{Messages: []string{"sum", "c"}, Summary: true}, "session"},
		{"another branch", Lists{Messages: []string{"a", "b"}}, Lists{Messages: []string{"a", "c"}}, "session"},
	}
	for _, c := range cases {
		m := Miss{Cause: Message}
		if m.Blame(c.prev, c.next); m.Stage != c.want {
			t.Errorf("%s: %s, want %s", c.name, m.Stage, c.want)
		}
	}
}
