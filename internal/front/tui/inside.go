package tui

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"lathe/internal/event"
	"lathe/internal/front/tui/width"
	"lathe/internal/msg"
)

// inner is what the sub-agent of one call did, for the transcript. A call of a sub-agent's own has one too.
type inner struct {
	items []item
	calls map[string]*innerCall // that have no result yet
}

// cutOff says of the calls that have no result that none will come.
func (in *inner) cutOff() {
	for _, id := range slices.Sorted(maps.Keys(in.calls)) {
		c := in.calls[id]
		in.items = append(in.items, item{kind: kindTool, id: id, name: c.name, summary: c.summary, input: c.input, isError: true, text: "cut off"})
	}
	clear(in.calls)
}

// innerCall is a call of a sub-agent that runs.
type innerCall struct {
	name, summary string
	input         json.RawMessage
	done          event.ToolDone
}

// innerOf is what the sub-agent of a call did; it is made where there is none.
func (u *ui) innerOf(call string) *inner {
	in := u.inners[call]
	if in == nil {
		in = &inner{calls: map[string]*innerCall{}}
		if u.inners == nil {
			u.inners = map[string]*inner{}
		}
		u.inners[call] = in
	}
	return in
}

// keepInside keeps what a sub-agent does for the transcript.
func (u *ui) keepInside(env event.Envelope) {
	switch e := env.Event.(type) {
	case event.ToolStarted:
		u.innerOf(env.Parent).calls[e.ID] = &innerCall{name: e.Name, summary: e.Summary, input: e.Input}
	case event.ToolDone:
		if c := u.innerOf(env.Parent).calls[e.ID]; c != nil {
			c.done = e
		}
	case event.Denied:
		in := u.innerOf(env.Parent)
		delete(in.calls, e.ID)
		in.items = append(in.items, item{
			kind: kindTool, id: e.ID, name: e.Name, summary: summaryOf(e.Name, e.Input), input: e.Input, isError: true,
			text: "denied: " + e.Decision.Reason, decision: e.Decision,
		})
	case event.Message:
		u.innerOf(env.Parent).message(e.Msg)
	}
}

// message takes a message of the sub-agent.
func (in *inner) message(m msg.Message) {
	for _, b := range m.Blocks {
		switch {
		case b.Type == msg.TypeToolResult:
			in.result(b, m)
		case b.Type == msg.TypeToolUse:
			if in.calls[b.ID] == nil {
				in.calls[b.ID] = &innerCall{name: b.Name, input: b.Input}
			}
		case strings.TrimSpace(b.Text) == "" || m.Kind == msg.KindUser && (m.Meta || m.SourceAssistant != ""):
		case b.Type == msg.TypeThinking:
			in.items = append(in.items, item{kind: kindThinking, text: b.Text})
		case b.Type == msg.TypeText && m.Kind == msg.KindAssistant:
			in.items = append(in.items, item{kind: kindText, text: b.Text})
		case b.Type == msg.TypeText && m.Kind == msg.KindUser:
			in.items = append(in.items, item{kind: kindUser, text: b.Text})
		}
	}
}

func (in *inner) result(b msg.Block, m msg.Message) {
	for i := range in.items {
		if in.items[i].id == b.ToolUseID { // a denied call was shown already
			return
		}
	}
	it := item{kind: kindTool, id: b.ToolUseID, isError: b.IsError, text: msg.JoinText(b.Content), output: m.ToolOutput}
	if c := in.calls[b.ToolUseID]; c != nil {
		it.name, it.summary, it.input, it.dur, it.decision = c.name, c.summary, c.input, c.done.Dur, c.done.Decision
		delete(in.calls, b.ToolUseID)
	}
	in.items = append(in.items, it)
}

// innerSize counts what sub-agents did under a call, at every depth: what was drawn of it is old when it has changed.
func (u *ui) innerSize(call string, depth int) int {
	in := u.inners[call]
	if in == nil || depth > innerDepth {
		return 0
	}
	n := len(in.items)
	for i := range in.items {
		if id := in.items[i].id; id != "" {
			n += u.innerSize(id, depth+1)
		}
	}
	for id := range in.calls {
		n += u.innerSize(id, depth+1)
	}
	return n + len(in.calls)<<20
}

