package compact

import (
	"testing"

	"lathe/internal/msg"
	"lathe/internal/token"
)

// What a typed command stands for is carried over word for word while it waits for an answer, as often as that is needed.
func TestCommandsAreCarried(t *testing.T) {
	said := func(kind msg.Kind, id, text string) msg.Message {
		return msg.Message{ID: id, Kind: kind, Blocks: []msg.Block{msg.Text(text)}}
	}
	answered := said(msg.KindAssistant, "a", "done")
	answered.StopReason = "end_turn"
	command := said(msg.KindUser, "c", "The whole text of the command.")
	command.Meta, command.Source = true, msg.SourceCommand
	view := []msg.Message{said(msg.KindUser, "u", "old"), answered, said(msg.KindUser, "t", "<command-name>/x</command-name>"), command}
	s := NewStage(Deps{}, Config{})
	for range 2 {
		kept, _ := s.keep(sight{view: view, set: Settings{Counter: token.Counter{}}})
		if len(kept) != 2 || kept[1].Text() != command.Text() {
			t.Fatalf("%+v", kept)
		}
		view = append([]msg.Message{said(msg.KindSummary, "s", "summary")}, kept...)
	}
}
