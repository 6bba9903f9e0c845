package mcp

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// anyObject is the schema of a tool that says nothing of its input.
const anyObject = `{"type":"object","properties":{}}`

// inputSchema makes a tool's schema fit for the Messages API: an object at its root, without alternatives there.
// Alternatives are joined: what any of them knows may be given, and what all of them want must be.
func inputSchema(v any) json.RawMessage {
	root, ok := v.(map[string]any)
	if !ok {
		return json.RawMessage(anyObject)
	}
	f := flattener{top: root, left: maxParts}
	root = f.flatten(maps.Clone(root), 0)
	if f.left < 0 {
		return json.RawMessage(anyObject)
	}
	root["type"] = "object"
	if _, ok := root["properties"].(map[string]any); !ok {
		root["properties"] = map[string]any{}
	}
	delete(root, "$schema")
	out, err := json.Marshal(root) // maps are written in the order of their keys: the same bytes each time
	if err != nil {
		return json.RawMessage(anyObject)
	}
	return out
}

// maxParts is how many alternatives of a schema are looked at, those that references lead to each time: a few of them that
// refer to each other make any number.
const maxParts = 1000

// flattener looks at a schema. top is where its references point, left how much more may be looked at.
type flattener struct {
	top  map[string]any
	left int
}

// flatten takes anyOf, oneOf and allOf from the root of a schema.
func (f *flattener) flatten(schema map[string]any, depth int) map[string]any {
	if f.left--; depth > 4 || f.left < 0 {
		return schema
	}
	props, _ := schema["properties"].(map[string]any)
	props = maps.Clone(props)
	if props == nil {
		props = map[string]any{}
	}
	required := texts(schema["required"])
	found := false
	for _, key := range []string{"allOf", "anyOf", "oneOf"} {
		list, ok := schema[key].([]any)
		if !ok {
			continue
		}
		found = true
		delete(schema, key)
		var common []string
		for i, e := range list {
			if f.left < 0 {
				return schema
			}
			part, ok := resolve(e, f.top).(map[string]any)
			if !ok {
				common = nil
				continue
			}
			part = f.flatten(maps.Clone(part), depth+1)
			more, _ := part["properties"].(map[string]any)
			for name, p := range more {
				if _, known := props[name]; !known {
					props[name] = p
				}
			}
			switch wants := texts(part["required"]); {
			case key == "allOf":
				required = append(required, wants...)
			case i == 0:
				common = wants
			default:
				common = slices.DeleteFunc(common, func(n string) bool { return !slices.Contains(wants, n) })
			}
		}
		required = append(required, common...)
	}
	if !found {
		return schema
	}
	schema["properties"] = props
	slices.Sort(required)
	if required = slices.Compact(required); len(required) > 0 {
		schema["required"] = required
	}
	return schema
}

// resolve follows a reference to a definition of the schema itself.
func resolve(v any, top map[string]any) any {
	m, ok := v.(map[string]any)
	if !ok {
		return v
	}
	ref, ok := m["$ref"].(string)
	if !ok {
		return v
	}
	for _, key := range []string{"$defs", "definitions"} {
		if name, ok := strings.CutPrefix(ref, "#/"+key+"/"); ok {
			defs, _ := top[key].(map[string]any)
			if d, ok := defs[name]; ok {
				return d
			}
		}
	}
	return v
}

func texts(v any) []string {
	list, _ := v.([]any)
	var out []string
	for _, e := range list {
		if s, ok := e.(string); ok {
			out = append(out, s)
		}
	}
	if already, ok := v.([]string); ok {
		out = append(out, already...)
	}
	return out
}
