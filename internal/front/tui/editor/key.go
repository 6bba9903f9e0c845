package editor

import "strings"

// Result is what became of a key.
type Result int

const (
	Ignored     Result = iota // not a key of the editor
	Done                      // taken; text or cursor may have changed
	Submit                    // Enter: send it
	HistoryPrev               // Up in the first row
	HistoryNext               // Down in the last row
	Search                    // vim's /: search the history
)

// Key takes a key press: its name in the form "ctrl+a", "alt+b", "shift+enter", "left", and the text that it types, if
// any.
func (e *Editor) Key(name, text string) Result {
	if act, ok := bound[name]; ok {
		return act(e)
	}
	if text == "" || strings.HasPrefix(name, "ctrl+") || strings.HasPrefix(name, "alt+") || strings.HasPrefix(name, "super+") {
		return Ignored
	}
	e.Insert(text)
	return Done
}

func done(f func(*Editor)) func(*Editor) Result {
	return func(e *Editor) Result {
		f(e)
		return Done
	}
}

// bound are the keys of the editor. What may be rebound (sending, newline, undo …) is also reachable through Do.
var bound = map[string]func(*Editor) Result{
	"enter": (*Editor).enter, "return": (*Editor).enter,
	"ctrl+j": done((*Editor).newline), "shift+enter": done((*Editor).newline), "alt+enter": done((*Editor).newline),

	"left": done((*Editor).left), "ctrl+b": done((*Editor).left), "right": done((*Editor).right), "ctrl+f": done((*Editor).right),
	"up": (*Editor).up, "ctrl+p": (*Editor).up, "down": (*Editor).down, "ctrl+n": (*Editor).down,
	"home": done((*Editor).home), "ctrl+a": done((*Editor).home), "end": done((*Editor).end), "ctrl+e": done((*Editor).end),
	"ctrl+home": done(func(e *Editor) { e.moveTo(0) }), "ctrl+end": done(func(e *Editor) { e.moveTo(len(e.text)) }),
	"alt+b": done((*Editor).back), "alt+left": done((*Editor).back), "ctrl+left": done((*Editor).back),
	"alt+f": done((*Editor).forward), "alt+right": done((*Editor).forward), "ctrl+right": done((*Editor).forward),

	"backspace": done((*Editor).backspace), "ctrl+h": done((*Editor).backspace), "shift+backspace": done((*Editor).backspace),
	"delete": done((*Editor).delete), "ctrl+d": (*Editor).ctrlD,
	"ctrl+w": done((*Editor).killWordLeft), "alt+backspace": done(func(e *Editor) { e.kill(e.wordLeft(e.cur), e.cur) }),
	"ctrl+backspace": done(func(e *Editor) { e.kill(e.wordLeft(e.cur), e.cur) }),
	"alt+d":          done((*Editor).killWordRight), "alt+delete": done((*Editor).killWordRight), "ctrl+delete": done((*Editor).killWordRight),
	"ctrl+k": done((*Editor).killRight), "ctrl+u": done((*Editor).killLeft),
	"ctrl+y": done((*Editor).yank), "alt+y": done((*Editor).yankPop),
	"ctrl+_": done(func(e *Editor) { e.Undo() }), "ctrl+shift+-": done(func(e *Editor) { e.Undo() }), "ctrl+-": done(func(e *Editor) { e.Undo() }),
	"ctrl+/": done(func(e *Editor) { e.Undo() }), "alt+_": done(func(e *Editor) { e.Redo() }),
}

// enter sends, unless a backslash stands before the cursor: that becomes a new line.
func (e *Editor) enter() Result {
	if e.cur > 0 && e.text[e.cur-1] == '\\' {
		e.begin(other)
		e.splice(e.cur-1, e.cur, "\n")
		return Done
	}
	return Submit
}

func (e *Editor) newline() {
	e.begin(other)
	e.splice(e.cur, e.cur, "\n")
}

func (e *Editor) left()  { e.moveTo(e.prev(e.cur)) }
func (e *Editor) right() { e.moveTo(e.next(e.cur)) }
func (e *Editor) back()  { e.moveTo(e.wordLeft(e.cur)) }

func (e *Editor) forward() {
	if e.opts.Readline {
		e.moveTo(e.wordEnd(e.cur))
		return
	}
	e.moveTo(e.wordRight(e.cur))
}

// home goes to the start of the logical line, and from there to that of the line before.
func (e *Editor) home() {
	if s := e.lineStart(e.cur); s < e.cur || s == 0 {
		e.moveTo(s)
		return
	}
	e.moveTo(e.lineStart(e.cur - 1))
}

func (e *Editor) end() {
	if s := e.lineEnd(e.cur); s > e.cur || s == len(e.text) {
		e.moveTo(s)
		return
	}
	e.moveTo(e.lineEnd(e.cur + 1))
}

func (e *Editor) backspace() { e.erase(e.prev(e.cur), e.cur) }
func (e *Editor) delete()    { e.erase(e.cur, e.next(e.cur)) }

func (e *Editor) erase(from, to int) {
	if from < to {
		e.begin(erasing)
		e.splice(from, to, "")
	}
}

// ctrlD deletes to the right; in an empty text it is the caller's key to leave.
func (e *Editor) ctrlD() Result {
	if e.text == "" {
		return Ignored
	}
	e.delete()
	return Done
}

func (e *Editor) killWordLeft() {
	if e.opts.Readline {
		e.kill(e.blankLeft(e.cur), e.cur)
		return
	}
	e.kill(e.wordLeft(e.cur), e.cur)
}

func (e *Editor) killWordRight() {
	if e.opts.Readline {
		e.kill(e.cur, e.wordEnd(e.cur))
		return
	}
	e.kill(e.cur, e.wordRight(e.cur))
}

// killRight kills to the end of the line; at the end, the line end itself.
func (e *Editor) killRight() {
	to := e.lineEnd(e.cur)
	if to == e.cur {
		to = e.next(e.cur)
	}
	e.kill(e.cur, to)
}

// killLeft kills to the start of the line; at the start, the line end before it, so that it can be repeated.
func (e *Editor) killLeft() {
	from := e.lineStart(e.cur)
	if from == e.cur {
		from = e.prev(e.cur)
	}
	e.kill(from, e.cur)
}
