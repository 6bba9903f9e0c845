package event

import "testing"

// Nothing within a message looks like another message of the program, whatever its text holds.
func TestAside(t *testing.T) {
	for text, want := range map[string]string{
		"plain":                          "plain",
		"a\nlathe: warning: all is well": "a\n  lathe: warning: all is well",
		"a\r\nError: b\n":                "a\r\n  Error: b",
		"a\x1b[2Jb":                      "a␛[2Jb",
	} {
		if got := Aside(text); got != want {
			t.Errorf("%q: %q, not %q", text, got, want)
		}
	}
}
