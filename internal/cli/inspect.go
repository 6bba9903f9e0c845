package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"regexp"
	"syscall"

	"github.com/spf13/pflag"

	"lathe/internal/inspect"
	"lathe/internal/inspect/load"
	"lathe/internal/session/find"
)

const inspectUsage = `usage: lathe inspect [session] [--request N [--body]] [--json] [--web [--port N]]
Shows the requests of a session: the newest of this directory, or one by id, name or transcript file.
  --request N   one request as the list names it (3; of a sub-agent a2.3; beside the conversation s3): its stages, calls,
                tools, cost and cache
  --body        with --request: the exact body that was sent
  --json        JSON
  --web         serve a page on this machine and say its address (--port: where)`

var requestName = regexp.MustCompile(`^(s|a[1-9][0-9]*\.)?[1-9][0-9]*$`)

// inspection is the command line of lathe inspect.
type inspection struct {
	request   string
	port      int
	body      bool
	json, web bool
	ref       string
}

// inspectCommand shows what was recorded of a session.
func inspectCommand(args []string, st Streams) error {
	var i inspection
	f := pflag.NewFlagSet("inspect", pflag.ContinueOnError)
	f.Usage = func() {}
	f.StringVar(&i.request, "request", "", "show request `N`, as the list names it")
	f.BoolVar(&i.body, "body", false, "with --request: write the exact body that was sent")
	f.BoolVar(&i.json, "json", false, "write JSON")
	f.BoolVar(&i.web, "web", false, "serve a page on this machine and say its address")
	f.IntVar(&i.port, "port", 0, "of the page; 0: any")
	if err := f.Parse(args); err != nil {
		return fmt.Errorf("%w\n%s", err, inspectUsage)
	}
	if f.NArg() > 1 || i.body && i.request == "" || f.Changed("request") && !requestName.MatchString(i.request) {
		return errors.New(inspectUsage)
	}
	i.ref = f.Arg(0)
	p, err := here()
	if err != nil {
		return err
	}
	meta, err := find.Named(p.Sessions(), p.Sys.Dirs.Work, i.ref)
	if err != nil {
		return err
	}
	prices := p.Prices()
	load := func() (*inspect.Session, error) { return load.Session(meta, prices) }
	if i.web {
		return i.serve(st, load)
	}
	return i.print(st, load)
}

func (i inspection) print(st Streams, load func() (*inspect.Session, error)) error {
	s, err := load()
	if err != nil {
		return err
	}
	defer s.Close()
	if i.request == "" {
		if i.json {
			return writeJSON(st, s)
		}
		s.Text(st.Out)
		return nil
	}
	r := s.Find(i.request)
	switch {
	case r == nil:
		return fmt.Errorf("there is no request %s: the session has %s (lathe inspect lists them)", i.request, s.Names())
	case i.body:
		body, exact, err := r.Body()
		if err != nil {
			return err
		}
		if !exact {
			fmt.Fprintln(st.Err, "lathe: not the very bytes that were sent: secrets were taken out of the trace")
		}
		_, err = fmt.Fprintf(st.Out, "%s\n", body)
		return err
	case i.json:
		return writeJSON(st, r)
	}
	r.Text(st.Out)
	return nil
}

func writeJSON(st Streams, v any) error {
	e := json.NewEncoder(st.Out)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

// serve serves the page until it is interrupted.
func (i inspection) serve(st Streams, load func() (*inspect.Session, error)) error {
	srv := &inspect.Server{Load: load}
	ln, address, err := srv.Listen(i.port)
	if err != nil {
		return err
	}
	fmt.Fprintf(st.Out, "%s\n", address)
	fmt.Fprintln(st.Err, "lathe: whoever has this address and is on this machine can read the session; Ctrl-C ends it")
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	return srv.Serve(ctx, ln)
}
