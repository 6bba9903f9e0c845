package plugin

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Plugin is one plugin.
type Plugin struct {
	Name, Version, Path string
	Commands            []string // directories and files, absolute
	Skills              []string // directories that hold one directory a skill, or are one
	Agents              []string // directories and files
	Styles              []string // directories and files of output styles
	Hooks               []Hooks
	Servers             map[string]json.RawMessage // MCP servers by their short names
}

// Hooks is the hooks of one file, in the form of the settings' key.
type Hooks struct {
	File string
	Raw  json.RawMessage
}

// manifest is .claude-plugin/plugin.json. Paths are relative to the plugin.
type manifest struct {
	Name     string          `json:"name"`
	Version  string          `json:"version"`
	Commands json.RawMessage `json:"commands"`
	Skills   json.RawMessage `json:"skills"`
	Agents   json.RawMessage `json:"agents"`
	Styles   json.RawMessage `json:"outputStyles"`
	Hooks    json.RawMessage `json:"hooks"`
	Servers  json.RawMessage `json:"mcpServers"`
}

// Load reads the plugin in a directory. data is where the plugin may keep files of its own, project the project's
// directory; both only fill in variables.
func Load(dir, data, project string) (*Plugin, error) {
	root, err := filepath.Abs(dir)
	if err == nil {
		root, err = filepath.EvalSymlinks(root)
	}
	if err != nil {
		return nil, fmt.Errorf("plugin %s: %w", dir, err)
	}
	if info, err := os.Stat(root); err != nil || !info.IsDir() {
		return nil, fmt.Errorf("plugin %s: not a directory", dir)
	}
	l := loader{root: root, vars: map[string]string{"CLAUDE_PLUGIN_ROOT": root, "CLAUDE_PROJECT_DIR": project}}
	m, err := l.manifest()
	if err != nil {
		return nil, fmt.Errorf("plugin %s: %w", dir, err)
	}
	l.vars["CLAUDE_PLUGIN_DATA"] = filepath.Join(data, safe(m.Name))
	p := &Plugin{Name: m.Name, Version: m.Version, Path: root}
	var errs []error
	take := func(to *[]string, raw json.RawMessage, usual string, adds bool) {
		list, err := l.paths(raw, usual, adds)
		*to, errs = list, append(errs, err)
	}
	take(&p.Commands, m.Commands, "commands", false)
	take(&p.Skills, m.Skills, "skills", true)
	take(&p.Agents, m.Agents, "agents", false)
	take(&p.Styles, m.Styles, "output-styles", false)
	if l.file("SKILL.md") {
		p.Skills = append(p.Skills, root)
	}
	p.Hooks, err = l.hooks(m.Hooks)
	errs = append(errs, err)
	p.Servers, err = l.servers(m.Servers)
	if err := errors.Join(append(errs, err)...); err != nil {
		return nil, fmt.Errorf("plugin %s: %w", dir, err)
	}
	return p, nil
}

// safe makes a name that can name a folder.
func safe(name string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-' {
			return r
		}
		return '-'
	}, name)
}

type loader struct {
	root string
	vars map[string]string
}

func (l loader) file(name string) bool {
	info, err := os.Stat(filepath.Join(l.root, name))
	return err == nil && info.Mode().IsRegular()
}

// manifest reads the plugin's description. Without one the directory's name is the plugin's.
func (l loader) manifest() (manifest, error) {
	m := manifest{Name: filepath.Base(l.root)}
	b, err := os.ReadFile(filepath.Join(l.root, ".claude-plugin", "plugin.json"))
	switch {
	case errors.Is(err, os.ErrNotExist):
		return m, nil
	case err != nil:
		return m, err
	}
	if err := json.Unmarshal(b, &m); err != nil {
		return m, fmt.Errorf(".claude-plugin/plugin.json: %w", err)
	}
	if m.Name == "" || strings.ContainsFunc(m.Name, func(r rune) bool { return r <= ' ' || strings.ContainsRune(`:/\()"`, r) }) {
		return m, fmt.Errorf(".claude-plugin/plugin.json: the name %q cannot be used", m.Name)
	}
	return m, nil
}

