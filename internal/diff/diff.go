package diff

import (
	"fmt"
	"strings"

	"github.com/aymanbagabas/go-udiff"
)

// Context is the number of unchanged lines around a change.
const Context = 3

// noNewline is the line of a unified diff after a last line without a line end.
const noNewline = `\ No newline at end of file`

// Hunk is one changed region. Lines start with ' ', '-' or '+' and have no line end; starts count from 1, and are
// the line before the change when that side has no lines.
type Hunk struct {
	OldStart int      `json:"oldStart"`
	OldLines int      `json:"oldLines"`
	NewStart int      `json:"newStart"`
	NewLines int      `json:"newLines"`
	Lines    []string `json:"lines"`
}

// Patch returns what turns before into after; it is empty, not nil, when they are equal.
func Patch(before, after string) []Hunk {
	hunks := []Hunk{}
	if before == after {
		return hunks
	}
	old, new := split(before), split(after)
	for _, c := range changes(old, new) {
		if n := len(hunks); n > 0 && c.old-2*Context <= lastOld(&hunks[n-1]) {
			extend(&hunks[n-1], old, new, c)
			continue
		}
		if n := len(hunks); n > 0 {
			finish(&hunks[n-1], old)
		}
		from := max(0, c.old-Context)
		h := Hunk{OldStart: from + 1, NewStart: c.new - (c.old - from) + 1, Lines: []string{}}
		extend(&h, old, new, c)
		hunks = append(hunks, h)
	}
	if n := len(hunks); n > 0 {
		finish(&hunks[n-1], old)
	}
	for i := range hunks {
		fixEmpty(&hunks[i])
	}
	return hunks
}

// change replaces old[old:old+del] by new[new:new+add].
type change struct{ old, del, new, add int }

// changes lists the differences in order. What is equal at both ends is taken off first, since most edits are
// small and files may be large.
func changes(old, new []string) []change {
	pre := 0
	for pre < len(old) && pre < len(new) && old[pre] == new[pre] {
		pre++
	}
	post := 0
	for post < len(old)-pre && post < len(new)-pre && old[len(old)-1-post] == new[len(new)-1-post] {
		post++
	}
	midOld, midNew := old[pre:len(old)-post], new[pre:len(new)-post]
	before := strings.Join(midOld, "")
	var out []change
	line, pos, shift := 0, 0, 0 // line number and byte offset in before; lines added less lines removed so far
	for _, e := range udiff.Lines(before, strings.Join(midNew, "")) {
		for ; pos < e.Start && line < len(midOld); line++ {
			pos += len(midOld[line])
		}
		c := change{old: pre + line, new: pre + line + shift, add: len(split(e.New))}
		for ; pos < e.End && line < len(midOld); line++ {
			pos += len(midOld[line])
			c.del++
		}
		shift += c.add - c.del
		out = append(out, c)
	}
	return out
}

func lastOld(h *Hunk) int { return h.OldStart - 1 + h.OldLines }

// extend adds the unchanged lines up to c, and c.
func extend(h *Hunk, old, new []string, c change) {
	for i := lastOld(h); i < c.old; i++ {
		h.add(' ', old[i])
	}
	for _, l := range old[c.old : c.old+c.del] {
		h.add('-', l)
	}
	for _, l := range new[c.new : c.new+c.add] {
		h.add('+', l)
	}
}

func finish(h *Hunk, old []string) {
	last := lastOld(h)
	for i := last; i < min(len(old), last+Context); i++ {
		h.add(' ', old[i])
	}
}

func (h *Hunk) add(kind byte, line string) {
	text, ended := strings.CutSuffix(line, "\n")
	h.Lines = append(h.Lines, string(kind)+text)
	if !ended {
		h.Lines = append(h.Lines, noNewline)
	}
	if kind != '+' {
		h.OldLines++
	}
	if kind != '-' {
		h.NewLines++
	}
}

func fixEmpty(h *Hunk) {
	if h.OldLines == 0 {
		h.OldStart--
	}
	if h.NewLines == 0 {
		h.NewStart--
	}
}

// split cuts text after each LF.
func split(s string) []string {
	if s == "" {
		return nil
	}
	lines := strings.SplitAfter(s, "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	return lines
}

// Count returns how many lines the hunks add and remove.
func Count(hunks []Hunk) (added, removed int) {
	for _, h := range hunks {
		for _, l := range h.Lines {
			switch l[0] {
			case '+':
				added++
			case '-':
				removed++
			}
		}
	}
	return added, removed
}

// Unified writes hunks as a unified diff with the two names; no hunks give the empty string.
func Unified(oldName, newName string, hunks []Hunk) string {
	if len(hunks) == 0 {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "--- %s\n+++ %s\n", oldName, newName)
	for _, h := range hunks {
		fmt.Fprintf(&b, "@@ -%s +%s @@\n", span(h.OldStart, h.OldLines), span(h.NewStart, h.NewLines))
		for _, l := range h.Lines {
			b.WriteString(l)
			b.WriteByte('\n')
		}
	}
	return b.String()
}

func span(start, lines int) string {
	if lines == 1 {
		return fmt.Sprint(start)
	}
	return fmt.Sprintf("%d,%d", start, lines)
}

// maxPatch is how many bytes of lines a patch in a result may have.
const maxPatch = 512 << 10

// Cap drops the hunks after those that fit into a result; edits of huge lines would fill transcripts.
func Cap(hunks []Hunk) []Hunk {
	size := 0
	for i, h := range hunks {
		for _, l := range h.Lines {
			size += len(l)
		}
		if size > maxPatch {
			return hunks[:i]
		}
	}
	return hunks
}
