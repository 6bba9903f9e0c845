package app

import (
	"testing"

	"lathe/internal/event"
)

// The words of a result are those that hooks gave its own turn's messages, one after the other; another turn's do not count.
func TestDisplayedResult(t *testing.T) {
	h := &hooks{}
	d := &h.shown
	d.enter("one")
	d.words = append(d.words, [2]string{"done", "DONE"})
	d.enter("one")
	if r := h.displayedResult(event.Result{Text: "it is done, done"}); r.Shown == nil || *r.Shown != "it is DONE, done" || r.Text != "it is done, done" {
		t.Errorf("%+v", r)
	}
	d.line, d.index = "half", 3
	d.enter("two")
	if r := h.displayedResult(event.Result{Text: "it is done"}); r.Shown != nil || d.line != "" || d.index != 0 {
		t.Errorf("of another turn: %v, left %q", r.Shown, d.line)
	}
}
