package tui

import (
	"encoding/json"
	"fmt"
	"strings"

	"lathe/internal/event"
	"lathe/internal/front/tui/width"
	"lathe/internal/perm"
)

// asked opens the dialog for a question.
func (u *ui) asked(e event.Ask, who event.Agent) {
	d := u.askDialog(e)
	if c, ok := d.(*choice); ok && who.ID != "" {
		c.agent = true
		body := c.body
		c.body = func(cols int) []string {
			return append(textBody(u.th.Strong.Paint(agentName(who)), "")(cols), body(cols)...)
		}
	}
	u.open(d)
	u.attention("Lathe asks: " + e.Tool)
}

// agentName says which sub-agent asks, and where it works.
func agentName(a event.Agent) string {
	text := "The sub-agent " + a.Type + " asks"
	if a.Task != "" {
		text += " (" + a.Task + ")"
	}
	if a.Dir != "" {
		text += ", in " + a.Dir
	}
	return width.Inert(text)
}

func (u *ui) askDialog(e event.Ask) dialog {
	switch e.Tool {
	case "ExitPlanMode":
		return u.planDialog(e)
	case "AskUserQuestion":
		return u.questionDialog(e)
	case "Edit", "Write", "MultiEdit":
		return u.editDialog(e)
	}
	return u.permissionDialog(e)
}

func (u *ui) answer(a event.Answer) {
	u.op(a)
	u.work.lastByte = u.o.Now()
}

// asks is a dialog for a question of the session: its id, and whether a sub-agent asks.
type asks interface {
	asked() (id string, agent bool)
}

// withdraw takes back a question.
func (u *ui) withdraw(id string) {
	for _, d := range u.dialogs {
		if a, ok := d.(asks); ok {
			if of, _ := a.asked(); of == id {
				u.closeDialog(d)
			}
		}
	}
}

// withdrawAll takes back the questions of a turn that is over. Sub-agents in the background wait for their answers still.
func (u *ui) withdrawAll() {
	for _, d := range u.dialogs {
		if a, ok := d.(asks); ok {
			if id, agent := a.asked(); id != "" && !agent {
				u.closeDialog(d)
			}
		}
	}
}

// permissionDialog asks whether a call may run.
func (u *ui) permissionDialog(e event.Ask) dialog {
	c := &choice{
		ask: e.ID, title: askTitle(e), style: u.th.Permission,
		body:    func(cols int) []string { return u.askBody(e, cols) },
		options: u.askOptions(e, nil),
		hint:    "↑↓ enter · 1-9 · tab: add a comment · esc: no",
	}
	c.esc = func() { u.answer(event.Answer{ID: e.ID, Stop: true}) }
	c.extra = u.modeKey(c)
	u.explainer(e, c)
	return c
}

// modeKeyName takes, in a dialog, the answer that changes the mode, or changes it without an answer where there is none.
const modeKeyName = "shift+tab"

func (u *ui) modeKey(c *choice) func(*ui, string) bool {
	return func(u *ui, name string) bool {
		if name != modeKeyName {
			return false
		}
		for i, o := range c.options {
			if o.hotkey == modeKeyName {
				c.take(u, i)
				return true
			}
		}
		u.cycleMode()
		u.hint = "from the next call on: " + modeText(first(u.modeNext, u.modeAsked))
		return true
	}
}

// acceptEdits is the answer that lets edits pass from now on, where the session offers that.
func (u *ui) acceptEdits(e event.Ask, input func() json.RawMessage) (option, bool) {
	var offered []struct {
		Type        string   `json:"type"`
		Mode        string   `json:"mode"`
		Directories []string `json:"directories"`
	}
	_ = json.Unmarshal(e.Updates, &offered)
	label, found := "Yes, and accept edits from now on (this session", false
	for _, o := range offered {
		switch {
		case o.Type == "setMode" && o.Mode == "acceptEdits":
			found = true
		case o.Type == "addDirectories":
			label += ", in " + width.Inert(strings.Join(o.Directories, ", ")) + " too"
		default: // more than the label says
			return option{}, false
		}
	}
	return option{label: label + ") · " + modeKeyName, hotkey: modeKeyName, comment: true, do: func(comment string) {
		u.answer(event.Answer{ID: e.ID, Allow: true, Input: input(), Updates: e.Updates})
		u.status.mode = "acceptEdits"
		u.sendComment(comment)
	}}, found
}

func askTitle(e event.Ask) string {
	switch e.Tool {
	case "Bash":
		return "Run this command?"
	case "Monitor":
		return "Watch what this command prints?"
	case "WebFetch":
		return "Fetch this address?"
	case "WebSearch":
		return "Search the web for this?"
	case "Edit", "Write", "NotebookEdit", "MultiEdit":
		return "Change this file?"
	case "Read":
		return "Read this?"
	}
	return "Allow " + width.Inert(e.Tool) + "?"
}

