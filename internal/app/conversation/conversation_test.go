package conversation

import "testing"

func TestForkTitle(t *testing.T) {
	for title, want := range map[string]string{
		"work": "work (fork)", "work (fork)": "work (fork 2)", "work (fork 2)": "work (fork 3)", "a (forkful)": "a (forkful) (fork)", "x (fork) y": "x (fork) y (fork)",
	} {
		if got := forkTitle(title); got != want {
			t.Errorf("forkTitle(%q) = %q, want %q", title, got, want)
		}
	}
}
