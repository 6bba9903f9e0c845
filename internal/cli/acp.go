package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"lathe/internal/app"
	"lathe/internal/event"
	"lathe/internal/front/acp"
	"lathe/internal/session"
	"lathe/internal/sys"
)

const acpUsage = `usage: lathe acp [flags]
Speaks the Agent Client Protocol on standard input and output, for editors; see docs/editors.md.
Flags such as --model, --permission-mode, --settings or --trace hold for each session.`

// acpCommand serves an editor. Its sessions run side by side in this process.
func acpCommand(args []string, st Streams) error {
	o, _, err := parseFlags(args)
	switch {
	case err != nil:
		return err
	case o.Prompt != "" || o.Print || o.inputFormat != "text" || o.outputFormat != "text":
		return errors.New("lathe acp takes its prompts from the editor, and no prompt or format on the command line")
	case o.Resume != "" || o.pick || o.Continue || o.SessionID != "" || o.Fork:
		return errors.New("which session an editor goes on with is for the editor to say: leave out --resume, --continue and --session-id")
	}
	e := &editor{o: o, st: st, open: map[*app.Session]struct{}{}}
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	code, done := e.signals(stop)
	defer done()
	err = acp.Serve(ctx, st.In, st.Out, acp.Options{
		Agent: e, Version: sys.Version, NewID: uuid.NewString, Now: time.Now, Warn: func(s string) { fmt.Fprintf(st.Err, "lathe: %s\n", event.Aside(s)) },
	})
	if err != nil && !(errors.Is(err, acp.ErrOutput) && readerGone(err)) { // an editor that leaves closes both ends, and what it closes first is chance
		return err
	}
	return exitCode(code())
}

// editor makes the sessions of an editor. It implements acp.Agent.
type editor struct {
	o  *flags // each session has a copy
	st Streams

	mu   sync.Mutex
	open map[*app.Session]struct{}
}

var _ acp.Agent = (*editor)(nil)

// options are those of the command line, in the directory of a session.
func (e *editor) options(cwd string) app.Options {
	o := e.o.Options
	o.Dir, o.Log = cwd, e.st.Err
	o.Asks = !o.Unattended
	o.Entry, o.Fixed = "acp", true
	return o
}

// Open implements acp.Agent.
func (e *editor) Open(_ context.Context, s acp.Start) (*acp.Opened, error) {
	o := e.options(s.Cwd)
	o.Dirs = append(append([]string{}, o.Dirs...), s.Dirs...)
	o.Calls = s.Calls
	if len(s.Servers) > 0 {
		o.Servers = append(append([]string{}, o.Servers...), serversJSON(s.Servers))
	}
	if s.ID != "" {
		if _, err := uuid.Parse(s.ID); err != nil {
			return nil, fmt.Errorf("%w: %q", acp.ErrNotFound, s.ID)
		}
		o.Resume = s.ID
	}
	live, err := app.Open(o)
	switch {
	case errors.Is(err, app.ErrNoKey):
		return nil, fmt.Errorf("%w: %w", acp.ErrAuth, err)
	case errors.Is(err, session.ErrNotFound):
		return nil, fmt.Errorf("%w: %w", acp.ErrNotFound, err)
	case err != nil:
		return nil, err
	}
	e.mu.Lock()
	e.open[live] = struct{}{}
	e.mu.Unlock()
	conn := live.Start(context.Background())
	end := func() {
		live.Close()
		e.mu.Lock()
		delete(e.open, live)
		e.mu.Unlock()
	}
	return &acp.Opened{ID: live.ID(), Conn: conn, History: live.History(), Close: end}, nil
}

// serversJSON is the editor's MCP servers in the form of --mcp-config.
func serversJSON(list []acp.Server) string {
	values := func(pairs []acp.Pair) map[string]string {
		out := map[string]string{}
		for _, p := range pairs {
			out[p.Name] = p.Value
		}
		return out
	}
	servers := map[string]any{}
	for _, s := range list {
		if s.Type == "http" {
			servers[s.Name] = map[string]any{"type": "http", "url": s.URL, "headers": values(s.Headers)}
		} else {
			servers[s.Name] = map[string]any{"type": "stdio", "command": s.Command, "args": s.Args, "env": values(s.Env)}
		}
	}
	return string(event.Encode(map[string]any{"mcpServers": servers}))
}

// List implements acp.Agent.
func (e *editor) List(_ context.Context, cwd string) ([]acp.Listed, error) {
	o := e.options(cwd)
	p, err := o.FindPlace()
	if err != nil {
		return nil, err
	}
	store := p.Sessions()
	var metas []session.Meta
	if cwd == "" {
		metas, err = store.ListAll()
	} else {
		metas, err = store.List(cwd)
	}
	if err != nil {
		return nil, err
	}
	out := make([]acp.Listed, 0, len(metas))
	for _, m := range metas {
		if m.Dir == "" {
			continue // the protocol needs it
		}
		out = append(out, acp.Listed{ID: m.ID, Cwd: m.Dir, Title: cmp.Or(m.Title, event.OneLine(m.Prompt, 80)), Updated: m.Modified.UTC().Format(time.RFC3339)})
	}
	return out, nil
}

// Delete implements acp.Agent.
func (e *editor) Delete(_ context.Context, id string) error {
	if _, err := uuid.Parse(id); err != nil {
		return fmt.Errorf("%w: %q", acp.ErrNotFound, id)
	}
	o := e.options("")
	p, err := o.FindPlace()
	if err != nil {
		return err
	}
	err = p.Sessions().Delete("", id)
	if errors.Is(err, session.ErrNotFound) {
		return fmt.Errorf("%w: %w", acp.ErrNotFound, err)
	}
	return err
}

// Authenticate implements acp.Agent: nothing is stored, so it looks whether there is a credential by now.
func (e *editor) Authenticate(context.Context) error {
	err := app.Authenticate(e.options(""))
	if errors.Is(err, app.ErrNoKey) {
		return fmt.Errorf("%w: %w", acp.ErrAuth, err)
	}
	return err
}

// signals ends the program: gently at the first signal, with all children at once at the second.
func (e *editor) signals(stop func()) (code func() int, done func()) {
	var exit atomic.Int32
	done = catch(func(sig os.Signal) {
		now := exitTerminated
		if sig == os.Interrupt {
			now = exitInterrupted
		}
		if exit.Swap(int32(now)) != exitOK {
			e.die(now)
		}
		stop()
	})
	return func() int { return int(exit.Load()) }, done
}

// die ends the process at once, with every child.
func (e *editor) die(code int) {
	e.mu.Lock()
	for s := range e.open {
		s.Halt()
	}
	for s := range e.open {
		s.Kill()
	}
	os.Exit(code)
}
