package agent

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"
)

// given is a definition of --agents or of a host's option "agents". Its keys are those of the files, with the body as
// "prompt".
type given struct {
	Description string          `json:"description"`
	Prompt      string          `json:"prompt"`
	Tools       list            `json:"tools"`
	Disallowed  list            `json:"disallowedTools"`
	Model       string          `json:"model"`
	Effort      json.RawMessage `json:"effort"`
	Mode        string          `json:"permissionMode"`
	MaxTurns    int             `json:"maxTurns"`
	Skills      list            `json:"skills"`
	Servers     json.RawMessage `json:"mcpServers"`
	Hooks       json.RawMessage `json:"hooks"`
	Isolation   string          `json:"isolation"`
	Background  bool            `json:"background"`
	Color       string          `json:"color"`
	Initial     string          `json:"initialPrompt"`
	Memory      string          `json:"memory"`
	NoMemory    bool            `json:"omitClaudeMd"`
}

// list is a list of texts, or one text with commas. It remembers whether it was there.
type list []string

func (l *list) UnmarshalJSON(b []byte) error {
	if bytes.Equal(b, []byte("null")) {
		return nil
	}
	*l = list{}
	var text string
	if json.Unmarshal(b, &text) == nil {
		*l = append(*l, split(text)...)
		return nil
	}
	var all []string
	if err := json.Unmarshal(b, &all); err != nil {
		return err
	}
	*l = append(*l, all...)
	return nil
}

// Given reads definitions from JSON: an object of definitions by name. Nothing and null are no definitions.
func Given(raw json.RawMessage) ([]Def, error) {
	if len(bytes.TrimSpace(raw)) == 0 || string(bytes.TrimSpace(raw)) == "null" {
		return nil, nil
	}
	var all map[string]json.RawMessage
	if err := json.Unmarshal(raw, &all); err != nil {
		return nil, fmt.Errorf("agents must be a JSON object of definitions by name: %w", err)
	}
	var out []Def
	for _, name := range slices.Sorted(maps.Keys(all)) {
		var g given
		if err := json.Unmarshal(all[name], &g); err != nil {
			return nil, fmt.Errorf("agent %q: %w", name, err)
		}
		d := Def{
			Name: name, Description: strings.TrimSpace(g.Description), Prompt: strings.TrimSpace(g.Prompt), Scope: CLI,
			Tools: names(g.Tools), Spawns: spawnsOf(g.Tools), Disallowed: names(g.Disallowed), Model: strings.TrimSpace(g.Model), Effort: text(g.Effort), Mode: g.Mode,
			MaxTurns: g.MaxTurns, Skills: g.Skills, Hooks: g.Hooks, Isolation: g.Isolation, Background: g.Background, Color: g.Color,
			Initial: g.Initial, Memory: g.Memory, NoMemory: g.NoMemory,
		}
		d.Servers, d.Inline = servers(g.Servers)
		if !d.tidy() {
			return nil, fmt.Errorf("agent %q needs a description, and a name of at most %d characters without a colon or a leading hyphen", name, maxName)
		}
		out = append(out, d)
	}
	return out, nil
}

func text(raw json.RawMessage) string {
	var s string
	_ = json.Unmarshal(raw, &s) // a number is no level that we know
	return s
}

// servers are the names of a definition's MCP servers, nil when it does not say, and the entries of those that it
// brings along.
func servers(raw json.RawMessage) (out []string, own map[string]json.RawMessage) {
	var all []json.RawMessage
	if json.Unmarshal(raw, &all) != nil || all == nil {
		return nil, nil
	}
	out = []string{}
	for _, one := range all {
		var name string
		var inline map[string]json.RawMessage
		switch {
		case json.Unmarshal(one, &name) == nil:
			out = append(out, name)
		case json.Unmarshal(one, &inline) == nil:
			out = append(out, slices.Sorted(maps.Keys(inline))...)
			if own == nil {
				own = map[string]json.RawMessage{}
			}
			maps.Copy(own, inline)
		}
	}
	return out, own
}

// some is a list that is there, even when it is empty: it leaves nothing.
func some(l []string) []string {
	if l == nil {
		return []string{}
	}
	return l
}

// names gives tools their common names and leaves out what a rule says in parentheses.
func names(l []string) []string {
	if l == nil {
		return nil
	}
	out := []string{}
	for _, n := range l {
		n, _, _ = strings.Cut(n, "(")
		switch n = strings.TrimSpace(n); n {
		case "":
			continue
		case "Task":
			n = "Agent"
		}
		out = append(out, n)
	}
	return out
}

// tidy brings the values into their form. It reports whether the definition can be used.
func (d *Def) tidy() bool {
	d.Description = strings.Join(strings.Fields(d.Description), " ")
	if strings.EqualFold(d.Model, "inherit") {
		d.Model = ""
	}
	if d.Mode == "manual" {
		d.Mode = "default"
	}
	if d.Memory != "user" && d.Memory != "project" && d.Memory != "local" {
		d.Memory = ""
	}
	if d.Isolation != Worktree {
		d.Isolation = ""
	}
	d.MaxTurns = max(0, d.MaxTurns)
	d.Skills = d.Skills[:min(len(d.Skills), maxSkills)]
	if slices.Contains(d.Tools, "*") {
		d.Tools = nil
	}
	return d.Description != "" && validName(d.Name)
}

// validName refuses names that would break the lines of a listing or of a rule, or look like others.
func validName(name string) bool {
	return name != "" && len(name) <= maxName && name[0] != '-' &&
		!strings.ContainsFunc(name, func(r rune) bool {
			return r < ' ' || unicode.In(r, unicode.C, unicode.Zl, unicode.Zp) || strings.ContainsRune("():*\"`<>", r)
		})
}
