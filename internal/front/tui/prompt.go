package tui

import (
	"time"

	"lathe/internal/front/tui/editor"
	"lathe/internal/front/tui/history"
	"lathe/internal/front/tui/screen"
	"lathe/internal/front/tui/width"
)

// prompt is the input box.
type prompt struct {
	ed      *editor.Editor
	vim     *editor.Vim // nil: off
	shell   bool        // what is typed is a shell command
	history []editor.Draft
	at      int // in history; len(history): what is typed
	typed   editor.Draft
	stash   *editor.Draft
	store   *history.Store
	told    bool   // that the history cannot be written
	saved   string // the draft that is on disk
	saving  *time.Timer
}

func newPrompt() prompt { return prompt{ed: editor.New(editor.Options{})} }

// rows draws the box in at most n rows.
func (p *prompt) rows(u *ui, n int) ([]string, screen.Cursor) {
	mark, style := "❯ ", u.th.Prompt
	if p.shell {
		mark, style = "! ", u.th.Shell
	}
	p.ed.SetWidth(u.cols - 3)
	v := p.ed.View()
	from := 0
	if len(v.Rows) > n {
		from = max(0, min(v.Row-n/2, len(v.Rows)-n))
	}
	var out []string
	for i, r := range v.Rows[from:min(len(v.Rows), from+n)] {
		lead := "  "
		if from+i == 0 {
			lead = style.Paint(mark)
		}
		text := r.Text
		if a, b := p.selection(from + i); a < b {
			out = append(out, lead+text[:a]+u.th.Selection.Paint(text[a:b])+text[b:])
			continue
		}
		for j := len(r.Labels) - 1; j >= 0; j-- {
			l := r.Labels[j]
			text = text[:l[0]] + u.th.Accent.Paint(text[l[0]:l[1]]) + text[l[1]:]
		}
		out = append(out, lead+text)
	}
	if p.ed.Empty() && !p.shell {
		out[0] = style.Paint(mark) + u.th.Faint.Paint(width.Cut(u.invitation(), u.cols-4, "…"))
	}
	return out, screen.Cursor{Row: v.Row - from, Col: v.Col + 2}
}

func (u *ui) invitation() string {
	switch {
	case u.failed != "":
		return ""
	case u.work.running:
		return "type to queue a message"
	}
	return "what shall be done?"
}

// up and down walk through the history.
func (p *prompt) up() {
	if p.at == 0 {
		return
	}
	if p.at == len(p.history) {
		p.typed = p.ed.Draft()
	}
	p.at--
	p.ed.Load(p.recall(p.history[p.at]))
}

func (p *prompt) down() {
	if p.at >= len(p.history) {
		return
	}
	p.at++
	if p.at == len(p.history) {
		p.ed.Load(p.typed)
		return
	}
	p.ed.Load(p.recall(p.history[p.at]))
}

// remember adds what was sent to the history.
func (p *prompt) remember(u *ui, d editor.Draft) {
	if n := len(p.history); n == 0 || p.history[n-1].Text != d.Text {
		p.history = append(p.history, d)
		u.keepHistory(d)
	}
	p.at = len(p.history)
}

// draftWait is how long typing rests before the draft is written.
const draftWait = 400 * time.Millisecond

// changed has the draft written soon, so that it survives a crash.
func (p *prompt) changed(u *ui) {
	if p.saving == nil {
		p.saving = time.AfterFunc(draftWait, func() { u.post(func() { p.saveDraft() }) })
		return
	}
	p.saving.Reset(draftWait)
}
