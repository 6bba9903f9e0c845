//go:build unix

package bash

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"lathe/internal/tool"
)

// A watch tells of its lines as they come, in whole lines, and ends with its time.
func TestMonitor(t *testing.T) {
	said := make(chan Task, 100)
	r := newRig(t, func(r *rig) { r.deps.Tasks.Said = func(k Task) { said <- k } })
	r.tools.Add(NewMonitor(r.deps, 0))
	g := r.call(context.Background(), "Monitor", map[string]any{
		"command": `printf 'one\ntwo\nhalf'; until [ -e go ]; do sleep 0.02; done`, "description": "say", "timeout": 90000,
	})
	out, ok := g.out.(MonitorOutput)
	if !ok || out.TaskID != "bash_1" || out.TimeoutMs != 90000 || !strings.HasPrefix(g.text, "Watching as task bash_1, for 1m30s at most.") {
		t.Fatalf("%+v: %s", g.out, g.text)
	}
	k := <-said
	if !k.Watch || k.State != Running || k.Description != "say" {
		t.Errorf("%+v", k)
	}
	text, next, skipped := r.deps.Tasks.Lines(k.ID, 0, 1000)
	if text != "one\ntwo" || skipped != 0 {
		t.Errorf("%q, skipped %d", text, skipped)
	}
	if text, _, _ := r.deps.Tasks.Lines(k.ID, next, 1000); text != "" {
		t.Errorf("once more: %q", text)
	}
	ended := func(i int) Task {
		for {
			changed := r.deps.Tasks.Changed()
			if k := r.deps.Tasks.Snapshot()[i]; k.State != Running {
				return k
			}
			<-changed
		}
	}
	if err := os.WriteFile(filepath.Join(r.dir, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if k = ended(0); k.State != Completed || k.Late {
		t.Errorf("%+v", k)
	}
	if text, _, _ := r.deps.Tasks.Lines(k.ID, next, 1000); text != "half" {
		t.Errorf("at the end: %q", text)
	}
	r.call(context.Background(), "Monitor", map[string]any{"command": "exec sleep 1000", "description": "wait", "timeout_ms": 20})
	if k = ended(1); k.State != Stopped || !k.Late {
		t.Errorf("over: %+v", k)
	}
	if text, _, _ := r.deps.Tasks.Lines("other", 0, 1000); text != "" {
		t.Errorf("of another task: %q", text)
	}
}

func TestMonitorLimits(t *testing.T) {
	r := newRig(t)
	for _, c := range []struct {
		most time.Duration
		ask  float64
		want time.Duration
	}{{0, 0, 5 * time.Minute}, {0, 9e9, 30 * time.Minute}, {time.Minute, 0, time.Minute}, {10 * time.Minute, 3600000, 10 * time.Minute}, {time.Hour, 3600000, 30 * time.Minute}} {
		m := NewMonitor(r.deps, c.most).(*monitor)
		if got := (limits{timeout: min(watchTime, m.most), maxTimeout: m.most}).clamp(c.ask); got != c.want {
			t.Errorf("%+v: %s", c, got)
		}
	}
	m := NewMonitor(r.deps, 0)
	for _, in := range []string{`{"command":" ","description":"x"}`, `{"command":"a\u0000b","description":"x"}`} {
		if _, err := m.Plan(context.Background(), tool.Call{Input: []byte(in)}); err == nil {
			t.Errorf("%s was taken", in)
		}
	}
}
