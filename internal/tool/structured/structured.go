package structured

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"github.com/google/jsonschema-go/jsonschema"

	"lathe/internal/msg"
	"lathe/internal/tool"
)

// Name is the tool's name.
const Name = "StructuredOutput"

// Tool takes the structured answer.
type Tool struct {
	schema   json.RawMessage
	resolved *jsonschema.Resolved

	mu     sync.Mutex
	answer json.RawMessage
}

// New checks the schema and returns the tool. Formats are accepted and not enforced.
func New(schema string) (*Tool, error) {
	var probe any
	if err := json.Unmarshal([]byte(schema), &probe); err != nil {
		return nil, fmt.Errorf("--json-schema is not valid JSON: %w", err)
	}
	if _, ok := probe.(map[string]any); !ok {
		return nil, errors.New("--json-schema must be a JSON object")
	}
	var s jsonschema.Schema
	if err := json.Unmarshal([]byte(schema), &s); err != nil {
		return nil, fmt.Errorf("--json-schema is not a valid JSON Schema: %w", err)
	}
	resolved, err := s.Resolve(nil)
	if err != nil {
		return nil, fmt.Errorf("--json-schema is not a valid JSON Schema: %w", err)
	}
	return &Tool{schema: objectRoot(msg.Compact([]byte(schema)), probe.(map[string]any)), resolved: resolved}, nil
}

// objectRoot makes the schema fit for a tool, whose input must be an object.
func objectRoot(schema json.RawMessage, fields map[string]any) json.RawMessage {
	if _, typed := fields["type"]; typed {
		return schema
	}
	return append([]byte(`{"type":"object",`), bytes.TrimLeft(schema[1:], " ")...)
}

// Def implements tool.Tool.
func (t *Tool) Def() msg.ToolDef {
	return msg.ToolDef{
		Name: Name, InputSchema: t.schema,
		Description: "Give the final answer as data that fits this schema. Call it once, at the end; the turn ends with it.",
	}
}

// SelfChecked says that the input is checked against the user's schema, here.
func (t *Tool) SelfChecked() {}

// Plan implements tool.Tool.
func (t *Tool) Plan(_ context.Context, call tool.Call) (tool.Plan, error) {
	var v any
	if err := json.Unmarshal(call.Input, &v); err != nil {
		return tool.Plan{}, fmt.Errorf("the answer is not JSON: %w", err)
	}
	if err := t.resolved.Validate(v); err != nil {
		return tool.Plan{}, fmt.Errorf("the answer does not fit the schema: %w. Correct it and call %s again", err, Name)
	}
	run := func(context.Context, tool.Progress) (tool.Result, error) {
		t.mu.Lock()
		t.answer = msg.Compact(call.Input)
		t.mu.Unlock()
		return tool.Result{Blocks: []msg.Block{msg.Text("The answer was taken.")}, Output: json.RawMessage(call.Input)}, nil
	}
	return tool.Plan{Summary: "structured answer", ReadOnly: true, Run: run}, nil
}

// Take returns the answer, if one was given, and forgets it.
func (t *Tool) Take() []byte {
	t.mu.Lock()
	defer t.mu.Unlock()
	a := t.answer
	t.answer = nil
	return a
}
