package acp

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"time"
	"unicode/utf8"

	"lathe/internal/event"
	"lathe/internal/msg"
)

// call is a tool call that the editor was told of.
type call struct {
	id, name string
	parent   string // tool call of the sub-agent that made it
	input    toolInput
	raw      json.RawMessage
	done     bool
	hidden   bool          // shown otherwise: the to-do list is the plan
	output   string        // of a running command, its end
	told     time.Duration // when output was shown last
}

// toolInput is what the editor is shown of inputs, whatever the tool.
type toolInput struct {
	FilePath  string  `json:"file_path"`
	Notebook  string  `json:"notebook_path"`
	Path      string  `json:"path"`
	Command   string  `json:"command"`
	Pattern   string  `json:"pattern"`
	URL       string  `json:"url"`
	Query     string  `json:"query"`
	Prompt    string  `json:"description"`
	Offset    float64 `json:"offset"`
	OldString string  `json:"old_string"`
	NewString string  `json:"new_string"`
	Content   *string `json:"content"`
	Plan      string  `json:"plan"`
}

// limits of what is shown of a call.
const (
	shownOutput = 64 << 10
	liveOutput  = 8 << 10
	shownRaw    = 64 << 10
	liveEvery   = 100 * time.Millisecond
)

// newCall reads a call's input as far as it can be shown.
func newCall(id, name, parent string, raw json.RawMessage) *call {
	c := &call{id: id, name: name, parent: parent, raw: raw, hidden: name == "TodoWrite"}
	_ = json.Unmarshal(raw, &c.input) // fields of other types are not shown
	return c
}

// called tells of a call that the model asked for.
func (s *session) called(parent string, b msg.Block) {
	c := newCall(b.ID, b.Name, parent, b.Input)
	s.calls[b.ID] = c
	if c.hidden {
		return
	}
	u := s.describeCall(c)
	u["sessionUpdate"], u["status"] = "tool_call", "pending"
	if parent != "" {
		u["_meta"] = obj{"lathe": obj{"parentToolCallId": parent}}
	}
	s.update(u)
}

// describeCall is what is known of a call before it runs.
func (s *session) describeCall(c *call) obj {
	u := obj{
		"toolCallId": c.id, "name": c.name, "title": event.InertLine(c.title(s.cwd)), "kind": kindOf(c.name), "rawInput": c.raw,
		"locations": s.locations(c),
	}
	if content := s.preview(c); content != nil {
		u["content"] = content
	}
	return u
}

func kindOf(name string) string {
	switch name {
	case "Read", "TaskOutput":
		return "read"
	case "Edit", "Write", "NotebookEdit", "MultiEdit":
		return "edit"
	case "Bash", "Monitor", "TaskStop":
		return "execute"
	case "Grep", "Glob", "ToolSearch":
		return "search"
	case "WebFetch", "WebSearch":
		return "fetch"
	case "Agent", "Task", "TodoWrite":
		return "think"
	case "EnterPlanMode", "ExitPlanMode":
		return "switch_mode"
	}
	return "other"
}

// title is one line that says what the call does.
func (c *call) title(cwd string) string {
	in := c.input
	what := ""
	switch c.name {
	case "Bash", "Monitor":
		return oneLine(in.Command)
	case "Read", "Edit", "Write":
		what = relative(cwd, in.FilePath)
	case "NotebookEdit":
		what = relative(cwd, in.Notebook)
	case "Grep", "Glob":
		what = in.Pattern
	case "WebFetch":
		what = in.URL
	case "WebSearch", "ToolSearch":
		what = in.Query
	case "Agent", "Task":
		what = in.Prompt
	case "ExitPlanMode":
		return "Ready to code?"
	}
	return strings.TrimSpace(c.name + " " + oneLine(what))
}

func oneLine(s string) string {
	line, _, more := strings.Cut(strings.TrimSpace(s), "\n")
	if r := []rune(line); len(r) > 200 {
		line, more = string(r[:199]), true
	}
	if more {
		line += "…"
	}
	return line
}

func relative(cwd, path string) string {
	if rel, err := filepath.Rel(cwd, path); err == nil && filepath.IsLocal(rel) {
		return rel
	}
	return path
}

// locations are the files that the call is about, for editors that follow along.
func (s *session) locations(c *call) []obj {
	path := c.input.FilePath
	if path == "" {
		path = c.input.Notebook
	}
	if path == "" && kindOf(c.name) == "search" {
		path = c.input.Path
	}
	if path == "" {
		return []obj{}
	}
	at := obj{"path": s.absolute(path)}
	if c.input.Offset >= 1 {
		at["line"] = int(c.input.Offset)
	}
	return []obj{at}
}

func (s *session) absolute(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(s.cwd, path)
}

// preview is what a call would do: the change of an edit, the whole text of a command or plan.
func (s *session) preview(c *call) []toolContent {
	in := c.input
	switch c.name {
	case "Edit":
		if in.OldString == "" {
			return []toolContent{diffContent(s.absolute(in.FilePath), nil, in.NewString)}
		}
		return []toolContent{diffContent(s.absolute(in.FilePath), &in.OldString, in.NewString)}
	case "Write":
		if in.Content != nil {
			return []toolContent{diffContent(s.absolute(in.FilePath), nil, *in.Content)}
		}
	case "Bash", "Monitor":
		return []toolContent{shown(text(fenced("sh", in.Command)))}
	case "ExitPlanMode":
		if in.Plan != "" {
			return []toolContent{shown(text(event.Inert(in.Plan)))}
		}
	}
	return nil
}

