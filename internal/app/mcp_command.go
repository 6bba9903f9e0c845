package app

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"lathe/internal/event"
	"lathe/internal/mcp"
	"lathe/internal/msg"
	"lathe/internal/pipeline/attach"
	"lathe/internal/pipeline/input"
	"lathe/internal/turn"
)

// serverCommands are /mcp, and the prompts of connected servers.
func (r *run) serverCommands() []input.Command {
	out := []input.Command{{
		Name: "mcp", Group: groupProgram, Args: "[reconnect|enable|disable|accept server]", Help: "MCP servers and their states", Run: r.cmdServers,
	}}
	if r.servers == nil {
		return out
	}
	for _, p := range r.servers.set.Prompts() {
		var args []string
		for _, a := range p.Args {
			if a.Required {
				args = append(args, a.Name)
			} else {
				args = append(args, "["+a.Name+"]")
			}
		}
		out = append(out, input.Command{
			Name: p.FullName, Group: "Prompts of MCP servers", Args: strings.Join(args, " "), Help: or(event.OneLine(p.Description, 200), "a prompt of "+p.Server),
			Expand: func(ctx context.Context, t *turn.Turn, args string) (input.Expanded, error) {
				return r.expandPrompt(ctx, t, p, args)
			},
		})
	}
	return out
}

// expandPrompt asks a server for the text of a prompt. Mentions in it name no files, and marks of context in it mark none: the
// user did not write them.
func (r *run) expandPrompt(ctx context.Context, t *turn.Turn, p mcp.Prompt, args string) (input.Expanded, error) {
	blocks, err := r.servers.set.GetPrompt(ctx, p, splitArgs(args))
	if err != nil {
		return input.Expanded{}, err
	}
	out := input.Expanded{Text: msg.WithoutMarks(msg.JoinText(blocks)), Resolve: func(string) (string, bool) { return "", false }}
	if r.hooks != nil {
		out.Hooked = r.hooks.submit(ctx, t)
	}
	return out, nil
}

// splitArgs splits at blanks outside of quotes.
func splitArgs(text string) []string {
	var out []string
	var b strings.Builder
	quote, open := rune(0), false
	flush := func() {
		if open {
			out = append(out, b.String())
		}
		b.Reset()
		open = false
	}
	for _, c := range text {
		switch {
		case quote != 0 && c == quote:
			quote = 0
		case quote != 0:
			b.WriteRune(c)
		case c == '"' || c == '\'':
			quote, open = c, true
		case c == ' ' || c == '\t' || c == '\n':
			flush()
		default:
			open = true
			b.WriteRune(c)
		}
	}
	flush()
	return out
}

// cmdServers lists the servers, connects one again, or switches one on or off.
func (r *run) cmdServers(ctx context.Context, _ *turn.Turn, args string) (string, error) {
	if r.servers == nil || r.servers.set.Len() == 0 {
		return "No MCP servers. lathe mcp add adds one; docs/mcp.md tells how.", nil
	}
	set := r.servers.set
	set.Start()
	words := strings.Fields(args)
	switch {
	case len(words) == 0:
		return ServerList(set.Status()), nil
	case len(words) == 2 && words[0] == "reconnect":
		if err := r.reconnect(ctx, words[1]); err != nil {
			return "", err
		}
		return words[1] + " is connected.", nil
	case len(words) == 2 && words[0] == "accept":
		return r.acceptServer(ctx, words[1])
	case len(words) <= 2 && (words[0] == "enable" || words[0] == "disable"):
		name := ""
		if len(words) == 2 && words[1] != "all" {
			name = words[1]
		}
		return r.switchServers(ctx, name, words[0] == "enable")
	}
	return "", errors.New("use /mcp, /mcp reconnect SERVER, /mcp enable [SERVER], /mcp disable [SERVER] or /mcp accept SERVER")
}

func (r *run) switchServers(ctx context.Context, name string, on bool) (string, error) {
	set := r.servers.set
	var done []string
	var errs []error
	for _, st := range set.Status() {
		if name != "" && st.Name != name {
			continue
		}
		done = append(done, st.Name)
		if err := set.Toggle(ctx, st.Name, on); err != nil {
			errs = append(errs, err)
		}
		if err := r.place.ServerStore().Switch(r.place.Sys.Dirs.Work, st.Name, on); err != nil {
			errs = append(errs, err)
		}
	}
	if len(done) == 0 {
		return "", fmt.Errorf("there is no MCP server %q", name)
	}
	state := "off"
	if on {
		state = "on"
	}
	return fmt.Sprintf("Switched %s in this directory: %s", state, strings.Join(done, ", ")), errors.Join(errs...)
}

// ServerList is the servers as text.
func ServerList(list []mcp.Status) string {
	var b strings.Builder
	for _, st := range list {
		fmt.Fprintf(&b, "%-20s %-10s %-8s", st.Name, st.State, st.Scope.Name())
		if st.State == mcp.Connected {
			fmt.Fprintf(&b, " %s, %s", count(len(st.Tools), "tool"), count(len(st.Prompts), "prompt"))
			if st.Server != "" {
				fmt.Fprintf(&b, "; %s %s, protocol %s", event.InertLine(st.Server), event.InertLine(st.Version), event.InertLine(st.Protocol))
			}
		}
		b.WriteString("\n")
		if st.Error != "" {
			fmt.Fprintf(&b, "    %s\n", event.InertLine(st.Error))
		}
		if text := withheldText(st); text != "" {
			fmt.Fprintf(&b, "    %s\n", text)
		}
	}
	return b.String()
}

// resolveResource reads @server:uri as a resource of a server.
func (r *run) resolveResource(ref string) (string, bool) {
	if r.servers == nil {
		return "", false
	}
	for at := range len(ref) { // a plugin's server has colons in its name
		if ref[at] != ':' {
			continue
		}
		if st, ok := r.servers.set.Server(ref[:at]); ok && strings.Contains(ref[at+1:], ":") {
			return attach.ResourcePath(st.Name, ref[at+1:]), true
		}
	}
	return "", false
}

// readResource reads a mentioned resource.
func (r *run) readResource(ctx context.Context, server, uri string) ([]msg.Block, error) {
	blocks, _, err := r.servers.ReadResource(ctx, server, uri)
	return blocks, err
}
