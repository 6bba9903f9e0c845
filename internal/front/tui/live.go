package tui

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"lathe/internal/event"
	"lathe/internal/front/tui/screen"
	"lathe/internal/front/tui/theme"
	"lathe/internal/front/tui/width"
)

// Rows of the live region.
const (
	liveOutput = 4       // of a running call
	liveBytes  = 8 << 10 // of its end, in which they are looked for
	maxQueue   = 5
	maxTodos   = 5
	// maxTodosKept are the entries of a to-do list that stand in the conversation.
	maxTodosKept = 10
)

// state takes whether a turn runs.
func (u *ui) state(s string) {
	if s == "running" {
		u.work.running = true
		return
	}
	u.closeStream()
	u.withdrawAll()
	if u.hint == stoppingHint {
		u.hint = ""
	}
	u.work = work{tools: slices.DeleteFunc(u.work.tools, func(t *toolRun) bool { return t.id != u.shellID })} // the person's own goes on
	u.refresh()
	u.attention("Lathe is done")
}

// picture is what the inline screen shows next.
func (u *ui) picture() screen.Frame {
	f := screen.Frame{Commit: u.commit} // what was made for another width is wrapped, not cut: nothing is lost
	u.commit = nil
	if u.work.stream != nil {
		f.Open = u.work.stream.Open()
	}
	f.Foot, f.Cursor = u.foot(u.rows - 1)
	return f
}

// foot is everything below the conversation, in at most n rows.
func (u *ui) foot(n int) ([]string, screen.Cursor) {
	var below []string
	var cur screen.Cursor
	if d := u.dialog(); d != nil {
		most := n - 2
		if u.full == nil { // a narrower terminal makes it higher: what does not fit then would stay behind in the scrollback
			most = min(most, max(12, n*2/3))
		}
		below, cur = d.rows(u, u.cols, max(4, most))
		below = append([]string{""}, below...)
		cur.Row++
	} else {
		below, cur = u.inputRows(max(3, n/2))
	}
	above := u.working(max(0, n-len(below)))
	cur.Row += len(above)
	rows := append(above, below...)
	if over := len(rows) - n; over > 0 {
		rows, cur.Row = rows[over:], max(0, cur.Row-over)
	}
	return rows, cur
}

// working shows what runs: calls, the spinner, the to-do list, the queue.
func (u *ui) working(n int) []string {
	var out []string
	for _, t := range u.work.tools {
		out = append(out, u.runningTool(t, len(u.work.tools) == 1)...)
	}
	if s := u.spinner(); s != "" {
		out = append(out, s)
	}
	if u.showTodo {
		out = append(out, u.todoRows()...)
	}
	for i, q := range u.queue {
		if !q.shown(u.o.Now()) {
			continue
		}
		if i == maxQueue {
			out = append(out, u.th.Faint.Paint(fmt.Sprintf("  and %d more", len(u.queue)-i)))
			break
		}
		out = append(out, u.th.Muted.Paint(width.Cut("⧗ "+width.Inert(firstLine(q.text)), u.cols-1, "…")))
	}
	if len(out) > 0 {
		out = append([]string{""}, out...)
	}
	if over := len(out) - n; over > 0 {
		out = out[over:]
	}
	return out
}

func (u *ui) runningTool(t *toolRun, alone bool) []string {
	name, what := toolWords(t.name, t.summary, t.input)
	line := u.th.Accent.Paint("▸") + " " + strings.TrimRight(u.th.Strong.Paint(width.Inert(name))+" "+width.Inert(what), " ")
	if t.done != nil { // its result waits for those before it
		mark := u.th.Success.Paint("✓")
		if t.done.IsError {
			mark = u.th.Error.Paint("✗")
		}
		return []string{width.Cut(mark+" "+u.th.Strong.Paint(width.Inert(name))+" "+width.Inert(what), u.cols-1, "…")}
	}
	out := []string{width.Cut(line, u.cols-8, "…") + u.th.Faint.Paint(" "+clock(u.o.Now().Sub(t.since)))}
	if t.inside != "" {
		return append(out, u.th.Muted.Paint(width.Cut("  "+t.inside, u.cols-1, "…")))
	}
	n := 1
	if alone {
		n = liveOutput
	}
	for _, l := range tailLines(string(t.output[max(0, len(t.output)-liveBytes):]), n) {
		out = append(out, u.th.Muted.Paint(width.Cut("  "+width.Inert(l), u.cols-1, "…")))
	}
	return out
}

var frames = []string{"✶", "✸", "✹", "✺", "✹", "✷"}

