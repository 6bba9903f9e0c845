package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"lathe/internal/app"
	"lathe/internal/config"
	"lathe/internal/event"
	"lathe/internal/mcp"
	"lathe/internal/place"
	"lathe/internal/sys"
)

const mcpUsage = `usage:
  lathe mcp add [-s SCOPE] [-e K=V] NAME -- COMMAND [ARG…]      a server that runs as a process
  lathe mcp add [-s SCOPE] -t http [-H "K: V"] NAME URL         a server on the web (or -t sse)
  lathe mcp add-json [-s SCOPE] NAME JSON                       … with its entry as JSON
  lathe mcp list                                                every server that counts here, and whether it answers
  lathe mcp get NAME                                            one of them, with its tools
  lathe mcp remove [-s SCOPE] NAME
  lathe mcp login NAME [--no-browser]                           sign in to a server on the web
  lathe mcp logout NAME
  lathe mcp reset-project-choices                               forget which servers are switched off here
  lathe mcp serve [FLAGS]                                       be a server: offer the tools, under the permission rules
SCOPE is local (the default: you, in this project), user (you, everywhere) or project (.mcp.json, for everybody)`

// mcpFlags are the options of lathe mcp.
type mcpFlags struct {
	scope     string
	transport string
	env       map[string]string
	headers   map[string]string
	client    string
	port      int
	noBrowser bool
	trust     bool
	rest      []string
}

// readMCPFlags reads the options; what follows -- is taken as it is.
func readMCPFlags(args []string) (mcpFlags, error) {
	f := mcpFlags{env: map[string]string{}, headers: map[string]string{}}
	for i := 0; i < len(args); i++ {
		name, value, joined := strings.Cut(args[i], "=")
		take := func() (string, error) {
			if joined {
				return value, nil
			}
			if i+1 >= len(args) {
				return "", fmt.Errorf("%s needs a value", name)
			}
			i++
			return args[i], nil
		}
		var err error
		switch {
		case args[i] == "--":
			f.rest = append(f.rest, args[i+1:]...)
			return f, nil
		case name == "-s" || name == "--scope":
			f.scope, err = take()
		case name == "-t" || name == "--transport":
			f.transport, err = take()
		case name == "-e" || name == "--env":
			value, err = take()
			err = errors.Join(err, pair(f.env, value, "=", "-e KEY=VALUE"))
		case name == "-H" || name == "--header":
			value, err = take()
			err = errors.Join(err, pair(f.headers, value, ":", `-H "Name: value"`))
		case name == "--client-id":
			f.client, err = take()
		case name == "--callback-port":
			if value, err = take(); err == nil {
				_, err = fmt.Sscan(value, &f.port)
			}
		case args[i] == "--no-browser":
			f.noBrowser = true
		case args[i] == "--trust":
			f.trust = true
		case strings.HasPrefix(args[i], "-") && len(f.rest) == 0:
			return f, fmt.Errorf("unknown option %s\n%s", args[i], mcpUsage)
		default:
			f.rest = append(f.rest, args[i])
		}
		if err != nil {
			return f, err
		}
	}
	return f, nil
}

func pair(into map[string]string, text, sep, form string) error {
	k, v, ok := strings.Cut(text, sep)
	if k = strings.TrimSpace(k); !ok || k == "" {
		return fmt.Errorf("%q is not of the form %s", text, form)
	}
	if sep == ":" {
		v = strings.TrimSpace(v)
	}
	into[k] = v
	return nil
}

// mcpCommand keeps the user's MCP servers.
func mcpCommand(args []string, st Streams) error {
	if len(args) == 0 {
		return errors.New(mcpUsage)
	}
	if args[0] == "serve" {
		return serveTools(args[1:], st)
	}
	f, err := readMCPFlags(args[1:])
	if err != nil {
		return err
	}
	p, err := place.Find(place.Options{Trust: f.trust})
	if err != nil {
		return err
	}
	switch {
	case args[0] == "add" && len(f.rest) >= 2:
		return addServer(p, f, st)
	case args[0] == "add-json" && len(f.rest) == 2:
		return putServer(p, f, f.rest[0], json.RawMessage(f.rest[1]), st)
	case args[0] == "remove" && len(f.rest) == 1:
		return removeServer(p, f, st)
	case args[0] == "list" && len(f.rest) == 0:
		return showServers(f, "", st)
	case args[0] == "get" && len(f.rest) == 1:
		return showServers(f, f.rest[0], st)
	case args[0] == "login" && len(f.rest) == 1:
		return loginServer(f, st)
	case args[0] == "logout" && len(f.rest) == 1:
		return logoutServer(f, st)
	case args[0] == "reset-project-choices" && len(f.rest) == 0:
		if err := p.ServerStore().Reset(p.Sys.Dirs.Work); err != nil {
			return err
		}
		fmt.Fprintln(st.Out, "The choices of this directory are forgotten: its servers are switched on.")
		return nil
	}
	return errors.New(mcpUsage)
}

