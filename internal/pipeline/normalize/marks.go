package normalize

import (
	"lathe/internal/msg"
	"lathe/internal/provider"
)

// maxMarks is how many cache marks a request may have; lookback is how many blocks before a mark, itself
// included, the API searches for an earlier entry.
const (
	maxMarks = 4
	lookback = 20
)

// marks places the cache marks (rule 9): the static system prompt or the last tool, the end of the system
// prompt, and the last two user messages. The last but one is where the request before this one ended, so its
// entry is found exactly, however long the answer between was. When the last message itself is longer than the
// look-back (a prompt came on top of what was sent before it failed), the mark that helps other sessions is given
// up for one in its middle.
func marks(out []provider.Message, r Rules) []provider.Breakpoint {
	if r.NoCache {
		return nil
	}
	var bps []provider.Breakpoint
	add := func(at provider.Place, index, block int) {
		bps = append(bps, provider.Breakpoint{At: at, Index: index, Block: block, OneHour: r.OneHour})
	}
	messages := userMarks(out)
	if len(messages) < 3 || r.System == 0 {
		switch {
		case r.Static > 0 && r.Static < r.System:
			add(provider.AtSystem, r.Static-1, 0)
		case len(r.Tools) > 0:
			add(provider.AtTool, len(r.Tools)-1, 0)
		}
	}
	if r.System > 0 {
		add(provider.AtSystem, r.System-1, 0)
	}
	for _, m := range messages {
		add(provider.AtMessage, m[0], m[1])
	}
	return bps[:min(len(bps), maxMarks)]
}

// userMarks returns message and block of the marks in the messages, in order.
func userMarks(out []provider.Message) [][2]int {
	var ends [][2]int
	for i := len(out) - 1; i >= 0 && len(ends) < 2; i-- {
		if out[i].Role == msg.RoleUser {
			ends = append(ends, [2]int{i, len(out[i].Content) - 1})
		}
	}
	if len(ends) == 0 {
		return nil
	}
	last := ends[0]
	var marks [][2]int
	if len(ends) == 2 {
		marks = append(marks, ends[1])
		if mid := last[1] - lookback; mid >= 0 {
			marks = append(marks, [2]int{last[0], mid})
		}
	}
	return append(marks, last)
}
