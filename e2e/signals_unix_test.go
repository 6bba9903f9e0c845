//go:build unix

package e2e

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"lathe/internal/fakeapi"
)

// The program is to end within 100 ms of a SIGINT. How busy the machine is decides too, so the log says what it took.
const interruptTarget = 100 * time.Millisecond

// moment is a state in which a signal meets the program.
type moment struct {
	name   string
	script *fakeapi.Script
	env    []string
	reach  func(r *rig, p *running) // returns when the program is in the state
	sent   []string                 // in the next request, in this order
}

func moments() []moment {
	stall := fakeapi.Fault{Kind: fakeapi.FaultStall, AfterEvents: 8}
	half := fakeapi.Answer{Blocks: []fakeapi.Block{{Thinking: "a thought"}, {Text: "a partial answer of some words"}}, Chunk: 4, Faults: []fakeapi.Fault{stall}}
	second := half
	second.Blocks = []fakeapi.Block{{Text: "whole text."}, bash("echo never > never.txt"), {Text: "a partial end"}}
	second.Faults = []fakeapi.Fault{{Kind: fakeapi.FaultStall, AfterEvents: 20}}
	tree := `(sleep 301 & (trap '' TERM; sleep 302) & setsid sleep 303 & wait) & echo $$ > started; sleep 304`
	started := func(r *rig, p *running) {
		p.line(`"name":"Bash"`)
		r.appears("started")
	}
	return []moment{
		{
			name: "waiting for the first byte", script: fakeapi.Sequence(fakeapi.Answer{Faults: []fakeapi.Fault{{Kind: fakeapi.FaultStallEarly}}, Text: "x"}),
			reach: func(r *rig, _ *running) { r.called(1, 0) },
		},
		{name: "mid-stream", script: fakeapi.Sequence(half), reach: func(r *rig, p *running) { r.called(1, 8); p.line("a pa") }, sent: []string{"a pa"}},
		{
			name: "mid-stream behind a whole call", script: fakeapi.Sequence(second), reach: func(r *rig, p *running) { r.called(1, 20); p.line(`"type":"tool_use"`) },
			sent: []string{"whole text.", "interrupted"},
		},
		{
			name: "in a command with a tree of children", script: fakeapi.Sequence(answer(fakeapi.Block{Text: "I run it."}, bash(tree), bash("echo second > second.txt")), fakeapi.Text("x")),
			reach: started, sent: []string{"I run it.", "Interrupted by the user", "not run: the user interrupted"},
		},
		{
			name: "in a command that ignores TERM", script: fakeapi.Sequence(answer(bash(`trap "" TERM INT; echo > started; while :; do sleep 0.05; done`)), fakeapi.Text("x")),
			reach: started, sent: []string{"Interrupted by the user"},
		},
		{
			name: "beside a background command", script: fakeapi.Sequence(
				answer(fakeapi.Call("Bash", map[string]any{"command": "echo > started; sleep 305", "run_in_background": true})), half),
			reach: func(r *rig, p *running) { started(r, p); r.called(2, 8); p.line("a pa") }, sent: []string{"Started in the background", "a pa"},
		},
		{
			name: "in a sub-agent's command", script: fakeapi.Sequence(answer(fakeapi.Call("Agent", map[string]any{"description": "a task", "prompt": "run it"})), answer(bash(tree)), fakeapi.Text("x")),
			reach: started, sent: []string{"interrupted"},
		},
		{
			name: "beside a background sub-agent", script: fakeapi.Sequence(
				answer(fakeapi.Call("Agent", map[string]any{"description": "a task", "prompt": "run it", "run_in_background": true})),
				fakeapi.Answer{Faults: []fakeapi.Fault{{Kind: fakeapi.FaultStallEarly}}, Text: "x"}, fakeapi.Answer{Faults: []fakeapi.Fault{{Kind: fakeapi.FaultStallEarly}}, Text: "x"}),
			reach: func(r *rig, p *running) { p.line("task_started"); r.called(3, 0) }, sent: []string{"Started in the background"},
		},
		{name: "in the wait before a retry", script: times(-1, status(429, "slow down", "retry-after", "300")), reach: func(_ *rig, p *running) { p.line("api_retry") }},
		{
			name: "in parallel reads", script: fakeapi.Sequence(answer(readFile("a.txt"), fakeapi.Call("Grep", map[string]any{"pattern": "x*y*z*$"}), fakeapi.Call("Glob", map[string]any{"pattern": "**/*"}), readFile("a.txt")),
				fakeapi.Answer{Faults: []fakeapi.Fault{{Kind: fakeapi.FaultStallEarly}}, Text: "x"}),
			reach: func(_ *rig, p *running) { p.line(`"name":"Glob"`) },
		},
		{name: "in the key helper", script: fakeapi.Sequence(fakeapi.Text("x")), env: []string{"ANTHROPIC_API_KEY="}, reach: func(r *rig, _ *running) { r.appears("helper") }},
	}
}

