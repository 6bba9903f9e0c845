package app

import (
	"fmt"
	"strings"
	"testing"

	"lathe/internal/msg"
)

// A question on the side is asked over the last exchanges, in their order and in words alone, and over no more than fits.
func TestBtwQuestion(t *testing.T) {
	text := func(kind msg.Kind, s string) msg.Message {
		return msg.Message{Kind: kind, Blocks: []msg.Block{msg.Text(s)}}
	}
	var list []msg.Message
	for i := range 30 {
		list = append(list, text(msg.KindUser, fmt.Sprintf("ask %d.", i)), text(msg.KindAssistant, fmt.Sprintf("say %d.", i)))
	}
	failed := text(msg.KindAssistant, "overloaded")
	failed.APIError = "overloaded_error"
	made := text(msg.KindUser, "a reminder")
	made.Meta = true
	result := msg.Message{Kind: msg.KindUser, SourceAssistant: "a", Blocks: []msg.Block{msg.ToolResult("c", false, msg.Text("file content"))}}
	list = append(list, failed, made, result)
	q := btwQuestion(list, "which flag?")
	if !strings.Contains(q, "user: ask 10.\n\nassistant: say 10.\n\nuser: ask 11.") || strings.Contains(q, "ask 9.") ||
		!strings.HasSuffix(q, "assistant: say 29.\n</conversation>\n\nQuestion on the side: which flag?") {
		t.Errorf("%s", q)
	}
	long := []msg.Message{text(msg.KindUser, "the first thing")}
	for i := range 100 {
		long = append(long, text(msg.KindAssistant, fmt.Sprintf("%d %s", i, strings.Repeat("x", 15_000))))
	}
	long = append(long, text(msg.KindAssistant, "head "+strings.Repeat("y", 30_000)+" tail"))
	q = btwQuestion(long, "which flag?")
	if len(q) > btwWhole+2000 || len(q) < btwWhole/2 || strings.Contains(q, "the first thing") || !strings.Contains(q, "head") || strings.Contains(q, "tail") {
		t.Errorf("%d bytes", len(q))
	}
}
