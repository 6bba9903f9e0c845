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
	"chat:newline": "ctrl+j", "chat:undo": "ctrl+_", "chat:externalEditor": "ctrl+g", "chat:stash": "ctrl+s", "chat:imagePaste": "ctrl+v", "chat:thinkingToggle": "alt+t", "chat:fastMode": "alt+o", "chat:killAgents": killAgents, "chat:sendNow": "ctrl+enter",
	"task:background": "ctrl+b", "autocomplete:accept": "tab", "autocomplete:dismiss": "esc", "autocomplete:previous": "up", "autocomplete:next": "down",
}

// dialogKeys are the keys under which dialogs, lists and the transcript know the actions of their contexts.
var dialogKeys = map[string]string{
	"app:redraw": "ctrl+l", "app:toggleTranscript": "ctrl+o",
	"confirm:yes": "y", "confirm:no": "esc", "confirm:previous": "up", "confirm:next": "down", "confirm:nextField": "tab", "confirm:previousField": "shift+tab",
	"confirm:toggle": "space", "confirm:toggleExplanation": "ctrl+e", "confirm:cycleMode": modeKeyName, "tabs:next": "right", "tabs:previous": "left",
	"select:next": "down", "select:previous": "up", "select:accept": "enter", "select:cancel": "esc", "select:pageUp": "pgup", "select:pageDown": "pgdown",
	"select:first": "ctrl+home", "select:last": "ctrl+end",
	"messageSelector:up": "up", "messageSelector:down": "down", "messageSelector:top": "ctrl+home", "messageSelector:bottom": "ctrl+end", "messageSelector:select": "enter",
	"historySearch:next": "ctrl+r", "historySearch:accept": "enter", "historySearch:execute": "enter", "historySearch:cancel": "esc", "historySearch:cycleScope": "ctrl+s",
	"modelPicker:decreaseEffort": "left", "modelPicker:increaseEffort": "right",
	"transcript:exit": "q", "scroll:pageUp": "pgup", "scroll:pageDown": "pgdown", "scroll:top": "ctrl+home", "scroll:bottom": "ctrl+end",
	"scroll:lineUp": "scroll:lineUp", "scroll:lineDown": "scroll:lineDown", "scroll:halfPageUp": "pgup", "scroll:halfPageDown": "pgdown",
	"scroll:fullPageUp": "scroll:fullPageUp", "scroll:fullPageDown": "scroll:fullPageDown",
	"selection:copy": "ctrl+shift+c", "selection:clear": "selection:clear", "selection:extendLeft": "shift+left", "selection:extendRight": "shift+right",
	"selection:extendUp": "shift+up", "selection:extendDown": "shift+down", "selection:extendLineStart": "shift+home", "selection:extendLineEnd": "shift+end",
}

// reboundIn is the key that a pressed one stands for where the user has bound it in one of the contexts of a dialog, a list
// or the transcript; done says that it does nothing.
func (u *ui) reboundIn(k term.Key, contexts ...string) (key term.Key, done bool) {
	if u.ownBound == nil {
		return k, false
	}
	action, state := u.ownBound.Press(k.String(), contexts...)
	switch state {
	case keymap.Pending:
		u.hint = keymap.Show(u.ownBound.Pending()) + " …"
		return k, true
	case keymap.Unbound:
		return k, true
	case keymap.Free:
		return k, false
	}
	own, ok := dialogKeys[action]
	switch {
	case !ok:
		return k, false
	case strings.HasPrefix(own, "scroll:"), strings.HasPrefix(own, "selection:"): // it has no key of its own
		return term.Key{Text: own}, false
	}
	return term.Named(own), false
}

// contextsOf are the contexts of bindings in which a dialog stands.
func contextsOf(d dialog) []string {
	p, list := d.(*picker)
	switch {
	case !list:
		return []string{"Confirmation", "Tabs", "Select", "Global"}
	case p.context != "":
		return []string{p.context, "Select", "Global"}
	}
	return []string{"Select", "Global"}
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
	u.keys, u.ownBound = table.Matcher(), table.OwnMatcher()
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