func addServer(p *place.Place, f mcpFlags, st Streams) error {
	c := mcp.Config{Type: f.transport}
	switch f.transport {
	case "", mcp.Stdio:
		c.Type, c.Command, c.Args, c.Env = mcp.Stdio, f.rest[1], f.rest[2:], f.env
		if strings.HasPrefix(c.Command, "http://") || strings.HasPrefix(c.Command, "https://") {
			return fmt.Errorf("%s is an address: add it with -t http", c.Command)
		}
	case mcp.HTTP, mcp.SSE:
		if len(f.rest) != 2 {
			return errors.New("a server on the web has a name and an address")
		}
		c.URL, c.Headers = f.rest[1], f.headers
		if f.client != "" || f.port != 0 {
			c.OAuth = &mcp.OAuth{ClientID: f.client, CallbackPort: f.port}
		}
	default:
		return fmt.Errorf("-t must be stdio, http or sse, not %q", f.transport)
	}
	raw, err := json.Marshal(c)
	if err != nil {
		return err
	}
	return putServer(p, f, f.rest[0], raw, st)
}

func putServer(p *place.Place, f mcpFlags, name string, raw json.RawMessage, st Streams) error {
	if err := mcp.CheckName(name); err != nil {
		return err
	}
	_, problems := mcp.ParseServers(map[string]json.RawMessage{name: raw}, mcp.User, "")
	if len(problems) > 0 {
		return errors.New(strings.TrimSuffix(problems[0].String(), "; it is skipped"))
	}
	where := ""
	var err error
	switch f.scope {
	case "", "local":
		where, err = p.ServerStore().File(), p.ServerStore().Put(mcp.Local, p.Sys.Dirs.Work, name, raw)
	case "user":
		where, err = p.ServerStore().File(), p.ServerStore().Put(mcp.User, "", name, raw)
	case "project":
		where = filepath.Join(p.Sys.Dirs.Work, config.ServersFile)
		err = mcp.PutFile(where, name, raw)
	default:
		return fmt.Errorf("-s must be local, user or project, not %q", f.scope)
	}
	if err != nil {
		return err
	}
	fmt.Fprintf(st.Out, "Added %s to %s (%s).\n", name, where, cmp.Or(f.scope, "local"))
	if f.scope == "project" {
		fmt.Fprintln(st.Out, "It is started where the project is trusted: lathe trust")
	}
	return nil
}

func removeServer(p *place.Place, f mcpFlags, st Streams) error {
	name := f.rest[0]
	store := p.ServerStore()
	removed := []string{}
	for _, s := range []struct {
		scope string
		do    func() (bool, error)
	}{
		{"local", func() (bool, error) { return store.Remove(mcp.Local, p.Sys.Dirs.Work, name) }},
		{"project", func() (bool, error) {
			return mcp.RemoveFile(filepath.Join(p.Sys.Dirs.Work, config.ServersFile), name)
		}},
		{"user", func() (bool, error) { return store.Remove(mcp.User, "", name) }},
	} {
		if f.scope != "" && f.scope != s.scope {
			continue
		}
		found, err := s.do()
		if err != nil {
			return err
		}
		if found {
			removed = append(removed, s.scope)
		}
	}
	if len(removed) == 0 {
		return fmt.Errorf("there is no MCP server %q that Lathe keeps here; lathe mcp list shows where each one stands", name)
	}
	fmt.Fprintf(st.Out, "Removed %s (%s).\n", name, strings.Join(removed, ", "))
	return nil
}

// serversHere are the servers that count in this directory, outside of any session.
func serversHere(f mcpFlags, st Streams) (*app.Servers, error) {
	return app.OpenServers(app.Options{Options: place.Options{Trust: f.trust}, Unattended: true, Log: st.Err})
}

