// Package keymap says what keys do. In come the bytes of the user's keybindings file; out come a table from pressed keys to
// actions, by context, and warnings about what in the file does not hold. It reads no file and runs no action.
//
//	table, warnings := keymap.Parse(fileOrNil)
//	m := table.Matcher()
//	switch action, st := m.Press(key, "Chat", "Global"); st { // contexts, innermost first; key as "ctrl+x", "K", "pgup"
//	case keymap.Bound:   // run action: "chat:submit", or "command:compact"
//	case keymap.Pending: // the first keys of a chord: wait for the next one
//	case keymap.Unbound: // bound to null by the user: do nothing
//	case keymap.Free:    // no binding: the editor's
//	}
//
// Contexts, actions, the syntax of keys and the file's form are those of Claude Code's documentation. Word-editing keys
// belong to the editor and cannot be bound; Ctrl+C and Ctrl+D always do what they do.
package keymap
