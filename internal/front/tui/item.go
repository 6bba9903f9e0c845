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

// changedEdit reports whether a file tool wrote another text than the model asked for: hunks of it were refused, or a hook
// changed it.
func changedEdit(input, output json.RawMessage) bool {
	var asked struct {
		New     *string `json:"new_string"`
		Content *string `json:"content"`
	}
	var done struct {
		New     *string `json:"newString"`
		Content *string `json:"content"`
	}
	if json.Unmarshal(input, &asked) != nil || json.Unmarshal(output, &done) != nil {
		return false
	}
	differs := func(a, b *string) bool { return a != nil && b != nil && *a != *b }
	return differs(asked.New, done.New) || differs(asked.Content, done.Content)
}
