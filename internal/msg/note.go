package msg

// What the model is told when the user interrupted. Other programs that read transcripts know these texts.
const (
	Interrupted      = "[Request interrupted by user]"
	InterruptedTools = "[Request interrupted by user for tool use]"
)

// IsInterruptNote reports whether a message says that the user interrupted.
func IsInterruptNote(m Message) bool {
	if m.Kind != KindUser || len(m.Blocks) != 1 {
		return false
	}
	t := m.Blocks[0].Text
	return t == Interrupted || t == InterruptedTools
}
