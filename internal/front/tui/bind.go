package tui

import (
	"bytes"
	"encoding/json"
	"strings"
	"time"

	"lathe/internal/event"
	"lathe/internal/front/tui/editor"
	"lathe/internal/front/tui/keymap"
	"lathe/internal/front/tui/term"
)

// ownKeys are the keys under which the screen knows an action. A key that the user bound to the action is taken as this
// one; actions that are not here do nothing yet.
var ownKeys = map[string]string{
	"app:interrupt": "ctrl+c", "app:exit": "ctrl+d", "app:redraw": "ctrl+l", "app:toggleTodos": "ctrl+t", "app:toggleTranscript": "ctrl+o",
	"history:search": "ctrl+r", "history:previous": "up", "history:next": "down",
	"chat:cancel": "esc", "chat:clearInput": "ctrl+l", "chat:cycleMode": "shift+tab", "chat:modelPicker": "alt+p", "chat:submit": "enter",
	"chat:newline": "ctrl+j", "chat:undo": "ctrl+_", "chat:externalEditor": "ctrl+g", "chat:stash": "ctrl+s", "chat:imagePaste": "ctrl+v", "chat:thinkingToggle": "alt+t", "chat:killAgents": killAgents, "chat:sendNow": "ctrl+enter",
	"task:background": "ctrl+b", "autocomplete:accept": "tab", "autocomplete:dismiss": "esc", "autocomplete:previous": "up", "autocomplete:next": "down",
}

// bindingsRest is the pause in typing after which the file of key bindings is looked at again.
const bindingsRest = 2 * time.Second

// reloadBindings takes a changed file of key bindings before the first key after a pause, so that nothing has to watch it.
func (u *ui) reloadBindings() {
	now := u.o.Now()
	rested := now.Sub(u.keyAt) > bindingsRest
	u.keyAt = now
	if !rested || u.session == nil {
		return
	}
	u.query("keybindings", map[string]any{}, func(r event.Reply) {
		var v struct {
			File []byte `json:"file"`
		}
		if r.Err == "" && json.Unmarshal(r.Value, &v) == nil && !bytes.Equal(v.File, u.bound) {
			u.bindings(v.File)
		}
	})
}

// bindings takes the user's key bindings and tells what in them does not hold.
func (u *ui) bindings(file []byte) {
	u.bound = file
	table, warnings := keymap.Parse(file)
	u.keys = table.Matcher()
	for _, w := range warnings {
		u.notice("warning", w)
	}
}

// rebound is the key that a pressed one stands for at the prompt; done says that nothing is left to do.
func (u *ui) rebound(name string) (key string, done bool) {
	if u.keys == nil {
		return name, false
	}
	contexts := []string{"Chat", "Task", "Global"}
	if u.menu != nil {
		contexts = append([]string{"Autocomplete"}, contexts...)
	}
	action, state := u.keys.Press(name, contexts...)
	switch state {
	case keymap.Pending:
		u.hint = keymap.Show(u.keys.Pending()) + " …"
		return "", true
	case keymap.Unbound:
		return "", true
	case keymap.Free:
		return name, false
	}
	if command, ok := strings.CutPrefix(action, "command:"); ok {
		u.prompt.ed.SetText("/" + command)
		u.submit()
		return "", true
	}
	if own, ok := ownKeys[action]; ok {
		return own, false
	}
	return name, false
}

// vimFirst gives a key to the vim layer before the screen's own keys: Esc out of Insert, all that is typed in the other
// modes.
func (u *ui) vimFirst(k term.Key, name string) bool {
	v := u.prompt.vim
	if v == nil || v.Mode() == editor.Insert && name != "esc" {
		return false
	}
	if v.Mode() != editor.Insert && k.Text == "" && name != "esc" && name != "ctrl+r" {
		return false
	}
	r := v.Key(u.prompt.ed, name, k.Text)
	if r != editor.Ignored {
		u.typed(r)
	}
	return r != editor.Ignored
}

// setVim switches the vim layer.
func (u *ui) setVim(on bool) {
	u.prompt.vim = nil
	if on {
		u.prompt.vim = editor.NewVim()
	}
}

// press gives a key to the editor, through the vim layer if there is one.
func (p *prompt) press(name, text string) editor.Result {
	if p.vim != nil {
		return p.vim.Key(p.ed, name, text)
	}
	return p.ed.Key(name, text)
}

// selection is what vim has selected of a row of the view, in bytes of its text.
func (p *prompt) selection(row int) (from, to int) {
	if p.vim == nil {
		return 0, 0
	}
	return p.vim.Selected(p.ed, row)
}
