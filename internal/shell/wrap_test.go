package shell

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// What may be run where flags are not understood: from each word on that is no flag.
func TestGuesses(t *testing.T) {
	for line, want := range map[string][]string{
		"setpriv --reuid 1 rm a":           {"1 rm a", "rm a", "a"},
		"/lib64/ld-linux-x86-64.so.2 rm a": {"rm a", "a"},
		"/lib/ld-musl-x86_64.so.1 rm":      {"rm"},
		"/lib/ld.so rm":                    {"rm"},
		"timeout --odd 5 rm":               {"5 rm", "rm"},
		"timeout -k 1 --odd rm":            {"rm"}, // the value of a flag that is understood begins none
		"timeout 5 rm":                     nil,    // Unwrap tells
		"timeout -- rm":                    nil,
		"ls -l rm":                         nil,
		"setpriv":                          nil,
		"setpriv a b c d e f g h i j":      {"a b c d e f g h i j", "b c d e f g h i j", "c d e f g h i j", "d e f g h i j", "e f g h i j", "f g h i j", "g h i j", "h i j"},
	} {
		words := Analyse(line).Commands[0].Words
		var got []string
		for _, g := range Guesses(words) {
			var parts []string
			for _, w := range g {
				text, _ := w.Literal()
				parts = append(parts, text)
			}
			got = append(got, strings.Join(parts, " "))
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", line, diff)
		}
	}
}
