package tui

import (
	"strings"
	"time"

	"lathe/internal/event"
	"lathe/internal/front/tui/editor"
	"lathe/internal/front/tui/term"
)

// twice is how long a key that must be pressed twice waits for the second time.
const twice = 800 * time.Millisecond

// twiceChord is the same for a key of two strokes.
const twiceChord = 3 * time.Second

// terminal takes what comes from the terminal, and reports whether it may change the picture.
func (u *ui) terminal(e term.Event) bool {
	switch e := e.(type) {
	case term.Key:
		if u.isAnswer(e) {
			u.answered(firstRow)
			return false
		}
		u.key(e)
	case term.Paste:
		u.paste(e.Text)
	case term.Mouse:
		if u.full != nil {
			u.full.mouse(u, e)
		}
	case term.Focus:
		u.focused = e.In
	case term.Resize:
		u.hold()
	case term.Closed:
		u.quit, u.outcome.Code = true, 143
	case term.Report:
		return u.report(e)
	}
	return true
}

// key goes to the dialog, to the keys that always hold, to the menu, to the editor, in this order.
func (u *ui) key(k term.Key) {
	name := k.String()
	u.reloadBindings()
	if name != u.armedFor && u.armedFor != killAgents {
		u.armedFor = ""
	}
	if u.global(name) {
		return
	}
	u.hint = ""
	if d := u.dialog(); d != nil && !u.peeking() {
		if u.stillTyping(k) {
			return
		}
		k, done := u.reboundIn(k, contextsOf(d)...)
		switch {
		case done || u.global(k.String()):
		case k.String() == "ctrl+o":
			u.peek()
		default:
			d.key(u, k)
		}
		return
	}
	if u.full != nil {
		contexts := []string{"Scroll"}
		if u.full.transcript && !u.full.searching {
			contexts = []string{"Transcript", "Scroll", "Global"}
		}
		k, done := u.reboundIn(k, contexts...)
		if done || u.full.key(u, k.String()) {
			return
		}
	}
	if u.vimFirst(k, name) {
		return
	}
	name, done := u.rebound(name)
	if done {
		return
	}
	if u.menu != nil && u.menu.key(u, name) {
		return
	}
	if u.chatKey(name) {
		return
	}
	u.edit(name, k.Text)
}

// typingPause is the pause after which a person who was typing has seen a dialog that came in between.
const typingPause = 700 * time.Millisecond

// stillTyping takes a key that was meant for the prompt although a dialog has opened: a word that is being typed must not
// answer a question.
func (u *ui) stillTyping(k term.Key) bool {
	now := u.o.Now()
	if u.prompt.ed.Empty() || now.Sub(u.lastTyped) > typingPause {
		return false
	}
	u.lastTyped = now
	if k.Text != "" || k.Code == term.Backspace {
		u.prompt.ed.Key(k.String(), k.Text)
		u.prompt.changed(u)
	}
	return true
}

// global are the keys that hold in dialogs too.
func (u *ui) global(name string) bool {
	switch name {
	case "ctrl+c":
		u.ctrlC()
	case "ctrl+z":
		u.suspend()
	case "ctrl+l":
		u.redraw()
	default:
		return false
	}
	return true
}

// again reports whether a key was pressed for the second time in a row; else it says what a second time would do.
func (u *ui) again(name, hint string) bool {
	now := u.o.Now()
	limit := twice
	if name == killAgents {
		limit = twiceChord
	}
	if u.armedFor == name && now.Sub(u.armedAt) < limit {
		u.armedFor = ""
		return true
	}
	u.armedFor, u.armedAt, u.hint = name, now, hint
	return false
}

// stoppingHint stands until the turn has stopped.
const stoppingHint = "stopping · ctrl+c again leaves Lathe"

// ctrlC closes what is open, stops what runs, clears what is typed, and at last leaves.
func (u *ui) ctrlC() {
	switch {
	case u.peeking():
		u.closeTranscript()
	case u.dialog() != nil && u.dialog().cancel(u):
	case u.full != nil && u.full.transcript:
		u.closeTranscript()
	case u.shellID != "":
		u.stopShell()
	case u.work.running:
		if u.again("ctrl+c", stoppingHint) {
			u.quit = true
			return
		}
		u.interrupt()
	case !u.prompt.ed.Empty():
		u.prompt.remember(u, u.prompt.ed.Draft())
		u.prompt.ed.Clear()
		u.menu, u.armedFor = nil, ""
		u.prompt.changed(u)
		u.hint = "cleared · up brings it back"
	case u.again("ctrl+c", "ctrl+c again leaves Lathe"):
		u.quit = true
	}
}

func (u *ui) interrupt() {
	u.op(event.Interrupt{})
	u.work.phase = "stopping"
}

