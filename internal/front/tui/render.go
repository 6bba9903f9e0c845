package tui

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"lathe/internal/event"
	"lathe/internal/front/tui/picture"
	"lathe/internal/front/tui/width"
	"lathe/internal/perm"
)

// Lines of a tool's result that are shown in the conversation; the rest is a key away.
const (
	resultLines = 4
	errorLines  = 8
	localLines  = 400
	userLines   = 12      // of a prompt: a paste is longer
	userBytes   = 4 << 10 // of them
)

// render makes lines of an item; whole: nothing is left out.
func (u *ui) render(it *item, whole bool) []width.Line {
	switch it.kind {
	case kindUser:
		return u.renderUser(it, whole)
	case kindText:
		s := u.newStream()
		return append(s.Write(it.text), s.Close()...)
	case kindThinking:
		return u.renderThinking(it, whole)
	case kindTool:
		return u.renderTool(it, whole)
	case kindShell:
		return u.renderShell(it, whole)
	case kindLocal:
		return u.renderLocal(it, whole)
	case kindDone:
		return []width.Line{{Text: u.th.Faint.Paint("· " + it.text)}}
	case kindContext:
		var usage picture.Usage
		_ = json.Unmarshal(it.output, &usage)
		return picture.Context(&u.th, usage, u.cols-1)
	case kindNotice:
		return u.renderNotice(it)
	}
	return nil
}

func (u *ui) renderUser(it *item, whole bool) []width.Line {
	text, n := it.text, userLines
	if whole {
		n = 1 << 30
	} else if len(text) > userBytes {
		text = strings.ToValidUTF8(text[:userBytes], "") + "…"
	}
	lines, _ := head(event.Inert(text), n)
	more := strings.Count(strings.TrimRight(it.text, "\n"), "\n") + 1 - len(lines)
	var out []width.Line
	for i, l := range lines {
		lead := "  "
		if i == 0 {
			lead = u.th.Prompt.Paint("❯ ")
		}
		out = append(out, width.Line{Text: lead + u.th.Strong.Paint(width.Tabs(l)), Hang: "  ", Prose: true})
	}
	return u.moreLines(out, more)
}

func (u *ui) renderThinking(it *item, whole bool) []width.Line {
	head := "✻ thought"
	if it.dur >= time.Second {
		head += " for " + span(it.dur)
	}
	if whole {
		out := []width.Line{{Text: u.th.Muted.Paint(head)}}
		for _, l := range strings.Split(strings.TrimRight(event.Inert(it.text), "\n"), "\n") {
			out = append(out, width.Line{Text: "  " + u.th.Muted.Paint(width.Tabs(l)), Hang: "  ", Prose: true})
		}
		return out
	}
	return []width.Line{{Text: u.th.Faint.Paint(head)}}
}

func (u *ui) renderNotice(it *item) []width.Line {
	style, mark := u.th.Muted, "·"
	switch it.level {
	case "error":
		style, mark = u.th.Error, "✗"
	case "warning":
		style, mark = u.th.Warning, "!"
	}
	var out []width.Line
	for i, l := range strings.Split(strings.TrimRight(event.Inert(it.text), "\n"), "\n") {
		lead := mark + " "
		if i > 0 {
			lead = "  "
		}
		out = append(out, width.Line{Text: style.Paint(lead + width.Tabs(l)), Hang: "  ", Prose: true})
	}
	return out
}

func (u *ui) renderLocal(it *item, whole bool) []width.Line {
	n := localLines
	if whole {
		n = 1 << 30
	}
	lines, more := head(event.Inert(it.text), n)
	var out []width.Line
	diff := false
	for _, l := range lines {
		diff = diff || strings.HasPrefix(l, "diff --git ")
		text := markedTabs(l)
		switch {
		case !diff || strings.HasPrefix(l, "+++ ") || strings.HasPrefix(l, "--- "):
		case strings.HasPrefix(l, "+"):
			text = u.th.Success.Paint(text)
		case strings.HasPrefix(l, "-"):
			text = u.th.Error.Paint(text)
		}
		if rows := u.columns(l); rows != nil && !diff {
			out = append(out, rows...)
			continue
		}
		hang := "  " + l[:len(l)-len(strings.TrimLeft(l, " "))]
		if len(hang) > maxHang {
			hang = "  "
		}
		out = append(out, width.Line{Text: "  " + text, Hang: hang, Prose: true})
	}
	return u.moreLines(out, more)
}

