package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"lathe/internal/config"
	"lathe/internal/event"
	"lathe/internal/perm"
)

// switchQueries are the lists of rules and settings that a person changes on the screen.
func (r *run) switchQueries() map[string]answer {
	return map[string]answer{
		"screen_rules":  on(func(context.Context, nothing) (any, error) { return map[string]any{"rules": r.screenRules()}, nil }),
		"change_rule":   on(r.changeRule),
		"screen_config": on(func(context.Context, nothing) (any, error) { return map[string]any{"settings": r.screenConfig()}, nil }),
	}
}

type screenRule struct {
	Rule     string `json:"rule"`
	Behavior string `json:"behavior"`
	Scope    string `json:"scope"`
	File     string `json:"file"`
	Line     int    `json:"line"`
	Fixed    bool   `json:"fixed"` // cannot be taken away here
}

// screenRules are the rules in force, in the order in which they are looked at.
func (r *run) screenRules() []screenRule {
	out := []screenRule{}
	for _, rule := range r.book.Load().rules {
		s := screenRule{Rule: rule.Text, Behavior: behavior(rule.Effect), Scope: rule.Source.Scope, File: rule.Source.File, Line: rule.Source.Line}
		s.Fixed = !r.removable(s)
		out = append(out, s)
	}
	return slices.DeleteFunc(out, func(s screenRule) bool { // what an answer saved holds in the session, too
		return s.File == "" && slices.ContainsFunc(out, func(x screenRule) bool { return x.File != "" && x.Rule == s.Rule && x.Behavior == s.Behavior })
	})
}

// removable reports whether a rule stands where a person saves rules: in the session's grants, or in a settings file
// that is theirs or the project's.
func (r *run) removable(s screenRule) bool {
	if s.File == "" {
		r.mu.Lock()
		defer r.mu.Unlock()
		return slices.ContainsFunc(r.granted, func(x perm.Rule) bool { return x.Text == s.Rule && behavior(x.Effect) == s.Behavior })
	}
	return slices.ContainsFunc(r.latest.Layers, func(l *config.Layer) bool {
		return l.File == s.File && (l.Scope == config.User || l.Scope == config.Project || l.Scope == config.Local)
	})
}

// changeRule adds a rule to a scope, or takes one away from where it stands.
func (r *run) changeRule(_ context.Context, in struct {
	Remove bool `json:"remove"`
	screenRule
},
) (any, error) {
	effect, known := map[string]perm.Verdict{"allow": perm.Allow, "ask": perm.Ask, "deny": perm.Deny}[in.Behavior]
	if !known {
		return nil, fmt.Errorf("a rule cannot %q", in.Behavior)
	}
	if !in.Remove {
		if _, _, _, err := perm.ParseRule(in.Rule); err != nil {
			return nil, err
		}
		return nothing{}, r.remember([]perm.Rule{{Text: in.Rule, Effect: effect}}, event.Scope(in.Scope))
	}
	if !r.removable(in.screenRule) {
		return nil, errors.New("this rule is not yours to take away here")
	}
	rule := []perm.Rule{{Text: in.Rule, Effect: effect}}
	if in.File == "" {
		return nothing{}, r.forget(rule, effect, event.SaveSession, false)
	}
	if err := r.forget(rule, effect, event.SaveSession, false); err != nil { // of an answer that also saved it
		return nil, err
	}
	r.changing.Lock()
	defer r.changing.Unlock()
	defer func() { r.compile(r.latest.Permissions()) }()
	return nothing{}, r.save(func() error {
		return config.RemoveRules(in.File, effect, func(text string) bool { return text == in.Rule })
	})
}

// screenSetting is a setting that is switched on the screen.
type screenSetting struct {
	Key    string   `json:"key"`
	Does   string   `json:"does"`
	Values []string `json:"values"` // as JSON; the first is what holds by default
	Now    string   `json:"now"`
	Scope  string   `json:"scope"` // where Now stands, "" by default
}

