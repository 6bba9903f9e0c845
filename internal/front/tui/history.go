package tui

import (
	"lathe/internal/front/tui/editor"
	"lathe/internal/front/tui/history"
)

// openHistory names the files of this directory's prompts and drafts; a session that keeps nothing has none.
func (u *ui) openHistory() {
	u.prompt.store = nil
	if u.session != nil && u.session.StateDir != "" {
		u.prompt.store = history.Open(u.session.StateDir, u.session.Key, u.session.Redact)
	}
}

// loadHistory reads the prompts of this directory.
func (u *ui) loadHistory() {
	if u.prompt.store == nil {
		return
	}
	var list []editor.Draft
	for _, e := range u.prompt.store.Load() {
		list = append(list, e.Draft)
	}
	early := u.prompt.history // sent before the session was there
	u.prompt.history = list
	for _, d := range early {
		u.prompt.remember(u, d)
	}
	u.prompt.at = len(u.prompt.history)
}

// keepHistory adds a prompt to the file. A file that cannot be written takes nothing from the conversation.
func (u *ui) keepHistory(d editor.Draft) {
	if u.prompt.store == nil {
		return
	}
	if err := u.prompt.store.Add(d, u.session.ID); err != nil && !u.prompt.told {
		u.prompt.told = true
		u.hint = err.Error()
	}
}

// recall is a prompt of the history with its long pastes.
func (p *prompt) recall(d editor.Draft) editor.Draft {
	if p.store == nil {
		return d
	}
	return p.store.Fill(d)
}

// saveDraft writes what is typed, or removes the file when nothing is. Where it cannot be written typing goes on: the
// draft is only a comfort.
func (p *prompt) saveDraft() {
	d := p.ed.Draft()
	if p.store == nil || d.Text == p.saved {
		return
	}
	if p.store.SaveDraft(d) == nil {
		p.saved = d.Text
	}
}

// load brings back the draft of a process that ended without being asked to, and the history.
func (p *prompt) load(u *ui) {
	again := p.store != nil // another session of this process
	u.openHistory()
	if !again {
		u.loadHistory()
	}
	if p.store == nil || !p.ed.Empty() {
		return
	}
	if d, ok := p.store.Recover(); ok {
		p.ed.Load(d)
		p.saveDraft()
		u.hint = "what you had typed is back"
	}
}