// chatKey are the keys of the input box that are not the editor's.
func (u *ui) chatKey(name string) bool {
	empty := u.prompt.ed.Empty()
	switch name {
	case "esc":
		u.esc(empty)
	case "ctrl+d":
		if !empty {
			return false
		}
		if u.again(name, "ctrl+d again leaves Lathe") {
			u.quit = true
		}
	case "shift+tab":
		u.cycleMode()
	case "ctrl+o":
		u.openTranscript()
	case "ctrl+t":
		u.showTodo = !u.showTodo
	case "ctrl+b":
		if !u.work.running && !empty {
			return false
		}
		u.background()
	case "ctrl+g":
		u.externalEditor()
	case "ctrl+enter":
		u.sendNow()
	case "ctrl+r":
		u.searchHistory()
	case "ctrl+s":
		u.stashDraft()
	case "ctrl+v", "alt+v":
		u.pasteImage()
	case "alt+p":
		u.command("/model")
	case "alt+m":
		if u.full == nil {
			return false
		}
		u.noMouse = !u.noMouse
		u.tty.Mouse(!u.noMouse)
		u.hint = "the mouse is " + map[bool]string{true: "the terminal's: select and copy as always · alt+m: back", false: "Lathe's: wheel and clicks"}[u.noMouse]
	case "alt+t":
		u.toggleThinking()
	case "alt+o":
		u.pickFast()
	case killAgents:
		u.killAgents()
	case "?":
		if !empty || u.prompt.shell {
			return false
		}
		u.hint = shortcuts
	case "!":
		if !empty || u.prompt.shell {
			return false
		}
		u.prompt.shell = true
	case "backspace", "ctrl+u":
		if !empty || !u.prompt.shell {
			return false
		}
		u.prompt.shell = false
	case "up":
		if len(u.queue) == 0 || u.prompt.ed.View().Row != 0 {
			return false
		}
		u.takeBack()
	default:
		return false
	}
	return true
}

const shortcuts = `enter sends · \ enter or ctrl+j: new line · esc stops · esc esc: clear, or rewind
/ commands · @ files · ! shell command · shift+tab: mode · ctrl+o: whole transcript
ctrl+r: search history · ctrl+t: to-dos · ctrl+b: to the background · ctrl+g: your editor
ctrl+s: put the draft aside · ctrl+v: paste an image · ctrl+z: suspend · ctrl+d twice: leave
alt+p: model · alt+t: thinking · alt+o: fast mode · ctrl+x ctrl+k twice: stop the agents in the background`

func (u *ui) esc(empty bool) {
	switch {
	case u.shellID != "":
		u.stopShell()
	case u.work.running:
		u.interrupt()
	case u.prompt.shell && empty:
		u.prompt.shell = false
	case !empty:
		if u.again("esc", "esc again clears") {
			u.prompt.remember(u, u.prompt.ed.Draft())
			u.prompt.ed.Clear()
			u.prompt.changed(u)
		}
	case u.again("esc", "esc again: rewind"):
		u.openRewind()
	}
}

// edit has the editor take a key.
func (u *ui) edit(name, text string) {
	if text != "" {
		u.lastTyped = u.o.Now()
	}
	u.typed(u.prompt.press(name, text))
}

// typed does what the editor asks for after a key.
func (u *ui) typed(r editor.Result) {
	switch r {
	case editor.Submit:
		u.submit()
	case editor.HistoryPrev:
		u.prompt.up()
		u.dismiss()
		return
	case editor.HistoryNext:
		u.prompt.down()
		u.dismiss()
		return
	case editor.Search:
		u.searchHistory()
	case editor.Done:
		u.prompt.changed(u)
	}
	u.suggest()
}

func (u *ui) paste(text string) {
	if d := u.dialog(); d != nil {
		d.paste(u, text)
		return
	}
	if u.prompt.ed.Empty() && !u.prompt.shell && strings.HasPrefix(text, "!") {
		u.prompt.shell = true
		text = text[1:]
	}
	if path, ok := imagePath(text); ok {
		u.prompt.ed.Attach(editor.Image, path)
	} else if p := u.prompt.ed.Paste(text); p.Removed > 0 {
		u.hint = count(p.Removed, "control character") + " left out of what you pasted"
	}
	u.prompt.changed(u)
	u.suggest()
}

// modes is the cycle of Shift+Tab.
func (u *ui) cycleMode() {
	cycle := []string{"default", "acceptEdits", "plan"}
	if u.session != nil && u.session.Settings.CanBypass {
		cycle = append(cycle, "bypassPermissions")
	}
	cycle = append(cycle, "auto")
	now := u.status.mode
	if want := first(u.modeNext, u.modeAsked); want != "" { // pressed again before the session has answered
		now = want
	}
	next := cycle[0]
	for i, m := range cycle {
		if m == now || now == "" && m == "default" {
			next = cycle[(i+1)%len(cycle)]
		}
	}
	u.setMode(next)
}

func (u *ui) setMode(mode string) {
	if u.modeAsked != "" { // queries may overtake each other
		u.modeNext = mode
		return
	}
	u.modeAsked = mode
	u.query("set_permission_mode", map[string]string{"mode": mode}, func(r event.Reply) {
		next := u.modeNext
		u.modeAsked, u.modeNext = "", ""
		if next != "" {
			u.setMode(next)
			return
		}
		if r.Err != "" {
			u.hint = r.Err
			return
		}
		u.status.mode = mode
		u.refresh()
	})
}
