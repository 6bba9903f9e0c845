package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/google/jsonschema-go/jsonschema"

	"lathe/internal/msg"
	"lathe/internal/tool"
)

// Tool is a tool of the program's own. The model is told its name, description and schema; its calls go through the
// same permission rules as all others, under its name.
type Tool struct {
	Name        string // letters, digits, _ and -
	Description string // what it does and when to use it, for the model
	// Schema is the JSON Schema of the input, an object; nil: no parameters.
	Schema json.RawMessage
	// ReadOnly says that it changes nothing and reaches nothing outside, so that it needs no permission and may run
	// beside other calls.
	ReadOnly bool
	// Run does it. The input fits the schema. What it returns is told to the model; an error becomes a failed result
	// with its text. When ctx ends it returns promptly.
	Run func(ctx context.Context, input json.RawMessage) (string, error)
}

// NewTool makes a tool of a function. The schema is made of In, a struct: the json tags name the parameters, a tag
// jsonschema:"…" describes one, and omitempty makes it optional. It panics when In cannot be described so, which is a
// mistake of the program.
func NewTool[In any](name, description string, run func(ctx context.Context, in In) (string, error)) Tool {
	s, err := jsonschema.For[In](nil)
	if err == nil && s.Type != "object" {
		err = errors.New("it is no struct")
	}
	if err != nil {
		panic(fmt.Sprintf("agent.NewTool %s: the input cannot be described: %v", name, err))
	}
	raw, err := json.Marshal(s)
	if err != nil {
		panic(fmt.Sprintf("agent.NewTool %s: %v", name, err))
	}
	return Tool{Name: name, Description: description, Schema: raw, Run: func(ctx context.Context, input json.RawMessage) (string, error) {
		var in In
		if err := json.Unmarshal(input, &in); err != nil {
			return "", fmt.Errorf("the input cannot be read: %w", err)
		}
		return run(ctx, in)
	}}
}

// custom is a Tool as the engine sees it.
type custom struct {
	Tool
	schema *jsonschema.Resolved
}

func newCustom(t Tool) (*custom, error) {
	if len(t.Schema) == 0 {
		t.Schema = json.RawMessage(`{"type":"object","properties":{}}`)
	}
	t.Schema = msg.Compact(t.Schema)
	var s jsonschema.Schema
	if err := json.Unmarshal(t.Schema, &s); err != nil {
		return nil, fmt.Errorf("the schema of tool %s: %w", t.Name, err)
	}
	if s.Type != "object" {
		return nil, fmt.Errorf("the schema of tool %s must have the type object", t.Name)
	}
	resolved, err := s.Resolve(nil)
	if err != nil {
		return nil, fmt.Errorf("the schema of tool %s: %w", t.Name, err)
	}
	return &custom{t, resolved}, nil
}

// Def implements tool.Tool.
func (c *custom) Def() msg.ToolDef {
	return msg.ToolDef{Name: c.Name, Description: c.Description, InputSchema: c.Schema}
}

// SelfChecked implements tool.SelfChecked: the schema may be any.
func (*custom) SelfChecked() {}

// Plan implements tool.Tool.
func (c *custom) Plan(_ context.Context, call tool.Call) (tool.Plan, error) {
	var v any
	if err := json.Unmarshal(call.Input, &v); err != nil {
		return tool.Plan{}, fmt.Errorf("input of %s: %w", c.Name, err)
	}
	if err := c.schema.Validate(v); err != nil {
		return tool.Plan{}, fmt.Errorf("wrong input for %s: %w", c.Name, err)
	}
	return tool.Plan{
		Summary: c.Name, ReadOnly: c.ReadOnly, Parallel: c.ReadOnly,
		Run: func(ctx context.Context, _ tool.Progress) (tool.Result, error) {
			text, err := c.run(ctx, call.Input)
			if err != nil {
				return tool.Result{}, err
			}
			if text == "" {
				text = "(no output)"
			}
			return tool.TextResult(text), nil
		},
	}, nil
}

// run calls the program's function. One that panics has failed.
func (c *custom) run(ctx context.Context, input json.RawMessage) (text string, err error) {
	defer func() {
		if p := recover(); p != nil {
			text, err = "", fmt.Errorf("the tool panicked: %v", p)
		}
	}()
	return c.Run(ctx, input)
}