// spinner says that the program works, for how long, and what it waits for.
func (u *ui) spinner() string {
	now := u.o.Now()
	w := &u.work
	if !w.running {
		return ""
	}
	pace := tickTime
	if w.stream != nil { // the answer itself moves
		pace = streamPace
	}
	key := spinKey{u.doing(now), int64(now.Sub(w.since) / pace), u.cols}
	if key == u.spun.key { // however often pictures are made
		return u.spun.line
	}
	mark := "•"
	if !u.calm() && w.stream == nil {
		mark = frames[int(key.tick)%len(frames)]
	}
	facts := []string{clock(now.Sub(w.since))}
	if w.got > 0 {
		facts = append(facts, "↓ "+tokens(w.got/4))
	} else if w.sent > 0 {
		facts = append(facts, "↑ "+tokens(w.sent))
	}
	if u.dialog() == nil { // there Esc answers
		facts = append(facts, "esc stops")
	}
	room := u.cols - 1 - width.Of(mark) - 1
	end := " (" + strings.Join(facts, " · ") + ")"
	if len(facts) > 2 && room-width.Of(end) < width.Of(key.what) { // how to stop it matters more
		end = " (" + facts[0] + " · " + facts[2] + ")"
	}
	line := u.th.Accent.Paint(mark+" "+width.Cut(key.what, max(8, room-width.Of(end)), "…")) + u.th.Muted.Paint(end)
	u.spun.key, u.spun.line = key, width.Cut(line, u.cols-1, "…")
	return u.spun.line
}

// streamPace is how often the spinner's row changes while an answer comes: on a slow line each byte counts.
const streamPace = 2 * time.Second

// spinKey is what a picture of the spinner depends on.
type spinKey struct {
	what string
	tick int64
	cols int
}

// staleAfter is the silence of a stream from which its age is shown.
const staleAfter = 5 * time.Second

// isAsked reports whether the session, or a server, waits for an answer; a list that the person opened holds nothing up.
func (u *ui) isAsked() bool {
	for _, d := range u.dialogs {
		if a, ok := d.(asks); ok {
			if id, _ := a.asked(); id != "" {
				return true
			}
		}
	}
	return len(u.hostCalls) > 0
}

// doing says what the turn is at.
func (u *ui) doing(now time.Time) string {
	w := &u.work
	quiet := now.Sub(w.lastByte)
	var running []*toolRun
	for _, t := range w.tools {
		if t.done == nil {
			running = append(running, t)
		}
	}
	switch {
	case u.isAsked():
		return "waiting for your answer"
	case !w.retryAt.IsZero() && w.retryAt.After(now):
		return fmt.Sprintf("try %d of %d in %s: %s", w.retry.Attempt, w.retry.Max, clock(w.retryAt.Sub(now)+time.Second-1), width.Inert(strings.TrimRight(w.retry.Text, ".")))
	case len(running) == 1:
		return "running " + width.Inert(running[0].name)
	case len(running) > 1:
		return fmt.Sprintf("running %d calls", len(running))
	case w.phase == "thinking" && quiet < staleAfter:
		return "thinking"
	case w.phase != "" && w.phase != "thinking":
		if quiet >= staleAfter {
			return w.phase + ", silent for " + clock(quiet)
		}
		return w.phase
	case quiet >= staleAfter:
		return "the answer stands still for " + clock(quiet)
	}
	for _, t := range u.todos {
		if t.Status == "in_progress" && t.Active != "" {
			return width.Inert(t.Active)
		}
	}
	return "answering"
}

func (u *ui) calm() bool { return u.session != nil && u.session.Settings.ReducedMotion }

func clock(d time.Duration) string {
	s := int(d.Seconds())
	switch {
	case s < 60:
		return fmt.Sprintf("%ds", s)
	case s < 3600:
		return fmt.Sprintf("%dm%02ds", s/60, s%60)
	}
	return fmt.Sprintf("%dh%02dm", s/3600, s/60%60)
}

// inputRows are the input box, its menu, and the status line.
func (u *ui) inputRows(n int) ([]string, screen.Cursor) {
	rows, cur := u.prompt.rows(u, n)
	rows = append([]string{""}, rows...)
	cur.Row++
	switch {
	case u.menu != nil:
		rows = append(rows, u.menu.rows(u)...)
	case u.hint != "":
		for _, l := range rowsOf(event.Inert(u.hint), u.cols-3) { // an error may quote what comes from outside
			rows = append(rows, u.th.Muted.Paint("  "+l))
		}
	default:
		if hint := u.argumentHint(); hint != "" {
			rows = append(rows, u.th.Muted.Paint(width.Cut("  "+width.Inert(hint), u.cols-1, "…")))
		}
		rows = append(rows, u.statusRows()...)
	}
	return rows, cur
}

// styleOfMode is the colour of a permission mode.
func (u *ui) styleOfMode(mode string) theme.Style {
	switch mode {
	case "plan":
		return u.th.PlanMode
	case "acceptEdits":
		return u.th.AcceptEdits
	case "auto":
		return u.th.Warning
	case "bypassPermissions":
		return u.th.Error
	}
	return u.th.Muted
}
