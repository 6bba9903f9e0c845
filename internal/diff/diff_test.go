package diff

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestUnified(t *testing.T) {
	tests := []struct{ name, before, after, want string }{
		{"equal", "a\n", "a\n", ""},
		{"new file", "", "a\nb\n", "--- a\n+++ b\n@@ -0,0 +1,2 @@\n+a\n+b\n"},
		{"emptied", "a\n", "", "--- a\n+++ b\n@@ -1 +0,0 @@\n-a\n"},
		{"last line end lost", "a\nb\n", "a\nb", "--- a\n+++ b\n@@ -1,2 +1,2 @@\n a\n-b\n+b\n\\ No newline at end of file\n"},
		{"middle", "1\n2\n3\n4\n5\n6\n7\n8\n9\n", "1\n2\n3\n4\nX\n6\n7\n8\n9\n", "--- a\n+++ b\n@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+X\n 6\n 7\n 8\n"},
		{"append", "1\n2\n", "1\n2\n3\n", "--- a\n+++ b\n@@ -1,2 +1,3 @@\n 1\n 2\n+3\n"},
	}
	for _, tc := range tests {
		if d := cmp.Diff(tc.want, Unified("a", "b", Patch(tc.before, tc.after))); d != "" {
			t.Errorf("%s: %s", tc.name, d)
		}
	}
}

// apply makes after from before and hunks, checking every context line.
func apply(t *rapid.T, before string, hunks []Hunk) string {
	lines := split(before)
	var out strings.Builder
	at := 0
	take := func() string {
		if at >= len(lines) {
			t.Fatalf("hunk goes past the end")
		}
		at++
		return lines[at-1]
	}
	written := 0
	for _, h := range hunks {
		start := h.OldStart - 1
		if h.OldLines == 0 {
			start++
		}
		for at < start {
			out.WriteString(take())
			written++
		}
		if want := h.NewStart - 1; h.NewLines > 0 && written != want {
			t.Fatalf("hunk starts at new line %d, is at %d", want, written)
		}
		olds, news := 0, 0
		for i, l := range h.Lines {
			end := "\n"
			if i+1 < len(h.Lines) && h.Lines[i+1] == noNewline {
				end = ""
			}
			switch l[0] {
			case ' ', '-':
				if got := take(); got != l[1:]+end {
					t.Fatalf("hunk has %q, file %q", l[1:]+end, got)
				}
				olds++
				if l[0] == ' ' {
					out.WriteString(l[1:] + end)
					news, written = news+1, written+1
				}
			case '+':
				out.WriteString(l[1:] + end)
				news, written = news+1, written+1
			}
		}
		if olds != h.OldLines || news != h.NewLines {
			t.Fatalf("hunk says %d and %d lines, has %d and %d", h.OldLines, h.NewLines, olds, news)
		}
	}
	for at < len(lines) {
		out.WriteString(take())
	}
	return out.String()
}

func TestApply(t *testing.T) {
	text := rapid.Custom(func(t *rapid.T) string {
		s := strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{"a\n", "b\n", "c\r\n", "\n", "é\n"}), 0, 40).Draw(t, "lines"), "")
		return s + rapid.SampledFrom([]string{"", "", "end", "a"}).Draw(t, "tail")
	})
	rapid.Check(t, func(t *rapid.T) {
		before, after := text.Draw(t, "before"), text.Draw(t, "after")
		hunks := Patch(before, after)
		if got := apply(t, before, hunks); got != after {
			t.Fatalf("got %q, want %q", got, after)
		}
		added, removed := Count(hunks)
		if len(split(after))-len(split(before)) != added-removed {
			t.Fatalf("added %d, removed %d", added, removed)
		}
	})
}

func TestCap(t *testing.T) {
	big := Hunk{Lines: []string{"+" + strings.Repeat("x", maxPatch)}}
	small := Hunk{Lines: []string{"+x"}}
	if d := cmp.Diff([]Hunk{small}, Cap([]Hunk{small, big, small})); d != "" {
		t.Error(d)
	}
}

// Many changes in a large text must not take time that grows with their product.
func TestManyChanges(t *testing.T) {
	before := strings.Repeat("x = 1\nsame\nsame too\nand this\nso\nthat\nhunks\nare\nmany\n", 20000)
	hunks := Patch(before, strings.ReplaceAll(before, "x", "y"))
	if added, removed := Count(hunks); added < 20000 || added != removed {
		t.Errorf("added %d, removed %d", added, removed)
	}
}