// inside makes a path of the manifest absolute; it may not leave the plugin.
func (l loader) inside(path string) (string, error) {
	abs := filepath.Join(l.root, filepath.FromSlash(path))
	if rel, err := filepath.Rel(l.root, abs); err != nil || rel != "." && !filepath.IsLocal(rel) || filepath.IsAbs(path) {
		return "", fmt.Errorf("the path %q leaves the plugin", path)
	}
	return abs, nil
}

// paths reads a path or a list of them. The usual place counts when none is named, or beside them.
func (l loader) paths(raw json.RawMessage, usual string, adds bool) ([]string, error) {
	var list []string
	if len(raw) > 0 && string(raw) != "null" {
		var one string
		if json.Unmarshal(raw, &one) == nil {
			list = []string{one}
		} else if err := json.Unmarshal(raw, &list); err != nil {
			return nil, fmt.Errorf("%s of plugin.json must be a path or a list of paths", usual)
		}
	}
	if len(list) == 0 || adds {
		list = append([]string{usual}, list...)
	}
	out := make([]string, 0, len(list))
	for _, p := range list {
		abs, err := l.inside(p)
		if err != nil {
			return nil, err
		}
		out = append(out, abs)
	}
	return out, nil
}

// hooks reads hooks/hooks.json, and what the manifest names or holds.
func (l loader) hooks(raw json.RawMessage) ([]Hooks, error) {
	var out []Hooks
	files := []string{"hooks/hooks.json"}
	if len(raw) > 0 && raw[0] == '{' {
		out = append(out, Hooks{File: filepath.Join(l.root, ".claude-plugin", "plugin.json"), Raw: l.fill(unwrap(raw, "hooks"))})
	} else if len(raw) > 0 {
		more, err := l.paths(raw, "hooks/hooks.json", true)
		if err != nil {
			return nil, err
		}
		files = files[:0]
		for _, f := range more {
			rel, _ := filepath.Rel(l.root, f)
			files = append(files, rel)
		}
	}
	for i, f := range files {
		path := filepath.Join(l.root, f)
		b, err := os.ReadFile(path)
		if errors.Is(err, os.ErrNotExist) && i == 0 {
			continue
		}
		if err != nil {
			return nil, err
		}
		if !json.Valid(b) {
			return nil, fmt.Errorf("%s is no JSON", f)
		}
		out = append(out, Hooks{File: path, Raw: l.fill(unwrap(b, "hooks"))})
	}
	return out, nil
}

// unwrap returns the value of a key of an object, or the object itself where it has no such key.
func unwrap(raw json.RawMessage, key string) json.RawMessage {
	var fields map[string]json.RawMessage
	if json.Unmarshal(raw, &fields) == nil && len(fields[key]) > 0 {
		return fields[key]
	}
	return raw
}

// servers reads .mcp.json, and what the manifest names or holds.
func (l loader) servers(raw json.RawMessage) (map[string]json.RawMessage, error) {
	out := map[string]json.RawMessage{}
	take := func(where string, b json.RawMessage) error {
		var list map[string]json.RawMessage
		if err := json.Unmarshal(l.fill(unwrap(b, "mcpServers")), &list); err != nil {
			return fmt.Errorf("%s: %w", where, err)
		}
		for name, v := range list {
			out[name] = v
		}
		return nil
	}
	files := []string{".mcp.json"}
	var name string
	switch {
	case len(raw) > 0 && raw[0] == '{':
		if err := take("plugin.json", raw); err != nil {
			return nil, err
		}
	case len(raw) > 0 && json.Unmarshal(raw, &name) == nil:
		if _, err := l.inside(name); err != nil {
			return nil, err
		}
		files = append(files, name)
	}
	for _, f := range files {
		b, err := os.ReadFile(filepath.Join(l.root, filepath.FromSlash(f)))
		if errors.Is(err, os.ErrNotExist) && f == ".mcp.json" {
			continue
		}
		if err == nil {
			err = take(f, b)
		}
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// fill puts the plugin's variables into the texts of a JSON value.
func (l loader) fill(raw json.RawMessage) json.RawMessage {
	text := string(raw)
	for name, value := range l.vars {
		quoted, _ := json.Marshal(value) // a path always has a form
		text = strings.ReplaceAll(text, "${"+name+"}", strings.Trim(string(quoted), `"`))
	}
	return json.RawMessage(text)
}
