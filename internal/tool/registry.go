package tool

import (
	"bytes"
	"encoding/json"
	"fmt"
	"sort"
	"strings"

	"lathe/internal/msg"
)

// Registry is the ordered set of a session's tools. It is not changed after the session started.
type Registry struct {
	tools []Tool
	names map[string]Tool
}

// NewRegistry returns a registry of the tools in the order in which the model is told of them.
func NewRegistry(tools ...Tool) *Registry {
	r := &Registry{names: map[string]Tool{}}
	for _, t := range tools {
		name := t.Def().Name
		if _, dup := r.names[name]; dup {
			continue
		}
		r.tools = append(r.tools, t)
		r.names[name] = t
	}
	for _, t := range r.tools {
		n, ok := t.(Named)
		if !ok {
			continue
		}
		for _, name := range n.Names() {
			if _, taken := r.names[name]; !taken {
				r.names[name] = t
			}
		}
	}
	return r
}

// Get finds a tool by name.
func (r *Registry) Get(name string) (Tool, bool) { t, ok := r.names[name]; return t, ok }

// Names lists the tools in order.
func (r *Registry) Names() []string {
	out := make([]string, len(r.tools))
	for i, t := range r.tools {
		out[i] = t.Def().Name
	}
	return out
}

// Defs lists the definitions in order.
func (r *Registry) Defs() []msg.ToolDef {
	out := make([]msg.ToolDef, len(r.tools))
	for i, t := range r.tools {
		out[i] = t.Def()
	}
	return out
}

// Schema is the part of JSON Schema that our tools' inputs use. Package schema is not needed for it, so that a
// wrong input can be explained in words that a model acts on.
type Schema struct {
	Type       string             `json:"type,omitempty"`
	Properties map[string]*Schema `json:"properties,omitempty"`
	Required   []string           `json:"required,omitempty"`
	Enum       []string           `json:"enum,omitempty"`
	Items      *Schema            `json:"items,omitempty"`
}

// Canonical brings a call's input into its documented form: an object with the documented names, aliases
// renamed, unknown parameters dropped, numbers and booleans that came as strings converted. It fails naming
// everything that is wrong at once. Everything that judges or runs a call sees this form and no other.
func Canonical(t Tool, input json.RawMessage) (json.RawMessage, error) {
	def := t.Def()
	if _, ok := t.(SelfChecked); ok {
		return canonicalObject(def.Name, input)
	}
	var schema Schema
	if err := json.Unmarshal(def.InputSchema, &schema); err != nil {
		return nil, fmt.Errorf("schema of %s: %w", def.Name, err)
	}
	var fields map[string]json.RawMessage
	if len(bytes.TrimSpace(input)) == 0 {
		input = json.RawMessage("{}")
	}
	if err := json.Unmarshal(input, &fields); err != nil {
		return nil, fmt.Errorf("input of %s must be a JSON object: %w", def.Name, err)
	}
	if a, ok := t.(Aliaser); ok {
		rename(fields, a.Aliases())
	}
	var wrong []string
	out := map[string]json.RawMessage{}
	for name, s := range schema.Properties {
		v, ok := fields[name]
		if !ok || bytes.Equal(v, []byte("null")) {
			continue
		}
		fixed, err := s.check(name, v)
		if err != nil {
			wrong = append(wrong, err.Error())
			continue
		}
		out[name] = fixed
	}
	for _, name := range schema.Required {
		if v, ok := fields[name]; !ok || bytes.Equal(v, []byte("null")) {
			wrong = append(wrong, fmt.Sprintf("%s is missing", name))
		}
	}
	if len(wrong) > 0 {
		sort.Strings(wrong)
		return nil, fmt.Errorf("wrong input for %s: %s", def.Name, strings.Join(wrong, "; "))
	}
	return marshal(out)
}

func canonicalObject(name string, input json.RawMessage) (json.RawMessage, error) {
	if len(bytes.TrimSpace(input)) == 0 {
		return json.RawMessage("{}"), nil
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(input, &fields); err != nil {
		return nil, fmt.Errorf("input of %s must be a JSON object: %w", name, err)
	}
	return input, nil
}

func rename(fields map[string]json.RawMessage, aliases map[string]string) {
	for from, to := range aliases {
		v, ok := fields[from]
		if !ok {
			continue
		}
		if _, taken := fields[to]; !taken {
			fields[to] = v
		}
	}
}

func marshal(v any) (json.RawMessage, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimRight(buf.Bytes(), "\n"), nil
}
