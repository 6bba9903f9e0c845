package compact

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"lathe/internal/event"
	"lathe/internal/msg"
	"lathe/internal/price"
	"lathe/internal/turn"
)

// What it costs to look for a plan in a long turn: 80 calls with results of 25 KB, half of a window of a million tokens.
func BenchmarkPlan(b *testing.B) {
	view := []msg.Message{user("read all of it")}
	for i := range 80 {
		id := fmt.Sprint(i)
		view = append(view, call("a"+id, id, "Read", `{"file_path":"/`+id+`"}`), result(id, strings.Repeat("func f(x int) int { return x + 1 } // why "+id+"\n", 25_000/45)))
	}
	for i := range view {
		view[i].Time = time.Unix(100_000, 0)
	}
	s := NewStage(Deps{Info: price.Default().Info}, Config{Auto: true})
	t := turn.New("t", "s", event.Prompt{}, slices.Clone(view), turn.Services{Now: func() time.Time { return time.Unix(100_060, 0) }})
	t.Model, t.Step = "claude-opus-5-5", 80
	for b.Loop() {
		v := s.look(t)
		v.set.Running = v.size / 4
		s.best(t, v)
	}
}