// atMoment starts a session in the state of the moment.
func (m *moment) start(t *testing.T) (*rig, *running) {
	r := newRig(t, m.script)
	r.env = append(r.env, m.env...)
	r.file("a.txt", "content of a\n")
	for i := range 300 * strings.Count(m.name, "reads") {
		r.file(fmt.Sprintf("many/%d/file.txt", i), strings.Repeat("xxxxxxxxxxxxxxxxxxx yyyyyyyyyyyyyyyy zzzz\n", 300))
	}
	p := r.start("-p", "first words", "--permission-mode", "bypassPermissions", "--output-format", "stream-json", "--include-partial-messages",
		"--settings", `{"apiKeyHelper":"sleep 306 & echo > helper; wait"}`)
	m.reach(r, p)
	return r, p
}

// appears waits for a file in the working directory. The test's own deadline ends the wait.
func (r *rig) appears(name string) {
	r.t.Helper()
	for end := time.Now().Add(patience); ; time.Sleep(time.Millisecond) {
		if _, err := os.Stat(filepath.Join(r.dir, name)); err == nil {
			return
		}
		if time.Now().After(end) {
			r.t.Fatalf("%s does not appear\n%s", name, r.told())
		}
	}
}

// children are the processes whose working directory is the test's, the program itself apart.
func (r *rig) children(self int) []string {
	r.t.Helper()
	list, err := filepath.Glob("/proc/[0-9]*/cwd")
	if err != nil || len(list) == 0 {
		return nil // no /proc: nothing to look at
	}
	var out []string
	for _, link := range list {
		dir, err := os.Readlink(link)
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(link)))
		if err != nil || pid == self || dir != r.dir && !strings.HasPrefix(dir, r.dir+"/") {
			continue
		}
		cmd, _ := os.ReadFile(filepath.Join(filepath.Dir(link), "cmdline"))
		out = append(out, fmt.Sprintf("%d %s", pid, bytes.ReplaceAll(cmd, []byte{0}, []byte{' '})))
	}
	return out
}

// alone fails the test when a child of the program stays. The kernel may take a moment for what was killed.
func (r *rig) alone(self int) {
	r.t.Helper()
	var left []string
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if left = r.children(self); len(left) == 0 {
			return
		}
	}
	r.t.Errorf("children are left: %q", left)
}

// A SIGINT at any moment ends the program soon with code 130, a result as the last line, and no child; what the
// user has seen is kept, and the session goes on with a legal request.
func TestInterrupt(t *testing.T) {
	for _, m := range moments() {
		t.Run(m.name, func(t *testing.T) {
			r, p := m.start(t)
			at := time.Now()
			if err := p.cmd.Process.Signal(os.Interrupt); err != nil {
				t.Fatal(err)
			}
			o := p.wait()
			took := time.Since(at)
			t.Logf("ended after %.1f ms (target %s)", float64(took.Microseconds())/1000, interruptTarget)
			r.alone(p.cmd.Process.Pid)
			if o.code != 130 {
				t.Errorf("exit code %d, want 130\n%s", o.code, o.err)
			}
			if res := resultOf(t, untilResult(o.out)); res["is_error"] != true {
				t.Errorf("result %v", res)
			}
			r.legal()
			if _, err := os.Stat(filepath.Join(r.dir, "never.txt")); err == nil {
				t.Error("a call ran after the interrupt")
			}
			r.env = nil
			r.goesOn(append([]string{"first words"}, m.sent...)...)
		})
	}
}

// untilResult leaves out what is told of background work after the last result.
func untilResult(out string) string {
	lines := strings.SplitAfter(out, "\n")
	for len(lines) > 1 && (lines[len(lines)-1] == "" || strings.Contains(lines[len(lines)-1], `"subtype":"task_`) || strings.Contains(lines[len(lines)-1], `"subtype":"background_tasks_changed"`)) {
		lines = lines[:len(lines)-1]
	}
	return strings.Join(lines, "")
}

// A SIGINT before the turn has begun ends the program too, be it by the signal itself.
func TestInterruptAtTheStart(t *testing.T) {
	for wait := time.Duration(0); wait < 40*time.Millisecond; wait += 1500 * time.Microsecond {
		r := newRig(t, &fakeapi.Script{Default: &fakeapi.Answer{Faults: []fakeapi.Fault{{Kind: fakeapi.FaultStallEarly}}, Text: "x"}})
		p := r.start("-p", "first words")
		time.Sleep(wait) // whatever the program has come to by then
		_ = p.cmd.Process.Signal(os.Interrupt)
		o := p.wait()
		if o.code != 130 && o.code != -1 || strings.Contains(o.err, "Error") {
			t.Errorf("after %s: exit code %d\n%s", wait, o.code, o.err)
		}
		if len(r.transcripts()) > 0 {
			r.goesOn("first words")
		}
	}
}

