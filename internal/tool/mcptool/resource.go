package mcptool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"lathe/internal/mcp"
	"lathe/internal/msg"
	"lathe/internal/tool"
)

// The documented names of the tools for resources.
const (
	ListName = "ListMcpResourcesTool"
	ReadName = "ReadMcpResourceTool"
)

// Resources is what the tools need of a set of servers.
type Resources interface {
	Resources(ctx context.Context, server string) ([]mcp.Resource, error)
	ReadResource(ctx context.Context, server, uri string) ([]msg.Block, json.RawMessage, error)
}

// List is the tool that lists resources, Read the one that reads them.
type (
	List struct{ servers Resources }
	Read struct{ servers Resources }
)

// NewResources returns both tools.
func NewResources(s Resources) []tool.Tool { return []tool.Tool{List{s}, Read{s}} }

// Def implements tool.Tool.
func (List) Def() msg.ToolDef {
	return msg.ToolDef{
		Name: ListName, Description: "List the resources that MCP servers offer: files, records and the like, each with an address. server limits it to one server.",
		InputSchema: json.RawMessage(`{"type":"object","properties":{"server":{"type":"string"}}}`),
	}
}

// Plan implements tool.Tool.
func (l List) Plan(_ context.Context, call tool.Call) (tool.Plan, error) {
	var in struct {
		Server string `json:"server"`
	}
	if err := json.Unmarshal(call.Input, &in); err != nil {
		return tool.Plan{}, err
	}
	return tool.Plan{Summary: "list MCP resources " + in.Server, Parallel: true, ReadOnly: true, Run: func(ctx context.Context, _ tool.Progress) (tool.Result, error) {
		list, err := l.servers.Resources(ctx, in.Server)
		if err != nil && len(list) == 0 {
			return tool.Result{}, err
		}
		if len(list) == 0 {
			return tool.TextResult("There are no resources."), nil
		}
		raw, merr := json.Marshal(list)
		if merr != nil {
			return tool.Result{}, merr
		}
		res := tool.TextResult(string(raw))
		if err != nil {
			res.Blocks[0].Text += "\nNot listed: " + err.Error()
		}
		res.Output = list
		return res, nil
	}}, nil
}

// Def implements tool.Tool.
func (Read) Def() msg.ToolDef {
	return msg.ToolDef{
		Name: ReadName, Description: "Read a resource of an MCP server by its address, as " + ListName + " gives it or made from a template.",
		InputSchema: json.RawMessage(`{"type":"object","properties":{"server":{"type":"string"},"uri":{"type":"string"}},"required":["server","uri"]}`),
	}
}

// Plan implements tool.Tool.
func (r Read) Plan(_ context.Context, call tool.Call) (tool.Plan, error) {
	var in struct{ Server, URI string }
	if err := json.Unmarshal(call.Input, &in); err != nil {
		return tool.Plan{}, err
	}
	if in.Server == "" || in.URI == "" {
		return tool.Plan{}, errors.New("server and uri must not be empty")
	}
	return tool.Plan{Summary: fmt.Sprintf("read %s of %s", in.URI, in.Server), Parallel: true, ReadOnly: true, Run: func(ctx context.Context, _ tool.Progress) (tool.Result, error) {
		blocks, contents, err := r.servers.ReadResource(ctx, in.Server, in.URI)
		if err != nil {
			return tool.Result{}, err
		}
		return tool.Result{Blocks: blocks, Output: map[string]any{"contents": contents}, Budgeted: true}, nil
	}}, nil
}
