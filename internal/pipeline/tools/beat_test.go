package tools_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"lathe/internal/event"
	"lathe/internal/pipeline/tools"
	"lathe/internal/tool"
)

// A call that says nothing is told of every half minute, and never after its end.
func TestHeartbeat(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := scripted{"Slow", false, func(context.Context) (tool.Result, error) {
			time.Sleep(70 * time.Second)
			return tool.TextResult("done"), nil
		}}
		w := newWorld("Slow")
		if err := stage(tools.Deps{Heartbeat: 30 * time.Second}, slow).Run(t.Context(), w.t); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Hour)
		var at []time.Duration
		for _, e := range w.events {
			if p, ok := e.(event.ToolProgress); ok && p.ID == "call0" && p.Text == "" {
				at = append(at, p.Elapsed)
			}
		}
		if d := cmp.Diff([]time.Duration{30 * time.Second, time.Minute}, at); d != "" {
			t.Error(d)
		}
	})
}

// late is a tool that reports while it runs, and keeps what it reports to.
type late struct {
	scripted
	kept *tool.Progress
}

func (l late) Plan(context.Context, tool.Call) (tool.Plan, error) {
	return tool.Plan{Run: func(_ context.Context, p tool.Progress) (tool.Result, error) {
		*l.kept = p
		p("in time")
		return tool.TextResult("done"), nil
	}}, nil
}

// What a call reports after its end is dropped: the turn that it belonged to may be over, and its events closed.
func TestLateProgress(t *testing.T) {
	var progress tool.Progress
	w := newWorld("Late")
	if err := stage(tools.Deps{}, late{scripted{name: "Late"}, &progress}).Run(t.Context(), w.t); err != nil {
		t.Fatal(err)
	}
	progress("too late")
	var said []string
	for _, e := range w.events {
		if p, ok := e.(event.ToolProgress); ok {
			said = append(said, p.Text)
		}
	}
	if d := cmp.Diff([]string{"in time"}, said); d != "" {
		t.Error(d)
	}
}
