package app

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"lathe/internal/event"
	"lathe/internal/proc"
)

// shellShown is how much of a command's output enters the conversation, in bytes.
const shellShown = 30_000

// shellRuns are the commands that the person started and that still run.
type shellRuns struct {
	mu    sync.Mutex
	stops map[string]context.CancelFunc
}

// runShell runs a command of the person's own: they typed it, so no rule is asked and no sandbox is around it. Its output
// is told as it comes, as progress of a call with the id of the request. The answer holds what the conversation is to be
// told; the front end sends that as a prompt that asks nothing.
func (r *run) runShell(ctx context.Context, payload json.RawMessage) (any, error) {
	var in struct {
		ID, Command string
		Stop        bool
	}
	if err := json.Unmarshal(payload, &in); err != nil {
		return nil, err
	}
	if in.Stop {
		r.shells.mu.Lock()
		defer r.shells.mu.Unlock()
		if stop := r.shells.stops[in.ID]; stop != nil {
			stop()
		}
		return map[string]any{}, nil
	}
	if strings.TrimSpace(in.Command) == "" {
		return nil, errors.New("there is no command")
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	r.shells.mu.Lock()
	if r.shells.stops == nil {
		r.shells.stops = map[string]context.CancelFunc{}
	}
	r.shells.stops[in.ID] = stop
	r.shells.mu.Unlock()
	defer func() { r.shells.mu.Lock(); delete(r.shells.stops, in.ID); r.shells.mu.Unlock() }()

	began := time.Now()
	clean := r.place.Redact.Stream()
	out := proc.NewOutput(proc.OutputOptions{Clean: clean})
	tell := func(e event.Event) { _ = r.session.Relay(event.Envelope{Event: e}) }
	tell(event.ToolStarted{ID: in.ID, Name: "!", Summary: in.Command, Input: event.Encode(map[string]string{"command": in.Command})})
	done := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		tellOutput(out, done, func(text string) { tell(event.ToolProgress{ID: in.ID, Name: "!", Text: text}) })
	})
	exit, err := r.procs.Run(ctx, proc.Spec{
		Args: []string{shellPath(r.place.Sys.Getenv), "-c", in.Command}, Dir: r.tools.workspace.Cwd(), Env: proc.Env(r.place.Sys.Environ()), Out: out,
	})
	_ = out.Close()
	close(done)
	wg.Wait()
	if err != nil {
		tell(event.ToolDone{ID: in.ID, Name: "!", Dur: time.Since(began), IsError: true})
		return nil, err
	}
	stopped := ctx.Err() != nil
	tell(event.ToolDone{ID: in.ID, Name: "!", Dur: time.Since(began), IsError: exit.Code != 0 || stopped})
	text := outputText(out)
	return map[string]any{
		"output": text, "exit_code": exit.Code, "interrupted": stopped, "duration_ms": time.Since(began).Milliseconds(),
		"message": shellMessage(in.Command, text, exit.Code, stopped),
	}, nil
}

// tellOutput tells of new output ten times a second.
func tellOutput(out *proc.Output, done <-chan struct{}, tell func(string)) {
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	var sent int64
	for last := false; !last; {
		select {
		case <-tick.C:
		case <-done:
			last = true
		}
		text, next, _ := out.Since(sent, 8<<10)
		sent = next
		if text != "" {
			tell(text)
		}
	}
}

func outputText(out *proc.Output) string {
	e := out.Excerpt(shellShown)
	if e.Tail == "" {
		return e.Head
	}
	return e.Head + "\n… (left out) …\n" + e.Tail
}

// shellMessage is what the conversation keeps of a command, in the form that transcripts of like tools have.
func shellMessage(command, output string, code int, stopped bool) string {
	var b bytes.Buffer
	fmt.Fprintf(&b, "<bash-input>%s</bash-input>\n<bash-stdout>%s</bash-stdout>", command, strings.TrimRight(output, "\n"))
	switch {
	case stopped:
		b.WriteString("\n<bash-stderr>stopped by the user</bash-stderr>")
	case code != 0:
		fmt.Fprintf(&b, "\n<bash-stderr>exit code %d</bash-stderr>", code)
	default:
		b.WriteString("<bash-stderr></bash-stderr>")
	}
	return b.String()
}

func shellPath(getenv func(string) string) string {
	for _, key := range []string{"CLAUDE_CODE_SHELL", "SHELL"} {
		if s := getenv(key); s != "" {
			return s
		}
	}
	return "/bin/sh"
}
