package config

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// Settings are the layers of all scopes, highest first.
type Settings struct {
	Layers []*Layer
	// Problems are things that the user should know: files that could not be read, entries that were skipped.
	Problems []string
}

// Places says where to look. Empty directories are skipped.
type Places struct {
	Config  string   // ~/.claude
	State   string   // ~/.lathe
	Work    string   // project directory
	Root    string   // repository root, for local settings; empty: Work
	Inline  string   // value of --settings: a path or JSON
	Sources []string // which of user, project, local load; nil: all
	Trusted bool     // the project is trusted
	// Policy is JSON of managed settings that whoever starts the program gives; it ranks above the files.
	Policy  string
	Managed []string // directories of an administrator's settings, see ManagedDirs
}

// Load reads every settings file. A file with wrong JSON is left out and named in Problems; a managed file or
// --settings that cannot be read is an error: the one is a policy, the other was asked for by name.
func Load(p Places) (*Settings, error) {
	s := &Settings{}
	if err := s.managed(p); err != nil {
		return nil, err
	}
	if err := s.inline(p); err != nil {
		return nil, err
	}
	for _, f := range p.files() {
		if f.scope != Managed {
			s.add(f)
		}
	}
	for _, l := range s.Layers {
		if text := l.unknown(); text != "" {
			s.Problems = append(s.Problems, text)
		}
	}
	return s, nil
}

func (p Places) wants(source string) bool {
	return p.Sources == nil || slices.Contains(p.Sources, source)
}

func (s *Settings) inline(p Places) error {
	if p.Inline == "" {
		return nil
	}
	var l *Layer
	var err error
	if strings.HasPrefix(strings.TrimSpace(p.Inline), "{") {
		l, err = ParseLayer(CLI, "", p.Work, []byte(p.Inline))
	} else {
		file := p.Inline
		if !filepath.IsAbs(file) {
			file = filepath.Join(p.Work, file)
		}
		l, err = ReadLayer(CLI, file, filepath.Dir(file))
		if err == nil && l == nil {
			err = fmt.Errorf("settings file not found: %s", p.Inline)
		}
	}
	if err == nil {
		err = l.guards()
	}
	if err != nil {
		return err
	}
	s.Layers = append(s.Layers, l)
	return nil
}

// guards refuses a wrong type of what is to protect: whoever asks for it on the command line must get it or an error.
func (l *Layer) guards() error {
	for _, key := range []string{"permissions", "sandbox", "hooks"} {
		v, ok := l.Keys[key]
		if trimmed := bytes.TrimSpace(v); ok && string(trimmed) != "null" && !bytes.HasPrefix(trimmed, []byte("{")) {
			return fmt.Errorf("%s:%d: %s must be an object, such as {\"%s\": {…}}", l.name(), l.Line("/"+key), key, key)
		}
	}
	return nil
}

func (s *Settings) add(f source) {
	l, err := ReadLayer(f.scope, f.path, f.anchor)
	if err != nil {
		s.Problems = append(s.Problems, err.Error()+" (the file is ignored)")
		return
	}
	if l == nil || slices.ContainsFunc(s.Layers, func(o *Layer) bool { return o.File == l.File }) {
		return
	}
	l.Trusted = f.trusted
	s.Layers = append(s.Layers, l)
}

// TrustProject says whether what the project's files grant counts.
func (s *Settings) TrustProject(yes bool) {
	for _, l := range s.Layers {
		if l.Scope == Project || l.Scope == Local {
			l.Trusted = yes
		}
	}
}

// lookup finds a key in the highest layer that has it. Keys that grant power count only from trusted layers.
func (s *Settings) lookup(key string, power bool) (json.RawMessage, *Layer) {
	for _, l := range s.Layers {
		if power && !l.Trusted {
			continue
		}
		if v, ok := l.Keys[key]; ok && string(v) != "null" {
			return v, l
		}
	}
	return nil, nil
}

