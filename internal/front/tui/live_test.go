package tui

import (
	"strings"
	"testing"
	"time"

	"lathe/internal/event"
	"lathe/internal/front/tui/width"
)

// How long, which try and how to stop it are shown at any width, however long the reason is.
func TestRetryLine(t *testing.T) {
	now := time.Unix(1e9, 0)
	for _, cols := range []int{40, 80, 200} {
		u := bare(&now)
		u.cols = cols
		u.work = work{running: true, since: now.Add(-5 * time.Second), sent: 1200, lastByte: now, retryAt: now.Add(12 * time.Second)}
		u.work.retry = event.Retry{Attempt: 3, Max: 10, Text: strings.Repeat("the server has too much to do ", 5)}
		line := width.Strip(u.spinner())
		for _, want := range []string{"try 3 of 10", "5s", "esc stops"} {
			if !strings.Contains(line, want) || width.Of(line) >= cols {
				t.Errorf("at %d: %q", cols, line)
			}
		}
	}
}

// The vim mode is told once.
func TestVimModeOnce(t *testing.T) {
	now := time.Unix(1e9, 0)
	u := bare(&now)
	u.setVim(true)
	if row := strings.Join(u.statusRows(), "\n"); strings.Count(row, "INSERT") != 1 {
		t.Errorf("%q", row)
	}
}

// A list that the person opened holds nothing up; a question does, behind such a list too.
func TestWaitingForAnAnswer(t *testing.T) {
	now := time.Unix(1e9, 0)
	u := bare(&now)
	u.work = work{running: true, since: now, lastByte: now, phase: "answering"}
	says := func(want string) {
		t.Helper()
		if got := u.doing(now); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	u.open(newPicker("A list", nil, func(entry) {}))
	says("answering")
	u.asked(event.Ask{ID: "a", Tool: "Bash"}, event.Agent{})
	says("waiting for your answer")
	u.withdraw("a")
	says("answering")
	u.called(event.Call{ID: "b", Kind: "elicitation", Payload: []byte(`{"server": "s"}`)})
	says("waiting for your answer")
	u.uncalled("b")
	says("answering")
}

// What is said while a turn is stopped goes when it has stopped.
func TestStoppingHintGoes(t *testing.T) {
	now := time.Unix(1e9, 0)
	u := bare(&now)
	u.work.running = true
	u.ctrlC()
	if u.hint != stoppingHint {
		t.Fatalf("the hint is %q", u.hint)
	}
	u.state("idle")
	if u.hint != "" {
		t.Errorf("the hint stays: %q", u.hint)
	}
}
