package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"

	"github.com/google/uuid"

	"lathe/internal/app"
	"lathe/internal/event"
	"lathe/internal/front/headless"
	"lathe/internal/front/sdk"
	"lathe/internal/sys"
)

// runHost serves a program that speaks the control protocol on standard input and output.
func runHost(o *flags, st Streams) int {
	in := sdk.NewReader(st.In)
	first, err := in.Next()
	if errors.Is(err, io.EOF) {
		return exitOK // nothing was asked
	}
	if err != nil {
		return report(st, err)
	}
	o.Host = &app.Host{}
	if o.awaitInit && (first.Type != "control_request" || first.Subtype() != "initialize") {
		return report(st, fmt.Errorf("with --await-initialize the first line must be an initialize request, not %q", first.Type))
	}
	for first.Type != "control_request" && first.Type != "user" { // signs of life, and what is not known
		if first, err = in.Next(); errors.Is(err, io.EOF) {
			return exitOK
		} else if err != nil {
			return report(st, err)
		}
	}
	greeted := first.Type == "control_request" && first.Subtype() == "initialize"
	if greeted {
		if err := json.Unmarshal(first.Request, o.Host); err != nil {
			return report(st, fmt.Errorf("initialize: %w", err))
		}
		o.Host.Apply(&o.Options)
		o.agentText = o.agentText || o.Host.AgentText
	}
	o.Print, o.Unknown = true, true
	s, err := o.open(st)
	if err != nil {
		return hostFailed(st, err)
	}
	defer s.Close()
	opts := o.hostOptions(s)
	if !greeted {
		opts.First = &first
	} else if _, err := st.Out.Write(append(sdk.Initialized(first.RequestID, s.Handshake()), '\n')); err != nil {
		return exitClosedPipe
	}
	return o.host(s, in, opts, st)
}

func (o *flags) hostOptions(s *app.Session) sdk.Options {
	p := s.Place()
	emits := sys.IsOn(p.Sys.Getenv("CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS"))
	opts := sdk.Options{
		Encoder: event.Encoder{NewID: p.Sys.NewID, Partial: o.partial, Replay: o.replayed, Stages: o.Stages, Hooks: o.hookEvents, AgentText: o.agentText},
		Session: s.ID(), States: emits || sys.IsOn(p.Sys.Getenv("CLAUDE_CODE_SDK_READS_SESSION_STATE")), HostOnly: !emits, Warn: s.Warn,
	}
	if o.mirror != nil {
		opts.Mirrored = o.mirror.take
	}
	return opts
}

func (o *flags) host(s *app.Session, in *sdk.Reader, opts sdk.Options, st Streams) int {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	conn := s.Start(ctx)
	interrupted, stop := signals(s, conn)
	defer stop()
	debug, done, err := o.openDebug(s, st)
	if err != nil {
		return report(st, err)
	}
	defer done()
	last, err := sdk.Run(ctx, &beginning{Conn: logged{conn, debug}, first: s.First()}, in, st.Out, opts)
	s.Disconnect()
	if err != nil && !errors.Is(err, sdk.ErrOutput) {
		fmt.Fprintf(st.Err, "Error: %s\n", event.Aside(err.Error()))
	}
	switch {
	case errors.Is(err, sdk.ErrOutput):
		return exitClosedPipe
	case interrupted():
		return exitInterrupted
	case err != nil || last.IsError:
		return exitFailed
	}
	return exitOK
}

// logged writes what the host is shown to the debug log.
type logged struct {
	event.Conn
	debug *headless.Debug // nil: no log
}

func (s logged) Events(ctx context.Context) iter.Seq2[event.Envelope, error] {
	if s.debug == nil {
		return s.Conn.Events(ctx)
	}
	return func(yield func(event.Envelope, error) bool) {
		for e, err := range s.Conn.Events(ctx) {
			s.debug.Event(e)
			if !yield(e, err) {
				return
			}
		}
	}
}

// hostFailed tells a host in its own form that the session cannot start.
func hostFailed(st Streams, err error) int {
	enc := event.Encoder{NewID: uuid.NewString}
	failed := event.Result{Subtype: event.ErrDuring, IsError: true, Errors: []string{err.Error()}}
	for _, line := range enc.Lines(event.Envelope{Session: uuid.NewString(), Event: event.TurnDone{Result: failed}}) {
		if _, werr := st.Out.Write(append(line, '\n')); werr != nil {
			return exitClosedPipe
		}
	}
	return report(st, err)
}
