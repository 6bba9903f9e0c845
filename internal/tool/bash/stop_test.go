//go:build unix

package bash

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"lathe/internal/tool"
)

var naps atomic.Int64

// nap returns an argument for sleep that no other process has.
func nap() string { return fmt.Sprintf("300.%d%04d", os.Getpid(), naps.Add(1)) }

// sleeping counts the processes with that argument.
func sleeping(n string) int {
	out, err := exec.Command("/usr/bin/pgrep", "-fx", "sleep "+n).Output() // by its path: shells hides PATH
	var exit *exec.ExitError
	if err != nil && (!errors.As(err, &exit) || exit.ExitCode() != 1) { // 1 is none
		panic(err)
	}
	return strings.Count(string(out), "\n")
}

func gone(t *testing.T, n string) {
	t.Helper()
	eventually(t, "the end of all with "+n, func() bool { return sleeping(n) == 0 })
}

func foreground(r *rig) { r.deps.Background = false }

func (r *rig) timed(command string, ms int) got {
	r.t.Helper()
	return r.call(context.Background(), "Bash", map[string]any{"command": command, "timeout": ms})
}

// limited runs a command into its limit, and again with a longer one until it has come as far as to say mark: how long
// that takes is up to the machine.
func (r *rig) limited(command, mark string) (g got, ms int) {
	r.t.Helper()
	for ms = 500; ms < int(patience/time.Millisecond); ms *= 3 {
		if g = r.timed(command, ms); strings.HasSuffix(g.text, mark) {
			break
		}
		r.deps.Procs.KillAll()
		r.ended()
	}
	return g, ms
}

func TestTimeoutStopsTheTree(t *testing.T) {
	shells(t, func(t *testing.T, shell string, r *rig) {
		r.deps.Background = false
		r.tools = tool.NewRegistry(New(r.deps)...)
		n := nap()
		file := filepath.Join(r.dir, "trap")
		g, ms := r.limited("trap 'echo bye > "+file+"' EXIT; echo begun; (sleep "+n+") & sleep "+n, "\nbegun")
		if !g.failed || !strings.HasPrefix(g.text, "Timed out after ") || !strings.HasSuffix(g.text, "\nbegun") {
			t.Errorf("text %q", g.text)
		}
		if g.bash().TimedOutAfterMs != int64(ms) {
			t.Errorf("output %+v", g.bash())
		}
		if b, _ := os.ReadFile(file); shell == "bash" && string(b) != "bye\n" {
			t.Errorf("the trap wrote %q", b)
		}
		gone(t, n)
	})
}

func TestServerTimesOutWithItsOutput(t *testing.T) {
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("SKIPPED: there is no python3 here")
	}
	r := newRig(t, foreground)
	done := make(chan got, 1)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var seen atomic.Bool
	go func() { // until it serves: how long that takes is up to the machine
		tl, _ := r.tools.Get("Bash")
		plan, err := tl.Plan(ctx, tool.Call{ID: "1", Input: []byte(`{"command":"python3 -m http.server 0 --bind 127.0.0.1"}`)})
		if err != nil {
			done <- got{text: err.Error()}
			return
		}
		res, err := plan.Run(ctx, func(s string) { seen.Store(seen.Load() || strings.Contains(s, "Serving HTTP")) })
		if err != nil {
			done <- got{text: err.Error()}
			return
		}
		done <- got{res.Blocks[0].Text, res.IsError, res.Output, res}
	}()
	eventually(t, "the server's output as progress", seen.Load)
	cancel()
	if g := <-done; !g.failed || !g.bash().Interrupted || !strings.Contains(g.text, "Serving HTTP on 127.0.0.1") {
		t.Errorf("text %q", g.text)
	}
}

func TestInterrupt(t *testing.T) {
	r, n := newRig(t), nap()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var at atomic.Int64
	go func() {
		for sleeping(n) < 2 {
			time.Sleep(5 * time.Millisecond)
		}
		at.Store(time.Now().UnixNano())
		cancel()
	}()
	g := r.call(ctx, "Bash", map[string]any{"command": "echo begun; sleep " + n + " & sleep " + n})
	took := time.Since(time.Unix(0, at.Load()))
	if !g.failed || !g.bash().Interrupted || !strings.HasPrefix(g.text, "Interrupted by the user;") || !strings.HasSuffix(g.text, "\nbegun") {
		t.Errorf("text %q", g.text)
	}
	t.Logf("interrupted within %s", took) // 100 ms are wanted; the machine may be busy
	gone(t, n)
	if g := r.call(ctx, "Bash", map[string]any{"command": "echo no"}); !g.failed {
		t.Errorf("a command ran after the interrupt: %q", g.text)
	}
}

func TestLeftRunning(t *testing.T) {
	shells(t, func(t *testing.T, _ string, r *rig) {
		for _, redirect := range []string{"", " >/dev/null 2>&1"} {
			n := nap()
			g := r.bash("sleep " + n + redirect + " & echo started")
			if g.failed || !strings.HasPrefix(g.text, "started\n(left running: ") || strings.Contains(g.text, "__lathe") {
				t.Errorf("text %q", g.text)
			}
			eventually(t, "it runs on", func() bool { return sleeping(n) == 1 })
			r.deps.Procs.KillAll()
			gone(t, n)
		}
	})
}

func TestProgress(t *testing.T) {
	r := newRig(t)
	var once sync.Once
	r.report = func() { once.Do(func() { r.write("go", "") }) } // the command ends only after a report
	r.bash("mkfifo go; echo one; cat go; echo two")
	if got := strings.Join(r.reports, ""); !strings.HasPrefix("one\ntwo\n", got) || got == "" {
		t.Errorf("progress %q", r.reports)
	}
}

func TestManyCommandsAtOnce(t *testing.T) {
	r := newRig(t)
	tl, _ := r.tools.Get("Bash")
	var wg sync.WaitGroup
	for i := range 50 {
		wg.Go(func() {
			input := fmt.Sprintf(`{"command":"echo %d; seq 1 10000 >&2; exit %d"}`, i, i%2)
			plan, err := tl.Plan(context.Background(), tool.Call{ID: fmt.Sprint(i), Input: []byte(input)})
			if err != nil {
				t.Error(err)
				return
			}
			res, err := plan.Run(context.Background(), nil)
			if err != nil || res.IsError != (i%2 == 1) || !strings.Contains(res.Blocks[0].Text, fmt.Sprintf("%d\n1\n2\n", i)) {
				t.Errorf("run %d: %+v, %v", i, res.IsError, err)
			}
		})
	}
	wg.Wait()
}
