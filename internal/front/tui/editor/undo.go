package editor

import "unicode"

type state struct {
	text string
	cur  int
}

// editKind groups edits: several of one kind in a row are one step of undo.
type editKind int

const (
	none editKind = iota
	typing
	wordStart // begins a step, which typing continues
	erasing
	other // a step of its own
)

const (
	maxUndo      = 500
	maxUndoBytes = 8 << 20
)

// insertKind: a word and the blanks after it are one step; whatever is longer than a key is its own.
func insertKind(before, s string) editKind {
	runes := []rune(s)
	if len(runes) != 1 || s == "\n" {
		return other
	}
	if before != "" && unicode.IsSpace(rune(before[len(before)-1])) && !unicode.IsSpace(runes[0]) {
		return wordStart
	}
	return typing
}

// begin is called before each edit: it saves the state unless the edit continues the last one.
func (e *Editor) begin(k editKind) {
	grows := k == e.kind && (k == typing || k == erasing) && len(e.undo) > 0
	if !grows {
		e.undo = append(e.undo, state{e.text, e.cur})
		for total := e.undoBytes(); len(e.undo) > maxUndo || total > maxUndoBytes && len(e.undo) > 1; {
			total -= len(e.undo[0].text)
			e.undo = e.undo[1:]
		}
	}
	e.redo = nil
	switch e.kind = k; k {
	case wordStart:
		e.kind = typing
	case other:
		e.kind = none
	}
}

func (e *Editor) undoBytes() int {
	n := 0
	for _, s := range e.undo {
		n += len(s.text)
	}
	return n
}

// Undo takes the last step back and reports whether there was one.
func (e *Editor) Undo() bool { return e.step(&e.undo, &e.redo) }

// Redo takes back an Undo.
func (e *Editor) Redo() bool { return e.step(&e.redo, &e.undo) }

func (e *Editor) step(from, to *[]state) bool {
	n := len(*from)
	if n == 0 {
		return false
	}
	s := (*from)[n-1]
	*from = (*from)[:n-1]
	*to = append(*to, state{e.text, e.cur})
	e.text, e.cur, e.kind = s.text, s.cur, none
	e.touch()
	return true
}