// String is a text setting; def when it is not set or not a text. power marks keys that name endpoints,
// programs or models: they count only from trusted layers.
func (s *Settings) String(key, def string, power bool) string {
	v, l := s.lookup(key, power)
	if l == nil {
		return def
	}
	var out string
	if json.Unmarshal(v, &out) != nil {
		s.problem(l, key, "must be a text")
		return def
	}
	return out
}

// Text is a setting that is written as a text or as a number, in its own words; "" when it is not set.
func (s *Settings) Text(key string) (string, error) {
	v, l := s.lookup(key, false)
	if l == nil {
		return "", nil
	}
	var text string
	if json.Unmarshal(v, &text) == nil {
		return text, nil
	}
	var n json.Number
	if err := json.Unmarshal(v, &n); err != nil {
		return "", fmt.Errorf("%s in %s must be a text or a number", key, l.File)
	}
	return n.String(), nil
}

// Bool is a true-or-false setting.
func (s *Settings) Bool(key string, def bool) bool { return s.bool(key, def, false) }

// Granted is a true-or-false setting that counts only from trusted layers.
func (s *Settings) Granted(key string, def bool) bool { return s.bool(key, def, true) }

func (s *Settings) bool(key string, def, power bool) bool {
	v, l := s.lookup(key, power)
	if l == nil {
		return def
	}
	out := def
	if json.Unmarshal(v, &out) != nil {
		s.problem(l, key, "must be true or false")
		return def
	}
	return out
}

// Decode reads a setting of any other form into v, which it leaves as it is when the setting is not there or of
// another form.
func (s *Settings) Decode(key string, v any) {
	raw, l := s.lookup(key, false)
	if l != nil && json.Unmarshal(raw, v) != nil {
		s.problem(l, key, "is not of the documented form")
	}
}

// DecodeGranted is Decode for a setting that counts only from trusted layers.
func (s *Settings) DecodeGranted(key string, v any) {
	raw, l := s.lookup(key, true)
	if l != nil && json.Unmarshal(raw, v) != nil {
		s.problem(l, key, "is not of the documented form")
	}
}

// Strings is a list setting whose whole value comes from the highest layer; a single text counts as a list.
func (s *Settings) Strings(key string, power bool) []string {
	v, l := s.lookup(key, power)
	if l == nil {
		return nil
	}
	return s.list(l, key, v)
}

// AllStrings is a list setting whose values of all layers are joined, without duplicates.
func (s *Settings) AllStrings(key string) []string {
	var out []string
	for _, l := range s.Layers {
		if v, ok := l.Keys[key]; ok {
			out = appendNew(out, s.list(l, key, v)...)
		}
	}
	return out
}

func (s *Settings) list(l *Layer, key string, v json.RawMessage) []string {
	var one string
	if json.Unmarshal(v, &one) == nil {
		return []string{one}
	}
	var out []string
	if json.Unmarshal(v, &out) != nil {
		s.problem(l, key, "must be a list of texts")
		return nil
	}
	return out
}

// Env is the joined env block: higher layers win, untrusted ones do not count.
func (s *Settings) Env() map[string]string {
	out := map[string]string{}
	for i := len(s.Layers) - 1; i >= 0; i-- {
		l := s.Layers[i]
		v, ok := l.Keys["env"]
		if !ok || !l.Trusted {
			continue
		}
		var block map[string]any
		if json.Unmarshal(v, &block) != nil {
			s.problem(l, "env", "must be an object of texts")
			continue
		}
		for k, val := range block {
			if text, ok := val.(string); ok {
				out[k] = text
			} else {
				out[k] = fmt.Sprint(val)
			}
		}
	}
	return out
}

// Has reports whether any layer sets the key.
func (s *Settings) Has(key string) bool { _, l := s.lookup(key, false); return l != nil }

func (s *Settings) problem(l *Layer, key, what string) {
	text := fmt.Sprintf("%s:%d: %s %s (ignored)", l.name(), l.Line("/"+key), key, what)
	s.Problems = appendNew(s.Problems, text)
}

func appendNew(list []string, more ...string) []string {
	for _, m := range more {
		if !slices.Contains(list, m) {
			list = append(list, m)
		}
	}
	return list
}
