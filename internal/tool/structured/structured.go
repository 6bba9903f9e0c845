package structured

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
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
	root, ok := probe.(map[string]any)
	if !ok {
		return nil, errors.New("--json-schema must be a JSON object")
	}
	if err := usable(root); err != nil {
		return nil, err
	}
	var s jsonschema.Schema
	if err := json.Unmarshal([]byte(schema), &s); err != nil {
		return nil, fmt.Errorf("--json-schema is not a valid JSON Schema: %w", err)
	}
	resolved, err := s.Resolve(nil)
	if err != nil {
		return nil, fmt.Errorf("--json-schema is not a valid JSON Schema: %w", err)
	}
	return &Tool{schema: objectRoot(msg.Compact([]byte(schema)), root), resolved: resolved}, nil
}

// usable checks what the API asks of a tool's schema, and the names of types: a schema that it would refuse, or that
// nothing can fit, is an error before the run.
func usable(root map[string]any) error {
	if t, typed := root["type"]; typed && t != "object" {
		return fmt.Errorf("--json-schema is not a valid JSON Schema for an answer: its type is %v, and must be object", t)
	}
	for _, k := range []string{"anyOf", "oneOf", "allOf"} {
		if _, ok := root[k]; ok {
			return fmt.Errorf("--json-schema is not a valid JSON Schema for an answer: %s may not stand at its root; put it into a property", k)
		}
	}
	return typeNames(root)
}

var types = []string{"string", "number", "integer", "boolean", "object", "array", "null"}

// typeNames finds types that do not exist, wherever a schema may stand.
func typeNames(v any) error {
	switch x := v.(type) {
	case []any:
		for _, e := range x {
			if err := typeNames(e); err != nil {
				return err
			}
		}
	case map[string]any:
		if name, ok := x["type"].(string); ok && !slices.Contains(types, name) {
			return fmt.Errorf("--json-schema is not a valid JSON Schema: there is no type %q", name)
		}
		for _, key := range slices.Sorted(maps.Keys(x)) {
			switch key {
			case "const", "default", "enum", "examples": // values, not schemas
			case "properties", "patternProperties", "$defs", "definitions", "dependentSchemas":
				if named, ok := x[key].(map[string]any); ok { // a property may be called "type"
					for _, name := range slices.Sorted(maps.Keys(named)) {
						if err := typeNames(named[name]); err != nil {
							return err
						}
					}
				}
			default:
				if err := typeNames(x[key]); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// objectRoot makes the schema fit for a tool, whose input must be an object.
func objectRoot(schema json.RawMessage, fields map[string]any) json.RawMessage {
	switch {
	case fields["type"] != nil:
		return schema
	case len(fields) == 0:
		return json.RawMessage(`{"type":"object"}`)
	}
	return append([]byte(`{"type":"object",`), schema[1:]...)
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