// showServers lists the servers, or tells of one. It connects to them: that they answer is what one wants to know.
func showServers(f mcpFlags, name string, st Streams) error {
	set, err := serversHere(f, st)
	if err != nil {
		return err
	}
	defer set.Close()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if name != "" {
		if _, ok := set.Server(name); !ok {
			return fmt.Errorf("there is no MCP server %q here; see lathe mcp list", name)
		}
		_ = set.Reconnect(ctx, name)
		one, _ := set.Server(name)
		describeServer(one, st.Out)
		return nil
	}
	if set.Len() == 0 {
		fmt.Fprintln(st.Out, "No MCP servers. Add one: lathe mcp add NAME -- COMMAND")
		return nil
	}
	set.Start()
	set.Wait(ctx, func(mcp.Config) bool { return true })
	_, err = io.WriteString(st.Out, app.ServerList(set.Status()))
	return err
}

func describeServer(s mcp.Status, w io.Writer) {
	fmt.Fprintf(w, "%s\n  Scope: %s\n  From: %s\n  Type: %s\n", event.InertLine(s.Name), s.Scope.Name(), event.InertLine(s.File), s.Type)
	if s.Remote() {
		fmt.Fprintf(w, "  Address: %s\n", event.InertLine(s.URL))
		for _, k := range slices.Sorted(maps.Keys(s.Headers)) {
			fmt.Fprintf(w, "  Header: %s\n", event.InertLine(k)) // its value may be secret
		}
	} else {
		fmt.Fprintf(w, "  Command: %s\n", event.InertLine(strings.Join(append([]string{s.Command}, s.Args...), " ")))
		for _, k := range slices.Sorted(maps.Keys(s.Env)) {
			fmt.Fprintf(w, "  Variable: %s\n", event.InertLine(k))
		}
	}
	fmt.Fprintf(w, "  State: %s\n", s.State)
	if s.Error != "" {
		fmt.Fprintf(w, "  %s\n", event.InertLine(s.Error))
	}
	for _, t := range s.Tools {
		fmt.Fprintf(w, "  Tool: %s  %s\n", t.FullName, event.InertLine(event.OneLine(t.Description, 100)))
	}
	for _, p := range s.Prompts {
		fmt.Fprintf(w, "  Prompt: /%s  %s\n", p.FullName, event.InertLine(p.Description))
	}
	if s.Log != "" && s.State == mcp.Failed {
		fmt.Fprintf(w, "  It wrote:\n    %s\n", strings.ReplaceAll(s.Log, "\n", "\n    "))
	}
}

// remoteHere finds the entry of a server that one can sign in to.
func remoteHere(f mcpFlags, st Streams) (*app.Servers, mcp.Config, error) {
	servers, err := serversHere(f, st)
	if err != nil {
		return nil, mcp.Config{}, err
	}
	s, ok := servers.Server(f.rest[0])
	switch {
	case !ok:
		return nil, mcp.Config{}, fmt.Errorf("there is no MCP server %q here; see lathe mcp list", f.rest[0])
	case !s.Remote():
		return nil, mcp.Config{}, fmt.Errorf("%s is no server on the web, so there is no sign-in", s.Name)
	}
	return servers, s.Config, nil
}

// loginTime is how long a sign-in may take.
const loginTime = 10 * time.Minute

func loginServer(f mcpFlags, st Streams) error {
	servers, c, err := remoteHere(f, st)
	if err != nil {
		return err
	}
	defer servers.Close()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	ctx, cancel := context.WithTimeout(ctx, loginTime)
	defer cancel()
	p := servers.Place()
	say := func(text string) { fmt.Fprintln(st.Out, text) }
	l := mcp.Login{
		Config: c, Tokens: mcp.NewTokens(p.Sys.Dirs.State), Getenv: p.Sys.Getenv, Say: say, Version: sys.Version,
	}
	if f.noBrowser {
		l.In = st.In
	} else {
		l.Open = func(url string) error { return servers.Browse(ctx, url) }
	}
	if err := l.Run(ctx); err != nil {
		return fmt.Errorf("sign in to %s: %w", c.Name, err)
	}
	fmt.Fprintf(st.Out, "Signed in to %s.\n", c.Name)
	servers.SignedIn(c.Name)
	return nil
}

func logoutServer(f mcpFlags, st Streams) error {
	servers, c, err := remoteHere(f, st)
	if err != nil {
		return err
	}
	found, err := mcp.NewTokens(servers.Place().Sys.Dirs.State).Forget(c)
	if err != nil {
		return err
	}
	if !found {
		fmt.Fprintf(st.Out, "There was no sign-in to %s.\n", c.Name)
		return nil
	}
	fmt.Fprintf(st.Out, "Signed out of %s: its tokens are removed from this machine.\n", c.Name)
	return nil
}
