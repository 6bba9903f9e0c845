package proc

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// patience bounds every wait for a process. It is only ever used up by a test that fails.
const patience = time.Minute

var naps atomic.Int64

// nap returns arguments for sleep that no other process has.
func nap() string { return fmt.Sprintf("300.%d%04d", os.Getpid(), naps.Add(1)) }

// running lists the processes with word among their arguments.
func running(word string) []string {
	lines, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	var found []string
	for _, l := range lines {
		b, _ := os.ReadFile(l)
		args := strings.Split(strings.TrimRight(string(b), "\x00"), "\x00")
		if len(args) == 2 && args[1] == word { // sleep, not a shell that has it in its script
			found = append(found, l)
		}
	}
	return found
}

func wantRunning(t *testing.T, word string, want int) {
	t.Helper()
	var got []string
	if !poll(patience, func() bool { got = running(word); return len(got) == want }) {
		t.Fatalf("processes with %s: got %v, want %d", word, got, want)
	}
}

// wantGone allows for the moment that the kernel and pid 1 take to clear away what was killed.
func wantGone(t *testing.T, word string) {
	t.Helper()
	if !poll(patience, func() bool { return len(running(word)) == 0 }) {
		t.Errorf("survivors with %s: %v", word, running(word))
	}
}

func start(t *testing.T, g *Group, command string, out *Output) *Proc {
	t.Helper()
	p, err := g.Start(Spec{Args: []string{"bash", "-c", command}, Dir: t.TempDir(), Env: Env(os.Environ()), Out: out})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func group(t *testing.T) *Group {
	g := &Group{}
	t.Cleanup(g.Close)
	return g
}

// The ways a child can have descendants; each must die however the run is ended.
func trees(n string) map[string]string {
	return map[string]string{
		"foreground":   "sleep " + n,
		"background":   "sleep " + n + " & sleep " + n + " & wait",
		"subshell":     "(sleep " + n + ") & sleep " + n,
		"own session":  "setsid sleep " + n + " & sleep " + n,
		"nohup":        "nohup sleep " + n + " >/dev/null 2>&1 & sleep " + n,
		"deaf to TERM": "trap '' TERM; sleep " + n + " & sleep " + n + "; sleep " + n,
		"stopped":      "sleep " + n + " & while ! grep -q sleep /proc/$!/comm; do :; done; kill -STOP $!; sleep " + n,
		"double fork":  "(setsid sh -c 'sleep " + n + " & ' &) ; sleep " + n,
	}
}

func TestStopLeavesNobody(t *testing.T) {
	ends := map[string]func(g *Group, p *Proc){
		"stop":     func(_ *Group, p *Proc) { p.Stop(QuickGrace) },
		"kill all": func(g *Group, _ *Proc) { g.KillAll() },
		"close":    func(g *Group, _ *Proc) { g.Close() },
	}
	for end, stop := range ends {
		for name := range trees("") {
			t.Run(end+"/"+name, func(t *testing.T) {
				t.Parallel()
				n, g := nap(), group(t)
				p := start(t, g, trees(n)[name], nil)
				want := 2
				if name == "foreground" {
					want = 1
				}
				wantRunning(t, n, want)
				stop(g, p)
				wantGone(t, n)
				if e := p.Exit(); !e.Stopped {
					t.Errorf("exit %+v, want stopped", e)
				}
			})
		}
	}
}

func TestKilledParentLeavesNobody(t *testing.T) {
	for name := range trees("") {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := nap()
			parent := exec.Command(os.Args[0])
			parent.Env = append(os.Environ(), "LATHE_TEST_PARENT="+trees(n)[name])
			if err := parent.Start(); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = parent.Process.Kill() })
			want := 2
			if name == "foreground" {
				want = 1
			}
			wantRunning(t, n, want)
			_ = parent.Process.Kill()
			_ = parent.Wait()
			if !poll(patience, func() bool { return len(running(n)) == 0 }) {
				t.Errorf("survivors of kill -9: %v", running(n))
			}
		})
	}
}

