package editor

import (
	"strings"
	"unicode/utf8"
)

// Mode is the mode of the vim layer; the names are those of the status line.
type Mode string

const (
	Insert     Mode = "INSERT"
	Normal     Mode = "NORMAL"
	Visual     Mode = "VISUAL"
	VisualLine Mode = "VISUAL LINE"
)

// Vim is the optional layer of vim keys over an editor: give keys to Key instead of the editor's. It begins in Insert.
// Enter sends in Normal, too.
type Vim struct {
	mode   Mode
	count  int  // typed so far
	op     byte // d, c, y, > or < waiting for a motion
	times  int  // the count before op
	wait   byte // a key that needs another: f F t T g i a r
	anchor int  // of a selection

	find     byte // the last of f F t T and its character, for ; and ,
	findText string
	reg      string // what was cut or copied last
	regLines bool

	keys, change []stroke // of the command at hand; of the last that changed something
	before       int      // steps of undo when Insert was entered
	replaying    bool
	recording    bool // what is typed in Insert belongs to change
}

type stroke struct{ name, text string }

// NewVim returns a layer in insert mode.
func NewVim() *Vim { return &Vim{mode: Insert} }

// Mode is the present mode.
func (v *Vim) Mode() Mode { return v.mode }

// Pending is what was typed of a command that is not complete, for the status line.
func (v *Vim) Pending() string {
	var b strings.Builder
	if v.mode != Insert {
		for _, k := range v.keys {
			b.WriteString(k.text)
		}
	}
	return b.String()
}

// Selection is the selected range of Text in byte offsets; ok is false outside of the visual modes.
func (v *Vim) Selection(e *Editor) (from, to int, ok bool) {
	if v.mode != Visual && v.mode != VisualLine {
		return 0, 0, false
	}
	from, to = v.selected(e)
	return len(e.labelled(e.text[:from])), len(e.labelled(e.text[:to])), true
}

// Selected is the selected part of a row of the view, in bytes of its text; from and to are equal when there is none.
func (v *Vim) Selected(e *Editor, row int) (from, to int) {
	if v.mode != Visual && v.mode != VisualLine {
		return 0, 0
	}
	a, b := v.selected(e)
	return e.View().Rows[row].part(a, b)
}

// Key takes a key press like Editor.Key.
func (v *Vim) Key(e *Editor, name, text string) Result {
	if v.mode == Insert {
		return v.insertKey(e, name, text)
	}
	if name == "esc" || name == "ctrl+[" {
		if v.mode == Normal && len(v.keys) == 0 {
			return Ignored // the caller's: interrupt, rewind
		}
		v.reset(e)
		return Done
	}
	if utf8.RuneCountInString(text) != 1 {
		return v.namedKey(e, name)
	}
	undo, was := len(e.undo), e.text
	v.keys = append(v.keys, stroke{name, text})
	r, complete := v.command(e, text)
	if complete {
		changed := v.mode == Insert || e.text != was || len(e.undo) > undo
		if changed && !v.replaying && text != "u" && text != "." && v.mode != Visual && v.mode != VisualLine {
			v.change = append([]stroke(nil), v.keys...)
		}
		if v.mode == Insert {
			v.before, v.recording = min(undo, len(e.undo)), !v.replaying
		}
		v.keys = nil
		v.count, v.op, v.times, v.wait = 0, 0, 0, 0
	}
	if v.mode == Normal {
		v.clamp(e)
	}
	return r
}

func (v *Vim) insertKey(e *Editor, name, text string) Result {
	if v.recording {
		v.change = append(v.change, stroke{name, text})
	}
	if name != "esc" && name != "ctrl+[" {
		return e.Key(name, text)
	}
	if (v.recording || v.replaying) && len(e.undo) > v.before+1 { // what was typed is one step
		e.undo = e.undo[:v.before+1]
	}
	v.mode, v.recording = Normal, false
	if e.cur > e.lineStart(e.cur) {
		e.moveTo(e.prev(e.cur))
	}
	v.clamp(e)
	return Done
}