// A SIGTERM ends the program at once with code 143, without a result; the children die too.
func TestTerminate(t *testing.T) {
	for _, m := range moments() {
		for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGHUP} {
			if sig == syscall.SIGHUP && !strings.Contains(m.name, "tree") {
				continue
			}
			t.Run(m.name+"/"+sig.String(), func(t *testing.T) {
				r, p := m.start(t)
				calls := len(r.api.Requests())
				at := time.Now()
				if err := p.cmd.Process.Signal(sig); err != nil {
					t.Fatal(err)
				}
				o := p.wait()
				t.Logf("ended after %.1f ms", float64(time.Since(at).Microseconds())/1000)
				if o.code != 143 {
					t.Errorf("exit code %d, want 143\n%s", o.code, o.err)
				}
				if strings.Contains(o.out, `"type":"result"`) {
					t.Errorf("a result was told:\n%s", o.out)
				}
				r.alone(p.cmd.Process.Pid)
				if n := len(r.api.Requests()); n > calls && m.name != "in parallel reads" {
					t.Errorf("%d calls of the API came after the signal", n-calls)
				}
				if _, err := os.Stat(filepath.Join(r.dir, "second.txt")); err == nil || strings.Contains(o.out, "Exit code") {
					t.Errorf("the turn went on after the signal:\n%s", o.out)
				}
				r.env = nil
				r.goesOn("first words")
			})
		}
	}
}

// Even a SIGKILL leaves no child, and the session goes on.
func TestKillLeavesNoChild(t *testing.T) {
	for _, m := range moments() {
		if !strings.Contains(m.name, "command") {
			continue
		}
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			r, p := m.start(t)
			_ = p.cmd.Process.Kill()
			p.wait()
			r.alone(p.cmd.Process.Pid)
			r.goesOn("first words")
		})
	}
}

// The first SIGINT waits for a reader of standard output that does not read; the second does not.
func TestSecondInterrupt(t *testing.T) {
	r := newRig(t, fakeapi.Sequence(answer(bash("echo > started; sleep 307")), fakeapi.Text(strings.Repeat("long ", 1<<18))))
	cmd := r.command("-p", "first words", "--permission-mode", "bypassPermissions", "--output-format", "stream-json", "--include-partial-messages")
	out, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	raw, err := w.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	full := bytes.Repeat([]byte("x"), 4096)
	err = raw.Write(func(fd uintptr) bool { // until the pipe takes nothing more
		for {
			if _, err := syscall.Write(int(fd), full); err == syscall.EAGAIN {
				return true
			} else if err != nil && err != syscall.EINTR {
				t.Error(err)
				return true
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stdout = w
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	w.Close()
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	// It hangs in the write of its first line, before any call.
	r.blocked(cmd.Process.Pid)
	_ = cmd.Process.Signal(os.Interrupt)
	select {
	case <-ended:
		t.Fatal("it ended although its output was not taken")
	case <-time.After(200 * time.Millisecond):
	}
	again := time.NewTicker(time.Second) // two signals are one to a process that has not run between them
	defer again.Stop()
	at := time.Now()
	_ = cmd.Process.Signal(os.Interrupt)
	for waiting := true; waiting; {
		select {
		case <-ended:
			t.Logf("ended %.1f ms after the second SIGINT", float64(time.Since(at).Microseconds())/1000)
			waiting = false
		case <-again.C:
			if time.Since(at) > patience {
				t.Fatal("it does not end")
			}
			_ = cmd.Process.Signal(os.Interrupt)
		}
	}
	if code := cmd.ProcessState.ExitCode(); code != 130 {
		t.Errorf("exit code %d\n%s", code, stderr.String())
	}
}

// blocked waits until the program hangs in a write to its standard output.
func (r *rig) blocked(pid int) {
	r.t.Helper()
	tells := false
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		tasks, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/wchan", pid))
		for _, f := range tasks {
			b, _ := os.ReadFile(f)
			tells = tells || len(b) > 1
			if strings.Contains(string(b), "pipe_write") || strings.Contains(string(b), "pipe_wait") {
				return
			}
		}
		if len(tasks) == 0 {
			break
		}
	}
	if tells {
		r.t.Fatal("the program never waits for its reader")
	}
	r.t.Skip("SKIPPED: this system does not tell (/proc/PID/task/*/wchan) when a program waits for its reader")
}

// setsid gives the program a session of its own, without a terminal.
func setsid(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }

// What belongs to a file that a turn read before it was interrupted comes with the next turn.
func TestRulesAfterAnInterrupt(t *testing.T) {
	t.Parallel()
	r := newRig(t, fakeapi.Sequence(answer(readFile("src/a.go"), bash("touch started; sleep 300")), fakeapi.Text("on")))
	r.file("src/a.go", "package a\n")
	r.file("src/CLAUDE.md", "RULE: tests first.\n")
	h := r.host(t, "--permission-mode", "bypassPermissions")
	h.user("go")
	h.next("the call", func(m map[string]any) bool {
		return m["type"] == "assistant" && strings.Contains(fmt.Sprint(m), "sleep 300")
	})
	r.appears("started")
	h.say(`{"type":"control_request","request_id":"stop","request":{"subtype":"interrupt"}}`)
	h.typed("result")
	h.user("and now?")
	h.typed("result")
	if code := h.end(); code != 0 {
		t.Errorf("exit code %d\n%s", code, h.errs)
	}
	if body := string(r.last().Body); !strings.Contains(body, "RULE: tests first.") {
		t.Errorf("the rule of the folder is not in the next request:\n%s", body)
	}
	r.legal()
}