// A parent that is killed after the direct child ended still takes along what that left behind.
func TestKilledParentTakesLeftovers(t *testing.T) {
	n := nap()
	parent := exec.Command(os.Args[0])
	parent.Env = append(os.Environ(), "LATHE_TEST_PARENT=sleep "+n+" & echo ready")
	out, err := parent.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := parent.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = parent.Process.Kill() })
	if !bufio.NewScanner(out).Scan() {
		t.Fatal("no output from the child")
	}
	wantRunning(t, n, 1)
	_ = parent.Process.Kill()
	_ = parent.Wait()
	if !poll(patience, func() bool { return len(running(n)) == 0 }) {
		t.Errorf("survivors of kill -9: %v", running(n))
	}
}

// A program like ours may run below ours: what it started, in sessions of its own, dies with it.
func TestStopReachesBelowAnotherParent(t *testing.T) {
	n, g := nap(), group(t)
	env := append(Env(os.Environ()), "LATHE_TEST_PARENT=sleep "+n+" & setsid sleep "+n)
	p, err := g.Start(Spec{Args: []string{os.Args[0]}, Env: env})
	if err != nil {
		t.Fatal(err)
	}
	wantRunning(t, n, 2)
	p.Stop(QuickGrace)
	wantGone(t, n)
}

func TestTermLetsTrapsRun(t *testing.T) {
	dir, n, g := t.TempDir(), nap(), group(t)
	file := filepath.Join(dir, "t")
	ready := false
	for limit := 300 * time.Millisecond; !ready && limit < patience; limit *= 3 { // until its start fits into the limit
		out := NewOutput(OutputOptions{})
		e, err := g.Run(context.Background(), Spec{
			Args: []string{"bash", "-c", "trap 'echo bye >> " + file + "' EXIT; echo ready; (sleep " + n + ") & sleep " + n},
			Dir:  dir, Env: Env(os.Environ()), Out: out, Timeout: limit,
		})
		if err != nil {
			t.Fatal(err)
		}
		if !e.TimedOut || !e.Stopped {
			t.Errorf("exit %+v, want timed out and stopped", e)
		}
		ready = out.Total() > 0
	}
	if b, _ := os.ReadFile(file); string(b) != "bye\n" {
		t.Errorf("trap wrote %q, want %q", b, "bye\n")
	}
	wantGone(t, n)
}

func TestLeftoversDoNotHoldTheRun(t *testing.T) {
	n, g, out := nap(), group(t), NewOutput(OutputOptions{})
	e := start(t, g, "echo one; sleep "+n+" & while ! grep -q sleep /proc/$!/comm; do :; done; echo two", out).Exit()
	if got := out.Excerpt(1000).Head; got != "one\ntwo\n" {
		t.Errorf("output %q", got)
	}
	if !e.Held || e.Code != 0 || e.Stopped || len(e.Left) != 1 || e.Left[0].Name != "sleep "+n {
		t.Errorf("exit %+v, want held with the sleep left", e)
	}
	wantRunning(t, n, 1)
	g.KillAll()
	wantGone(t, n)
}

