package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"lathe/internal/app/entries"
	"lathe/internal/event"
	"lathe/internal/mcp"
	"lathe/internal/msg"
	"lathe/internal/pipeline/tools"
	"lathe/internal/turn"
)

// errNoServers is the answer where the session has none and can have none.
var errNoServers = errors.New("this session has no MCP servers")

// named is the payload of queries about one server.
type named struct {
	Name    string `json:"serverName"`
	Enabled bool   `json:"enabled"`
	URI     string `json:"uri"`
}

// serverQueries tell of MCP servers, and act on them.
func (r *run) serverQueries() map[string]answer {
	about := func(f func(ctx context.Context, set *mcp.Set, in named) (any, error)) answer {
		return on(func(ctx context.Context, in named) (any, error) {
			if r.servers == nil {
				return nil, fmt.Errorf("%w, so there is none named %q", errNoServers, in.Name)
			}
			r.servers.set.Start()
			return f(ctx, r.servers.set, in)
		})
	}
	return map[string]answer{
		"mcp_status": on(func(context.Context, nothing) (any, error) {
			return map[string]any{"mcpServers": r.serverStatus()}, nil
		}),
		"mcp_reconnect": about(func(ctx context.Context, _ *mcp.Set, in named) (any, error) {
			return nothing{}, r.reconnect(ctx, in.Name)
		}),
		"mcp_toggle": about(func(ctx context.Context, set *mcp.Set, in named) (any, error) {
			return nothing{}, set.Toggle(ctx, in.Name, in.Enabled)
		}),
		"mcp_read_resource": about(func(ctx context.Context, set *mcp.Set, in named) (any, error) {
			_, contents, err := r.servers.ReadResource(ctx, in.Name, in.URI)
			return map[string]any{"contents": contents}, err
		}),
		"set_mcp_permission_mode_override": on(r.setServerMode),

		"mcp_set_servers": on(r.setServers),
		"mcp_call":        on(r.callServer),
		"mcp_message":     on(r.hostMessage),
	}
}

// serverStatus is the servers with all that is known of them.
func (r *run) serverStatus() []map[string]any {
	out := []map[string]any{}
	if r.servers == nil {
		return out
	}
	for _, st := range r.servers.set.Status() {
		m := map[string]any{"name": st.Name, "status": string(st.State), "scope": st.Scope.Name(), "source": sourceOf(st.Scope), "config": configOf(st.Config)}
		if st.State == mcp.Connected {
			m["serverInfo"] = map[string]string{"name": st.Server, "version": st.Version}
			list := []map[string]any{}
			for _, t := range st.Tools {
				about := map[string]any{"name": t.Name}
				if t.Description != "" {
					about["description"] = t.Description
				}
				if t.Annotations != nil {
					about["annotations"] = annotationsOf(t.Annotations)
				}
				list = append(list, about)
			}
			m["tools"] = list
		}
		if st.Error != "" {
			m["error"] = st.Error
		}
		out = append(out, m)
	}
	return out
}

// annotationsOf are what a server says of a tool in the form of hosts, whose names have no "Hint".
func annotationsOf(raw json.RawMessage) map[string]any {
	var in map[string]any
	if json.Unmarshal(raw, &in) != nil {
		return nil
	}
	out := map[string]any{}
	for k, v := range in {
		if name, ok := strings.CutSuffix(k, "Hint"); ok && v == true {
			out[name] = v
		}
	}
	return out
}

// configOf is an entry without what may be secret.
func configOf(c mcp.Config) map[string]any {
	out := map[string]any{"type": c.Type}
	switch {
	case c.Type == mcp.Host:
		out["name"] = c.Name
	case c.Remote():
		out["url"] = c.URL
	default:
		out["command"], out["args"] = c.Command, append([]string{}, c.Args...)
	}
	return out
}

