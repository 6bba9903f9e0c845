package app

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"

	"lathe/internal/config"
	"lathe/internal/event"
	"lathe/internal/perm"
)

// flagQueries are about settings.
func (r *run) flagQueries() map[string]answer {
	return map[string]answer{
		"apply_flag_settings":   on(r.applyFlags),
		"update_settings":       on(r.updateSettings),
		"get_settings":          on(func(context.Context, nothing) (any, error) { return r.settingsNow(), nil }),
		"list_permission_rules": on(func(context.Context, nothing) (any, error) { return r.rulesNow(), nil }),
	}
}

type settingsChange struct {
	Source   string                     `json:"source"`
	Settings map[string]json.RawMessage `json:"settings"`
}

// applyFlags changes the settings of the command line for the rest of the session: each key replaces what was there,
// null takes it out. Rules count from the next call on, model and effort from the next turn.
func (r *run) applyFlags(ctx context.Context, in settingsChange) (any, error) {
	if err := r.mergeFlags(in.Settings); err != nil {
		return nil, err
	}
	if raw, ok := in.Settings["model"]; ok {
		var name *string
		if err := json.Unmarshal(raw, &name); err != nil {
			return nil, fmt.Errorf("model must be a text: %w", err)
		}
		if _, err := r.setModel(ctx, name); err != nil {
			return nil, err
		}
	}
	if raw, ok := in.Settings["effortLevel"]; ok {
		var level string
		if err := json.Unmarshal(raw, &level); err != nil {
			return nil, fmt.Errorf("effortLevel must be a text: %w", err)
		}
		r.session.SetEffort(level)
	}
	if raw, ok := in.Settings["fastMode"]; ok {
		var fast bool
		if err := json.Unmarshal(raw, &fast); err != nil {
			return nil, fmt.Errorf("fastMode must be true or false: %w", err)
		}
		if err := r.setFast(fast); err != nil {
			return nil, err
		}
	}
	return nothing{}, nil
}

func (r *run) mergeFlags(change map[string]json.RawMessage) error {
	r.changing.Lock()
	defer r.changing.Unlock()
	flags, err := inlineSettings(r.place.Places.Inline)
	if err != nil {
		return err
	}
	for key, v := range change {
		if string(v) == "null" {
			delete(flags, key)
		} else {
			flags[key] = v
		}
	}
	places := r.place.Places
	places.Inline = string(event.Encode(flags))
	s, err := config.Load(places)
	if err != nil {
		return err
	}
	s.TrustProject(r.place.Counts() && r.grantsHash(s) == r.approved)
	r.place.Places, r.latest, r.watch = places, s, config.NewWatcher(places, r.place.Sys.Now)
	for _, n := range r.compile(s.Permissions()) {
		r.warn(n)
	}
	return nil
}

// inlineSettings reads the value of --settings: JSON, or the path of a file.
func inlineSettings(text string) (map[string]json.RawMessage, error) {
	out := map[string]json.RawMessage{}
	if text == "" {
		return out, nil
	}
	data := []byte(text)
	if !strings.HasPrefix(strings.TrimSpace(text), "{") {
		var err error
		if data, err = os.ReadFile(text); err != nil {
			return nil, err
		}
	}
	l, err := config.ParseLayer(config.CLI, "", "", data)
	if err != nil {
		return nil, err
	}
	for k, v := range l.Keys {
		out[k] = v
	}
	return out, nil
}

// updateSettings writes a settings file. Only keys that grant and run nothing may be written so.
func (r *run) updateSettings(_ context.Context, in settingsChange) (any, error) {
	where, allowed := event.SaveLocal, "outputStyle"
	switch in.Source {
	case "localSettings":
	case "userSettings":
		where, allowed = event.SaveUser, "effortLevel"
	default:
		return nil, fmt.Errorf("source must be localSettings or userSettings, not %q", in.Source)
	}
	for key, v := range in.Settings {
		var text string
		if key != allowed || json.Unmarshal(v, &text) != nil {
			return nil, fmt.Errorf("in %s only %s may be written, as a text", in.Source, allowed)
		}
	}
	file, err := r.settingsFile(where)
	if err != nil {
		return nil, err
	}
	for key, v := range in.Settings {
		if err := r.saveSetting(file, key, v); err != nil {
			return nil, err
		}
	}
	return nothing{}, nil
}