// askOptions are the answers: this once, for as long as each place of rules holds, no.
func (u *ui) askOptions(e event.Ask, input func() json.RawMessage) []option {
	yes := func(save event.Scope) func(string) {
		return func(comment string) {
			a := event.Answer{ID: e.ID, Allow: true, Save: save}
			if input != nil {
				a.Input = input()
			}
			u.answer(a)
			u.sendComment(comment)
		}
	}
	out := []option{{label: "Yes", hotkey: "y", comment: true, do: yes("")}}
	if rules := ruleTexts(e.Decision.Suggest); rules != "" {
		out = append(out,
			option{label: "Yes, and for this session: " + rules, comment: true, do: yes(event.SaveSession)},
			option{label: "Yes, and always in this project (only for you): " + rules, hotkey: "a", comment: true, do: yes(event.SaveLocal)})
	}
	return append(out, option{label: "No", hotkey: "n", comment: true, do: func(comment string) {
		u.answer(event.Answer{ID: e.ID, Message: comment, Stop: comment == ""})
	}})
}

// sendComment queues what was said with an answer that allows: the model reads it beside the call's result.
func (u *ui) sendComment(comment string) {
	if comment != "" {
		u.send(event.Prompt{Text: comment, Literal: true})
	}
}

func runsCommand(tool string) bool { return tool == "Bash" || tool == "Monitor" }

func ruleTexts(rules []perm.Rule) string {
	var out []string
	for _, r := range rules {
		out = append(out, width.Inert(r.Text))
	}
	return strings.Join(out, ", ")
}

// askBody shows the exact call, what it would touch, and why it is asked for.
func (u *ui) askBody(e event.Ask, cols int) []string {
	var out []string
	add := func(lead, text string) {
		for _, l := range strings.Split(text, "\n") {
			out = append(out, width.Line{Text: lead + width.Tabs(l), Hang: width.Spaces(width.Of(lead))}.Rows(cols)...)
		}
	}
	for _, f := range fields(e.Input) {
		switch {
		case runsCommand(e.Tool) && f.name == "command":
			add("  ", u.th.Strong.Paint("")+exact(f.value))
		case runsCommand(e.Tool) && f.name == "description":
			add("  ", u.th.Muted.Paint("# "+width.Inert(f.value)))
		default:
			add("  ", u.th.Muted.Paint(width.Inert(f.name)+": ")+exact(f.value))
		}
	}
	out = append(out, "")
	times := map[string]int{}
	for _, p := range e.Decision.Parts {
		times[p.Text+"\x00"+p.Reason]++
	}
	if e.Decision.Reason != "" {
		why, whole := askReason(e.Decision, len(times))
		add("", u.th.Warning.Paint("Why: ")+width.Inert(why)+u.from(e.Decision.Source))
		if whole {
			return out
		}
	}
	for _, p := range e.Decision.Parts {
		n := times[p.Text+"\x00"+p.Reason]
		if n == 0 {
			continue // shown already
		}
		times[p.Text+"\x00"+p.Reason] = 0
		style := u.th.Muted
		switch p.Verdict {
		case perm.Deny:
			style = u.th.Error
		case perm.Ask:
			style = u.th.Warning
		}
		reason := p.Reason
		if p.Source.Rule != "" {
			reason = "rule " + p.Source.Rule
		}
		text := exact(p.Text)
		if n > 1 {
			text += fmt.Sprintf(" (%d times)", n)
		}
		add("  ", style.Paint(fmt.Sprintf("%-5s ", p.Verdict))+text+u.th.Muted.Paint(" — "+width.Inert(reason))+u.from(p.Source))
	}
	return out
}

// askReason says why a call is asked about; whole: its parts, of which there are n different ones, have nothing to add.
// The reason of a part that nothing covers stands in the part's own row.
func askReason(d perm.Decision, n int) (why string, whole bool) {
	for _, p := range d.Parts {
		if p.Verdict != perm.Ask || p.Reason == "" || p.Reason == d.Reason || !strings.HasSuffix(d.Reason, ": "+p.Reason) {
			continue
		}
		if n == 1 {
			return "no rule allows it: " + p.Reason, true
		}
		return "no rule allows all of it", false
	}
	return d.Reason, n == 1 && len(d.Parts) > 0 && d.Parts[0].Reason == d.Reason && d.Parts[0].Verdict == d.Verdict && d.Source.Rule == ""
}

// from says where a rule stands.
func (u *ui) from(s perm.Source) string {
	if s.File == "" {
		return ""
	}
	return u.th.Faint.Paint(fmt.Sprintf(" (%s:%d)", width.Inert(s.File), s.Line))
}

// exact shows a text as it is: what acts on a terminal, and blanks that hide at the end of a line, are made visible.
func exact(s string) string {
	s = event.Inert(strings.ReplaceAll(s, "\t", "␉   "))
	lines := strings.Split(s, "\n")
	for i, l := range lines {
		if t := strings.TrimRight(l, " "); t != l {
			lines[i] = t + strings.Repeat("·", len(l)-len(t))
		}
	}
	return strings.Join(lines, "\n")
}

// field is one field of a call's input, in the order of the JSON text.
type field struct{ name, value string }

func fields(input json.RawMessage) []field {
	dec := json.NewDecoder(strings.NewReader(string(input)))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return []field{{"input", string(input)}}
	}
	var out []field
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			break
		}
		var raw json.RawMessage
		if dec.Decode(&raw) != nil {
			break
		}
		var s string
		if json.Unmarshal(raw, &s) != nil {
			s = string(raw)
		}
		out = append(out, field{fmt.Sprint(key), s})
	}
	return out
}
