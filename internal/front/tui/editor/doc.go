// Package editor is the model of the input box: text, cursor, undo, kill ring, placeholders for pasted text and images,
// and an optional vim layer. In come keys by name, text and pastes; out come the soft-wrapped rows with the cursor's cell,
// and at last the prompt. It draws nothing and reads nothing.
//
//	ed := editor.New(editor.Options{})
//	ed.SetWidth(78)                               // on every resize
//	switch ed.Key("ctrl+a", "") {                 // name as bubbletea's Keystroke(), text of printable keys
//	case editor.Ignored:                          // not a key of the editor: yours
//	case editor.HistoryPrev, editor.HistoryNext:  // Up or Down at the edge of the text
//	case editor.Submit:
//		if n := ed.StripInvisible(); n > 0 { … }  // tell, and send at the next Enter
//		d := ed.Take()                            // d.Prompt() is what is sent, d what history keeps
//	}
//	if p := ed.Paste(clip); p.Removed > 0 { … }   // bracketed paste; control characters were dropped
//	ed.Attach(editor.Image, "")                   // [Image #N] at the cursor
//	v := ed.View()                                // rows and the cursor's cell
//
// Every position of the cursor is on the boundary of a grapheme cluster. A placeholder is one character of the text: it is
// moved over, killed, yanked and undone as one.
package editor
