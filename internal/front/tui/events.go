package tui

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"lathe/internal/event"
	"lathe/internal/front/tui/width"
	"lathe/internal/msg"
)

// work is the turn that runs, as far as it is shown.
type work struct {
	running   bool
	since     time.Time
	lastByte  time.Time // when the model's stream last said something
	phase     string    // what it waits for
	sent      int       // tokens of the request, estimated
	got       int       // bytes of the answer
	retry     event.Retry
	retryAt   time.Time // when the next try begins; zero: none is waited for
	tools     []*toolRun
	stream    streamer // of the answer that comes; nil between answers
	streamed  strings.Builder
	lines     []width.Line // of the answer that comes, as far as they are final
	thinking  int          // bytes
	thinkFrom time.Time
	calls     []msg.Block // that the model made in this turn
}

// call finds a call of the turn.
func (w *work) call(id string) (msg.Block, bool) {
	for _, b := range w.calls {
		if b.ID == id {
			return b, true
		}
	}
	return msg.Block{}, false
}

// toolRun is a call that runs.
type toolRun struct {
	id, name, summary string
	input             json.RawMessage
	since             time.Time
	output            []byte // its end, at most twice keepOutput
	got               int    // bytes of output so far
	inside            string // what a sub-agent does
	done              *event.ToolDone
}

// keepOutput is how much of the live output of a running call is kept at least.
const keepOutput = 256 << 10

func (u *ui) busy() bool { return u.work.running || len(u.work.tools) > 0 }

// event takes one event of the session.
func (u *ui) event(env event.Envelope) {
	if env.Parent != "" {
		u.inside(env)
		return
	}
	switch e := env.Event.(type) {
	case event.Ready:
		u.ready(e)
	case event.Notice:
		u.notice(e.Level, e.Text)
	case event.TaskDone:
		u.taskDone(e)
	case event.Reply:
		if then := u.replies[e.ID]; then != nil {
			delete(u.replies, e.ID)
			then(e)
		}
	case event.State:
		u.state(e.State)
	case event.Ask:
		u.asked(e, env.Agent)
	case event.AskWithdrawn:
		u.withdraw(e.ID)
	case event.ModeChanged:
		u.status.mode = e.Mode
		u.refresh()
	case event.ModelChanged:
		u.status.model = e.Model
		if e.Reason != "" {
			u.notice("info", e.Reason)
		}
	case event.CommandsChanged:
		var list []command
		if json.Unmarshal(e.Commands, &list) == nil {
			u.takeCommands(list)
		}
	case event.ConversationReset:
		u.reset(e)
	case event.Call:
		u.called(e)
	case event.CallCancelled:
		u.uncalled(e.ID)
	default:
		u.turnEvent(env)
	}
}

// turnEvent takes an event of the turn that runs. What stages and hooks tell of themselves is not shown.
func (u *ui) turnEvent(env event.Envelope) {
	switch e := env.Event.(type) {
	case event.TurnStarted:
		u.work = work{running: true, since: env.Time, lastByte: env.Time, phase: "preparing", tools: u.work.tools}
		u.unqueue(e.Prompt.ID, false)
	case event.Message:
		u.message(e.Msg, "")
	case event.Requesting:
		u.work.phase, u.work.sent, u.work.got, u.work.lastByte, u.work.retryAt = "waiting for "+e.Model, e.Tokens, 0, env.Time, time.Time{}
	case event.Stream:
		u.stream(e, env.Time)
	case event.Discarded:
		u.discarded(e)
	case event.Retry:
		u.work.retry, u.work.retryAt = e, env.Time.Add(e.Delay)
	case event.ToolStarted:
		u.work.phase = ""
		u.work.tools = append(u.work.tools, &toolRun{id: e.ID, name: e.Name, summary: e.Summary, input: e.Input, since: env.Time})
	case event.ToolProgress:
		if t := u.tool(e.ID); t != nil {
			t.got += len(e.Text)
			t.output = append(t.output, e.Text...)
			if len(t.output) > 2*keepOutput {
				t.output = append(t.output[:0], t.output[len(t.output)-keepOutput:]...)
			}
		}
	case event.ToolDone:
		if t := u.tool(e.ID); t != nil {
			t.done = &e
		}
	case event.Denied:
		u.add(item{
			kind: kindTool, id: e.ID, name: e.Name, summary: summaryOf(e.Name, e.Input), input: e.Input, isError: true,
			text: "denied: " + e.Decision.Reason, decision: e.Decision,
		})
	case event.TurnDone:
		u.turnDone(e.Result)
	}
}

// reset shows the conversation that the session has become.
func (u *ui) reset(e event.ConversationReset) {
	u.closeStream()
	u.items, u.todos, u.status.used = nil, nil, 0
	u.inners, u.innerAsked = nil, false
	if u.full != nil {
		clear(u.full.cache)
		u.full.follow, u.full.sel = true, selection{}
	}
	u.session.ID = e.New
	u.lastKind = kindNotice
	u.print(width.Line{}, width.Line{Text: u.th.Faint.Paint(strings.Repeat("─", max(1, min(40, u.cols-1))))})
	if e.Trigger == "clear" {
		u.refresh()
		return
	}
	u.shownIDs = map[string]bool{}
	u.query("screen_messages", map[string]any{}, func(r event.Reply) {
		var list []msg.Message
		defer func() { u.shownIDs = nil }()
		if r.Err != "" || json.Unmarshal(r.Value, &list) != nil {
			return
		}
		list = slices.DeleteFunc(list, func(m msg.Message) bool { return u.shownIDs[m.ID] }) // came as events meanwhile
		u.earlier(list)
	})
	u.refresh()
}

