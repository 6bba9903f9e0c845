package config

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
)

// Value is one value of one settings file.
type Value struct {
	Key   string          `json:"key"` // dotted: permissions.allow
	Value json.RawMessage `json:"value"`
	Scope Scope           `json:"scope"`
	File  string          `json:"file,omitempty"`
	Line  int             `json:"line,omitempty"`
	// Used says that the value counts; Why says why it does not.
	Used bool   `json:"used"`
	Why  string `json:"why,omitempty"`
}

// isPower says that a key counts only from trusted files: it runs things, names endpoints or models, or grants. What a sandbox
// restricts counts from all.
func isPower(key string) bool {
	switch key {
	case "env", "permissions.allow", "permissions.additionalDirectories", "permissions.defaultMode":
		return true
	}
	return key != "sandbox" && slices.Contains(powerKeys, key)
}

// joined are the lists whose values of all files count together.
var joined = map[string]bool{
	"permissions.allow": true, "permissions.ask": true, "permissions.deny": true, "permissions.additionalDirectories": true,
	"claudeMdExcludes": true, "allowedHttpHookUrls": true, "httpHookAllowedEnvVars": true,
}

// Effective lists every value of every file with where it stands and whether it counts, sorted by key, the one
// that counts first.
func (s *Settings) Effective() []Value {
	var out []Value
	for _, l := range s.Layers {
		for _, k := range slices.Sorted(maps.Keys(l.Keys)) {
			out = append(out, l.values(k, l.Keys[k])...)
		}
	}
	seen := map[string]string{}
	for i := range out {
		v := &out[i]
		switch {
		case !v.Used: // the layer is not trusted
		case !known()[topOf(v.Key)] && !known()[v.Key]:
			v.Used, v.Why = false, "unknown key"
		case joined[v.Key]:
		case seen[v.Key] != "":
			v.Used, v.Why = false, "overridden by "+seen[v.Key]
		default:
			seen[v.Key] = placeOf(*v)
		}
	}
	slices.SortStableFunc(out, func(a, b Value) int {
		switch {
		case a.Key < b.Key:
			return -1
		case a.Key > b.Key:
			return 1
		}
		return 0
	})
	return out
}

func topOf(key string) string {
	for i := range len(key) {
		if key[i] == '.' {
			return key[:i]
		}
	}
	return key
}

func placeOf(v Value) string {
	if v.File == "" {
		return "--settings"
	}
	return fmt.Sprintf("%s:%d", v.File, v.Line)
}

// values lists a key's value; objects that are joined key by key come one key at a time.
func (l *Layer) values(key string, raw json.RawMessage) []Value {
	var object map[string]json.RawMessage
	if (key == "permissions" || key == "env" || key == "sandbox") && json.Unmarshal(raw, &object) == nil {
		var out []Value
		for _, k := range slices.Sorted(maps.Keys(object)) {
			out = append(out, l.value(key+"."+k, "/"+key+"/"+pointer(k), object[k]))
		}
		return out
	}
	return []Value{l.value(key, "/"+pointer(key), raw)}
}

func (l *Layer) value(key, ptr string, raw json.RawMessage) Value {
	v := Value{Key: key, Value: raw, Scope: l.Scope, File: l.File, Line: l.Line(ptr), Used: true}
	if !l.Trusted && (isPower(key) || isPower(topOf(key))) {
		v.Used, v.Why = false, "the project is not trusted"
	}
	return v
}

// pointer escapes a key for a JSON pointer.
func pointer(key string) string {
	out := make([]byte, 0, len(key))
	for i := range len(key) {
		switch key[i] {
		case '~':
			out = append(out, "~0"...)
		case '/':
			out = append(out, "~1"...)
		default:
			out = append(out, key[i])
		}
	}
	return string(out)
}
