package attach_test

import (
	"fmt"
	"testing"

	"lathe/internal/msg"
	"lathe/internal/pipeline/attach"
)

// A style is told when it is another than the one the model knows of, also after a compaction took the telling away, and
// is called to mind after some prompts. Of the one in the system prompt nothing is told while there is no prompt yet.
func TestStyle(t *testing.T) {
	w := newWorld()
	made, now := "default", "Terse"
	stage := attach.New(attach.Style(func() string { return made }, func() (string, string) { return now, "text of " + now }, "default"))
	n := 0
	pass := func() string {
		n++
		return w.pass(t, n, func() error { return stage(t.Context(), w.t) })
	}
	prompt := func() {
		w.t.Messages = append(w.t.Messages, msg.Message{Kind: msg.KindUser, Blocks: []msg.Block{msg.Text(fmt.Sprint("prompt ", n))}})
	}
	expect(t, "no system prompt yet", pass(), "no Terse")
	w.t.System = []msg.Block{msg.Text("made")}
	expect(t, "chosen", pass(), "chosen the output style Terse", "text of Terse")
	expect(t, "told", pass(), "no Terse")
	now = "Wide"
	expect(t, "another", pass(), "text of Wide")
	now = "Terse"
	expect(t, "the first again", pass(), "text of Terse")
	w.compacted()
	expect(t, "after a compaction", pass(), "text of Terse")
	for range 6 {
		expect(t, "no reminder yet", pass(), "no Terse")
		prompt()
		w.t.Messages = append(w.t.Messages, // neither is a prompt
			msg.Message{Kind: msg.KindUser, Meta: true, Blocks: []msg.Block{msg.Text("of the program")}},
			msg.Message{Kind: msg.KindUser, Blocks: []msg.Block{msg.ToolResult("1", false, msg.Text("a result"))}})
	}
	expect(t, "a reminder", pass(), "Terse is still in force", "no text of")
	expect(t, "one reminder", pass(), "no Terse")
	now = "default"
	expect(t, "ended", pass(), "ended the output style Terse")
	for range 8 {
		prompt()
	}
	expect(t, "of none no reminder", pass(), "no style")
	made, now = "Wide", "Wide"
	w.compacted()
	expect(t, "the one of the system prompt", pass(), "no Wide")
}
