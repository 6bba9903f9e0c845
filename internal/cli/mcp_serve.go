package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"

	"lathe/internal/app"
	"lathe/internal/event"
	"lathe/internal/front/mcpserver"
	"lathe/internal/sys"
)

// serveTools offers the tools to a client of the Model Context Protocol, in the current directory.
func serveTools(args []string, st Streams) error {
	f, _, err := parseFlags(args)
	switch {
	case err != nil:
		return err
	case f.Prompt != "" || f.Print || f.inputFormat != "text" || f.outputFormat != "text":
		return errors.New("lathe mcp serve is called by its client, and takes no prompt or format on the command line")
	case f.Resume != "" || f.pick || f.Continue || f.SessionID != "" || f.Fork:
		return errors.New("lathe mcp serve has no conversation: leave out --resume, --continue and --session-id")
	}
	o := f.Options
	o.NoPrompts, o.Print, o.NoPersist, o.StrictServers, o.Servers = true, true, true, true, nil
	o.Log, o.Entry = st.Err, "mcp"
	o.Calls = func(kind string) bool { return kind == app.AskClient }
	s, err := app.Open(o)
	if err != nil {
		return err
	}
	defer s.Close()
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	defer catch(func(os.Signal) {
		if ctx.Err() != nil { // the second one
			die(s, exitTerminated)
		}
		stop()
	})()
	c := &toolClient{session: s, asks: map[string]mcpserver.Ask{}}
	c.conn = s.Start(ctx)
	var wg sync.WaitGroup
	wg.Go(func() { c.listen(ctx) })
	defer wg.Wait()
	defer stop()
	var tools []mcpserver.Tool
	raw, err := s.Query(ctx, "client_tools", nil)
	if err == nil {
		err = json.Unmarshal(raw, &tools)
	}
	if err != nil {
		return err
	}
	return mcpserver.Serve(ctx, st.In, st.Out, mcpserver.Options{Tools: tools, Version: sys.Version, Call: c.call})
}

// toolClient stands between a client and the session whose tools it calls.
type toolClient struct {
	session *app.Session
	conn    event.Conn

	mu   sync.Mutex
	asks map[string]mcpserver.Ask // of the calls that run, by id
}

func (c *toolClient) call(ctx context.Context, id, tool string, input json.RawMessage, ask mcpserver.Ask) (res mcpserver.Result, err error) {
	c.mu.Lock()
	c.asks[id] = ask
	c.mu.Unlock()
	defer func() { c.mu.Lock(); delete(c.asks, id); c.mu.Unlock() }()
	raw, err := c.session.Query(ctx, "client_call", map[string]any{"id": id, "tool": tool, "input": input})
	if err != nil {
		return res, err
	}
	return res, json.Unmarshal(raw, &res)
}

// listen answers what the session asks of the client. What else it tells, no client hears of.
func (c *toolClient) listen(ctx context.Context) {
	var wg sync.WaitGroup
	defer wg.Wait()
	for env, err := range c.conn.Events(ctx) {
		if err != nil {
			return
		}
		if e, ok := env.Event.(event.Call); ok && e.Kind == app.AskClient {
			wg.Go(func() { _ = c.conn.Send(ctx, c.answer(ctx, e)) })
		}
	}
}

// question is what the person at the client is asked about.
type question struct {
	Tool, Reason string
	Input        map[string]json.RawMessage
}

// maxQuestion is how long a question may be, in bytes.
const maxQuestion = 64 << 10

// text is the call itself, whole: what is agreed to is what is done. What a model says of its call is no part of that.
func (q question) text() (string, bool) {
	var b strings.Builder
	fmt.Fprintf(&b, "Lathe: may the tool %s do this?\n", q.Tool)
	for _, name := range slices.Sorted(maps.Keys(q.Input)) {
		if q.Tool == "Bash" && name == "description" {
			continue
		}
		value := string(q.Input[name])
		var s string
		if json.Unmarshal(q.Input[name], &s) == nil {
			value = s
		}
		fmt.Fprintf(&b, "\n%s: %s", name, value)
	}
	fmt.Fprintf(&b, "\n\nIt is asked because %s", q.Reason)
	return event.Inert(b.String()), b.Len() <= maxQuestion
}

func (c *toolClient) answer(ctx context.Context, e event.Call) event.Return {
	out := event.Return{ID: e.ID}
	c.mu.Lock()
	ask := c.asks[e.CallID]
	c.mu.Unlock()
	var q question
	if err := json.Unmarshal(e.Payload, &q); err != nil || ask == nil {
		out.Err = event.HostGone
		return out
	}
	text, ok := q.text()
	if !ok {
		out.Value = event.Encode(map[string]bool{"allow": false}) // nobody can agree to what is not shown whole
		return out
	}
	yes, err := ask(ctx, text)
	if err != nil {
		out.Err = event.HostGone // nobody is there: the call is refused, with the rule that would allow it
		return out
	}
	out.Value = event.Encode(map[string]bool{"allow": yes})
	return out
}
