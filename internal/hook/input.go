package hook

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"strings"
	"sync"
)

// input is the JSON object that every handler of a payload is given.
func input(p Payload, b Base) []byte {
	in := map[string]any{
		"session_id": b.Session, "transcript_path": b.Transcript, "cwd": b.Cwd, "hook_event_name": string(p.Event),
	}
	if b.Mode != "" {
		in["permission_mode"] = b.Mode
	}
	if p.Prompt != "" {
		in["prompt_id"] = p.Prompt
	}
	if p.Model && b.Effort != "" {
		in["effort"] = map[string]string{"level": b.Effort}
	}
	maps.Copy(in, p.Fields)
	out, err := encode(in)
	if err != nil { // a field that is no JSON: the rest is better than nothing
		out, _ = encode(map[string]any{"session_id": b.Session, "cwd": b.Cwd, "hook_event_name": string(p.Event)})
	}
	return out
}

func encode(v any) ([]byte, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimRight(buf.Bytes(), "\n"), nil
}

var variable = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\$(?:\{([A-Za-z_][A-Za-z0-9_.]*)\}|([A-Za-z_][A-Za-z0-9_]*))`)
})

// expand replaces $NAME and ${NAME} by what value returns; a name that value does not know stays as it is.
func expand(text string, value func(name string) (string, bool)) string {
	if strings.IndexByte(text, '$') < 0 {
		return text
	}
	return variable().ReplaceAllStringFunc(text, func(m string) string {
		if v, ok := value(strings.Trim(m, "${}")); ok {
			return v
		}
		return m
	})
}

// fill puts values of the hook's input into the string values of a template: ${tool_input.file_path}.
func fill(template json.RawMessage, in []byte) (json.RawMessage, error) {
	if absent(template) {
		return json.RawMessage("{}"), nil
	}
	var t, data any
	if err := json.Unmarshal(template, &t); err != nil {
		return nil, err
	}
	if err := json.Unmarshal(in, &data); err != nil {
		return nil, err
	}
	return encode(fillValue(t, data))
}

func fillValue(t, data any) any {
	switch t := t.(type) {
	case string:
		return expand(t, func(path string) (string, bool) { return lookup(data, path) })
	case []any:
		for i := range t {
			t[i] = fillValue(t[i], data)
		}
	case map[string]any:
		for k := range t {
			t[k] = fillValue(t[k], data)
		}
	}
	return t
}

// lookup finds the value at a dotted path and writes it as text.
func lookup(data any, path string) (string, bool) {
	for part := range strings.SplitSeq(path, ".") {
		m, ok := data.(map[string]any)
		if !ok {
			return "", false
		}
		if data, ok = m[part]; !ok {
			return "", false
		}
	}
	switch v := data.(type) {
	case string:
		return v, true
	case nil:
		return "", true
	case map[string]any, []any:
		b, err := encode(v)
		return string(b), err == nil
	default:
		return fmt.Sprint(v), true
	}
}