// innerDepth bounds how deep sub-agents are looked for: more than there can be.
const innerDepth = 10

// renderInner shows what the sub-agent of a call did, with everything in full, along a bar.
func (u *ui) renderInner(call string) []width.Line {
	in := u.inners[call]
	if in == nil {
		return nil
	}
	delete(u.inners, call) // a call does not stand within itself, whatever its ids say
	defer func() { u.inners[call] = in }()
	bar := "  " + u.th.Faint.Paint("│") + " "
	var out []width.Line
	for i := range in.items {
		for _, l := range u.render(&in.items[i], true) {
			l.Text, l.Hang = bar+l.Text, bar+l.Hang
			out = append(out, l)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(in.calls)) {
		c := in.calls[id]
		out = append(out, width.Line{Text: bar + u.th.Accent.Paint("▸") + " " + u.th.Strong.Paint(width.Inert(c.name)) + " " + width.Inert(callText(c.name, c.summary, c.input)), Hang: bar})
		for _, l := range u.renderInner(id) {
			l.Text, l.Hang = bar+l.Text, bar+l.Hang
			out = append(out, l)
		}
	}
	return out
}

// innerHolds reports whether a text, in small letters, stands in what sub-agents did under a call.
func (u *ui) innerHolds(call, text string) bool {
	for _, l := range u.renderInner(call) {
		if strings.Contains(strings.ToLower(width.Strip(l.Text)), text) {
			return true
		}
	}
	return false
}

// innerRuns is above zero while calls run, and another number when they did something.
func (u *ui) innerRuns() int {
	n := 0
	for _, t := range u.work.tools {
		if t.done == nil {
			n += 1<<40 + t.got + u.innerSize(t.id, 0)
		}
	}
	return n
}

// innerRows are the rows of calls that run.
func (f *fullView) innerRows(u *ui) []width.Row {
	if n := u.innerRuns(); f.running.inner != n || f.running.cols != f.cols {
		f.running = cached{rows: allRows(u.runningInner(), f.cols-1), cols: f.cols, inner: n}
	}
	return f.running.rows
}

// runningInner are the calls that run, for the end of the transcript: what they are given, what they have said so far, and what
// sub-agents did.
func (u *ui) runningInner() []width.Line {
	var out []width.Line
	for _, t := range u.work.tools {
		if t.done != nil {
			continue
		}
		line := u.th.Accent.Paint("▸") + " " + u.th.Strong.Paint(width.Inert(t.name)) + " " + width.Inert(callText(t.name, t.summary, t.input))
		out = append(out, width.Line{}, width.Line{Text: line, Hang: "  "})
		if t.got > len(t.output) {
			out = append(out, width.Line{Text: u.th.Faint.Paint("  … what came before is in its result, once it ends")})
		}
		lines, _ := head(event.Inert(strings.ToValidUTF8(string(t.output), "")), 1<<30)
		for _, l := range lines {
			out = append(out, width.Line{Text: "  " + u.th.Muted.Paint(width.Tabs(l)), Hang: "  "})
		}
		out = append(out, u.renderInner(t.id)...)
	}
	return out
}

// askInner asks once for what sub-agents did before this program saw them: in earlier runs of the session.
func (u *ui) askInner() {
	if u.innerAsked {
		return
	}
	u.innerAsked = true
	u.query("screen_agents", map[string]any{}, func(r event.Reply) {
		var list []struct {
			Call     string        `json:"call"`
			Messages []msg.Message `json:"messages"`
		}
		if r.Err != "" || json.Unmarshal(r.Value, &list) != nil {
			return
		}
		for _, a := range list {
			if u.inners[a.Call] != nil { // it was seen as it came
				continue
			}
			in := u.innerOf(a.Call)
			for _, m := range a.Messages {
				in.message(m)
			}
			in.cutOff()
		}
	})
}
