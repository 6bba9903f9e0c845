package jsonl

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"lathe/internal/msg"
)

// A crash in the middle of writing a compaction leaves the conversation as it was before: a boundary without all that it
// carries over would begin it with nothing. So it is for later runs, which append behind the torn write.
func TestTornCompaction(t *testing.T) {
	s, start := testStore(t)
	log, err := s.Create(start)
	must(t, err)
	must(t, log.Append(user("u1", "", "prompt"), answer("a1", "u1", "m", msg.Text("x")), user("u2", "a1", "unanswered")))
	before, err := os.ReadFile(log.Path())
	must(t, err)
	carried := []string{"c1", "c2", "c3"}
	extra, err := json.Marshal(map[string]any{"compactMetadata": map[string]any{"trigger": "auto", "carriedUuids": carried}})
	must(t, err)
	parts := []msg.Message{{ID: "b", Kind: msg.KindSystem, Subtype: msg.SubCompactBoundary, Time: stamp, Extra: extra, Blocks: []msg.Block{msg.Text("Conversation compacted")}}}
	parent := "b"
	for _, id := range carried {
		m := user(id, parent, "carried "+id)
		m.Meta = true
		parts, parent = append(parts, m), id
	}
	must(t, log.Append(parts...))
	must(t, log.Close())
	whole, err := os.ReadFile(log.Path())
	must(t, err)
	for n := len(before); n <= len(whole); n++ {
		want := "u1 a1 u2"
		if n >= len(whole)-1 { // the end of the last line says nothing
			want = "b c1 c2 c3"
		}
		path := filepath.Join(filepath.Dir(log.Path()), "11111111-2222-4333-8444-555555555555.jsonl")
		must(t, os.WriteFile(path, whole[:n], 0o600))
		state, again, err := s.OpenPath(start, path)
		must(t, err)
		if got := ids(state.Messages); got != want {
			t.Fatalf("after %d of %d bytes: %s, want %s", n-len(before), len(whole)-len(before), got, want)
		}
		last := state.Messages[len(state.Messages)-1].ID
		must(t, again.Append(user("u3", last, "later")))
		must(t, again.Close())
		later, err := Read(path, "")
		must(t, err)
		if got := ids(later.Messages); got != want+" u3" {
			t.Fatalf("after %d bytes, and a later run: %s, want %s u3", n-len(before), got, want)
		}
		if n == len(whole) && fmt.Sprint(later.Notes) != "[]" {
			t.Errorf("notes %v", later.Notes)
		}
	}
}

// A fork in the middle of what a compaction carried over is a conversation, and not a compaction that a crash cut off.
func TestForkInsideACompaction(t *testing.T) {
	s, start := testStore(t)
	log, err := s.Create(start)
	must(t, err)
	must(t, log.Append(user("u1", "", "prompt"), answer("a1", "u1", "m", msg.Text("x"))))
	extra, err := json.Marshal(map[string]any{"compactMetadata": map[string]any{"trigger": "auto", "carriedUuids": []string{"c1", "c2"}}})
	must(t, err)
	bound := msg.Message{ID: "b", Kind: msg.KindSystem, Subtype: msg.SubCompactBoundary, Time: stamp, Extra: extra, Blocks: []msg.Block{msg.Text("Conversation compacted")}}
	must(t, log.Append(bound, user("c1", "b", "summary"), user("c2", "c1", "rules")))
	must(t, log.Close())
	at := start
	at.At = "c1"
	_, fork, err := s.Fork(at, log.ID())
	must(t, err)
	must(t, fork.Append(user("u2", "c1", "fork")))
	must(t, fork.Close())
	forked, _, err := s.Open(start, fork.ID())
	must(t, err)
	if got := ids(forked.Messages); got != "b c1 u2" {
		t.Errorf("got %s", got)
	}
}