// What was left behind may go on writing; a closed pipe must not kill it.
func TestLeftoversMayWrite(t *testing.T) {
	g, out := group(t), NewOutput(OutputOptions{})
	fifo := filepath.Join(t.TempDir(), "go")
	p := start(t, g, "mkfifo "+fifo+"; (read x < "+fifo+"; echo late) & echo early", out)
	p.Exit()
	if err := os.WriteFile(fifo, []byte("x\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if !poll(patience, func() bool { return out.Total() == int64(len("early\nlate\n")) }) {
		t.Errorf("output %q", out.Excerpt(100).Head)
	}
}

func TestInput(t *testing.T) {
	g := group(t)
	big := bytes.Repeat([]byte("x"), 1<<20)
	var out, errs bytes.Buffer
	tests := []struct {
		name     string
		spec     Spec
		out, err string
		report   string
	}{
		{"stdin is empty", Spec{Args: []string{"bash", "-c", "read x; echo $?"}}, "1\n", "", ""},
		{"stdin", Spec{Args: []string{"wc", "-c"}, Stdin: big}, "1048576\n", "", ""},
		{"stdin unread", Spec{Args: []string{"true"}, Stdin: big}, "", "", ""},
		{"stderr", Spec{Args: []string{"bash", "-c", "echo a; echo b >&2"}}, "a\n", "b\n", ""},
		{"script", Spec{Args: []string{"bash", "-c", "wc -c <&3"}, Script: big}, "1048576\n", "", ""},
		{"script unread", Spec{Args: []string{"true"}, Script: big}, "", "", ""},
		{"report", Spec{Args: []string{"bash", "-c", "cat <&3 >&4"}, Script: []byte("hi"), Report: true}, "", "", "hi"},
		{"no terminal", Spec{Args: []string{"bash", "-c", "echo > /dev/tty"}}, "", "bash: line 1: /dev/tty: No such device or address\n", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			out.Reset()
			errs.Reset()
			tt.spec.Out, tt.spec.Err, tt.spec.Env = &out, &errs, Env(os.Environ())
			e, err := g.Run(context.Background(), tt.spec)
			if err != nil {
				t.Fatal(err)
			}
			got := []string{strings.TrimLeft(out.String(), " "), errs.String(), string(e.Report)}
			if diff := cmp.Diff([]string{tt.out, tt.err, tt.report}, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestExit(t *testing.T) {
	g := group(t)
	tests := map[string]Exit{
		"true":            {},
		"exit 3":          {Code: 3},
		"kill -9 $$":      {Code: 137, Signal: "killed"},
		"kill -TERM $$":   {Code: 143, Signal: "terminated"},
		"exec sleep 0.01": {},
	}
	for command, want := range tests {
		e := start(t, g, command, nil).Exit()
		e.Took = 0
		if diff := cmp.Diff(want, e, cmp.AllowUnexported(Exit{})); diff != "" {
			t.Errorf("%s: %s", command, diff)
		}
	}
	if _, err := g.Run(context.Background(), Spec{Args: []string{"/no/such/program"}}); err == nil {
		t.Error("no error for a program that is not there")
	}
	if _, err := g.Run(context.Background(), Spec{Args: []string{"true"}, Dir: "/no/such/dir"}); err == nil {
		t.Error("no error for a directory that is not there")
	}
}

func TestTooMuchOutput(t *testing.T) {
	g := group(t)
	e, err := g.Run(context.Background(), Spec{Args: []string{"yes"}, Env: Env(nil), MaxOutput: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	if !e.Overflow || !e.Stopped {
		t.Errorf("exit %+v, want overflow", e)
	}
}

func TestCancelIsQuick(t *testing.T) {
	n, g := nap(), group(t)
	ctx, cancel := context.WithCancel(context.Background())
	var at atomic.Int64
	go func() {
		poll(patience, func() bool { return len(running(n)) == 2 })
		at.Store(time.Now().UnixNano())
		cancel()
	}()
	e, err := g.Run(ctx, Spec{Args: []string{"bash", "-c", "trap '' TERM; sleep " + n + " & sleep " + n}, Env: Env(os.Environ())})
	took := time.Since(time.Unix(0, at.Load()))
	if err != nil || !e.Stopped {
		t.Errorf("exit %+v, error %v", e, err)
	}
	t.Logf("cancelled within %s", took) // 100 ms are wanted; the machine may be busy
	wantGone(t, n)
}

func TestManyAtOnce(t *testing.T) {
	g := group(t)
	var wg sync.WaitGroup
	for i := range 50 {
		wg.Go(func() {
			out := NewOutput(OutputOptions{})
			e, err := g.Run(context.Background(), Spec{
				Args: []string{"bash", "-c", fmt.Sprintf("echo %d; sleep 300 & exit %d", i, i)}, Env: Env(os.Environ()), Out: out,
			})
			if err != nil || e.Code != i || out.Excerpt(100).Head != fmt.Sprintln(i) {
				t.Errorf("run %d: %+v, %v, %q", i, e, err, out.Excerpt(100).Head)
			}
		})
	}
	wg.Wait()
	begin := time.Now()
	g.KillAll()
	t.Logf("50 leftovers killed within %s", time.Since(begin))
	if poll(patience, func() bool { n := 0; eachMarked(g.token, func(int) { n++ }); return n == 0 }) {
		return
	}
	t.Error("survivors of KillAll")
}

func TestClosedGroupStartsNothing(t *testing.T) {
	g := &Group{}
	g.Close()
	g.Close()
	if _, err := g.Start(Spec{Args: []string{"true"}}); err != ErrClosed {
		t.Errorf("error %v, want %v", err, ErrClosed)
	}
}
