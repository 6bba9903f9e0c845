package editor

import (
	"strings"
)

// Options are the user's settings. The zero value is the documented default.
type Options struct {
	// Readline makes Ctrl+W delete to white space, and Alt+F and Alt+D stop at the end of a word ("keybindingFlavor").
	Readline bool
}

// Editor is a text with a cursor. Use New.
type Editor struct {
	opts  Options
	text  string
	cur   int // byte offset, on a cluster boundary
	parts map[rune]Part
	last  int // number of the newest part

	width int
	goal  int // column that Up and Down aim for, or -1
	view  *View

	undo, redo []state
	kind       editKind // of the newest edit, while it may still grow

	ring            []string // newest last
	killed          bool     // the last key killed: the next kill joins it
	yankAt, yankEnd int      // range of the last yank while Alt+Y may follow, else yankAt is -1
	yankRing        int
}

// New returns an empty editor of 80 columns.
func New(o Options) *Editor {
	return &Editor{opts: o, parts: map[rune]Part{}, width: 80, goal: -1, yankAt: -1}
}

// Empty reports that there is no text.
func (e *Editor) Empty() bool { return e.text == "" }

// Text is the text with labels in the place of placeholders; Cursor is the cursor's byte offset in it.
func (e *Editor) Text() string { return e.labelled(e.text) }

// Cursor is the byte offset in Text.
func (e *Editor) Cursor() int { return len(e.labelled(e.text[:e.cur])) }

// Before is the text from the start of the cursor's line to the cursor, with labels: what completion looks at.
func (e *Editor) Before() string { return e.labelled(e.text[e.lineStart(e.cur):e.cur]) }

// FirstLine reports whether the cursor stands in the first logical line.
func (e *Editor) FirstLine() bool { return e.lineStart(e.cur) == 0 }

// Insert types text at the cursor. Line ends are normalised and control characters dropped; it returns how many
// characters that were.
func (e *Editor) Insert(s string) (removed int) {
	s, removed = clean(s)
	if s == "" {
		return removed
	}
	e.begin(insertKind(e.text[:e.cur], s))
	e.splice(e.cur, e.cur, s)
	return removed
}

// Replace puts text in the place of the n bytes of Text before the cursor: how a completion is taken. n is rounded up to
// whole clusters and stays in the line's placeholders-free part before the cursor.
func (e *Editor) Replace(n int, text string) {
	from := e.cur
	for from > 0 && e.cur-from < n {
		p := e.prev(from)
		if _, isPart := e.partAt(p); isPart {
			break
		}
		from = p
	}
	text, _ = clean(text)
	e.begin(other)
	e.splice(from, e.cur, text)
}

// SetText replaces everything as one step that can be undone, with the cursor at the end.
func (e *Editor) SetText(s string) {
	s, _ = clean(s)
	e.begin(other)
	e.splice(0, len(e.text), s)
}

// Clear empties the text; it can be undone.
func (e *Editor) Clear() {
	if e.text != "" {
		e.begin(other)
		e.splice(0, len(e.text), "")
	}
}

// splice replaces [from, to) by s and puts the cursor behind it.
func (e *Editor) splice(from, to int, s string) {
	e.text = e.text[:from] + s + e.text[to:]
	e.cur = e.snap(from + len(s))
	e.touch()
}

// touch forgets what depends on the text or on the place of the cursor.
func (e *Editor) touch() {
	e.view, e.goal, e.killed, e.yankAt = nil, -1, false, -1
}

func (e *Editor) moveTo(pos int) {
	e.cur = e.snap(pos)
	e.touch()
	e.kind = none
}

func (e *Editor) lineStart(pos int) int { return strings.LastIndexByte(e.text[:pos], '\n') + 1 }

func (e *Editor) lineEnd(pos int) int {
	if i := strings.IndexByte(e.text[pos:], '\n'); i >= 0 {
		return pos + i
	}
	return len(e.text)
}

// clean normalises line ends and drops what must not stand in the text: control characters other than line end and
// tab, bytes that are no UTF-8, and the private characters that stand for placeholders.
func clean(s string) (out string, removed int) {
	dirty := false
	for i := 0; i < len(s) && !dirty; i++ {
		c := s[i]
		dirty = c < 0x20 && c != '\n' && c != '\t' || c >= 0x7f
	}
	if !dirty {
		return s, 0
	}
	var b strings.Builder
	b.Grow(len(s))
	for i, r := range s {
		switch {
		case r == '\r':
			if i+1 >= len(s) || s[i+1] != '\n' {
				b.WriteByte('\n')
			}
		case r < 0x20 && r != '\n' && r != '\t', r >= 0x7f && r < 0xa0, r >= firstPart, r == 0x2028, r == 0x2029:
			removed++
		case r == 0xfffd && !strings.HasPrefix(s[i:], "\ufffd"):
			removed++
		default:
			b.WriteRune(r)
		}
	}
	return b.String(), removed
}
