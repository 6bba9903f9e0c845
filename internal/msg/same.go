package msg

import (
	"bytes"
	"slices"
)

// same reports whether two blocks are equal in all that they hold. Texts that lie at the same place in memory, as
// those of a history that only grows, are equal without a look at them.
func same(a, b Block) bool {
	return a.Type == b.Type && a.Text == b.Text && a.Signature == b.Signature && a.Data == b.Data &&
		a.ID == b.ID && a.Name == b.Name && sameRaw(a.Input, b.Input) &&
		a.ToolUseID == b.ToolUseID && a.IsError == b.IsError && SameBlocks(a.Content, b.Content) &&
		sameSource(a.Source, b.Source) && sameRaw(a.Raw, b.Raw)
}

// SameBlocks reports whether two lists hold the same blocks; none is not the same as an empty list, since a tool's
// result is encoded differently with them.
func SameBlocks(a, b []Block) bool {
	if (a == nil) != (b == nil) || len(a) != len(b) {
		return false
	}
	return len(a) == 0 || &a[0] == &b[0] || slices.EqualFunc(a, b, same)
}

func sameRaw(a, b []byte) bool { return (a == nil) == (b == nil) && bytes.Equal(a, b) }

func sameSource(a, b *Source) bool {
	if a == nil || b == nil {
		return a == b
	}
	return *a == *b
}
