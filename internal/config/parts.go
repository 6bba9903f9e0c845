package config

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
)

// Part is a piece of a grant that a person can judge by itself: one hook, one server, one rule, one variable.
type Part struct {
	Name  string // "hook PreToolUse, for Bash", "server docs", "allow rule", "variable PATH"
	Text  string // all of it, in lines: a command as it is run, other fields as "name: value"
	File  string
	Line  int
	State string // against what was approved last: "" for the same, or where nothing is known; "new", "changed"
}

// Names of parts that are entries of lists.
const (
	ruleName = "allow rule"
	dirName  = "directory"
)

// Parts takes grants apart. Nothing is left out: what is not of the documented shape comes as its JSON.
func Parts(grants []Grant) []Part {
	var out []Part
	for _, g := range grants {
		var parts []Part
		switch {
		case !singleKeys(g.Text):
		case g.Key == "hooks":
			parts = hookParts(g.Text)
		case g.Key == ServersFile:
			parts = serverParts(g.Text)
		case g.Key == "permissions.allow":
			parts = listParts(ruleName, g.Text)
		case g.Key == "permissions.additionalDirectories":
			parts = listParts(dirName, g.Text)
		case strings.HasPrefix(g.Key, "env."):
			parts = []Part{{Name: "variable " + strings.TrimPrefix(g.Key, "env."), Text: valueText(json.RawMessage(g.Text))}}
		case !strings.HasSuffix(g.Key, ".md") && !strings.HasPrefix(g.Key, "script of "):
			parts = []Part{{Name: g.Key, Text: fieldsText(json.RawMessage(g.Text))}}
		}
		if parts == nil {
			parts = []Part{{Name: g.Key, Text: g.Text}}
		}
		for _, p := range parts {
			p.File, p.Line = g.File, g.Line
			out = append(out, p)
		}
	}
	return out
}

// singleKeys reports a JSON text in which no object has a key twice, so that one reader of it finds what another one does. A text that
// is no JSON has none.
func singleKeys(text string) bool {
	dec := json.NewDecoder(strings.NewReader(text))
	var keys []map[string]bool // of each object that is open; nil for an array
	key := false               // a key comes next
	for {
		t, err := dec.Token()
		if err != nil {
			return true
		}
		switch t := t.(type) {
		case json.Delim:
			switch t {
			case '{':
				keys = append(keys, map[string]bool{})
			case '[':
				keys = append(keys, nil)
			default:
				keys = keys[:len(keys)-1]
			}
			key = len(keys) > 0 && keys[len(keys)-1] != nil
			continue
		case string:
			if key {
				if keys[len(keys)-1][t] {
					return false
				}
				keys[len(keys)-1][t], key = true, false
				continue
			}
		}
		key = len(keys) > 0 && keys[len(keys)-1] != nil
	}
}

// hookParts is each handler of each event; nil where the shape is another.
func hookParts(text string) []Part {
	var events map[string][]map[string]json.RawMessage
	if json.Unmarshal([]byte(text), &events) != nil {
		return nil
	}
	var out []Part
	for _, event := range slices.Sorted(maps.Keys(events)) {
		for _, group := range events[event] {
			name := "hook " + event
			var matcher string
			var handlers []json.RawMessage
			if raw, ok := group["matcher"]; ok && json.Unmarshal(raw, &matcher) != nil || json.Unmarshal(group["hooks"], &handlers) != nil {
				return nil
			}
			if matcher != "" && matcher != "*" {
				name += ", for " + matcher
			}
			more := ""
			for _, k := range slices.Sorted(maps.Keys(group)) {
				if k != "matcher" && k != "hooks" {
					more += "\n" + k + ": " + valueText(group[k])
				}
			}
			for _, h := range handlers {
				out = append(out, Part{Name: name, Text: fieldsText(h) + more})
			}
			if len(handlers) == 0 {
				out = append(out, Part{Name: name, Text: "nothing" + more})
			}
		}
	}
	return out
}

