package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/spf13/pflag"

	"lathe/internal/cache"
	"lathe/internal/inspect"
	"lathe/internal/msg"
	"lathe/internal/place"
	"lathe/internal/price"
	"lathe/internal/session"
	"lathe/internal/session/jsonl"
	"lathe/internal/token"
	"lathe/internal/trace"
)

const inspectUsage = `usage: lathe inspect [session] [--request N [--body]] [--json] [--web [--port N]]
Shows the requests of a session: the newest of this directory, or one by id, name or transcript file.
  --request N   one request, counted from 1: its stages, calls, tools, cost and cache
  --body        with --request: the exact body that was sent
  --json        JSON
  --web         serve a page on this machine and say its address (--port: where)`

// inspection is the command line of lathe inspect.
type inspection struct {
	request   int
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
	f.IntVar(&i.request, "request", 0, "show request `N`, counted from 1")
	f.BoolVar(&i.body, "body", false, "with --request: write the exact body that was sent")
	f.BoolVar(&i.json, "json", false, "write JSON")
	f.BoolVar(&i.web, "web", false, "serve a page on this machine and say its address")
	f.IntVar(&i.port, "port", 0, "of the page; 0: any")
	if err := f.Parse(args); err != nil {
		return fmt.Errorf("%w\n%s", err, inspectUsage)
	}
	if f.NArg() > 1 || i.body && i.request == 0 || f.Changed("request") && i.request < 1 {
		return errors.New(inspectUsage)
	}
	i.ref = f.Arg(0)
	p, err := findPlace(&options{})
	if err != nil {
		return err
	}
	meta, err := findSession(p, i.ref)
	if err != nil {
		return err
	}
	load := func() (*inspect.Session, *trace.Trace, error) { return loadSession(meta) }
	if i.web {
		return i.serve(st, load)
	}
	return i.print(st, load)
}

// findSession finds a session by what a person calls it; the newest of this directory when ref is empty.
func findSession(p *place.Place, ref string) (session.Meta, error) {
	store := jsonl.Store{StateDir: p.Sys.Dirs.State, Project: p.ProjectName()}
	if ref == "" {
		m, err := store.Latest(p.Sys.Dirs.Work, true)
		if errors.Is(err, session.ErrNotFound) {
			return m, fmt.Errorf("there is no session in %s", p.Sys.Dirs.Work)
		}
		return m, err
	}
	if strings.ContainsAny(ref, `/\`) && !filepath.IsAbs(ref) {
		ref = filepath.Join(p.Sys.Dirs.Work, ref)
	}
	return store.Find(p.Sys.Dirs.Work, ref)
}

// loadSession reads a session and its trace.
func loadSession(meta session.Meta) (*inspect.Session, *trace.Trace, error) {
	state, err := jsonl.Read(meta.Path, "")
	if err != nil {
		return nil, nil, err
	}
	messages := state.Messages
	if state.Earlier != nil {
		earlier, err := state.Earlier()
		if err != nil {
			return nil, nil, err
		}
		messages = append(earlier, messages...)
	}
	t, err := trace.Read(traceDir(meta.Path))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, nil, err
	}
	if t != nil {
		blocks, err := jsonl.Contents(meta.Path)
		if err != nil {
			return nil, nil, errors.Join(err, t.Close())
		}
		t.Content = func(id string) json.RawMessage {
			if b := blocks(id); b != nil {
				return msg.AppendBlocks(nil, b)
			}
			return nil
		}
	}
	prices := price.Default()
	in := inspect.Input{
		ID: meta.ID, Path: meta.Path, Dir: meta.Dir, Title: first(meta.Title, meta.Prompt), Messages: messages, Trace: t,
		Cost: prices.Cost,
		Count: func(model string, m msg.Message) int {
			return token.Counter{New: prices.Info(model).NewTokenizer}.Blocks(m.Blocks)
		},
		Missed:  func(prev, next msg.Usage) bool { return cache.Counts(cache.Expected(prev), next.CacheRead) },
		Explain: func(prev, next func() inspect.Sent) *inspect.Miss { return explain(prices, prev(), next()) },
	}
	return inspect.Build(in), t, nil
}

// explain says why the prompt cache missed, by what was recorded.
func explain(prices *price.Table, prev, next inspect.Sent) *inspect.Miss {
	of := func(s inspect.Sent) (cache.Sent, cache.Lists) {
		return cache.Sent{Body: s.Body, At: s.At, Model: s.Model, Usage: s.Usage}, cache.Lists{Messages: s.Messages, Summary: s.Summary, View: s.View, Request: s.Request}
	}
	a, from := of(prev)
	b, to := of(next)
	m := cache.Explain(a, b)
	if m.Cause == cache.None {
		return nil
	}
	m.Blame(from, to)
	return &inspect.Miss{
		Cause: m.Cause, Text: m.Text, Stage: m.Stage, Where: m.Where, Byte: m.Byte, BodyAt: m.BodyAt, Was: m.Before, IsNow: m.After,
		Expected: m.Expected, Read: m.Read, Lost: m.Lost,
		Cost: prices.Cost(next.Model, next.Usage) - prices.Cost(next.Model, cache.Instead(next.Usage, m.Lost)),
	}
}

func (i inspection) print(st Streams, load func() (*inspect.Session, *trace.Trace, error)) error {
	s, t, err := load()
	if err != nil {
		return err
	}
	if t != nil {
		defer t.Close()
	}
	if i.request == 0 {
		if i.json {
			return writeJSON(st, s)
		}
		s.Text(st.Out)
		return nil
	}
	if i.request > len(s.Requests) {
		return fmt.Errorf("there is no request %d: the session has %d (lathe inspect lists them)", i.request, len(s.Requests))
	}
	r := s.Requests[i.request-1]
	switch {
	case i.body:
		body, exact, err := r.Body(t)
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
func (i inspection) serve(st Streams, load func() (*inspect.Session, *trace.Trace, error)) error {
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
