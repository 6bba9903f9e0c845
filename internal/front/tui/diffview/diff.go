package diffview

import (
	"strings"

	"github.com/aymanbagabas/go-udiff"
)

// context is the number of unchanged lines shown around a change; changes with less than two contexts between them
// are one hunk.
const context = 3

// Diff is an edit of one text.
type Diff struct {
	Hunks []Hunk
	old   []string // lines with their ends; nil for a patch
	new   []string
}

// Hunk is a region of lines that stand together. Starts count from 1.
type Hunk struct {
	OldStart, OldLines int
	NewStart, NewLines int
	Rows               []Row

	changes []change
}

// Row is a line of a hunk.
type Row struct {
	Kind         byte // ' ' unchanged, '-' removed, '+' added
	OldNo, NewNo int  // line numbers; 0 on the side where it is not
	Text         string
	NoEOL        bool // the last line, without a line end
}

// change replaces old[oldAt:oldEnd] by new[newAt:newEnd].
type change struct{ oldAt, oldEnd, newAt, newEnd int }

// Of compares two texts.
func Of(before, after string) *Diff {
	d := &Diff{old: lines(before), new: lines(after)}
	var group []change
	flush := func() {
		if len(group) > 0 {
			d.Hunks = append(d.Hunks, d.hunk(group))
			group = nil
		}
	}
	for _, c := range d.changes() {
		if n := len(group); n > 0 && c.oldAt-group[n-1].oldEnd > 2*context {
			flush()
		}
		group = append(group, c)
	}
	flush()
	return d
}

// changes lists the differences in order. Equal ends are taken off first: most edits are small, files may be large.
func (d *Diff) changes() []change {
	pre := 0
	for pre < len(d.old) && pre < len(d.new) && d.old[pre] == d.new[pre] {
		pre++
	}
	post := 0
	for post < len(d.old)-pre && post < len(d.new)-pre && d.old[len(d.old)-1-post] == d.new[len(d.new)-1-post] {
		post++
	}
	mid := d.old[pre : len(d.old)-post]
	var out []change
	line, pos, newLine := 0, 0, 0
	for _, e := range udiff.Lines(strings.Join(mid, ""), strings.Join(d.new[pre:len(d.new)-post], "")) {
		for ; pos < e.Start && line < len(mid); line, newLine = line+1, newLine+1 {
			pos += len(mid[line])
		}
		c := change{oldAt: pre + line, newAt: pre + newLine}
		for ; pos < e.End && line < len(mid); line++ {
			pos += len(mid[line])
		}
		newLine += len(lines(e.New))
		c.oldEnd, c.newEnd = pre+line, pre+newLine
		out = append(out, c)
	}
	return out
}

func (d *Diff) hunk(group []change) Hunk {
	first, last := group[0], group[len(group)-1]
	from, to := max(0, first.oldAt-context), min(len(d.old), last.oldEnd+context)
	h := Hunk{OldStart: from + 1, NewStart: first.newAt - (first.oldAt - from) + 1, changes: group}
	oldNo, newNo := h.OldStart, h.NewStart
	add := func(kind byte, line string) {
		text, ended := strings.CutSuffix(line, "\n")
		r := Row{Kind: kind, Text: strings.TrimSuffix(text, "\r"), NoEOL: !ended}
		if kind != '+' {
			r.OldNo = oldNo
			oldNo++
		}
		if kind != '-' {
			r.NewNo = newNo
			newNo++
		}
		h.Rows = append(h.Rows, r)
	}
	at := from
	for _, c := range group {
		for ; at < c.oldAt; at++ {
			add(' ', d.old[at])
		}
		for ; at < c.oldEnd; at++ {
			add('-', d.old[at])
		}
		for _, l := range d.new[c.newAt:c.newEnd] {
			add('+', l)
		}
	}
	for ; at < to; at++ {
		add(' ', d.old[at])
	}
	h.OldLines, h.NewLines = oldNo-h.OldStart, newNo-h.NewStart
	return h
}

// Apply is the text with the accepted hunks; what accept does not reach is rejected. It is "" for a patch.
func (d *Diff) Apply(accept []bool) string {
	var b strings.Builder
	at := 0
	for i, h := range d.Hunks {
		if i >= len(accept) || !accept[i] {
			continue
		}
		for _, c := range h.changes {
			writeAll(&b, d.old[at:c.oldAt])
			writeAll(&b, d.new[c.newAt:c.newEnd])
			at = c.oldEnd
		}
	}
	writeAll(&b, d.old[at:])
	return b.String()
}

func writeAll(b *strings.Builder, lines []string) {
	for _, l := range lines {
		b.WriteString(l)
	}
}

// All is what accepts or rejects every hunk.
func (d *Diff) All(accept bool) []bool {
	out := make([]bool, len(d.Hunks))
	for i := range out {
		out[i] = accept
	}
	return out
}

// PatchHunk is a hunk as tool results carry it ("structuredPatch"): lines begin with ' ', '-' or '+'.
type PatchHunk struct {
	OldStart int      `json:"oldStart"`
	OldLines int      `json:"oldLines"`
	NewStart int      `json:"newStart"`
	NewLines int      `json:"newLines"`
	Lines    []string `json:"lines"`
}

// FromPatch is a diff of which only the hunks are known: it can be shown, not applied.
func FromPatch(hunks []PatchHunk) *Diff {
	d := &Diff{}
	for _, p := range hunks {
		h := Hunk{OldStart: p.OldStart, OldLines: p.OldLines, NewStart: p.NewStart, NewLines: p.NewLines}
		oldNo, newNo := p.OldStart, p.NewStart
		for _, l := range p.Lines {
			if l == "" {
				l = " "
			}
			r := Row{Kind: l[0], Text: strings.TrimSuffix(l[1:], "\r")}
			switch l[0] {
			case ' ':
				r.OldNo, r.NewNo = oldNo, newNo
				oldNo, newNo = oldNo+1, newNo+1
			case '-':
				r.OldNo = oldNo
				oldNo++
			case '+':
				r.NewNo = newNo
				newNo++
			default: // "\ No newline at end of file"
				if n := len(h.Rows); n > 0 {
					h.Rows[n-1].NoEOL = true
				}
				continue
			}
			h.Rows = append(h.Rows, r)
		}
		d.Hunks = append(d.Hunks, h)
	}
	return d
}

// lines cuts text after each LF.
func lines(s string) []string {
	if s == "" {
		return nil
	}
	out := strings.SplitAfter(s, "\n")
	if out[len(out)-1] == "" {
		out = out[:len(out)-1]
	}
	return out
}
