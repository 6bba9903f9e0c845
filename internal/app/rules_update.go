package app

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"lathe/internal/config"
	"lathe/internal/event"
	"lathe/internal/perm"
	"lathe/internal/place"
)

// update is one of the documented permission updates.
type update struct {
	Type  string `json:"type"`
	Rules []struct {
		Tool    string  `json:"toolName"`
		Content *string `json:"ruleContent"`
	} `json:"rules"`
	Behavior    string   `json:"behavior"`
	Mode        string   `json:"mode"`
	Directories []string `json:"directories"`
	Destination string   `json:"destination"`
}

// applyUpdates takes the permission updates of a host's or a hook's answer. What cannot be applied does not keep the
// rest from it.
func (r *run) applyUpdates(raw json.RawMessage) error {
	var list []update
	if err := json.Unmarshal(raw, &list); err != nil {
		return err
	}
	var errs []error
	for _, u := range list {
		errs = append(errs, r.applyUpdate(u))
	}
	return errors.Join(errs...)
}

func (r *run) applyUpdate(u update) error {
	switch u.Type {
	case "setMode":
		if _, err := r.setMode(u.Mode); err != nil {
			return err
		}
		return r.saveIn(u.Destination, func(file string) error {
			return config.Set(file, "permissions.defaultMode", event.Encode(u.Mode))
		})
	case "addDirectories", "removeDirectories":
		return r.changeDirs(u)
	case "addRules", "replaceRules", "removeRules":
		return r.changeRules(u)
	}
	return fmt.Errorf("permission updates of type %q are not supported", u.Type)
}

// changeDirs adds or takes back working directories, in the session and in the file that was asked for.
func (r *run) changeDirs(u update) error {
	var dirs []string
	for _, d := range u.Directories {
		dir, err := place.RealDir(r.place.Sys.Dirs.Work, d)
		if u.Type == "removeDirectories" {
			if err != nil { // gone, or never there; the file may name it all the same
				continue
			}
			r.tools.workspace.RemoveRoot(dir)
		} else if err == nil {
			err = r.addDir(d, "slash_command")
		}
		if err != nil {
			return err
		}
		dirs = append(dirs, dir)
	}
	return r.saveIn(u.Destination, func(file string) error {
		if u.Type == "addDirectories" {
			return config.AddDirs(file, dirs)
		}
		return config.RemoveDirs(file, func(d string) bool { return slices.Contains(dirs, d) || slices.Contains(u.Directories, d) })
	})
}

// saveIn writes to the settings file that a destination names; what is for the session is not written.
func (r *run) saveIn(destination string, write func(file string) error) error {
	file, err := r.settingsFile(savedIn(destination))
	if err != nil || file == "" {
		return err
	}
	r.changing.Lock()
	defer r.changing.Unlock()
	return r.save(func() error { return write(file) })
}

// savedIn is the scope that a destination names; those that are no file have none.
func savedIn(destination string) event.Scope {
	return map[string]event.Scope{"localSettings": event.SaveLocal, "projectSettings": event.SaveProject, "userSettings": event.SaveUser}[destination]
}

// addDir makes a directory a working directory of the session. Hooks are told where it comes from.
func (r *run) addDir(name, source string) error {
	dir, err := place.RealDir(r.place.Sys.Dirs.Work, name)
	if err != nil {
		return err
	}
	if slices.Contains(r.tools.workspace.Roots(), dir) {
		return nil
	}
	r.tools.workspace.AddRoot(dir)
	r.tellRoots()
	r.hooks.added(dir, source)
	return nil
}

func (r *run) changeRules(u update) error {
	effect, known := map[string]perm.Verdict{"allow": perm.Allow, "ask": perm.Ask, "deny": perm.Deny}[u.Behavior]
	if !known {
		return fmt.Errorf("rules cannot have the behavior %q", u.Behavior)
	}
	var rules []perm.Rule
	for _, rule := range u.Rules {
		text := rule.Tool
		if rule.Content != nil && *rule.Content != "" {
			text += "(" + *rule.Content + ")"
		}
		if _, _, _, err := perm.ParseRule(text); err != nil {
			return err
		}
		rules = append(rules, perm.Rule{Text: text, Effect: effect})
	}
	where := savedIn(u.Destination)
	if u.Type == "addRules" {
		return r.remember(rules, cmp.Or(where, event.SaveSession))
	}
	if err := r.forget(rules, effect, where, u.Type == "replaceRules"); err != nil || u.Type == "removeRules" {
		return err
	}
	return r.remember(rules, cmp.Or(where, event.SaveSession))
}

// forget takes rules of one effect back: the named ones, or all.
func (r *run) forget(rules []perm.Rule, effect perm.Verdict, where event.Scope, all bool) error {
	gone := func(text string) bool {
		return all || slices.ContainsFunc(rules, func(x perm.Rule) bool { return x.Text == text })
	}
	r.mu.Lock()
	r.granted = slices.DeleteFunc(r.granted, func(x perm.Rule) bool { return x.Effect == effect && gone(x.Text) })
	r.mu.Unlock()
	r.changing.Lock()
	defer r.changing.Unlock()
	defer func() { r.compile(r.latest.Permissions()) }()
	file, err := r.settingsFile(where)
	if err != nil || file == "" {
		return err
	}
	return r.save(func() error { return config.RemoveRules(file, effect, gone) })
}