// serverParts is each server of a .mcp.json; nil where the shape is another.
func serverParts(text string) []Part {
	var file map[string]json.RawMessage
	var servers map[string]json.RawMessage
	if json.Unmarshal([]byte(text), &file) != nil || json.Unmarshal(file["mcpServers"], &servers) != nil {
		return nil
	}
	var out []Part
	for _, name := range slices.Sorted(maps.Keys(servers)) {
		out = append(out, Part{Name: "server " + name, Text: fieldsText(servers[name])})
	}
	for _, k := range slices.Sorted(maps.Keys(file)) {
		if k != "mcpServers" {
			out = append(out, Part{Name: ServersFile + " " + k, Text: valueText(file[k])})
		}
	}
	return out
}

func listParts(name, text string) []Part {
	var list []json.RawMessage
	if json.Unmarshal([]byte(text), &list) != nil || len(list) == 0 {
		return nil
	}
	var out []Part
	for _, v := range list {
		out = append(out, Part{Name: name, Text: valueText(v)})
	}
	return out
}

// fieldsText is an object as lines of its fields, the command first; another value as valueText has it.
func fieldsText(raw json.RawMessage) string {
	var fields map[string]json.RawMessage
	if json.Unmarshal(raw, &fields) != nil || len(fields) == 0 {
		return valueText(raw)
	}
	keys := slices.Sorted(maps.Keys(fields))
	slices.SortStableFunc(keys, func(a, b string) int { return rank(a) - rank(b) })
	var out []string
	for _, k := range keys {
		v := valueText(fields[k])
		if k == "type" && v == "command" && fields["command"] != nil {
			continue
		}
		out = append(out, k+": "+strings.ReplaceAll(v, "\n", "\n  "))
	}
	return strings.Join(out, "\n")
}

// rank puts first what runs.
func rank(key string) int {
	if i := slices.Index([]string{"command", "args", "url", "prompt"}, key); i >= 0 {
		return i
	}
	return 10
}

// valueText is a text as it is, and any other value as compact JSON without needless escapes.
func valueText(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil && string(bytes.TrimSpace(raw)) != "null" {
		return s
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	var v any
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	if dec.Decode(&v) != nil || enc.Encode(v) != nil {
		return string(raw)
	}
	return strings.TrimSpace(b.String())
}

// Seen is what was approved, part by part: hashes by name. It tells what has changed, and nothing is decided by it.
type Seen map[string][]string

func seenOf(parts []Part, top string) Seen {
	out := Seen{}
	for _, p := range parts {
		name := p.seenName(top)
		out[name] = append(out[name], p.hash())
	}
	return out
}

func (p Part) seenName(top string) string {
	file, err := filepath.Rel(top, p.File)
	if err != nil {
		file = p.File
	}
	name := p.Name
	if name == ruleName || name == dirName { // each is its own
		name += " " + p.Text
	}
	return fmt.Sprintf("%s (%s)", name, filepath.ToSlash(file))
}

func (p Part) hash() string {
	sum := sha256.Sum256([]byte(p.Text))
	return hex.EncodeToString(sum[:16])
}

// Mark sets the state of each part against what was approved, and names what is there no more. Where nothing is known of that,
// nothing is marked.
func (s Seen) Mark(parts []Part, top string) (gone []string) {
	if s == nil {
		return nil
	}
	left := Seen{}
	for name, hashes := range s {
		left[name] = slices.Clone(hashes)
	}
	var other []int
	for i, p := range parts {
		name := p.seenName(top)
		if k := slices.Index(left[name], p.hash()); k >= 0 {
			left[name] = slices.Delete(left[name], k, k+1)
			continue
		}
		other = append(other, i)
	}
	for _, i := range other {
		name := parts[i].seenName(top)
		parts[i].State = "new"
		if len(left[name]) > 0 {
			parts[i].State = "changed"
			left[name] = left[name][1:]
		}
	}
	for _, name := range slices.Sorted(maps.Keys(left)) {
		for range left[name] {
			gone = append(gone, name)
		}
	}
	return gone
}