// sourceNames are the protocol's names of where settings come from.
func sourceName(s string) string {
	names := map[string]string{
		"user": "userSettings", "project": "projectSettings", "local": "localSettings", "managed": "policySettings",
		string(config.CLI): "flagSettings", "session": "session",
	}
	if n := names[s]; n != "" {
		return n
	}
	return "session"
}

// settingsNow is the settings in force, whole and by source, lowest first.
func (r *run) settingsNow() map[string]any {
	r.changing.Lock()
	s := r.latest
	r.changing.Unlock()
	effective, sources := map[string]json.RawMessage{}, []map[string]any{}
	for _, l := range slices.Backward(s.Layers) { // highest first in the list
		if !l.Trusted && (l.Scope == config.Project || l.Scope == config.Local) {
			continue
		}
		for k, v := range l.Keys {
			effective[k] = v
		}
		sources = append(sources, map[string]any{"source": sourceName(string(l.Scope)), "settings": l.Keys})
	}
	return map[string]any{
		"effective": effective, "sources": sources,
		"applied": map[string]any{"model": r.session.Model(), "effort": nullText(r.session.Effort())},
	}
}

func nullText(s string) any {
	if s == "" {
		return nil
	}
	return s
}

// rulesNow is the permission rules in force and the working directories.
func (r *run) rulesNow() map[string]any {
	rules := []map[string]any{}
	for _, rule := range r.book.Load().rules {
		source := sourceName(rule.Source.Scope)
		if source == "flagSettings" && rule.Source.Line == 0 {
			source = "cliArg"
		}
		edit := "persistent"
		switch source {
		case "session", "cliArg":
			edit = "session"
		case "policySettings", "flagSettings":
			edit = "readonly"
		}
		rules = append(rules, map[string]any{"behavior": behavior(rule.Effect), "source": source, "rule": rule.Text, "editability": edit})
	}
	dirs := []map[string]any{}
	for _, d := range r.tools.workspace.Roots()[1:] {
		dirs = append(dirs, map[string]any{"path": d, "source": "session"})
	}
	return map[string]any{"state": map[string]any{
		"rules": rules, "workspaceDirectories": dirs, "originalCwd": r.tools.workspace.Start(), "managedOnly": false,
	}}
}

func behavior(v perm.Verdict) string {
	switch v {
	case perm.Deny:
		return "deny"
	case perm.Ask:
		return "ask"
	}
	return "allow"
}

// hooksListing is the hooks of the settings by event, for a host's list.
func (r *run) hooksListing() map[string]any {
	list, counts, events := []map[string]any{}, map[string]int{}, []map[string]any{}
	for _, h := range r.hooks.set.List() {
		e := string(h.Event)
		if counts[e]++; counts[e] == 1 {
			events = append(events, map[string]any{"name": e, "summary": e, "supportsMatcher": h.Matcher != ""})
		}
		list = append(list, map[string]any{
			"event": e, "matcher": h.Matcher, "source": "settings", "sourceLabel": h.Where, "type": h.Type,
			"displayText": h.Title, "commandText": h.Title, "contentLabel": h.Type,
		})
	}
	for _, e := range events {
		e["hookCount"] = counts[e["name"].(string)]
	}
	off, only := hooksOff(r.place.Settings)
	return map[string]any{
		"events": events, "hooks": list, "eventCatalog": events,
		"policy": map[string]any{"disabledByPolicy": off == config.Managed, "managedOnly": only, "pluginOnly": false, "allDisabled": off != "", "policyHookCount": 0},
	}
}
