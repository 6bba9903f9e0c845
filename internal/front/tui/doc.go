// Package tui is the terminal interface: a prompt below, the conversation above. In come the events of a session and
// the keys of a person, out go ops and what the terminal shows. It holds no logic of the agent.
//
// One goroutine owns all state (ui, in ui.go): it takes keys, events and timers one after the other and draws at most
// thirty pictures a second. term is the terminal as a device, screen brings lines onto it; what is pure (Markdown, diffs,
// the editor, themes) has packages of its own beside them. Called by internal/cli/terminal.go. For people: docs/terminal.md.
package tui
