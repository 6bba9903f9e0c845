package edit

import (
	"errors"
	"fmt"
	"strings"

	"lathe/internal/file"
	"lathe/internal/redact"
)

// maxHintLines is the longest file that is searched for what a failed edit may have meant.
const maxHintLines = 50000

// notFound is the error for text that is not in the file, with what comes closest to it.
func notFound(body, old string) error {
	body, old = file.LF(body), file.LF(old)
	if redact.Marks([]byte(old)) > 0 {
		return errors.New("old_string was not found: it holds a mark such as [redacted: NAME], which stands for a secret that was not shown; " +
			"leave it out and match the text around it")
	}
	if bare, ok := withoutNumbers(old); ok && strings.Contains(body, bare) {
		return errors.New("old_string was not found: it holds the line numbers that Read shows; leave them and the tab after them out")
	}
	lines := strings.Split(body, "\n")
	want := strings.Split(strings.Trim(old, "\n"), "\n")
	if len(lines) > maxHintLines || strings.TrimSpace(old) == "" {
		return errors.New("old_string was not found; read the file again and copy the text exactly")
	}
	at, same := closest(lines, want)
	switch {
	case same == len(want):
		return fmt.Errorf("old_string was not found, but line %d matches but for white space (%s). The file has:\n%s",
			at+1, indents(lines[at:at+same], want), numbered(lines, at, at+same))
	case same > 0:
		return fmt.Errorf("old_string was not found. It matches from line %d on, but line %d differs:\n%s\nold_string has:\n%s",
			at+1, at+same+1, numbered(lines, at+same, at+same+1), clip(want[same]))
	}
	if at = similar(lines, longest(want)); at >= 0 {
		return fmt.Errorf("old_string was not found. The closest line is:\n%s", numbered(lines, at, at+1))
	}
	return errors.New("old_string was not found, nor anything like it; read the file again")
}

// withoutNumbers takes the numbers of Read's output, or of cat -n, off every line.
func withoutNumbers(s string) (string, bool) {
	lines := strings.Split(s, "\n")
	for i, l := range lines {
		rest := strings.TrimLeft(strings.TrimLeft(l, " "), "0123456789")
		digits := len(strings.TrimLeft(l, " ")) - len(rest)
		if l == "" && i == len(lines)-1 {
			continue
		}
		bare, arrow := strings.CutPrefix(rest, "→")
		bare, tab := strings.CutPrefix(bare, "\t")
		if digits == 0 || !arrow && !tab {
			return "", false
		}
		if arrow && tab { // the tab belonged to the line
			bare = "\t" + bare
		}
		lines[i] = bare
	}
	return strings.Join(lines, "\n"), true
}

// squeeze is a line without its white space.
func squeeze(s string) string { return strings.Join(strings.Fields(s), " ") }

// closest finds where most of want's lines follow one another in lines, white space aside.
func closest(lines, want []string) (at, same int) {
	first := squeeze(want[0])
	for i := range lines {
		if squeeze(lines[i]) != first {
			continue
		}
		n := 1
		for n < len(want) && i+n < len(lines) && squeeze(lines[i+n]) == squeeze(want[n]) {
			n++
		}
		if n > same {
			at, same = i, n
		}
	}
	if same < len(want) && at+same >= len(lines) { // the file ended first
		return at, max(0, same-1)
	}
	return at, same
}

// indents says how the indentation differs.
func indents(have, want []string) string {
	tab := func(lines []string) bool {
		for _, l := range lines {
			if strings.HasPrefix(l, "\t") {
				return true
			}
		}
		return false
	}
	switch h, w := tab(have), tab(want); {
	case h && !w:
		return "the file indents with tabs, old_string with spaces"
	case !h && w:
		return "the file indents with spaces, old_string with tabs"
	}
	return "leading, trailing or inner blanks differ"
}

func longest(lines []string) string {
	best := ""
	for _, l := range lines {
		if len(squeeze(l)) > len(best) {
			best = squeeze(l)
		}
	}
	return best
}

// similar returns the line that shares most pairs of bytes with want, or -1 when none shares half of them.
func similar(lines []string, want string) int {
	if len(want) < 4 || len(want) > 2000 {
		return -1
	}
	pairs := map[string]int{}
	for i := 0; i+2 <= len(want); i++ {
		pairs[want[i:i+2]]++
	}
	best, score := -1, 0.5
	for i, l := range lines {
		l = squeeze(l)
		if len(l) < len(want)/2 || len(l) > 2*len(want) {
			continue
		}
		seen, both := map[string]int{}, 0
		for j := 0; j+2 <= len(l); j++ {
			p := l[j : j+2]
			if seen[p] < pairs[p] {
				both++
			}
			seen[p]++
		}
		if s := 2 * float64(both) / float64(len(l)+len(want)-2); s > score {
			best, score = i, s
		}
	}
	return best
}

// numbered shows lines with their numbers, at most ten.
func numbered(lines []string, from, to int) string {
	var b strings.Builder
	for i := from; i < min(to, from+10, len(lines)); i++ {
		fmt.Fprintf(&b, "%d\t%s\n", i+1, clip(lines[i]))
	}
	return strings.TrimSuffix(b.String(), "\n")
}
