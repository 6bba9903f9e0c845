package tool

import (
	"bytes"
	"encoding/json"
	"fmt"
	"sort"
	"strings"
	"sync"

	"lathe/internal/msg"
)

// Registry is the ordered set of a session's tools, of which the model is told, and a way to further ones that can be
// called all the same. It is safe for concurrent use.
type Registry struct {
	mu    sync.RWMutex
	tools []Tool
	names map[string]Tool
	more  func() []string
	find  func(name string) (Tool, bool)
}

// NewRegistry returns a registry of the tools in the order in which the model is told of them.
func NewRegistry(tools ...Tool) *Registry {
	r := &Registry{names: map[string]Tool{}}
	r.Add(tools...)
	return r
}

// Add puts tools at the end. It is only for before the first prompt: what the model is told of is frozen then.
func (r *Registry) Add(tools ...Tool) {
	r.mu.Lock()
	defer r.mu.Unlock()
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
}

// Beside sets where tools are found that can be called although the model is not told of them in the definitions.
func (r *Registry) Beside(names func() []string, find func(name string) (Tool, bool)) {
	r.mu.Lock()
	r.more, r.find = names, find
	r.mu.Unlock()
}

// Get finds a tool by name.
func (r *Registry) Get(name string) (Tool, bool) {
	r.mu.RLock()
	t, ok := r.names[name]
	find := r.find
	r.mu.RUnlock()
	if !ok && find != nil {
		return find(name)
	}
	return t, ok
}

// Names lists all tools that can be called, those of the definitions first and in order.
func (r *Registry) Names() []string {
	r.mu.RLock()
	out := make([]string, len(r.tools))
	for i, t := range r.tools {
		out[i] = t.Def().Name
	}
	more := r.more
	r.mu.RUnlock()
	if more == nil {
		return out
	}
	for _, name := range more() {
		if !r.Told(name) {
			out = append(out, name)
		}
	}
	return out
}

// Told reports whether the model is told of the tool in the definitions.
func (r *Registry) Told(name string) bool {
	r.mu.RLock()
	defer r.mu.RUnlock()
	_, ok := r.names[name]
	return ok
}

// Defs lists the definitions in order.
func (r *Registry) Defs() []msg.ToolDef {
	r.mu.RLock()
	defer r.mu.RUnlock()
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