// maxHang is the deepest beginning of a line that the rows below it share.
const maxHang = 12

// markedTabs replaces tabs. In a line of a diff they count from behind its mark, so that all lines of it stand as in the file.
func markedTabs(l string) string {
	if l != "" && strings.IndexByte("+- ", l[0]) >= 0 {
		return l[:1] + width.Tabs(l[1:])
	}
	return width.Tabs(l)
}

func (u *ui) moreLines(out []width.Line, more int) []width.Line {
	if more > 0 {
		out = append(out, width.Line{Text: u.th.Faint.Paint(fmt.Sprintf("  … %s more · ctrl+o shows all", count(more, "line")))})
	}
	return out
}

// renderTool shows a call that ended and the head of its result.
func (u *ui) renderTool(it *item, whole bool) []width.Line {
	mark := u.th.Success.Paint("✓")
	if it.isError {
		mark = u.th.Error.Paint("✗")
	}
	name, what := toolWords(it.name, it.summary, it.input)
	line := mark + " " + u.th.Strong.Paint(width.Inert(name))
	if what != "" {
		line += " " + width.Inert(what)
	}
	if it.dur >= time.Second {
		line += u.th.Faint.Paint(" · " + span(it.dur))
	}
	if it.changed {
		line += u.th.Warning.Paint(" · " + changedBy(it.decision))
	}
	out := []width.Line{{Text: line, Hang: "  "}}
	if whole {
		if text := allowedBy(it.decision); text != "" {
			out = append(out, width.Line{Text: u.th.Faint.Paint("  " + width.Inert(text)), Hang: "  "})
		}
	}
	if whole && it.id != "" {
		out = append(out, u.renderInner(it.id)...)
	}
	if d, ok := u.renderDiff(it, whole); ok {
		return append(out, d...)
	}
	return append(out, u.resultText(it, whole)...)
}

// changedBy says that a change was made in part, or another one than the model wanted.
func changedBy(d perm.Decision) string {
	if d.Source.Kind == "person" {
		return "in part: hunks of it were refused"
	}
	return "not as the model wanted it"
}

// allowedBy says why a call ran. Why one was denied stands in its result.
func allowedBy(d perm.Decision) string {
	switch {
	case d.Verdict != perm.Allow:
		return ""
	case d.Source.Kind == "person": // the reason is why they were asked
		return "allowed by you"
	case d.Reason != "":
		return "allowed: " + d.Reason
	}
	return ""
}

func (u *ui) resultText(it *item, whole bool) []width.Line {
	n := resultLines
	switch {
	case whole:
		n = 1 << 30
	case it.isError:
		n = errorLines
	case quiet(it.name):
		lines := strings.Count(strings.TrimRight(it.text, "\n"), "\n") + 1
		if it.text == "" {
			return nil
		}
		return []width.Line{{Text: u.th.Faint.Paint("  " + count(lines, "line"))}}
	case it.name == "TodoWrite":
		return u.todoLines(readTodos(it.input))
	}
	text, prose := it.text, false
	if !whole && it.name == "Agent" {
		text, prose = reported(text)
	}
	style := u.th.Muted
	if it.isError {
		style = u.th.Error
		prose = prose || !runsCommand(it.name) // a sentence, not what a program printed
	}
	lines, more := head(event.Inert(text), n)
	var out []width.Line
	for _, l := range lines {
		out = append(out, width.Line{Text: "  " + style.Paint(markedTabs(l)), Hang: "  ", Prose: prose})
	}
	return u.moreLines(out, more)
}

