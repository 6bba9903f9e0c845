package tui

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"lathe/internal/event"
	"lathe/internal/front/tui/editor"
)

// queued is a prompt that was sent and is not taken up yet.
type queued struct {
	prompt event.Prompt
	text   string
	draft  editor.Draft
	at     time.Time
	waits  bool // something else ran when it was sent
}

// shown reports whether a prompt stands in the list: what is taken up at once does not.
func (q queued) shown(now time.Time) bool { return q.waits || now.Sub(q.at) > 300*time.Millisecond }

// submit sends what is typed.
func (u *ui) submit() {
	ed := u.prompt.ed
	if strings.TrimSpace(ed.Text()) == "" {
		return
	}
	if u.session == nil && !u.starting {
		u.hint = "there is no session: ctrl+c twice to leave"
		return
	}
	if n := ed.StripInvisible(); n > 0 {
		u.hint = fmt.Sprintf("%s removed from the text · enter sends it", count(n, "invisible character"))
		return
	}
	d := ed.Take()
	u.menu = nil
	u.asking++ // what a menu asked for comes too late
	if u.full != nil {
		u.full.follow = true // what comes of it is at the end
	}
	u.prompt.changed(u)
	if u.prompt.shell {
		u.prompt.shell = false
		d.Text = "!" + d.Text
		u.prompt.remember(u, d)
		u.runShell(strings.TrimPrefix(d.Prompt(), "!"))
		return
	}
	u.prompt.remember(u, d)
	text := d.Prompt()
	if strings.HasPrefix(text, "/") && u.command(strings.TrimSpace(text)) {
		return
	}
	p := event.Prompt{Text: text}
	for _, img := range d.Images() {
		p.Images = append(p.Images, img.Content)
	}
	u.enqueue(p, d)
}

// send sends a prompt that was not typed into the box.
func (u *ui) send(p event.Prompt) { u.enqueue(p, editor.Draft{Text: p.Text}) }

func (u *ui) enqueue(p event.Prompt, d editor.Draft) {
	u.nextID++
	p.ID = newID()
	u.queue = append(u.queue, queued{prompt: p, text: d.Text, draft: d, at: u.o.Now(), waits: u.work.running || u.session == nil})
	u.op(p)
}

// unqueue takes a prompt off the list: the session has taken it up.
func (u *ui) unqueue(id string, _ bool) {
	for i, q := range u.queue {
		if q.prompt.ID == id {
			u.queue = append(u.queue[:i:i], u.queue[i+1:]...)
			return
		}
	}
}

// sendNow interrupts what runs, so that what is typed and what is queued is taken up at once.
func (u *ui) sendNow() {
	if !u.prompt.ed.Empty() {
		u.submit()
	}
	if u.work.running {
		u.interrupt()
	}
}

// takeBack brings what is queued back into the box.
func (u *ui) takeBack() {
	u.query("take_queued", map[string]any{}, func(r event.Reply) {
		var v struct {
			IDs []string `json:"ids"`
		}
		if r.Err != "" || json.Unmarshal(r.Value, &v) != nil {
			return
		}
		var texts []string
		var parts []editor.Part
		for _, id := range v.IDs {
			for _, q := range u.queue {
				if q.prompt.ID == id {
					texts = append(texts, q.draft.Text)
					parts = append(parts, q.draft.Parts...)
				}
			}
			u.unqueue(id, false)
		}
		if t := u.prompt.ed.Text(); t != "" {
			texts = append(texts, t)
			parts = append(parts, u.prompt.ed.Draft().Parts...)
		}
		if len(texts) > 0 {
			u.prompt.ed.Load(editor.Draft{Text: strings.Join(texts, "\n"), Parts: parts})
			u.prompt.changed(u)
		}
	})
}

// stashDraft puts the draft aside, or brings it back.
func (u *ui) stashDraft() {
	p := &u.prompt
	switch {
	case !p.ed.Empty():
		d := p.ed.Take()
		p.stash = &d
		u.hint = "put aside · ctrl+s brings it back"
	case p.stash != nil:
		p.ed.Load(*p.stash)
		p.stash = nil
	}
	p.changed(u)
}

// imagePath reports whether a pasted or dragged text is the path of an image file.
func imagePath(text string) (string, bool) {
	text = strings.TrimSpace(text)
	if len(text) > 1024 || strings.Contains(text, "\n") {
		return "", false
	}
	text = strings.TrimPrefix(strings.Trim(text, `'"`), "file://")
	text = strings.ReplaceAll(text, `\ `, " ")
	switch strings.ToLower(filepath.Ext(text)) {
	case ".png", ".jpg", ".jpeg", ".gif", ".webp":
		info, err := os.Stat(text)
		return text, err == nil && info.Mode().IsRegular()
	}
	return "", false
}
