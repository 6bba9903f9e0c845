package provider

import "lathe/internal/msg"

// Shared is the number of leading messages that two requests have in common. For requests of one conversation it
// costs little, however long it is: see msg.Same.
func Shared(a, b []Message) int {
	n := 0
	for n < len(a) && n < len(b) && a[n].Role == b[n].Role && msg.SameBlocks(a[n].Content, b[n].Content) {
		n++
	}
	return n
}
