package tui

import (
	"fmt"

	"lathe/internal/front/tui/width"
)

// newTrustDialog asks whether the files of a folder may count. It lists whole what they would bring into force.
func newTrustDialog(u *ui, t Trust, answer chan<- TrustAnswer) dialog {
	body := func(cols int) []string {
		intro := "Its files want to grant or run the following. Without trust they can only forbid."
		if t.Changed {
			intro = "You trusted this folder, but what its files grant or run has changed since:"
		}
		lines := []string{width.Inert(t.Dir), intro, ""}
		for _, g := range t.Grants {
			lines = append(lines, "  "+u.th.Strong.Paint(width.Inert(g.Key))+" = "+exact(g.Text),
				u.th.Muted.Paint(fmt.Sprintf("      %s:%d", width.Inert(g.File), g.Line)))
		}
		return textBody(lines...)(cols)
	}
	give := func(a TrustAnswer) func(string) { return func(string) { answer <- a } }
	return &choice{
		title: "Do you trust this folder?", style: u.th.Permission, body: body,
		options: []option{
			{label: "No: go on, but none of this counts", hotkey: "n", do: give(TrustNo)},
			{label: "Yes: all of this counts; a change of it asks again", hotkey: "y", do: give(TrustYes)},
			{label: "Leave", hotkey: "q", do: give(TrustQuit)},
		},
		esc:  func() { answer <- TrustQuit },
		hint: "↑↓ enter · pgup pgdn scroll · esc leaves",
	}
}

// newNoKeyDialog tells a new user what is missing.
func newNoKeyDialog(u *ui, text string) dialog {
	return &choice{
		title: "Welcome. One thing is missing.", style: u.th.Accent, body: textBody(splitLines(text)...),
		options: []option{
			{label: "Watch the demo (no key, no network)", hotkey: "d", do: func(string) { u.quit, u.outcome.Demo = true, true }},
			{label: "Leave", hotkey: "q", do: func(string) { u.quit, u.outcome.Code = true, 1 }},
		},
		esc:  func() { u.quit, u.outcome.Code = true, 1 },
		hint: "↑↓ enter",
	}
}
