package tui

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

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
		return textBody(append(lines, u.grantLines(t)...)...)(cols)
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

// grantLines are what the files of a folder grant, file by file, with what is new since the last yes.
func (u *ui) grantLines(t Trust) []string {
	grants := slices.Clone(t.Grants)
	rank := map[string]int{} // files stand in the order of what they say first
	digits := 1
	for _, g := range grants {
		if _, seen := rank[g.File]; !seen {
			rank[g.File] = len(rank)
		}
		digits = max(digits, len(strconv.Itoa(g.Line)))
	}
	slices.SortStableFunc(grants, func(a, b Grant) int {
		return cmp.Or(cmp.Compare(rank[a.File], rank[b.File]), cmp.Compare(a.Line, b.Line))
	})
	var out []string
	file := ""
	for _, g := range grants {
		if g.File != file {
			file = g.File
			out = append(out, u.th.Muted.Paint(width.Inert(below(t.Dir, g.File))))
		}
		name := "  " + u.th.Faint.Paint(fmt.Sprintf("%*d", digits, g.Line)) + "  " + u.th.Strong.Paint(width.Inert(g.Name))
		if g.State != "" {
			name += " " + u.th.Warning.Paint("("+g.State+")")
		}
		text := strings.Split(exact(g.Text), "\n")
		if len(text) == 1 && !strings.HasPrefix(text[0], "command: ") {
			out = append(out, name+": "+text[0])
			continue
		}
		out = append(out, name)
		for _, l := range text {
			out = append(out, width.Spaces(digits)+"        "+l)
		}
	}
	if len(t.Gone) > 0 {
		out = append(out, "", u.th.Muted.Paint("No longer there:"))
		for _, name := range t.Gone {
			out = append(out, "  "+u.th.Muted.Paint(width.Inert(name)))
		}
	}
	return out
}

// below is the path of a file as it is said inside a folder.
func below(dir, file string) string {
	if rel, ok := strings.CutPrefix(file, strings.TrimRight(dir, `/\`)); ok && strings.TrimLeft(rel, `/\`) != rel {
		return strings.TrimLeft(rel, `/\`)
	}
	return file
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
