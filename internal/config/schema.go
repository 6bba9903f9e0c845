package config

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
)

// Schema is the JSON schema of a settings file, for editors. It also says which keys are known.
//
//go:embed schema.json
var Schema []byte

// known are the keys of the schema and, for objects whose keys it lists, those below.
var known = sync.OnceValue(func() map[string]bool {
	type node struct {
		Properties map[string]json.RawMessage `json:"properties"`
	}
	var root node
	_ = json.Unmarshal(Schema, &root) // embedded, and read by a test
	out := map[string]bool{}
	for k, v := range root.Properties {
		out[k] = true
		var sub node
		if json.Unmarshal(v, &sub) == nil {
			for name := range sub.Properties {
				out[k+"."+name] = true
			}
		}
	}
	return out
})

// unknown names the keys of a layer that nothing here knows, in one line. They are kept and do nothing.
func (l *Layer) unknown() string {
	var names []string
	for _, k := range slices.Sorted(maps.Keys(l.Keys)) {
		if !known()[k] {
			names = append(names, k)
		}
	}
	if len(names) == 0 {
		return ""
	}
	return fmt.Sprintf("%s: unknown keys, which do nothing: %s", l.name(), strings.Join(names, ", "))
}