func (u *ui) ready(e event.Ready) {
	u.status.model, u.status.mode = e.Model, e.PermissionMode
	if e.Cwd != "" {
		u.status.cwd = e.Cwd
	}
}

func (u *ui) tool(id string) *toolRun {
	for _, t := range u.work.tools {
		if t.id == id {
			return t
		}
	}
	return nil
}

// inside takes what a sub-agent does: its newest step is shown with its call.
func (u *ui) inside(env event.Envelope) {
	u.keepInside(env)
	t := u.tool(env.Parent)
	switch e := env.Event.(type) {
	case event.ToolStarted:
		if t != nil {
			t.inside = e.Name + " " + width.Inert(e.Summary)
		}
	case event.Ask:
		u.asked(e, env.Agent)
	case event.AskWithdrawn:
		u.withdraw(e.ID)
	case event.Notice:
		u.notice(e.Level, e.Text)
	case event.Message:
		for _, b := range e.Msg.Blocks {
			if b.Type == msg.TypeText && e.Msg.Kind == msg.KindAssistant && t != nil {
				t.inside = width.Inert(firstLine(b.Text))
			}
		}
	}
}

// stream takes a piece of the answer.
func (u *ui) stream(e event.Stream, at time.Time) {
	w := &u.work
	w.lastByte, w.retryAt, w.phase = at, time.Time{}, ""
	w.got += len(e.Text)
	switch {
	case e.Text == "":
	case e.Think:
		if w.thinking == 0 {
			w.thinkFrom = at
		}
		w.thinking += len(e.Text)
		w.phase = "thinking"
	default:
		if w.stream == nil {
			w.stream = u.newStream()
			u.gap(kindText)
		}
		w.streamed.WriteString(e.Text)
		done := w.stream.Write(e.Text)
		u.print(done...)
		if u.full != nil {
			w.lines = append(w.lines, done...)
		}
	}
}

// closeStream ends the answer that comes, with what has come of it.
func (u *ui) closeStream() {
	if u.work.stream == nil {
		return
	}
	u.print(u.work.stream.Close()...)
	u.items = append(u.items, item{kind: kindText, text: u.work.streamed.String()})
	u.lastKind = kindText
	u.work.stream, u.work.lines = nil, nil
	u.work.streamed.Reset()
	late := u.late
	u.late = nil
	for _, it := range late {
		u.add(it)
	}
}

func (u *ui) discarded(e event.Discarded) {
	if u.work.stream != nil {
		u.closeStream()
		u.notice("warning", "The answer above was cut off and is asked for again: "+e.Reason)
	}
	u.work.thinking = 0
}

// message takes a message that is on disk.
func (u *ui) message(m msg.Message, parent string) {
	if u.shownIDs != nil {
		u.shownIDs[m.ID] = true
	}
	switch m.Kind {
	case msg.KindUser:
		u.userMessage(m)
	case msg.KindAssistant:
		u.assistantMessage(m)
	case msg.KindSystem:
		u.systemMessage(m)
	case msg.KindSummary:
		if !m.Meta {
			u.notice("info", "Earlier parts of the conversation were summarised; ctrl+o shows the summary.")
		}
	}
}

func (u *ui) userMessage(m msg.Message) {
	var text strings.Builder
	for _, b := range m.Blocks {
		switch b.Type {
		case msg.TypeToolResult:
			u.toolResult(b, m)
		case msg.TypeText:
			text.WriteString(b.Text)
		case msg.TypeImage:
			text.WriteString("[image]")
		case msg.TypeDocument:
			text.WriteString("[document]")
		}
	}
	u.unqueue(m.ID, true)
	if it, ok := shellItem(text.String()); ok {
		u.add(it)
		return
	}
	if interruption(text.String()) {
		return
	}
	if text.Len() > 0 && !m.Meta && m.SourceAssistant == "" {
		said, _ := msg.Typed(text.String())
		u.add(item{kind: kindUser, text: said})
	}
}

func (u *ui) toolResult(b msg.Block, m msg.Message) {
	it := item{kind: kindTool, id: b.ToolUseID, isError: b.IsError, text: msg.JoinText(b.Content), output: m.ToolOutput}
	if t := u.tool(b.ToolUseID); t != nil {
		it.name, it.summary, it.input = t.name, t.summary, t.input
		if t.done != nil {
			it.dur, it.decision = t.done.Dur, t.done.Decision
		}
		for i, other := range u.work.tools {
			if other == t {
				u.work.tools = append(u.work.tools[:i:i], u.work.tools[i+1:]...)
				break
			}
		}
	} else if c, ok := u.work.call(b.ToolUseID); ok {
		it.name, it.input, it.summary = c.Name, c.Input, summaryOf(c.Name, c.Input)
	}
	if c, ok := u.work.call(b.ToolUseID); ok && !it.isError {
		it.changed = changedEdit(c.Input, m.ToolOutput)
	}
	if it.name == "TodoWrite" && !it.isError {
		u.todos = readTodos(it.input)
	}
	for _, c := range b.Content {
		if c.Type == msg.TypeImage {
			it.text += "[image]"
		}
	}
	if it.name == "" || u.shown(it.id) { // a denied call was shown already
		return
	}
	u.add(it)
	u.work.phase = "preparing"
}