// fenced is text as a code block, behind a fence that the text does not have.
func fenced(lang, s string) string {
	fence := "```"
	for strings.Contains(s, fence) {
		fence += "`"
	}
	return fence + lang + "\n" + strings.TrimRight(event.Inert(s), "\n") + "\n" + fence
}

func (s *session) callUpdate(c *call, fields obj) {
	if c.hidden {
		return
	}
	fields["sessionUpdate"], fields["toolCallId"] = "tool_call_update", c.id
	s.update(fields)
}

// started says that a call runs. Its input is in its documented form by now.
func (s *session) started(e event.ToolStarted) {
	c := s.calls[e.ID]
	if c == nil || c.done {
		return
	}
	*c = *newCall(c.id, c.name, c.parent, e.Input)
	fields := obj{"status": "in_progress", "rawInput": c.raw, "locations": s.locations(c)}
	if kindOf(c.name) == "other" && e.Summary != "" {
		fields["title"] = event.InertLine(oneLine(e.Summary))
	}
	if content := s.preview(c); content != nil && kindOf(c.name) == "edit" {
		fields["content"] = content
	}
	s.callUpdate(c, fields)
}

// progress shows the end of what a running command has printed, some times a second.
func (s *session) progress(e event.ToolProgress) {
	c := s.calls[e.ID]
	if c == nil || c.done {
		return
	}
	c.output = tail(c.output+e.Text, liveOutput)
	if e.Elapsed < c.told+liveEvery {
		return
	}
	c.told = e.Elapsed
	s.callUpdate(c, obj{"content": []toolContent{shown(text(fenced("", c.output)))}})
}

func tail(s string, n int) string {
	if len(s) <= n {
		return s
	}
	s = s[len(s)-n:]
	for len(s) > 0 && !utf8.RuneStart(s[0]) {
		s = s[1:]
	}
	return s
}

// result shows how a call ended.
func (s *session) result(m msg.Message, b msg.Block) {
	c := s.calls[b.ToolUseID]
	if c == nil || c.done {
		return
	}
	c.done = true
	if c.hidden {
		if !b.IsError {
			s.plan(m.ToolOutput)
		}
		return
	}
	fields := obj{"status": "completed"}
	if b.IsError {
		fields["status"] = "failed"
	}
	if len(m.ToolOutput) > 0 && len(m.ToolOutput) <= shownRaw && json.Valid(m.ToolOutput) {
		fields["rawOutput"] = m.ToolOutput
	}
	s.mu.Lock()
	terminal := s.terminals[c.id]
	delete(s.terminals, c.id)
	s.mu.Unlock()
	switch diffs := s.diffs(c, m.ToolOutput); {
	case terminal != "":
		fields["content"] = shownTerminal(terminal)
	case !b.IsError && len(diffs) > 0:
		fields["content"] = diffs
	default:
		fields["content"] = s.outcome(c, b)
	}
	s.callUpdate(c, fields)
}

// outcome is what a result says to the model.
func (s *session) outcome(c *call, b msg.Block) []toolContent {
	out := []toolContent{}
	for _, r := range b.Content {
		switch {
		case r.Type == msg.TypeText:
			words := r.Text
			if len(words) > shownOutput {
				words = strings.ToValidUTF8(words[:shownOutput], "") + "\n…"
			}
			switch kindOf(c.name) {
			case "execute", "read", "search", "edit":
				words = fenced("", words)
			default:
				words = event.Inert(words)
			}
			out = append(out, shown(text(words)))
		case r.Type == msg.TypeImage && r.Source != nil && r.Source.Type == "base64":
			out = append(out, shown(content{Type: "image", Data: r.Source.Data, MimeType: r.Source.MediaType}))
		}
	}
	return out
}

// diffs are the changes that a file tool has made, one a place.
func (s *session) diffs(c *call, output json.RawMessage) []toolContent {
	if kindOf(c.name) != "edit" || len(output) == 0 {
		return nil
	}
	var out struct {
		Type     string  `json:"type"`
		FilePath string  `json:"filePath"`
		Content  string  `json:"content"`
		Original *string `json:"originalFile"`
		Patch    []struct {
			Lines []string `json:"lines"`
		} `json:"structuredPatch"`
	}
	if json.Unmarshal(output, &out) != nil || out.FilePath == "" {
		return nil
	}
	if out.Type == "create" {
		return []toolContent{diffContent(out.FilePath, nil, out.Content)}
	}
	var list []toolContent
	for _, h := range out.Patch {
		before, after := sides(h.Lines)
		if c.name == "Edit" && c.input.OldString == "" && before == "" {
			list = append(list, diffContent(out.FilePath, nil, after))
			continue
		}
		list = append(list, diffContent(out.FilePath, &before, after))
	}
	return list
}

// sides are the two texts that the lines of a patch stand for.
func sides(lines []string) (before, after string) {
	var b, a strings.Builder
	for _, l := range lines {
		if l == "" {
			continue
		}
		switch line := l[1:] + "\n"; l[0] {
		case ' ':
			b.WriteString(line)
			a.WriteString(line)
		case '-':
			b.WriteString(line)
		case '+':
			a.WriteString(line)
		}
	}
	return b.String(), a.String()
}
