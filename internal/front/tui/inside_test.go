package tui

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"lathe/internal/event"
	"lathe/internal/front/tui/width"
	"lathe/internal/msg"
	"lathe/internal/perm"
)

// shownInside is what the transcript shows below a call, without colours.
func shownInside(u *ui, call string) string {
	var b strings.Builder
	for _, l := range u.renderInner(call) {
		b.WriteString(width.Strip(l.Text) + "\n")
	}
	return b.String()
}

// A sub-agent's calls are shown as running until they have a result or are denied, each once, at every depth.
func TestInsideCalls(t *testing.T) {
	now := time.Unix(1e9, 0)
	u := bare(&now)
	from := func(parent string, e event.Event) { u.keepInside(event.Envelope{Parent: parent, Event: e}) }
	says := func(blocks ...msg.Block) event.Message {
		return event.Message{Msg: msg.Message{Kind: msg.KindAssistant, Blocks: blocks}}
	}
	result := func(id, text string, failed bool) event.Message {
		return event.Message{Msg: msg.Message{Kind: msg.KindUser, SourceAssistant: "a", Blocks: []msg.Block{msg.ToolResult(id, failed, msg.Text(text))}}}
	}
	in := json.RawMessage(`{"command":"make it"}`)
	from("outer", says(msg.ToolUse("c1", "Bash", in), msg.ToolUse("c2", "Bash", json.RawMessage(`{"command":"rm all"}`)), msg.ToolUse("c3", "Agent", json.RawMessage(`{"prompt":"dig"}`))))
	from("outer", event.ToolStarted{ID: "c1", Name: "Bash", Summary: "make it", Input: in})
	from("outer", event.Denied{ID: "c2", Name: "Bash", Input: json.RawMessage(`{"command":"rm all"}`), Decision: perm.Decision{Reason: "a rule says no"}})
	from("c3", says(msg.Text("deep words")))
	size := u.innerSize("outer", 0)
	text := shownInside(u, "outer")
	if strings.Count(text, "▸") != 2 || strings.Count(text, "rm all") != 1 || !strings.Contains(text, "denied: a rule says no") || !strings.Contains(text, "│   │ deep words") {
		t.Errorf("%s", text)
	}
	from("outer", event.ToolDone{ID: "c1", Dur: time.Second})
	from("outer", result("c1", "made", false))
	from("outer", result("c2", "a rule says no", true))
	from("outer", result("c3", "it was dug", false))
	text = shownInside(u, "outer")
	if strings.Contains(text, "▸") || strings.Count(text, "rm all") != 1 || !strings.Contains(text, "made") || !strings.Contains(text, "it was dug") || !strings.Contains(text, "deep words") {
		t.Errorf("%s", text)
	}
	if u.innerSize("outer", 0) == size {
		t.Error("what was drawn before counts as the same")
	}
	if !u.innerHolds("outer", "deep") || u.innerHolds("outer", "deeper") || u.innerHolds("other", "deep") {
		t.Error("the search finds other words")
	}
}

// What an earlier run was cut off in says so, and a call that names itself ends.
func TestInsideCutOff(t *testing.T) {
	now := time.Unix(1e9, 0)
	u := bare(&now)
	in := u.innerOf("outer")
	in.message(msg.Message{Kind: msg.KindAssistant, Blocks: []msg.Block{msg.ToolUse("outer", "Bash", json.RawMessage(`{"command":"sleep"}`))}})
	if text := shownInside(u, "outer"); strings.Count(text, "▸ Bash") != 1 {
		t.Errorf("%s", text)
	}
	in.cutOff()
	if text := shownInside(u, "outer"); !strings.Contains(text, "cut off") || strings.Contains(text, "▸") {
		t.Errorf("%s", text)
	}
}
