package tui

import (
	"encoding/json"
	"fmt"

	"lathe/internal/event"
	"lathe/internal/front/tui/width"
)

// hunk is one hunk of the structured output of edits, in the documented form.
type hunk struct {
	OldStart int      `json:"oldStart"`
	OldLines int      `json:"oldLines"`
	NewStart int      `json:"newStart"`
	NewLines int      `json:"newLines"`
	Lines    []string `json:"lines"` // with their sign
}

const diffLines = 40

// renderDiff shows what an edit changed.
func (u *ui) renderDiff(it *item, whole bool) ([]width.Line, bool) {
	var out struct {
		Patch []hunk `json:"structuredPatch"`
	}
	if it.isError || json.Unmarshal(it.output, &out) != nil || len(out.Patch) == 0 {
		return nil, false
	}
	n := diffLines
	if whole {
		n = 1 << 30
	}
	lines, more := u.hunks(out.Patch, n)
	return u.moreLines(lines, more), true
}

// hunks are at most n lines of hunks, and how many are left out.
func (u *ui) hunks(list []hunk, n int) (out []width.Line, more int) {
	for i, h := range list {
		if i > 0 {
			out = append(out, width.Line{Text: u.th.Faint.Paint("  ⋮")})
		}
		old, now := h.OldStart, h.NewStart
		for _, l := range h.Lines {
			if len(l) == 0 {
				l = " "
			}
			no, style, sign := now, u.th.Text, u.th.Faint
			switch l[0] {
			case '-':
				no, style, sign = old, u.th.Removed, u.th.RemovedSign
				old++
			case '+':
				style, sign = u.th.Added, u.th.AddedSign
				now++
			default:
				old++
				now++
			}
			if len(out) >= n {
				more++
				continue
			}
			text := event.Inert(width.Tabs(l[1:]))
			out = append(out, width.Line{Text: sign.Paint(fmt.Sprintf("%6d %c ", no, l[0])) + style.Paint(text), Hang: "         "})
		}
	}
	return out, more
}