// namedKey are keys without text.
func (v *Vim) namedKey(e *Editor, name string) Result {
	v.count, v.op, v.times, v.wait, v.keys = 0, 0, 0, 0, nil
	var r Result
	switch name {
	case "ctrl+r":
		if v.mode != Normal || len(e.redo) == 0 {
			return Ignored // the search of the history
		}
		e.Redo()
		r = Done
	case "backspace":
		e.left()
		r = Done
	case "delete":
		e.delete()
		r = Done
	default:
		r = e.Key(name, "")
	}
	if v.mode == Normal {
		v.clamp(e)
	}
	return r
}

func (v *Vim) reset(e *Editor) {
	v.mode, v.keys, v.count, v.op, v.times, v.wait = Normal, nil, 0, 0, 0, 0
	v.clamp(e)
}

// clamp keeps the cursor on a character: in Normal it does not stand behind the last one of a line.
func (v *Vim) clamp(e *Editor) {
	if e.cur == e.lineEnd(e.cur) && e.cur > e.lineStart(e.cur) {
		goal := e.goal
		e.moveTo(e.prev(e.cur))
		e.goal = goal
	}
}

func (v *Vim) enterInsert(e *Editor, at int) {
	e.moveTo(at)
	v.mode = Insert
}

// command takes the next character of a command and reports whether it is complete.
func (v *Vim) command(e *Editor, text string) (Result, bool) {
	c := text[0]
	if v.wait != 0 {
		return v.waited(e, text)
	}
	if c >= '1' && c <= '9' || c == '0' && v.count > 0 {
		v.count = min(v.count*10+int(c-'0'), 9999)
		return Done, false
	}
	if v.mode == Visual || v.mode == VisualLine {
		if r, complete, ok := v.visual(e, c); ok {
			return r, complete
		}
	}
	switch c {
	case 'f', 'F', 't', 'T', 'g':
		v.wait = c
		return Done, false
	case 'i', 'a':
		if v.op != 0 || v.mode != Normal {
			v.wait = c
			return Done, false
		}
	case 'r':
		if v.op == 0 {
			v.wait = c
			return Done, false
		}
	case 'd', 'c', 'y', '>', '<':
		if v.op == c {
			v.lines(e, c, v.total())
			return Done, true
		}
		if v.op == 0 {
			v.op, v.times, v.count = c, v.count, 0
			return Done, false
		}
		return Done, true
	case '/':
		return Search, true
	}
	if m, ok := v.motion(e, c); ok {
		return v.apply(e, m), true
	}
	if v.op != 0 || v.mode != Normal {
		return Done, true // not a command
	}
	return v.simple(e, c), true
}

// total is the count of the whole command, at least 1.
func (v *Vim) total() int { return max(v.count, 1) * max(v.times, 1) }

// waited takes the character that f, g, r or a text object needs.
func (v *Vim) waited(e *Editor, text string) (Result, bool) {
	wait := v.wait
	v.wait = 0
	switch wait {
	case 'f', 'F', 't', 'T':
		v.find, v.findText = wait, text
		if m, ok := v.findMotion(e, wait, text); ok {
			return v.apply(e, m), true
		}
	case 'g':
		if text == "g" {
			to := lineAt(e, v.count)
			return v.apply(e, motion{to: to, lines: true}), true
		}
	case 'r':
		if v.mode != Normal {
			v.replaceSelection(e, text)
		} else {
			v.replace(e, text)
		}
	case 'i', 'a':
		if from, to, ok := e.object(wait == 'a', text[0]); ok {
			if v.mode != Normal {
				v.anchor = from
				e.moveTo(max(from, e.prev(to)))
				return Done, true
			}
			v.operate(e, from, to, false)
		}
	}
	return Done, true
}

// apply moves, or runs the waiting operator up to where the motion goes.
func (v *Vim) apply(e *Editor, m motion) Result {
	if v.op == 0 {
		if m.result != 0 {
			return m.result
		}
		goal := m.goal
		e.moveTo(m.to)
		if m.vertical {
			e.goal = goal
		}
		return Done
	}
	from, to := min(e.cur, m.to), max(e.cur, m.to)
	if m.lines || m.vertical {
		v.operate(e, e.lineStart(from), e.lineEnd(to), true)
		return Done
	}
	if m.inclusive {
		to = e.next(to)
	}
	v.operate(e, from, to, false)
	return Done
}

