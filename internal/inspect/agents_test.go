package inspect

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"lathe/internal/msg"
)

// said is an answer of one request with calls of tools.
func said(at int, api string, calls ...string) msg.Message {
	m := msg.Message{Kind: msg.KindAssistant, Time: noon.Add(time.Duration(at) * time.Second), APIID: api, Model: "m", Usage: &msg.Usage{Input: 10, Output: 1}}
	for _, c := range calls {
		m.Blocks = append(m.Blocks, msg.Block{Type: msg.TypeToolUse, ID: c, Name: "Agent"})
	}
	return m
}

func told(call, output string) msg.Message {
	return msg.Message{Kind: msg.KindUser, ToolOutput: []byte(output), Blocks: []msg.Block{{Type: msg.TypeToolResult, ToolUseID: call}}}
}

// Whatever the transcripts of sub-agents say of what began them, also nothing, or what contradicts the others, each
// request is listed once, and the sums hold.
func TestSubAgentsFindTheirPlace(t *testing.T) {
	main := []msg.Message{
		said(1, "m1", "c1", "c2"),
		told("c1", `{"agentId":"x","status":"completed"}`),
		said(10, "m2", "c3"),
		told("c3", `{"agentId":"x","resumed":true}`),
		said(20, "m3"),
	}
	for _, c := range []struct {
		name   string
		agents []AgentInput
		want   string
	}{
		{"none", nil, "1 2 3"},
		{"by its record", []AgentInput{{ID: "y", Call: "c2", Messages: []msg.Message{said(3, "y1"), said(4, "y2")}}}, "1 a1.1 a1.2 2 3"},
		{"by a result", []AgentInput{{ID: "x", Messages: []msg.Message{said(3, "x1")}}}, "1 a1.1 2 3"},
		{"went on", []AgentInput{{ID: "x", Call: "c1", Messages: []msg.Message{said(3, "x1"), said(12, "x2")}}}, "1 a1.1 2 a1.2 3"},
		{"side by side", []AgentInput{
			{ID: "y", Call: "c2", Messages: []msg.Message{said(4, "y1"), said(6, "y2")}}, {ID: "x", Call: "c1", Messages: []msg.Message{said(3, "x1"), said(5, "x2")}},
		}, "1 a1.1 a1.2 a2.1 a2.2 2 3"},
		{"nested", []AgentInput{
			{ID: "x", Call: "c1", Messages: []msg.Message{said(3, "x1", "deep"), said(6, "x2")}}, {ID: "z", Call: "deep", Parent: "x", Messages: []msg.Message{said(4, "z1")}},
		}, "1 a1.1 a2.1 a1.2 2 3"},
		{"by nobody", []AgentInput{{ID: "h", Call: "hook-1", Messages: []msg.Message{said(3, "h1"), said(15, "h2")}}}, "1 a1.1 2 a1.2 3"},
		{"without a request", []AgentInput{{ID: "e", Call: "c1"}}, "1 2 3"},
		{"in a circle", []AgentInput{
			{ID: "p", Call: "q-call", Parent: "q", Messages: []msg.Message{said(3, "p1", "p-call")}}, {ID: "q", Call: "p-call", Parent: "p", Messages: []msg.Message{said(4, "q1", "q-call")}},
		}, "1 2 3 a1.1 a2.1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			in := Input{
				Messages: main, Agents: c.agents, Cost: func(string, msg.Usage) float64 { return 0.5 },
				Count: func(string, msg.Message) int { return 1 }, Missed: func(msg.Usage, msg.Usage) bool { return false },
			}
			in.Kept.Cost = 100
			s := Build(in)
			var labels []string
			for _, r := range s.All() {
				labels = append(labels, r.Label)
			}
			if d := cmp.Diff(c.want, strings.Join(labels, " ")); d != "" {
				t.Error(d)
			}
			rest := s.Parts[len(s.Parts)-1]
			if s.Cost != 100 || rest.Kind != PartRest || rest.Cost != 100-0.5*float64(len(labels)) {
				t.Errorf("cost %v, of which %+v is not listed", s.Cost, rest)
			}
			for _, l := range labels {
				if r := s.Find(l); r == nil || r.Label != l {
					t.Errorf("%s is listed, but not found", l)
				}
			}
		})
	}
}

// What only looks like it sets nobody to work: without a word of a beginning, without an agent, cut off, or of another form.
func TestSetToWork(t *testing.T) {
	for output, want := range map[string]int{
		`{"agentId":"x","status":"completed"}`: 1, `{"agentId":"x","resumed":true}`: 1, `{"agentId":"x"}`: 0, `{"agentId":"","status":"completed"}`: 0,
		`{"agentId":"x","status":"completed"`: 0, `{"agentId":"x","status":"completed","resumed":"yes"}`: 0, `{"status":"completed"}`: 0,
	} {
		got := SetToWork([]msg.Message{said(1, "m1", "c1"), told("c1", output)}, nil)
		if n := len(got["x"]) + len(got[""]); n != want || want == 1 && got["x"][0].ID != "c1" {
			t.Errorf("%s: %v", output, got)
		}
	}
}

// An agent is headed once for each call that set it to work, and what was asked on the side has no heading.
func TestAgentsAreHeadedOnce(t *testing.T) {
	main := []msg.Message{said(1, "m1", "c1", "c2"), told("c1", `{"agentId":"x","status":"completed"}`), said(10, "m2", "c3"), told("c3", `{"agentId":"x","resumed":true}`), said(20, "m3")}
	s := Build(Input{
		Messages: main, Cost: func(string, msg.Usage) float64 { return 0.5 },
		Count: func(string, msg.Message) int { return 1 }, Missed: func(msg.Usage, msg.Usage) bool { return false },
		Agents: []AgentInput{
			{ID: "x", Call: "c1", Messages: []msg.Message{said(3, "x1"), said(4, "x2"), said(12, "x3"), said(13, "x4")}},
			{ID: "y", Call: "c2", Messages: []msg.Message{said(5, "y1"), said(6, "y2")}},
			{ID: "z", Call: "c2", Messages: []msg.Message{said(7, "z1")}},
		},
	})
	var b strings.Builder
	s.Text(&b)
	if got := strings.Count(b.String(), "↳"); got != 4 || strings.Count(b.String(), "goes on after a message") != 1 {
		t.Errorf("%d headings:\n%s", got, b.String())
	}
	for _, r := range s.All() {
		r.For = "title"
	}
	b.Reset()
	s.Text(&b)
	if strings.Contains(b.String(), "↳") {
		t.Errorf("calls on the side have headings:\n%s", b.String())
	}
}
