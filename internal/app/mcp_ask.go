package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"lathe/internal/event"
	"lathe/internal/hook"
	"lathe/internal/mcp"
	"lathe/internal/msg"
	"lathe/internal/perm"
)

// elicit asks the hooks, then whoever is there, for what a server wants to know.
func (r *run) elicit(ctx context.Context, e mcp.Elicitation) (mcp.Elicited, error) {
	fields := map[string]any{"mcp_server_name": e.Server, "message": e.Message, "mode": e.Mode}
	if e.URL != "" {
		fields["url"], fields["elicitation_id"] = e.URL, e.ID
	}
	if e.Schema != nil {
		fields["requested_schema"] = e.Schema
	}
	answer, decided := r.elicitHook(ctx, hook.Elicitation, e.Server, fields)
	if !decided {
		kind := "elicitation_dialog"
		if e.URL != "" {
			kind = "elicitation_url_dialog"
		}
		if r.canCall("elicitation") {
			r.hooks.notify(kind, "Input needed", "The MCP server "+e.Server+" asks for your input")
		}
		raw, err := r.session.Call(ctx, "elicitation", "", e)
		if err != nil {
			return mcp.Elicited{}, err
		}
		if err := json.Unmarshal(raw, &answer); err != nil {
			return mcp.Elicited{}, fmt.Errorf("the answer to an elicitation: %w", err)
		}
		r.hooks.notify("elicitation_response", "Input given", "Your answer to the MCP server "+e.Server+": "+answer.Action)
	}
	after := map[string]any{"mcp_server_name": e.Server, "action": answer.Action, "content": answer.Content, "mode": e.Mode}
	if changed, ok := r.elicitHook(ctx, hook.ElicitationResult, e.Server, after); ok {
		answer = changed
	}
	return answer, nil
}

// visited tells hooks that the person has done at an address what a server wanted.
func (r *run) visited(server string) {
	r.hooks.notify("elicitation_complete", "Done", "What the MCP server "+server+" wanted on the web is done")
}

// reconnect connects a server again. Hooks are told where it wanted a sign-in before, and has got one.
func (r *run) reconnect(ctx context.Context, name string) error {
	state := func() (s mcp.State) {
		for _, st := range r.servers.set.Status() {
			if st.Name == name {
				s = st.State
			}
		}
		return s
	}
	before := state()
	err := r.servers.set.Reconnect(ctx, name)
	if err == nil && before == mcp.NeedsAuth && state() == mcp.Connected {
		r.hooks.signedIn(name)
	}
	return err
}

// elicitHook fires the hooks of an elicitation. It reports whether one answered; a block is a no.
func (r *run) elicitHook(ctx context.Context, e hook.Event, server string, fields map[string]any) (mcp.Elicited, bool) {
	if r.hooks == nil || !r.hooks.bus.Has(e, server) {
		return mcp.Elicited{}, false
	}
	o := r.hooks.bus.Fire(ctx, hook.Payload{Event: e, Match: server, Fields: fields})
	r.hooks.tell(o)
	if o.Decision != nil && o.Decision.Verdict == perm.Deny {
		return mcp.Elicited{Action: "decline"}, true
	}
	var out mcp.Elicited
	if len(o.Elicited) == 0 || json.Unmarshal(o.Elicited, &out) != nil || out.Action == "" {
		return mcp.Elicited{}, false
	}
	return out, true
}

// serverHook calls a tool for a hook and returns its text. The servers may still be connecting.
func (r *run) serverHook(ctx context.Context, server, name string, input json.RawMessage) (string, error) {
	if r.servers == nil {
		return "", errNoServers
	}
	r.servers.set.Start()
	if err := r.servers.set.Ready(ctx, server); err != nil {
		return "", err
	}
	t, ok := r.servers.set.Tool(mcp.FullName(server, name))
	if !ok {
		return "", fmt.Errorf("the MCP server %q has no tool %q", server, name)
	}
	res, err := r.servers.set.Call(ctx, mcp.Call{Tool: t, Input: input})
	if err != nil {
		return "", err
	}
	if res.IsError {
		return "", errors.New(msg.JoinText(res.Blocks))
	}
	return msg.JoinText(res.Blocks), nil
}

// verdict is what a tool that answers permission questions returns as text.
type verdict struct {
	Behavior  string          `json:"behavior"` // allow or deny
	Message   string          `json:"message"`
	Input     json.RawMessage `json:"updatedInput"`
	Interrupt bool            `json:"interrupt"`
	Updates   json.RawMessage `json:"updatedPermissions"`
}

// askTool reports whether a server's tool answers permission questions.
func (o *Options) askTool() bool { return o.PromptTool != "" && o.PromptTool != "stdio" }

// askServer answers a permission question with the tool of --permission-prompt-tool.
func (r *run) askServer(ctx context.Context, a event.Ask) (event.Answer, error) {
	no := func(format string, args ...any) (event.Answer, error) {
		return event.Answer{ID: a.ID, Message: fmt.Sprintf(format, args...)}, nil
	}
	t, err := r.promptServerTool(ctx)
	if err != nil {
		r.warn(err.Error())
		return event.Answer{ID: a.ID, Message: err.Error(), Stop: true}, nil
	}
	input, err := json.Marshal(map[string]any{"tool_name": a.Tool, "input": a.Input, "tool_use_id": a.CallID})
	if err != nil {
		return event.Answer{}, err
	}
	res, err := r.servers.set.Call(ctx, mcp.Call{Tool: t, ID: a.CallID, Input: input})
	switch {
	case ctx.Err() != nil:
		return event.Answer{}, context.Cause(ctx)
	case err != nil:
		return no("%v", err)
	case res.IsError:
		return no("%s failed: %s", r.o.PromptTool, msg.JoinText(res.Blocks))
	}
	var v verdict
	text := msg.JoinText(res.Blocks)
	if json.Unmarshal([]byte(text), &v) != nil || v.Behavior != "allow" && v.Behavior != "deny" {
		return no(`%s must answer {"behavior": "allow" or "deny"}, and answered %q`, r.o.PromptTool, event.OneLine(text, 200))
	}
	if v.Behavior == "deny" {
		return event.Answer{ID: a.ID, Message: v.Message, Stop: v.Interrupt}, nil
	}
	if a.Decision.Source.Kind == "interaction" {
		return no("a person must agree to it, and a tool is none")
	}
	out := event.Answer{ID: a.ID, Allow: true, Updates: v.Updates}
	if len(v.Input) > 0 && string(v.Input) != "null" {
		out.Input = v.Input
	}
	return out, nil
}

// promptServerTool finds the tool of --permission-prompt-tool; it waits for its server.
func (r *run) promptServerTool(ctx context.Context) (mcp.Tool, error) {
	name := r.o.PromptTool
	var names []string
	if r.servers != nil {
		set := r.servers.set
		set.Start()
		limited, cancel := context.WithTimeout(ctx, duration(r.place.Sys.Getenv("MCP_TIMEOUT"), 30*time.Second))
		defer cancel()
		set.Wait(limited, func(c mcp.Config) bool { return strings.HasPrefix(name, mcp.Prefix(c.Name)) })
		if t, ok := set.Tool(name); ok {
			return t, nil
		}
		for _, t := range set.Tools() {
			names = append(names, t.FullName)
		}
	}
	return mcp.Tool{}, fmt.Errorf("MCP tool %s (passed via --permission-prompt-tool) not found. Available MCP tools: %s", name, or(strings.Join(names, ", "), "none"))
}
