//go:build unix

package bash

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func (r *rig) background(command string) got {
	r.t.Helper()
	return r.call(context.Background(), "Bash", map[string]any{"command": command, "run_in_background": true})
}

func (r *rig) output(in map[string]any) got {
	r.t.Helper()
	return r.call(context.Background(), "TaskOutput", in)
}

func (r *rig) ended() {
	r.t.Helper()
	eventually(r.t, "the end of all tasks", func() bool {
		return !slices.ContainsFunc(r.deps.Tasks.Snapshot(), func(k Task) bool { return k.State == Running })
	})
}

func TestBackground(t *testing.T) {
	r := newRig(t)
	fifo := filepath.Join(r.dir, "go")
	before := r.deps.Tasks.Changed()
	g := r.background("mkfifo go; echo one; cat go; echo two; cd /; exit 3")
	id, path := g.bash().BackgroundTaskID, g.bash().SavedPath
	if want := "Started in the background as task bash_1. Output goes to " + path + "."; g.failed || g.text != want || id != "bash_1" {
		t.Fatalf("text %q", g.text)
	}
	<-before
	eventually(t, "the first output", func() bool { return r.deps.Tasks.Snapshot()[0].Size > 0 })
	if s := r.deps.Tasks.Snapshot()[0]; !s.NewOutput || s.State != Running || s.CallID != "toolu_1" || s.OutputFile != path {
		t.Errorf("snapshot %+v", s)
	}
	if g = r.output(map[string]any{"task_id": id}); g.text != "Task bash_1: running\none" {
		t.Errorf("text %q", g.text)
	}
	if s := r.deps.Tasks.Snapshot()[0]; s.NewOutput {
		t.Errorf("snapshot %+v, want nothing new", s)
	}
	if g = r.output(map[string]any{"bash_id": id, "block": true, "timeout": "1"}); g.text != "Task bash_1: running\n(no new output)" {
		t.Errorf("text %q", g.text)
	}
	changed := r.deps.Tasks.Changed()
	if err := os.WriteFile(fifo, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	<-changed
	g = r.output(map[string]any{"task_id": id, "block": true})
	code := 3
	want := TaskOutputResult{"success", TaskResult{ID: id, Type: TaskType, Status: Failed, Output: "two", ExitCode: &code}}
	if diff := cmp.Diff(want, g.out); diff != "" || g.text != "Task bash_1: failed, exit code 3\ntwo" {
		t.Errorf("text %q, %s", g.text, diff)
	}
	if b, _ := os.ReadFile(path); string(b) != "one\ntwo\n" {
		t.Errorf("file %q", b)
	}
	if r.deps.Workspace.Cwd() != r.dir {
		t.Errorf("cwd %s", r.deps.Workspace.Cwd())
	}
}

func TestBackgroundStop(t *testing.T) {
	r, n := newRig(t), nap()
	r.background("trap 'echo bye' EXIT; sleep " + n + " & sleep " + n)
	eventually(t, "the sleeps", func() bool { return sleeping(n) == 2 })
	g := r.call(context.Background(), "TaskStop", map[string]any{"shell_id": "bash_1"})
	want := TaskStopResult{"Stopped task bash_1.", "bash_1", TaskType, "trap 'echo bye' EXIT; sleep " + n + " & sleep " + n}
	if diff := cmp.Diff(want, g.out); diff != "" || g.text != want.Message {
		t.Errorf("text %q, %s", g.text, diff)
	}
	gone(t, n)
	if g = r.output(map[string]any{"task_id": "bash_1"}); g.text != "Task bash_1: stopped, exit code 143\nbye" {
		t.Errorf("text %q", g.text)
	}
	if g = r.call(context.Background(), "TaskStop", map[string]any{"task_id": "bash_1"}); g.text != "task bash_1 is not running: it is stopped" {
		t.Errorf("text %q", g.text)
	}
	if g = r.output(map[string]any{"task_id": "bash_7"}); !g.failed || g.text != `there is no task "bash_7"; the tasks are [bash_1]` {
		t.Errorf("text %q", g.text)
	}
}

func TestBackgroundDiesWithTheSession(t *testing.T) {
	r, n := newRig(t), nap()
	r.background("sleep " + n + "; sleep " + n)
	r.background("trap '' TERM; sleep " + n + "; sleep " + n)
	eventually(t, "the sleeps", func() bool { return sleeping(n) == 2 })
	if err := r.deps.Tasks.Close(context.Background()); err != nil {
		t.Error(err)
	}
	gone(t, n)
	for _, s := range r.deps.Tasks.Snapshot() {
		if s.State != Stopped {
			t.Errorf("snapshot %+v", s)
		}
	}
	if g := r.background("echo no"); !g.failed {
		t.Errorf("a task started after the end: %q", g.text)
	}
}

func TestBackgroundLimit(t *testing.T) {
	r, n := newRig(t, func(r *rig) { r.deps.BackgroundLimit = 200 * time.Millisecond }), nap()
	r.background("sleep " + n)
	r.ended()
	gone(t, n)
	if s := r.deps.Tasks.Snapshot()[0]; s.State != Stopped {
		t.Errorf("snapshot %+v", s)
	}
}

func TestTimeoutMovesToTheBackground(t *testing.T) {
	r, n := newRig(t), nap()
	fifo := filepath.Join(r.dir, "go")
	g, ms := r.limited("rm -f go; mkfifo go; echo one; cat go; echo two; cd sub", "\none")
	o := g.bash()
	limit := shortDuration(time.Duration(ms) * time.Millisecond)
	if g.failed || o.BackgroundTaskID == "" || o.TimedOutAfterMs != int64(ms) ||
		g.text != "Still running after "+limit+": moved to the background as task "+o.BackgroundTaskID+". Output goes to "+o.SavedPath+". Output so far:\none" {
		t.Fatalf("text %q", g.text)
	}
	if err := os.WriteFile(fifo, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	r.ended()
	if g = r.output(map[string]any{"task_id": o.BackgroundTaskID}); !strings.HasPrefix(g.text, "Task "+o.BackgroundTaskID+": failed, exit code 1\ntwo\n") {
		t.Errorf("text %q", g.text)
	}
	if g = r.timed("sleep "+n, 300); !g.failed || !strings.HasPrefix(g.text, "Timed out after 300ms;") {
		t.Errorf("a sleep: %q", g.text)
	}
	gone(t, n)
}

func TestLongBackgroundOutput(t *testing.T) {
	r := newRig(t)
	r.background("seq 1 100000")
	r.ended()
	g := r.output(map[string]any{"task_id": "bash_1"})
	s := r.deps.Tasks.Snapshot()[0]
	if s.State != Completed || s.Size != 588895 || s.NewOutput {
		t.Errorf("snapshot %+v", s)
	}
	if !strings.HasPrefix(g.text, "Task bash_1: completed, exit code 0 [558895 bytes left out before this; the output is in "+s.OutputFile+"]\n") ||
		!strings.HasSuffix(g.text, "\n100000") {
		t.Errorf("text %q", g.text[:200])
	}
}
