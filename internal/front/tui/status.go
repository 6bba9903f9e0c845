package tui

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"lathe/internal/event"
	"lathe/internal/front/tui/width"
)

// status is what the line at the bottom shows.
type status struct {
	model, mode, cwd string
	fast             string // on, off or cooldown
	branch           string
	used, window     int // tokens
	cost             float64
	own              []string // rows of the user's own status line
	timer            *time.Timer
}

// statusWait gathers changes before the user's command runs.
const statusWait = 300 * time.Millisecond

// refresh asks the session for what the status line shows, and runs the user's command after a while.
func (u *ui) refresh() {
	u.query("screen_status", map[string]any{}, func(r event.Reply) {
		var v struct {
			Branch string  `json:"branch"`
			Cost   float64 `json:"cost"`
			Window int     `json:"window"`
			Mode   string  `json:"mode"`
			Model  string  `json:"model"`
			Fast   string  `json:"fast"`
		}
		if r.Err != "" || json.Unmarshal(r.Value, &v) != nil {
			return
		}
		s := &u.status
		s.branch, s.cost, s.mode, s.model, s.fast = v.Branch, v.Cost, v.Mode, v.Model, v.Fast
		s.window = max(s.window, v.Window)
	})
	if u.session == nil || !u.session.Settings.StatusLine {
		return
	}
	if u.status.timer == nil {
		u.status.timer = time.AfterFunc(statusWait, func() { u.post(u.ownStatus) })
		return
	}
	u.status.timer.Reset(statusWait)
}

// ownStatus runs the user's status line command. One that is still running is replaced.
func (u *ui) ownStatus() {
	u.query("status_line", map[string]int{"columns": u.cols, "lines": u.rows}, func(r event.Reply) {
		var v struct {
			Lines []string `json:"lines"`
			Stale bool     `json:"stale"` // a newer run has taken its place
		}
		if json.Unmarshal(r.Value, &v) != nil || v.Stale {
			return
		}
		u.status.own = v.Lines
	})
	if every := u.session.Settings.StatusEvery; every > 0 {
		u.status.timer.Reset(every)
	}
}

// modeText is how a permission mode is told.
func modeText(mode string) string {
	switch mode {
	case "", "default":
		return "⏸ manual mode"
	case "acceptEdits":
		return "⏵⏵ accept edits on"
	case "plan":
		return "⏸ plan mode on"
	case "auto":
		return "⏵⏵ auto mode on"
	case "dontAsk":
		return "⏵⏵ don't ask on"
	case "bypassPermissions":
		return "⏵⏵ bypass permissions on"
	}
	return mode
}

// statusRows are the rows below the input.
func (u *ui) statusRows() []string {
	var out []string
	s := &u.status
	pad := ""
	if u.session != nil {
		pad = width.Spaces(u.session.Settings.StatusPadding)
	}
	for _, l := range s.own {
		out = append(out, width.Cut(pad+width.Painted(l), u.cols-1, "…")) // it may repeat names that others chose
	}
	left := u.styleOfMode(s.mode).Paint("  " + modeText(s.mode))
	if v := u.prompt.vim; v != nil {
		left = u.th.Muted.Paint("  "+strings.TrimSpace(string(v.Mode())+" "+v.Pending())) + left
	}
	if u.prompt.shell {
		left = u.th.Shell.Paint("  ! shell mode · esc leaves")
	}
	if u.starting {
		left = u.th.Muted.Paint("  … getting ready")
	}
	if u.failed != "" {
		left = u.th.Error.Paint("  no session")
	}
	var facts []string
	if len(s.own) == 0 {
		facts = u.statusFacts()
	}
	room := u.cols - 1 - width.Of(left)
	for len(facts) > 0 {
		right := strings.Join(facts, u.th.Muted.Paint(" · "))
		if w := width.Of(right); w+2 <= room {
			return append(out, left+width.Spaces(room-w)+right)
		}
		facts = facts[:len(facts)-1]
	}
	return append(out, width.Cut(left, u.cols-1, "…"))
}

// statusFacts are ordered by weight: what finds no room is left out from the end.
func (u *ui) statusFacts() []string {
	s := &u.status
	var out []string
	add := func(text string) { out = append(out, u.th.Muted.Paint(text)) }
	if s.model != "" {
		add(width.Inert(shortModel(s.model)))
	}
	switch s.fast {
	case "on":
		out = append(out, u.th.FastMode.Paint("↯ fast"))
	case "cooldown":
		out = append(out, u.th.FastMode.Paint("↯ paused"))
	}
	if s.used > 0 && s.window > 0 {
		share := "<1"
		if n := 100 * s.used / s.window; n > 0 {
			share = fmt.Sprint(n)
		}
		add("ctx " + share + "%")
	}
	if s.cost > 0 {
		add(dollars(s.cost))
	}
	if s.branch != "" {
		add("⎇ " + width.Cut(width.Inert(s.branch), 24, "…"))
	}
	return out
}

func shortModel(id string) string { return strings.TrimPrefix(id, "claude-") }

// todo is an entry of the to-do list.
type todo struct {
	Content string `json:"content"`
	Status  string `json:"status"` // pending, in_progress, completed
	Active  string `json:"activeForm"`
}

// readTodos reads the list out of a call that wrote it.
func readTodos(input json.RawMessage) []todo {
	var in struct {
		Todos []todo `json:"todos"`
	}
	_ = json.Unmarshal(input, &in)
	return in.Todos
}

// todoRows shows the part of the list around what is worked at.
func (u *ui) todoRows() []string {
	if len(u.todos) == 0 {
		return []string{u.th.Muted.Paint("  The to-do list is empty.")}
	}
	return u.todoRowsOf(u.todos, maxTodos)
}

// todoRowsOf shows at most so many entries.
func (u *ui) todoRowsOf(todos []todo, most int) []string {
	from := 0
	for from < len(todos) && todos[from].Status == "completed" {
		from++
	}
	from = max(0, min(from-1, len(todos)-most))
	var out []string
	for _, t := range todos[from:min(len(todos), from+most)] {
		text := width.Cut(width.Inert(t.Content), u.cols-5, "…")
		switch t.Status {
		case "completed":
			out = append(out, u.th.Success.Paint("  ☒ ")+u.th.Muted.With(u.th.Strike).Paint(text))
		case "in_progress":
			out = append(out, u.th.Accent.Paint("  ▸ ")+u.th.Strong.Paint(text))
		default:
			out = append(out, "  ☐ "+text)
		}
	}
	if n := len(todos) - len(out); n > 0 {
		out = append(out, u.th.Faint.Paint(fmt.Sprintf("  %d of %d shown", len(out), len(todos))))
	}
	return out
}

// goodbye are the lines that stay behind on the terminal.
func (u *ui) goodbye() []string {
	if u.session == nil || u.session.ID == "" || len(u.items) == 0 {
		return nil
	}
	used := false
	for _, it := range u.items {
		used = used || it.kind == kindUser
	}
	if !used {
		return nil
	}
	return []string{"Go on with this session: lathe --resume " + u.session.ID}
}