// switched are the settings with few values that this program heeds.
var switched = []screenSetting{
	{Key: "theme", Does: "the colours", Values: []string{`"auto"`, `"dark"`, `"light"`, `"dark-daltonized"`, `"light-daltonized"`, `"dark-ansi"`, `"light-ansi"`, `"none"`}},
	{Key: "tui", Does: "the screen: inline, or whole", Values: []string{`"default"`, `"fullscreen"`}},
	{Key: "editorMode", Does: "the keys of the input box", Values: []string{`"normal"`, `"vim"`}},
	{Key: "prefersReducedMotion", Does: "nothing moves but the clock", Values: []string{"false", "true"}},
	{Key: "syntaxHighlightingDisabled", Does: "code without colours", Values: []string{"false", "true"}},
	{Key: "showTurnDuration", Does: "time and cost after each turn", Values: []string{"false", "true"}},
	{Key: "preferredNotifChannel", Does: "how you are called", Values: []string{`"auto"`, `"terminal_bell"`, `"iterm2"`, `"iterm2_with_bell"`, `"kitty"`, `"ghostty"`, `"notifications_disabled"`}},
	{Key: "permissions.defaultMode", Does: "the mode that a session begins in", Values: []string{`"default"`, `"acceptEdits"`, `"plan"`, `"dontAsk"`}},
	{Key: "autoCompactEnabled", Does: "a full window is summarised by itself", Values: []string{"true", "false"}},
	{Key: "autoMemoryEnabled", Does: "notes of the model's own", Values: []string{"true", "false"}},
	{Key: "alwaysThinkingEnabled", Does: "the model thinks first", Values: []string{"true", "false"}},
	{Key: "fileCheckpointingEnabled", Does: "files are kept before they change", Values: []string{"true", "false"}},
	{Key: "includeGitInstructions", Does: "the model is told how to commit", Values: []string{"true", "false"}},
	{Key: "respectGitignore", Does: "@ leaves out what git ignores", Values: []string{"true", "false"}},
}

// openValue reports whether a value counts that is not listed, for settings whose list is not all that they may be: a mode, a theme of the user's own.
func openValue(key, text string) bool {
	return key == "permissions.defaultMode" || key == "theme" && strings.HasPrefix(text, "custom:")
}

// checkSetting refuses a value that a setting with few values does not know. A nil one removes the setting.
func checkSetting(key string, value json.RawMessage) error {
	i := slices.IndexFunc(switched, func(s screenSetting) bool { return s.Key == key })
	if i < 0 || value == nil || slices.Contains(switched[i].Values, string(value)) {
		return nil
	}
	var text string
	if json.Unmarshal(value, &text) == nil && openValue(key, text) {
		return nil
	}
	known := strings.ReplaceAll(strings.Join(switched[i].Values, ", "), `"`, "")
	return fmt.Errorf("%s is not set: %s is not among what it may be (%s)", key, event.OneLine(string(value), 80), known)
}

// screenConfig are the switched settings with the values that hold.
func (r *run) screenConfig() []screenSetting {
	latest, err := config.Load(r.place.Places)
	if err != nil {
		latest = r.latest
	} else {
		latest.TrustProject(r.place.Counts())
	}
	now := map[string]config.Value{}
	for _, v := range latest.Effective() {
		if _, have := now[v.Key]; v.Used && !have {
			now[v.Key] = v
		}
	}
	var out []screenSetting
	for _, s := range switched {
		if !config.Known(s.Key) {
			continue
		}
		s.Now = s.Values[0]
		if v, ok := now[s.Key]; ok {
			s.Now, s.Scope = compactJSON(v.Value), string(v.Scope)
		}
		out = append(out, s)
	}
	return append(out, r.screenStyle(now["outputStyle"]))
}

func compactJSON(v json.RawMessage) string { return string(event.Encode(v)) }
