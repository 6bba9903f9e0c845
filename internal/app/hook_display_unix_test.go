//go:build unix

package app

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"lathe/internal/event"
	"lathe/internal/msg"
	"lathe/internal/place"
	"lathe/internal/turn"
)

// Pieces of one message are no beginning of another, also where that begins with the same words.
func TestDisplayedOfAnotherMessage(t *testing.T) {
	out := filepath.Join(t.TempDir(), "out")
	r := testRun(t, Options{Options: place.Options{Settings: `{"hooks":{"MessageDisplay":[{"hooks":[{"type":"command","command":"cat >> ` + out + `"}]}]}}`}})
	tn := turn.New("t", "s", event.Prompt{}, nil, turn.Services{Now: time.Now, Emit: func(event.Event) error { return nil }})
	r.hooks.displayPart(tn, "m1", "Hello\n")
	m := msg.Message{ID: "m2", Kind: msg.KindAssistant, Blocks: []msg.Block{msg.Text("Hello\nworld")}}
	r.hooks.displayed(tn, m)
	got, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(got)), "\n")
	if len(lines) != 2 || !strings.Contains(lines[1], `"message_id":"m2"`) || !strings.Contains(lines[1], `"index":0`) || !strings.Contains(lines[1], `"delta":"Hello\nworld"`) {
		t.Errorf("the hook was given %s", got)
	}
}
