package headless

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"lathe/internal/event"
	"lathe/internal/msg"
)

// Format is an output format.
type Format string

// The output formats.
const (
	Text       Format = "text"
	JSON       Format = "json"
	StreamJSON Format = "stream-json"
)

// Options say what is written.
type Options struct {
	Format  Format
	Verbose bool // in text format: what happens, on standard error
	Partial bool
	Replay  bool
	Stages  bool // tell of each stage
	Hooks   bool // tell of each hook (stream-json)
	// Terminal says that standard output is one: what is written there is made inert. Elsewhere the answer's bytes pass
	// as they are, since scripts want them. Standard error is read by people, so it is inert always.
	Terminal bool
	// AgentText adds the words of sub-agents (stream-json).
	AgentText bool
	NewID     func() string
	Debug     *Debug // nil: none
}

// ErrOutput is wrapped by the error of a write to standard output.
var ErrOutput = errors.New("write to standard output")

// ErrNoResult is returned when the session ended before the prompt's turn began.
var ErrNoResult = errors.New("the session ended without a result")

// Run sends one prompt and writes what happens until its turn is done. It returns the turn's result. Writes
// wait for a slow reader, so nothing is lost; a reader that has gone ends the turn.
func Run(ctx context.Context, conn event.Conn, p event.Prompt, out, errOut io.Writer, o Options) (event.Result, error) {
	if err := conn.Send(ctx, p); err != nil {
		return event.Result{}, err
	}
	w := writer{
		out: out, errOut: errOut, o: o, once: o.Terminal || out == errOut,
		enc: event.Encoder{NewID: o.NewID, Partial: o.Partial, Replay: o.Replay, Stages: o.Stages, Hooks: o.Hooks, AgentText: o.AgentText},
	}
	var last *event.Envelope // the end of the newest turn: of the prompt's, or of one that background work asked for
	for env, err := range conn.Events(ctx) {
		if err != nil {
			return event.Result{}, err
		}
		o.Debug.Event(env)
		_, ends := env.Event.(event.TurnDone)
		if ends && last == nil { // no prompt follows; what works in the background may still ask for turns
			_ = conn.Send(ctx, event.Close{})
		}
		if ends {
			last = &env
		}
		if ends && o.Format != StreamJSON {
			continue // the last one is the result
		}
		if err := w.event(env); err != nil {
			return event.Result{}, fmt.Errorf("%w: %w", ErrOutput, err)
		}
	}
	if last == nil {
		return event.Result{}, ErrNoResult
	}
	if o.Format != StreamJSON {
		if err := w.event(*last); err != nil {
			return event.Result{}, fmt.Errorf("%w: %w", ErrOutput, err)
		}
	}
	return last.Event.(event.TurnDone).Result, nil
}

type writer struct {
	out, errOut io.Writer
	o           Options
	enc         event.Encoder
	once        bool   // the same eyes read both streams: what the result says is not said on standard error too
	held        string // what is most likely the result, until it is known
}

func (w *writer) event(env event.Envelope) error {
	done, last := env.Event.(event.TurnDone)
	switch w.o.Format {
	case StreamJSON:
		return w.lines(env)
	case JSON:
		w.aside(env)
		if last {
			return w.lines(env)
		}
	default:
		w.aside(env)
		if last {
			return w.result(done.Result)
		}
	}
	return nil
}

// lines writes the protocol lines of an event.
func (w *writer) lines(env event.Envelope) error {
	for _, line := range w.enc.Lines(env) {
		if w.o.Terminal {
			line = []byte(event.InertJSON(string(line)))
		}
		if _, err := w.out.Write(append(line, '\n')); err != nil {
			return err
		}
	}
	return nil
}

// say writes to standard error.
func (w *writer) say(format string, args ...any) {
	_, _ = io.WriteString(w.errOut, event.Inert(fmt.Sprintf(format, args...)))
}

// result prints the final text; a failure's text is the result too, and is repeated on standard error where that is
// read apart from standard output.
func (w *writer) result(r event.Result) error {
	text := r.Text
	if r.Shown != nil {
		text = *r.Shown
	}
	same := w.held == strings.TrimRight(text, "\n")
	if r.Subtype != event.Success {
		text = strings.Join(r.Errors, "\n")
	}
	if !same {
		w.flush()
	}
	if r.IsError && !w.once {
		w.say("lathe: %s\n", event.Aside(text))
	}
	if text == "" {
		return nil
	}
	if w.o.Terminal {
		text = event.Inert(text)
	}
	_, err := io.WriteString(w.out, strings.TrimRight(text, "\n")+"\n")
	return err
}

// aside tells a person on standard error what they should know while the turn runs.
func (w *writer) aside(env event.Envelope) {
	switch e := env.Event.(type) {
	case event.Retry:
		w.say("lathe: %s\n", event.Aside(e.Line()))
	case event.Notice:
		w.say("lathe: %s: %s\n", e.Level, event.Aside(e.Text))
	case event.ModelChanged:
		w.say("lathe: %s\n", event.Aside(e.Reason))
	case event.Denied:
		w.say("lathe: denied %s: %s\n", event.InertLine(e.Name), event.Aside(e.Decision.Reason))
	case event.Discarded:
		w.say("lathe: %s\n", event.Aside(e.Reason))
	case event.StageDone:
		if w.o.Stages {
			w.say("  [%d] %-9s %8s  %s\n", e.Step, e.Stage, e.Dur.Round(10*time.Microsecond), event.InertLine(strings.Join(e.Notes, "; ")))
		}
	default:
		if w.o.Verbose {
			w.verbose(env)
		}
	}
}

func (w *writer) verbose(env event.Envelope) {
	switch e := env.Event.(type) {
	case event.Requesting, event.ToolStarted, event.ToolDone, event.TaskStarted, event.TaskDone: // the turn goes on
		w.flush()
	case event.Message:
		if e.Msg.Kind == msg.KindAssistant && env.Parent == "" {
			w.flush()
		}
	}
	switch e := env.Event.(type) {
	case event.Requesting:
		w.say("  → %s, about %d tokens\n", e.Model, e.Tokens)
	case event.ToolStarted:
		w.say("  %s· %s\n", inner(env), event.InertLine(e.Summary))
	case event.TaskStarted:
		w.say("  · in the background: %s\n", event.InertLine(e.Description))
	case event.TaskDone:
		w.say("  · %s\n", event.InertLine(e.Summary))
	case event.ToolDone:
		state := "done"
		if e.IsError {
			state = "failed"
		}
		w.say("    %s%s in %s (%s)\n", inner(env), state, e.Dur.Round(time.Millisecond), event.InertLine(e.Decision.Reason))
	case event.Message:
		if e.Msg.Kind != msg.KindAssistant || env.Parent != "" {
			return
		}
		w.held = strings.TrimRight(e.Msg.Text(), "\n")
		if !w.once || e.Msg.StopReason != "end_turn" {
			w.flush()
		}
	}
}

// inner sets off what a sub-agent does.
func inner(env event.Envelope) string {
	if env.Parent == "" {
		return ""
	}
	return "  "
}

// flush says the text that was held back.
func (w *writer) flush() {
	if w.held != "" {
		w.say("  %s\n", strings.ReplaceAll(w.held, "\n", "\n  "))
	}
	w.held = ""
}