// operate runs the operator on [from, to); whole lines are given without their last line end.
func (v *Vim) operate(e *Editor, from, to int, lines bool) {
	switch v.op {
	case '>', '<':
		v.indent(e, from, to, v.op == '>')
		return
	case 'y':
		v.reg, v.regLines = e.text[from:to], lines
		e.remember(v.reg)
		if !lines || from < e.lineStart(e.cur) {
			e.moveTo(from)
		}
		return
	}
	v.reg, v.regLines = e.text[from:to], lines
	if from < to {
		e.remember(v.reg)
	}
	if lines && v.op == 'd' { // the line goes with its end
		if to < len(e.text) {
			to++
		} else if from > 0 {
			from--
		}
	}
	if from < to {
		e.begin(other)
		e.splice(from, to, "")
	}
	if v.op == 'c' {
		v.enterInsert(e, e.cur)
		return
	}
	if lines {
		e.moveTo(firstNonBlank(e, e.lineStart(e.cur)))
	}
}

// lines runs an operator on n whole lines from the cursor's on.
func (v *Vim) lines(e *Editor, op byte, n int) {
	from, to := e.lineStart(e.cur), e.lineEnd(e.cur)
	for range n - 1 {
		if to < len(e.text) {
			to = e.lineEnd(to + 1)
		}
	}
	v.op = op
	v.operate(e, from, to, true)
}

// simple are commands of one key.
func (v *Vim) simple(e *Editor, c byte) Result {
	n := v.total()
	end := e.lineEnd(e.cur)
	switch c {
	case 'i':
		v.enterInsert(e, e.cur)
	case 'I':
		v.enterInsert(e, firstNonBlank(e, e.lineStart(e.cur)))
	case 'a':
		v.enterInsert(e, min(e.next(e.cur), end))
	case 'A':
		v.enterInsert(e, end)
	case 'o':
		e.begin(other)
		e.splice(end, end, "\n")
		v.enterInsert(e, e.cur)
	case 'O':
		start := e.lineStart(e.cur)
		e.begin(other)
		e.splice(start, start, "\n")
		v.enterInsert(e, start)
	case 'v':
		v.mode, v.anchor = Visual, e.cur
	case 'V':
		v.mode, v.anchor = VisualLine, e.cur
	case 'x', 's':
		to := e.cur
		for range n {
			if to < end {
				to = e.next(to)
			}
		}
		v.op = map[byte]byte{'x': 'd', 's': 'c'}[c]
		v.operate(e, e.cur, to, false)
	case 'X':
		from := e.cur
		for range n {
			from = max(e.prev(from), e.lineStart(e.cur))
		}
		v.op = 'd'
		v.operate(e, from, e.cur, false)
	case 'D', 'C':
		v.op = c | 0x20
		v.operate(e, e.cur, end, false)
	case 'S':
		v.lines(e, 'c', n)
	case 'Y':
		v.lines(e, 'y', n)
	case 'p', 'P':
		v.put(e, c == 'p', n)
	case 'J':
		v.join(e, e.cur, max(n-1, 1))
	case '~':
		to := e.cur
		for range n {
			if to < end {
				to = e.next(to)
			}
		}
		v.recase(e, e.cur, to, toggle)
		e.moveTo(to)
	case 'u':
		for range n {
			e.Undo()
		}
	case '.':
		v.repeat(e)
	default:
		return Done
	}
	return Done
}

// repeat plays the keys of the last change again.
func (v *Vim) repeat(e *Editor) {
	if v.replaying {
		return
	}
	v.replaying = true
	v.keys, v.count, v.op, v.times = nil, 0, 0, 0
	for _, k := range v.change {
		v.Key(e, k.name, k.text)
	}
	v.replaying = false
	if v.mode == Insert {
		v.mode = Normal
	}
}
