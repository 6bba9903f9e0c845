package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"lathe/internal/event"
	"lathe/internal/msg"
	"lathe/internal/pipeline/tools"
	"lathe/internal/turn"
)

// AskClient is the kind of call by which a client of the tools is asked whether one may run.
const AskClient = "allow_call"

// served are the tools that need no conversation: what a client of "lathe mcp serve" may call.
var served = []string{"Read", "Edit", "Write", "NotebookEdit", "Bash", "TaskOutput", "TaskStop", "Grep", "Glob", "WebFetch"}

// onlyLook are those of them that change nothing.
var onlyLook = []string{"Read", "TaskOutput", "Grep", "Glob", "WebFetch"}

// clientQueries are what a client of the tools may ask for. Hosts have other means.
func (r *run) clientQueries() map[string]answer {
	if !r.o.NoPrompts {
		return nil
	}
	return map[string]answer{
		"client_tools": on(func(context.Context, nothing) (any, error) { return r.clientTools(), nil }),
		"client_call":  on(r.clientCall),
	}
}

func (r *run) clientTools() []map[string]any {
	out := []map[string]any{}
	for _, d := range r.tools.registry.Defs() {
		if slices.Contains(served, d.Name) && (d.Name != "WebFetch" || r.model.Key != "none") {
			out = append(out, map[string]any{"name": d.Name, "description": d.Description, "input_schema": d.InputSchema, "read_only": slices.Contains(onlyLook, d.Name)})
		}
	}
	return out
}

// clientCall carries out a call of a client as one of the model: under the same rules, mode and hooks, and without secrets in
// what comes of it. What would be asked
// is asked of the client; where it has nobody, the call is refused. Calls run one after the other.
func (r *run) clientCall(ctx context.Context, in struct {
	ID    string          `json:"id"`
	Tool  string          `json:"tool"`
	Input json.RawMessage `json:"input"`
},
) (any, error) {
	if !slices.Contains(served, in.Tool) {
		return nil, fmt.Errorf("there is no tool %s", in.Tool)
	}
	select {
	case r.clientTurn <- struct{}{}:
		defer func() { <-r.clientTurn }()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	defer r.forgetTouched()
	t := r.asideAsking(r.askClient)
	call := msg.Message{Kind: msg.KindAssistant, Blocks: []msg.Block{msg.ToolUse(in.ID, in.Tool, in.Input)}}
	if err := t.Append(call); err != nil {
		return nil, err
	}
	t.Reply = &turn.Reply{Message: call, StopReason: "tool_use"}
	if err := tools.New(r.toolDeps()).Run(ctx, t); err != nil {
		var stop *turn.Stop
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if !errors.As(err, &stop) {
			return nil, err
		}
	}
	for _, m := range t.Messages {
		for _, b := range r.place.Clean(m).Blocks {
			if b.Type == msg.TypeToolResult && b.ToolUseID == in.ID {
				return map[string]any{"content": b.Content, "isError": b.IsError}, nil
			}
		}
	}
	return nil, errors.New("the call has no result")
}

// askClient asks the client's person about a call.
func (r *run) askClient(ctx context.Context, a event.Ask) (event.Answer, error) {
	raw, err := r.session.Call(ctx, AskClient, a.CallID, map[string]any{"tool": a.Tool, "input": a.Input, "reason": a.Decision.Reason})
	if err != nil {
		return event.Answer{}, err
	}
	var v struct {
		Allow bool `json:"allow"`
	}
	if err := json.Unmarshal(raw, &v); err != nil {
		return event.Answer{}, err
	}
	out := event.Answer{ID: a.ID, Allow: v.Allow}
	if !v.Allow {
		out.Message = "the person at the client said no"
	}
	return out, nil
}
