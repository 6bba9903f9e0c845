package engine

import (
	"testing"

	"lathe/internal/event"
)

// Words that may be shown otherwise are not shown while they come; thoughts and the raw events are.
func TestWithheld(t *testing.T) {
	holds := false
	s := New(Config{Holds: func() bool { return holds }})
	words, thought := event.Stream{Raw: []byte("{}"), Text: "a"}, event.Stream{Text: "b", Think: true}
	if got := s.withheld(words).(event.Stream); got.Text != "a" {
		t.Errorf("without a reason: %+v", got)
	}
	holds = true
	if got := s.withheld(words).(event.Stream); got.Text != "" || string(got.Raw) != "{}" {
		t.Errorf("words: %+v", got)
	}
	if got := s.withheld(thought).(event.Stream); got.Text != "b" {
		t.Errorf("thoughts: %+v", got)
	}
}
