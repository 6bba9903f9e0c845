package tool

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// check validates one value against its schema and returns it in canonical form.
func (s *Schema) check(name string, v json.RawMessage) (json.RawMessage, error) {
	switch s.Type {
	case "string":
		var str string
		if json.Unmarshal(v, &str) != nil {
			return nil, fmt.Errorf("%s must be a string", name)
		}
		if len(s.Enum) > 0 && !slices.Contains(s.Enum, str) {
			return nil, fmt.Errorf("%s must be one of %s", name, strings.Join(s.Enum, ", "))
		}
	case "integer", "number":
		return s.number(name, v)
	case "boolean":
		return boolean(name, v)
	case "array":
		var items []json.RawMessage
		if json.Unmarshal(v, &items) != nil {
			return nil, fmt.Errorf("%s must be an array", name)
		}
		return s.array(name, v, items)
	case "object":
		var fields map[string]json.RawMessage
		if json.Unmarshal(v, &fields) != nil {
			return nil, fmt.Errorf("%s must be an object", name)
		}
		for _, r := range s.Required {
			if _, ok := fields[r]; !ok {
				return nil, fmt.Errorf("%s.%s is missing", name, r)
			}
		}
		for k, p := range s.Properties {
			if f, ok := fields[k]; ok {
				if _, err := p.check(name+"."+k, f); err != nil {
					return nil, err
				}
			}
		}
	}
	return v, nil
}

func (s *Schema) array(name string, v json.RawMessage, items []json.RawMessage) (json.RawMessage, error) {
	if s.Items == nil {
		return v, nil
	}
	for i, item := range items {
		if _, err := s.Items.check(fmt.Sprintf("%s[%d]", name, i), item); err != nil {
			return nil, err
		}
	}
	return v, nil
}

func (s *Schema) number(name string, v json.RawMessage) (json.RawMessage, error) {
	text := string(v)
	var str string
	if json.Unmarshal(v, &str) == nil {
		text = strings.TrimSpace(str)
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return nil, fmt.Errorf("%s must be a number", name)
	}
	if s.Type == "integer" {
		if f != float64(int64(f)) {
			return nil, fmt.Errorf("%s must be a whole number", name)
		}
		return json.RawMessage(strconv.FormatInt(int64(f), 10)), nil
	}
	return json.RawMessage(strconv.FormatFloat(f, 'f', -1, 64)), nil
}

func boolean(name string, v json.RawMessage) (json.RawMessage, error) {
	switch strings.ToLower(strings.Trim(string(v), `"`)) {
	case "true":
		return json.RawMessage("true"), nil
	case "false":
		return json.RawMessage("false"), nil
	}
	return nil, fmt.Errorf("%s must be true or false", name)
}