// setServers makes the host's servers those of the request.
func (r *run) setServers(ctx context.Context, in struct {
	Servers map[string]json.RawMessage `json:"servers"`
},
) (any, error) {
	configs, errs := r.hostServers(in.Servers)
	for i := range configs { // the host's own are named by their key
		if configs[i].Type == mcp.Host {
			configs[i].Scope = mcp.SDK
		}
	}
	if r.servers == nil {
		return nil, errNoServers
	}
	added, removed, failed := r.servers.set.Replace(ctx, configs)
	for name, text := range failed {
		errs[name] = text
	}
	return map[string]any{"added": append([]string{}, added...), "removed": append([]string{}, removed...), "errors": errs}, nil
}

// hostCall is what ids of calls begin with that a host makes itself.
const hostCall = "host_"

// callServer calls a tool for the host, under the rules of the session. That the host asks for it is its yes where no rule
// covers the call; what a rule wants asked about, or a person must agree to, is refused.
func (r *run) callServer(ctx context.Context, in struct {
	Server    string          `json:"server"`
	Name      string          `json:"serverName"`
	Tool      string          `json:"tool"`
	Arguments json.RawMessage `json:"arguments"`
},
) (any, error) {
	if r.servers == nil {
		return nil, errNoServers
	}
	full := in.Tool
	if !mcp.IsFullName(full) {
		full = mcp.FullName(first(in.Name, in.Server), in.Tool)
	}
	if _, ok := r.tools.registry.Get(full); !ok {
		return nil, fmt.Errorf("there is no tool %s", full)
	}
	if len(in.Arguments) == 0 {
		in.Arguments = json.RawMessage("{}")
	}
	d := tools.Deps{Registry: r.tools.registry, Decide: r.decide}
	if r.hooks != nil {
		d.Hooks, d.Covered = r.hooks, r.covered
	}
	res, err := tools.New(d).Host(ctx, r.aside(), msg.Block{Type: msg.TypeToolUse, ID: hostCall + r.place.Sys.NewID(), Name: full, Input: in.Arguments})
	if err != nil {
		return nil, err
	}
	return map[string]any{"content": res.Blocks, "isError": res.IsError}, nil
}

// aside is a turn for what a host does by itself: it has no conversation, and hosts hear what hooks say, but not of a call
// that they know of.
func (r *run) aside() *turn.Turn {
	return r.asideAsking(func(context.Context, event.Ask) (event.Answer, error) { return event.Answer{}, turn.ErrNobody })
}

func (r *run) asideAsking(ask func(context.Context, event.Ask) (event.Answer, error)) *turn.Turn {
	return turn.New(r.place.Sys.NewID(), r.conv.Log.ID(), event.Prompt{}, nil, turn.Services{
		Emit: func(e event.Event) error {
			switch e.(type) {
			case event.ToolStarted, event.ToolProgress, event.ToolDone:
				return nil
			}
			return r.session.Relay(event.Envelope{Event: e})
		},
		Persist: func(m ...msg.Message) ([]msg.Message, error) { return m, nil },
		Ask:     ask,
		Now:     r.place.Sys.Now,
	})
}

// hostMessage takes a message that a server in the host's process sends by itself.
func (r *run) hostMessage(_ context.Context, in struct {
	Server  string          `json:"server_name"`
	Message json.RawMessage `json:"message"`
},
) (any, error) {
	if r.servers != nil {
		r.servers.set.Deliver(in.Server, in.Message)
	}
	return nothing{}, nil
}

// hostServers reads the entries of a host's request.
func (r *run) hostServers(raw map[string]json.RawMessage) ([]mcp.Config, map[string]string) {
	list, problems := mcp.ParseServers(raw, mcp.Flag, "")
	errs := map[string]string{}
	note := func(ps []mcp.Problem) {
		for _, p := range ps {
			errs[p.Name] = p.Text
		}
	}
	note(problems)
	return entries.Allowed(r.place, list, note), errs
}