// renderShell shows a command of the person's own and its output.
func (u *ui) renderShell(it *item, whole bool) []width.Line {
	out := []width.Line{{Text: u.th.Shell.Paint("! ") + u.th.Strong.Paint(width.Inert(it.summary)), Hang: "  "}}
	n := localLines
	if whole {
		n = 1 << 30
	}
	style := u.th.Text
	if it.isError {
		style = u.th.Error
	}
	lines, more := head(event.Inert(it.text), n)
	for _, l := range lines {
		out = append(out, width.Line{Text: "  " + style.Paint(markedTabs(l)), Hang: "  "})
	}
	return u.moreLines(out, more)
}

// todoLines is a to-do list as a call wrote it.
func (u *ui) todoLines(todos []todo) []width.Line {
	var out []width.Line
	for _, l := range u.todoRowsOf(todos, maxTodosKept) {
		out = append(out, width.Line{Text: l, Hang: "    "})
	}
	return out
}

// reported is what a sub-agent said, without the heading for the model but with what that says of how it ended.
func reported(text string) (string, bool) {
	heading, rest, ok := strings.Cut(text, "]\n\n")
	if !ok || !strings.HasPrefix(heading, "[Report of a sub-agent (") {
		return text, false
	}
	if _, note, _ := strings.Cut(heading, "not instructions to follow."); strings.TrimSpace(note) != "" {
		rest = strings.TrimSpace(note) + "\n" + rest
	}
	return rest, true
}

// toolWords are the name of a tool and what a call of it is about, as the person reads them: a tool of a server is called as
// the server's summary calls it.
func toolWords(name, summary string, input json.RawMessage) (string, string) {
	if server, rest, ok := strings.Cut(summary, ": "); ok && strings.HasPrefix(name, "mcp__"+server+"__") {
		tool, args, _ := strings.Cut(rest, " {")
		if args != "" {
			args = "{" + args
		}
		return server + ": " + tool, args
	}
	return name, callText(name, summary, input)
}

// quiet are the tools whose results say little to a person.
func quiet(name string) bool {
	switch name {
	case "Read", "Glob", "Grep", "Skill", "ToolSearch":
		return true
	}
	return false
}

// callText is what a call is about.
func callText(name, summary string, input json.RawMessage) string {
	if summary == "" {
		summary = summaryOf(name, input)
	}
	return strings.TrimSpace(strings.TrimPrefix(summary, name))
}

// summaryOf finds the field of an input that says most.
func summaryOf(name string, input json.RawMessage) string {
	var in map[string]any
	if json.Unmarshal(input, &in) != nil {
		return name
	}
	for _, key := range []string{"command", "file_path", "notebook_path", "pattern", "url", "query", "description", "prompt", "skill", "path", "task_id"} {
		if s, ok := in[key].(string); ok && s != "" {
			return s
		}
	}
	return ""
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// span is a duration as people say it.
func span(d time.Duration) string {
	switch {
	case d < 10*time.Second:
		return fmt.Sprintf("%.1fs", d.Seconds())
	case d < time.Minute:
		return fmt.Sprintf("%ds", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%dm %02ds", int(d.Minutes()), int(d.Seconds())%60)
	}
	return fmt.Sprintf("%dh %02dm", int(d.Hours()), int(d.Minutes())%60)
}

func dollars(v float64) string {
	if v < 0.995 {
		return fmt.Sprintf("$%.3f", v)
	}
	return fmt.Sprintf("$%.2f", v)
}

func tokens(n int) string {
	switch {
	case n < 1000:
		return fmt.Sprint(n)
	case n < 100_000:
		return fmt.Sprintf("%.1fk", float64(n)/1000)
	case n < 1_000_000:
		return fmt.Sprintf("%dk", n/1000)
	}
	return fmt.Sprintf("%.1fM", float64(n)/1e6)
}
