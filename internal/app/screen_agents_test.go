package app

import (
	"testing"
	"time"

	"lathe/internal/inspect"
	"lathe/internal/msg"
)

// What a sub-agent did stands below the use that had it do it; what the program told it is not shown.
func TestByUse(t *testing.T) {
	at := func(s int) time.Time { return time.Unix(int64(s), 0) }
	said := func(id string, s int) msg.Message { return msg.Message{ID: id, Kind: msg.KindAssistant, Time: at(s)} }
	made, context := said("made", 5), said("context", 6)
	made.Meta, context.Kind = true, msg.KindAttachment
	got := byUse([]inspect.Use{{ID: "a", At: at(0)}, {ID: "b", At: at(10)}, {ID: "c", At: at(20)}}, []msg.Message{said("1", 1), made, context, said("2", 9), said("3", 10), said("4", 30)})
	want := [][]string{{"1", "2"}, {"3"}, {"4"}}
	for i, w := range got {
		if w.Call != string("abc"[i]) || len(w.Messages) != len(want[i]) {
			t.Fatalf("%d: %+v", i, w)
		}
		for k, m := range w.Messages {
			if m.ID != want[i][k] {
				t.Errorf("below %s: %s, want %s", w.Call, m.ID, want[i][k])
			}
		}
	}
}
