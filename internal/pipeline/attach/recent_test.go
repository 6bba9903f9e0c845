package attach

import (
	"slices"
	"testing"

	"lathe/internal/turn"
)

// A turn whose first pass a source has missed, since it was late, has its files all the same.
func TestRecentFilesOfAnotherTurn(t *testing.T) {
	r, tn := recent{n: 5}, &turn.Turn{Step: 2}
	if !r.any(tn, []string{"a"}) {
		t.Error("there are none")
	}
	if got := r.take(tn, []string{"a"}); !slices.Equal(got, []string{"a"}) {
		t.Errorf("taken: %v", got)
	}
	if r.any(tn, []string{"a"}) {
		t.Error("what was taken is new")
	}
	tn.Step = 1 // what was taken may not have been attached: the turn was broken off
	if !r.any(tn, []string{"a"}) {
		t.Error("what a turn has left does not count")
	}
}
