//go:build unix

package e2e

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"lathe/internal/fakeapi"
)

// piped starts the program with its standard output in a pipe that the test reads.
func (r *rig) piped(args ...string) (*exec.Cmd, *os.File, *bytes.Buffer, chan error) {
	r.t.Helper()
	cmd := r.command(args...)
	out, w, err := os.Pipe()
	if err != nil {
		r.t.Fatal(err)
	}
	stderr := &bytes.Buffer{}
	cmd.Stdout, cmd.Stderr = w, stderr
	if err := cmd.Start(); err != nil {
		r.t.Fatal(err)
	}
	w.Close()
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	r.t.Cleanup(func() { out.Close(); _ = cmd.Process.Kill() })
	return cmd, out, stderr, ended
}

// A reader that leaves, as head does, ends the run: code 141, nothing on standard error, no children, and a
// session that goes on.
func TestReaderLeaves(t *testing.T) {
	background := answer(fakeapi.Block{Text: "I start it."}, fakeapi.Call("Bash", map[string]any{"command": "echo > started; sleep 308", "run_in_background": true}))
	long := fakeapi.Answer{Text: strings.Repeat("a long text ", 40), Chunk: 8, Faults: []fakeapi.Fault{{Kind: fakeapi.FaultStall, AfterEvents: 6}}}
	for _, tt := range []struct {
		name, after string // reads up to this line
		script      *fakeapi.Script
		sent        []string
	}{
		{"after the first line", `"subtype":"init"`, fakeapi.Sequence(long), nil},
		{"mid-stream", `"text_delta"`, fakeapi.Sequence(long), []string{"a long"}},
		{"beside a background command", `a long`, fakeapi.Sequence(background, long), []string{"I start it.", "Started in the background", "a long"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, tt.script)
			cmd, out, stderr, ended := r.piped("-p", "first words", "--permission-mode", "bypassPermissions", "--output-format", "stream-json", "--include-partial-messages")
			in := bufio.NewReaderSize(out, 64)
			for {
				line, err := in.ReadString('\n')
				if err != nil {
					t.Fatal(err)
				}
				if strings.Contains(line, tt.after) {
					break
				}
			}
			r.called(len(tt.script.Turns), 6)
			out.Close()
			stop := r.letGo()
			select {
			case <-ended:
			case <-time.After(patience):
				t.Fatal("it does not end")
			}
			stop()
			if code := cmd.ProcessState.ExitCode(); code != 141 || stderr.Len() > 0 {
				t.Errorf("exit code %d\n%s", code, stderr)
			}
			r.alone(cmd.Process.Pid)
			r.legal()
			r.goesOn(append([]string{"first words"}, tt.sent...)...)
		})
	}
	t.Run("text", func(t *testing.T) {
		t.Parallel()
		r := newRig(t, fakeapi.Sequence(fakeapi.Text("words")))
		cmd, out, stderr, ended := r.piped("-p", "first words")
		out.Close()
		<-ended
		if code := cmd.ProcessState.ExitCode(); code != 141 || stderr.Len() > 0 {
			t.Errorf("exit code %d\n%s", code, stderr)
		}
		r.goesOn("first words", "words")
	})
	t.Run("standard error", func(t *testing.T) {
		t.Parallel()
		r := newRig(t, times(2, status(503, "down"), fakeapi.Text("words")))
		cmd := r.command("-p", "first words")
		gone, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		gone.Close()
		cmd.Stderr = w
		if out, err := cmd.Output(); err != nil || string(out) != "words\n" {
			t.Errorf("a closed standard error ended the run: %v %q", err, out)
		}
		w.Close()
		r.goesOn("first words", "words")
	})
}

// A reader that takes nothing until the program waits for it gets every line.
func TestSlowReader(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("0123456789abcdef", 2000)
	r := newRig(t, fakeapi.Sequence(answer(bash("seq 1 3")), fakeapi.Answer{Text: text, Chunk: 16}))
	cmd, out, stderr, ended := r.piped("-p", "first words", "--allowedTools", "Bash", "--output-format", "stream-json", "--include-partial-messages")
	r.blocked(cmd.Process.Pid)
	in := bufio.NewReaderSize(out, 16)
	var streamed strings.Builder
	last, lines := "", 0
	for {
		line, err := in.ReadString('\n')
		if err == io.EOF && line == "" {
			break
		}
		if err != nil {
			t.Fatalf("a torn line %q: %v", line, err)
		}
		var v struct {
			Type  string
			Event struct {
				Delta struct{ Text string }
			}
		}
		if err := json.Unmarshal([]byte(line), &v); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		streamed.WriteString(v.Event.Delta.Text)
		last = line
		lines++
	}
	<-ended
	if streamed.String() != text || !strings.Contains(last, `"type":"result"`) || lines < 2000 {
		t.Errorf("%d lines; streamed %q; last line %s\n%s", lines, streamed.String(), last, stderr)
	}
}

// B072: it works without a terminal of its own, and each line comes when it is there: the first before the
// server's second delta.
func TestFlushesB072(t *testing.T) {
	t.Parallel()
	r := newRig(t, fakeapi.Sequence(fakeapi.Answer{Text: "one two three", Chunk: 4, Faults: []fakeapi.Fault{{Kind: fakeapi.FaultStall, AfterEvents: 4}}}))
	cmd := r.command("-p", "hi", "--output-format", "stream-json", "--include-partial-messages")
	setsid(cmd)
	p := r.launch(cmd)
	p.line(`"text":"one "`) // the server waits, or is about to
	stop := r.letGo()
	o := p.wait()
	stop()
	if o.code != 0 || resultOf(t, o.out)["result"] != "one two three" {
		t.Errorf("exit code %d\n%s\n%s", o.code, o.out, o.err)
	}
}

// letGo lets stalled answers go on, again and again until stop is called: one that was only about to stall would wait for
// ever.
func (r *rig) letGo() (stop func()) {
	api, over := r.api, make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		tick := time.NewTicker(5 * time.Millisecond)
		defer tick.Stop()
		for {
			api.Release()
			select {
			case <-tick.C:
			case <-over:
				return
			}
		}
	})
	return func() { close(over); wg.Wait() }
}

// An editor that leaves closes both of its ends, in whatever order: that is no failure.
func TestEditorLeavesFromEitherEnd(t *testing.T) {
	t.Parallel()
	r := newRig(t, &fakeapi.Script{})
	cmd := r.command("acp")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stdout = w
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	w.Close()
	const hello = `{"jsonrpc":"2.0","id":%d,"method":"initialize","params":{"protocolVersion":1,"clientCapabilities":{}}}` + "\n"
	fmt.Fprintf(in, hello, 1)
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		t.Fatalf("%v: %s", err, line)
	}
	out.Close()
	fmt.Fprintf(in, hello, 2) // its answer nobody reads
	in.Close()
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
}
