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
