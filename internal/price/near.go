package price

import (
	"cmp"
	"slices"
	"strings"
)

// Near returns the aliases and ids of the table that a name which it does not have may have been meant for, the nearest
// first: nothing when the table has it, or nothing is near.
func (t *Table) Near(name string) []string {
	if name, _ = cutLong(strings.ToLower(strings.TrimSpace(name))); t.Info(name).Known {
		return nil
	}
	type near struct {
		name string
		d    int
	}
	var found []near
	for _, known := range slices.Concat(t.Aliases(), t.Models()) {
		if d := distance(name, known); d <= 1 && len(name) > 2 || d == 2 && len(name) > 5 {
			found = append(found, near{known, d})
		}
	}
	slices.SortStableFunc(found, func(a, b near) int { return cmp.Compare(a.d, b.d) })
	var out []string
	for _, n := range found[:min(3, len(found))] {
		out = append(out, n.name)
	}
	return out
}

// distance counts the letters that differ between two names: one more, one less, another one, or two neighbours swapped.
func distance(a, b string) int {
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		before, last, row = last, row, before
		row[0] = i
		for j := 1; j <= len(b); j++ {
			row[j] = min(last[j], row[j-1]) + 1
			if a[i-1] == b[j-1] {
				row[j] = min(row[j], last[j-1])
			} else {
				row[j] = min(row[j], last[j-1]+1)
			}
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
	}
	return row[len(b)]
}
