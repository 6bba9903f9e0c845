package app

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"

	"lathe/internal/event"
	"lathe/internal/perm"
)

// offer says what a lasting answer to a question could grant, as permission updates in the documented form, and which
// path was in the way, if it was one.
func (r *run) offer(req perm.Request, d perm.Decision) (updates json.RawMessage, blocked string) {
	var list []map[string]any
	path, writes := r.pathOf(req)
	if path != "" && !r.within(path) {
		blocked = path
	}
	switch {
	case writes && r.session.Mode() == string(perm.ModeDefault) && d.Source.Kind != "rule":
		list = append(list, map[string]any{"type": "setMode", "mode": string(perm.ModeAcceptEdits), "destination": "session"})
		if blocked != "" {
			list = append(list, map[string]any{"type": "addDirectories", "directories": []string{filepath.Dir(path)}, "destination": "session"})
		}
	case !writes || len(d.Suggest) > 0:
		destination := "localSettings"
		if path != "" {
			destination = "session"
		}
		list = ruleUpdates(d.Suggest, destination)
	}
	return event.Encode(append([]map[string]any{}, list...)), blocked
}

// pathOf is the path that a file tool's call is about, absolute, and whether the call would change it.
func (r *run) pathOf(req perm.Request) (path string, writes bool) {
	var in struct {
		File     string `json:"file_path"`
		Notebook string `json:"notebook_path"`
		Path     string `json:"path"`
	}
	_ = json.Unmarshal(req.Input, &in) // a call without paths has none
	switch req.Tool {
	case "Write", "Edit", "MultiEdit", "NotebookEdit":
		path, writes = first(in.File, in.Notebook), true
	case "Read", "Glob", "Grep":
		path = first(in.File, in.Path)
	}
	if path != "" {
		path = filepath.Clean(r.tools.workspace.Abs(path))
	}
	return path, writes
}

// within reports whether a path lies in a working directory.
func (r *run) within(path string) bool {
	return slices.ContainsFunc(r.tools.workspace.Roots(), func(root string) bool {
		return path == root || strings.HasPrefix(path, strings.TrimSuffix(root, string(filepath.Separator))+string(filepath.Separator))
	})
}

// ruleUpdates writes rules that allow as one update.
func ruleUpdates(rules []perm.Rule, destination string) []map[string]any {
	list := make([]map[string]string, 0, len(rules))
	for _, r := range rules {
		name, content, bare, err := perm.ParseRule(r.Text)
		if err != nil {
			continue
		}
		rule := map[string]string{"toolName": name}
		if !bare {
			rule["ruleContent"] = content
		}
		list = append(list, rule)
	}
	if len(list) == 0 {
		return nil
	}
	return []map[string]any{{"type": "addRules", "behavior": "allow", "destination": destination, "rules": list}}
}
