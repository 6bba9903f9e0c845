package mcptool

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"lathe/internal/mcp"
	"lathe/internal/msg"
	"lathe/internal/tool"
)

// Servers is what the tools need of a set of servers.
type Servers interface {
	Call(ctx context.Context, call mcp.Call) (mcp.Result, error)
}

// Tool is one tool of a server.
type Tool struct {
	mcp.Tool
	servers Servers
}

// New returns a server's tool.
func New(t mcp.Tool, s Servers) *Tool { return &Tool{t, s} }

// Def tells the model about the tool, in the server's words.
func (t *Tool) Def() msg.ToolDef {
	return msg.ToolDef{Name: t.FullName, Description: t.Description, InputSchema: t.Schema}
}

// SelfChecked says that the server checks its input.
func (*Tool) SelfChecked() {}

// Plan passes the input on as it came. What a server says of a tool counts only where it is trusted; that a call may
// run beside others is believed of every server that the user chose, since only its own order is at stake.
func (t *Tool) Plan(_ context.Context, call tool.Call) (tool.Plan, error) {
	return tool.Plan{
		Summary: summary(t.Tool, call.Input), Parallel: t.ReadOnly && !t.Interactive, ReadOnly: t.ReadOnly && t.Trusted, Person: t.Interactive,
		Run: func(ctx context.Context, progress tool.Progress) (tool.Result, error) {
			res, err := t.servers.Call(ctx, mcp.Call{Tool: t.Tool, ID: call.ID, Input: call.Input, Progress: progress})
			if err != nil {
				return tool.Result{}, err
			}
			return tool.Result{Blocks: res.Blocks, Output: res.Output, IsError: res.IsError, Budgeted: true}, nil
		},
	}, nil
}

// summary is one line for a person.
func summary(t mcp.Tool, input json.RawMessage) string {
	name := t.Title
	if name == "" {
		name = t.Name
	}
	args := string(input)
	if r := []rune(args); len(r) > 120 {
		args = string(r[:119]) + "…"
	}
	if args == "{}" {
		args = ""
	}
	return strings.TrimSpace(fmt.Sprintf("%s: %s %s", t.Server, name, args))
}

// Late stands for a tool of a server that is not connected yet. A call waits for it.
type Late struct {
	Lost
	find func(ctx context.Context) (tool.Tool, error)
}

// NewLate returns the stand-in; find waits for the tool.
func NewLate(name string, find func(ctx context.Context) (tool.Tool, error)) *Late {
	return &Late{Lost{name: name}, find}
}

// Plan waits for the tool and passes the call on.
func (l *Late) Plan(ctx context.Context, call tool.Call) (tool.Plan, error) {
	t, err := l.find(ctx)
	if err != nil {
		return tool.Plan{}, fmt.Errorf("%s was not called: %w", l.name, err)
	}
	return t.Plan(ctx, call)
}

// Lost stands for a tool whose server is not there: a call of it says why and what can be done.
type Lost struct {
	name string
	why  string
}

// NewLost returns the stand-in.
func NewLost(name, why string) *Lost { return &Lost{name, why} }

// Def implements tool.Tool.
func (l *Lost) Def() msg.ToolDef {
	return msg.ToolDef{Name: l.name, InputSchema: json.RawMessage(`{"type":"object","properties":{}}`)}
}

// SelfChecked implements tool.SelfChecked.
func (*Lost) SelfChecked() {}

// Plan refuses the call.
func (l *Lost) Plan(context.Context, tool.Call) (tool.Plan, error) {
	return tool.Plan{}, fmt.Errorf("%s was not called: %s", l.name, l.why)
}
