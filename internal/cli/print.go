package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"lathe/internal/app"
	"lathe/internal/event"
	"lathe/internal/front/headless"
)

// open builds a session from the flags. Nothing is started yet.
func (o *flags) open(st Streams) (*app.Session, error) {
	opts := o.Options
	opts.Log = st.Err
	return app.Open(opts)
}

// runPrompt runs one prompt without a terminal.
func runPrompt(o *flags, st Streams) int {
	s, err := o.open(st)
	if err != nil {
		return report(st, err)
	}
	defer s.Close()
	if o.rewindFiles != "" {
		return report(st, rewind(s, o.rewindFiles, st))
	}
	p, err := o.prompt(s, st)
	if err != nil {
		return report(st, err)
	}
	return o.headless(s, p, st)
}

// rewind is --rewind-files: it puts files back and asks no model.
func rewind(s *app.Session, prompt string, st Streams) error {
	text, ok, err := s.Rewind(context.Background(), prompt)
	if err != nil {
		return err
	}
	fmt.Fprintln(st.Out, text)
	if !ok {
		return exitCode(exitFailed)
	}
	return nil
}

// prompt reads the prompt from the command line and standard input.
func (o *flags) prompt(s *app.Session, st Streams) (event.Prompt, error) {
	p := event.Prompt{Images: o.images, Typed: len(o.Prompt)}
	initial := s.First()
	if initial != "" && o.Prompt == "" && !isPiped(st.In) {
		p.Text, p.Typed = initial, 0
		return p, nil
	}
	if o.Prompt == "" && len(o.images) > 0 && !isPiped(st.In) {
		return p, nil
	}
	var err error
	if p.Text, err = promptText(o.Prompt, st.In, s.Warn); err == nil && initial != "" {
		p.Text = initial + "\n\n" + p.Text
		p.Typed += len(initial) + 2
	}
	return p, err
}

// headless runs the prompt and returns the exit code.
func (o *flags) headless(s *app.Session, p event.Prompt, st Streams) int {
	ctx := context.Background()
	conn := s.Start(ctx)
	interrupted, stop := signals(s, conn)
	defer stop()
	opts := headless.Options{
		Format: headless.Format(o.outputFormat), Verbose: o.verbose || !o.Print && o.outputFormat == "text",
		Partial: o.partial, Replay: o.replayed, Stages: o.Stages, Hooks: o.hookEvents, AgentText: o.agentText, NewID: s.Place().Sys.NewID,
		Terminal: isTerminal(st.Out),
	}
	debug, done, err := o.openDebug(s, st)
	if err != nil {
		return report(st, err)
	}
	defer done()
	opts.Debug = debug
	result, err := headless.Run(ctx, conn, p, st.Out, st.Err, opts)
	_ = conn.Send(ctx, event.Close{})
	s.Disconnect()
	switch {
	case err == nil, isClosedPipe(err):
	case interrupted() && (errors.Is(err, headless.ErrNoResult) || errors.Is(err, app.ErrClosed)):
		s.Warn("interrupted before anything was done")
	default:
		fmt.Fprintf(st.Err, "Error: %s\n", event.Aside(err.Error()))
	}
	if o.outputFormat == "text" && o.verbose || o.Stages {
		grey(s, st)
	}
	return exitOf(result, err, interrupted())
}

// openDebug opens the debug log where one was asked for; nil: it was not.
func (o *flags) openDebug(s *app.Session, st Streams) (log *headless.Debug, done func(), err error) {
	out, done := st.Err, func() {}
	switch {
	case o.debugFile != "":
		f, err := os.OpenFile(o.debugFile, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		if err != nil {
			return nil, nil, fmt.Errorf("--debug-file: %w", err)
		}
		out, done = f, func() { _ = f.Close() }
	case o.debug == "":
		return nil, done, nil
	}
	return &headless.Debug{Out: out, Filter: o.debug, Clean: s.Place().Redact.JSON}, done, nil
}

// grey prints what the session used on standard error, dimmed where that is a terminal.
func grey(s *app.Session, st Streams) { greyLines(s.Summary(), s.Place().Sys.Getenv, st) }

func greyLines(lines []string, getenv func(string) string, st Streams) {
	on, off := "", ""
	if isTerminal(st.Err) && getenv("NO_COLOR") == "" {
		on, off = "\x1b[2m", "\x1b[0m"
	}
	for _, l := range lines {
		fmt.Fprintf(st.Err, "%s%s%s\n", on, event.InertLine(l), off)
	}
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}
