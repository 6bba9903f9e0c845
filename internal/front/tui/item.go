package tui

import (
	"encoding/json"
	"time"

	"lathe/internal/perm"
)

// kind says what an item of the transcript is.
type kind int

const (
	kindUser kind = iota
	kindText
	kindThinking
	kindTool
	kindNotice
	kindLocal // output of a slash command
	kindShell // a command of the person's own
	kindDone
	kindContext // the picture of what fills the window
)

// item is one piece of the conversation as it is shown. It keeps the text, not what was drawn of it.
type item struct {
	kind  kind
	text  string
	level string // notices: info, warning, error

	// Tools and shell commands.
	id, name, summary string
	input, output     json.RawMessage
	isError           bool
	dur               time.Duration
	decision          perm.Decision
	changed           bool // the call ran with another input than the model gave
	open              bool // shown whole on the full screen
}