func (u *ui) shown(id string) bool {
	for i := len(u.items) - 1; i >= 0 && i > len(u.items)-20; i-- {
		if u.items[i].kind == kindTool && u.items[i].id == id {
			return true
		}
	}
	return false
}

func (u *ui) assistantMessage(m msg.Message) {
	if m.Usage != nil {
		u.status.used = m.Usage.Total()
	}
	for _, b := range m.Blocks {
		switch b.Type {
		case msg.TypeText:
			if u.work.stream != nil {
				u.closeStream()
			} else if strings.TrimSpace(b.Text) != "" {
				u.add(item{kind: kindText, text: b.Text})
			}
		case msg.TypeThinking:
			it := item{kind: kindThinking, text: b.Text}
			if !u.work.thinkFrom.IsZero() {
				it.dur = u.work.lastByte.Sub(u.work.thinkFrom)
			}
			u.work.thinking, u.work.thinkFrom = 0, time.Time{}
			u.add(it)
		case msg.TypeToolUse:
			u.work.calls = append(u.work.calls, b)
		}
	}
}

func (u *ui) systemMessage(m msg.Message) {
	text := m.Text()
	switch m.Subtype {
	case msg.SubLocalCommand:
		u.add(item{kind: kindLocal, text: text})
	case msg.SubTurnDuration:
	case msg.SubCompactBoundary:
		if undone(m) { // the answer to the command says it
			return
		}
		u.add(item{kind: kindNotice, level: "info", text: "The conversation was compacted."})
	default:
		if text != "" && !m.Meta {
			u.add(item{kind: kindNotice, level: m.Level, text: text})
		}
	}
}

// undone reports whether a boundary takes a compaction back.
func undone(m msg.Message) bool {
	var v struct {
		Compact struct {
			Trigger string `json:"trigger"`
		} `json:"compactMetadata"`
	}
	return json.Unmarshal(m.Extra, &v) == nil && v.Compact.Trigger == "undo"
}

// taskDone says why a turn may begin now that nobody asked for.
func (u *ui) taskDone(e event.TaskDone) {
	level := "info"
	if e.Status == "failed" {
		level = "warning"
	}
	u.notice(level, strings.TrimRight(e.Summary, ".")+"; /tasks "+e.ID+" shows its output")
}

func (u *ui) turnDone(r event.Result) {
	u.withdrawAll()
	u.closeStream()
	u.status.cost = r.Cost
	for _, m := range r.ModelUsage {
		if m.Window > u.status.window {
			u.status.window = m.Window
		}
	}
	switch {
	case strings.HasPrefix(r.Terminal, "aborted"):
		u.notice("info", "Interrupted. Say what to do instead.")
	case r.Subtype != event.Success:
		for _, e := range r.Errors {
			u.notice("error", e)
		}
	case !r.IsError && r.Turns == 0 && r.Text != "" && !u.said(r.Text): // of a command that leaves nothing in the conversation
		u.add(item{kind: kindLocal, text: r.Text})
	case r.IsError && r.Text != "" && !u.said(r.Text):
		u.notice("error", r.Text)
	case r.Dur > time.Minute || u.session != nil && u.session.Settings.ShowDuration:
		u.add(item{kind: kindDone, text: fmt.Sprintf("%s · %s", span(r.Dur), dollars(r.Cost))})
	}
	u.work.phase, u.work.retryAt = "", time.Time{}
}

// said reports whether a text stands among the last items already.
func (u *ui) said(text string) bool {
	for i := len(u.items) - 1; i >= 0 && i > len(u.items)-4; i-- {
		if strings.Contains(u.items[i].text, text) {
			return true
		}
	}
	return false
}

// notice tells the person something.
func (u *ui) notice(level, text string) { u.add(item{kind: kindNotice, level: level, text: text}) }

// add puts an item at the end of the transcript and onto the screen.
func (u *ui) add(it item) {
	if it.kind != kindText {
		u.closeStream()
	}
	if u.silent {
		u.items = append(u.items, it)
		return
	}
	u.gap(it.kind)
	u.items = append(u.items, it)
	u.print(u.render(&it, false)...)
}

// gap separates items by an empty line, but not those that belong together.
func (u *ui) gap(k kind) {
	if !(k == u.lastKind && (k == kindNotice || k == kindTool)) {
		u.print(width.Line{})
	}
	u.lastKind = k
}

func firstLine(s string) string {
	s, _, _ = strings.Cut(strings.TrimSpace(s), "\n")
	return s
}
