package fakeapi

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
)

// LoadScript reads a script file; see the package comment for its format. Files named in faults are read
// relative to the script's folder.
func LoadScript(path string) (*Script, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("script: %w", err)
	}
	s, err := ParseScript(data)
	if err != nil {
		return nil, fmt.Errorf("script %s: %w", path, err)
	}
	if err := s.loadFiles(filepath.Dir(path)); err != nil {
		return nil, fmt.Errorf("script %s: %w", path, err)
	}
	return s, nil
}

// ParseScript reads a script: one JSON object, or JSON lines of which each is a turn and the first may be an
// object with the script's other fields.
func ParseScript(data []byte) (*Script, error) {
	var values []json.RawMessage
	dec := json.NewDecoder(bytes.NewReader(data))
	for {
		var v json.RawMessage
		err := dec.Decode(&v)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("value %d: %w", len(values)+1, err)
		}
		values = append(values, v)
	}
	s := &Script{}
	for i, v := range values {
		if i == 0 && isHead(v) {
			if err := strictUnmarshal(v, s); err != nil {
				return nil, fmt.Errorf("value 1: %w", err)
			}
			continue
		}
		var t Turn
		if err := strictUnmarshal(v, &t); err != nil {
			return nil, fmt.Errorf("value %d: %w", i+1, err)
		}
		s.Turns = append(s.Turns, t)
	}
	return s, s.validate()
}

// isHead tells a script object from a turn by the fields that only a script has.
func isHead(v json.RawMessage) bool {
	var fields map[string]json.RawMessage
	if json.Unmarshal(v, &fields) != nil {
		return false
	}
	for _, k := range []string{"turns", "vars", "keys", "betas", "models", "default", "scripts"} {
		if _, ok := fields[k]; ok {
			return true
		}
	}
	return len(fields) == 0
}

func strictUnmarshal(data []byte, v any) error {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	return dec.Decode(v)
}

func (s *Script) each(do func(name string, s *Script) error) error {
	if err := do("", s); err != nil {
		return err
	}
	for name, in := range s.Scripts {
		if in == nil {
			return fmt.Errorf("script %q is null", name)
		}
		if len(in.Scripts) > 0 {
			return fmt.Errorf("script %q has scripts of its own: only the outermost may", name)
		}
		if err := do(name, in); err != nil {
			return fmt.Errorf("script %q: %w", name, err)
		}
	}
	return nil
}

// validate finds mistakes of the script's author early: a script that does nothing must not pass a test.
func (s *Script) validate() error {
	return s.each(func(_ string, s *Script) error {
		for i, t := range s.Turns {
			if err := t.validate(); err != nil {
				return fmt.Errorf("turn %d: %w", i+1, err)
			}
		}
		if s.Default != nil {
			return s.Default.validate()
		}
		return nil
	})
}

func (t Turn) validate() error {
	if t.When != nil {
		if _, err := regexp.Compile(t.When.UserRegexp); err != nil {
			return fmt.Errorf("when.user_regexp: %w", err)
		}
	}
	for _, c := range t.Capture {
		if _, err := regexp.Compile(c.Regexp); err != nil {
			return fmt.Errorf("capture %s: %w", c.Name, err)
		}
		if !slices.Contains([]string{"", "last_tool_result", "last_user", "system", "body"}, c.From) {
			return fmt.Errorf("capture %s: from cannot be %q", c.Name, c.From)
		}
	}
	return t.Answer.validate()
}

func (a Answer) validate() error {
	for i, f := range a.Faults {
		if !slices.Contains(faultKinds(), f.Kind) {
			return fmt.Errorf("fault %d: kind %q is not known", i+1, f.Kind)
		}
	}
	for i, b := range a.Blocks {
		if b.kind() == "" {
			return fmt.Errorf("block %d: set one of text, thinking, redacted, tool, raw", i+1)
		}
		if len(b.Input) > 0 && b.Input[0] != '{' {
			return fmt.Errorf("block %d: input must be an object; use chunks to send something else", i+1)
		}
	}
	return nil
}

func (s *Script) loadFiles(dir string) error {
	return s.each(func(_ string, s *Script) error {
		for i := range s.Turns {
			for j := range s.Turns[i].Faults {
				f := &s.Turns[i].Faults[j]
				if f.File == "" {
					continue
				}
				data, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(f.File)))
				if err != nil {
					return fmt.Errorf("turn %d: %w", i+1, err)
				}
				f.Body = string(data)
			}
		}
		return nil
	})
}
