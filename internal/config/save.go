package config

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tailscale/hujson"

	"lathe/internal/perm"
)

// AddRules adds permission rules to a settings file and keeps everything else in it: comments, order, unknown keys.
// A file that is not there is made, private to the user. Rules that it has already are not added again. A file with
// wrong JSON is left alone, with an error that says where it is wrong.
func AddRules(file string, effect perm.Verdict, rules []string) error {
	return add(file, effect.String(), rules)
}

// AddDirs adds working directories, absolute, to a settings file in the same way.
func AddDirs(file string, dirs []string) error { return add(file, dirsKey, dirs) }

// dirsKey is the list of working directories below permissions.
const dirsKey = "additionalDirectories"

func add(file, list string, texts []string) error {
	tree, err := readTree(file)
	if err != nil {
		return fmt.Errorf("save permissions.%s: %w", list, err)
	}
	if err := addTo(&tree, list, texts); err != nil {
		return fmt.Errorf("save permissions.%s in %s: %w", list, file, err)
	}
	tree.Format()
	return writeSettings(file, tree.Pack())
}

// readTree reads a settings file with its comments; one that is not there is an empty object.
func readTree(file string) (hujson.Value, error) {
	text, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return hujson.Value{}, err
	}
	if len(text) == 0 {
		text = []byte("{}\n")
	}
	if _, err := ParseLayer(User, file, "", text); err != nil {
		return hujson.Value{}, err
	}
	return hujson.Parse(text)
}

// Set sets one key of a settings file, dotted where it is inside an object, and keeps everything else in it; a nil value
// removes it. What no settings file may say is refused, as is a file with wrong JSON.
func Set(file, key string, value json.RawMessage) error {
	if !Known(key) {
		return fmt.Errorf("there is no setting %q (lathe config schema lists them)", key)
	}
	tree, err := readTree(file)
	if err != nil {
		return fmt.Errorf("save the setting: %w", err)
	}
	if err := setIn(&tree, strings.Split(key, "."), value); err != nil {
		return fmt.Errorf("save %s in %s: %w", key, file, err)
	}
	tree.Format()
	out := tree.Pack()
	l, err := ParseLayer(User, file, "", out)
	if err != nil {
		return fmt.Errorf("save %s: %w", key, err)
	}
	if err := l.guards(); err != nil {
		return fmt.Errorf("save %s: %w", key, err)
	}
	return writeSettings(file, out)
}

// Known reports whether there is such a setting. Only its first part is looked at where it is inside an object.
func Known(key string) bool { return key != "" && (known()[key] || known()[topOf(key)]) }

func setIn(tree *hujson.Value, parts []string, value json.RawMessage) error {
	at := ""
	for i, part := range parts {
		at += "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(part)
		there := tree.Find(at) != nil
		switch {
		case i == len(parts)-1 && value == nil:
			if !there {
				return nil
			}
			op, err := json.Marshal([]map[string]any{{"op": "remove", "path": at}})
			if err != nil {
				return err
			}
			return tree.Patch(op)
		case i == len(parts)-1:
			return patch(tree, at, value)
		case !there && value == nil:
			return nil
		case !there:
			if err := patch(tree, at, json.RawMessage("{}")); err != nil {
				return err
			}
		}
	}
	return nil
}

// addTo appends to permissions.<list>, making what is not there.
func addTo(tree *hujson.Value, list string, rules []string) error {
	path := "/permissions/" + list
	for _, p := range []struct{ path, empty string }{{"/permissions", "{}"}, {path, "[]"}} {
		if tree.Find(p.path) == nil {
			if err := patch(tree, p.path, json.RawMessage(p.empty)); err != nil {
				return err
			}
		}
	}
	std := tree.Find(path).Clone()
	std.Standardize()
	var have []string
	if err := json.Unmarshal(std.Pack(), &have); err != nil {
		return fmt.Errorf("permissions.%s is not a list of texts", list)
	}
	for _, r := range rules {
		if slices.Contains(have, r) {
			continue
		}
		raw, err := json.Marshal(r)
		if err != nil {
			return err
		}
		if err := patch(tree, path+"/-", raw); err != nil {
			return err
		}
		have = append(have, r)
	}
	return nil
}

func patch(tree *hujson.Value, path string, value json.RawMessage) error {
	op, err := json.Marshal([]map[string]any{{"op": "add", "path": path, "value": value}})
	if err != nil {
		return err
	}
	return tree.Patch(op)
}

// writeSettings replaces a settings file whole; a link stays a link, and a file keeps its mode.
func writeSettings(file string, text []byte) error {
	if target, err := filepath.EvalSymlinks(file); err == nil {
		file = target
	}
	mode := fs.FileMode(0o600)
	if info, err := os.Stat(file); err == nil {
		mode = info.Mode().Perm()
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return fmt.Errorf("save settings: %w", err)
	}
	tmp, err := os.CreateTemp(filepath.Dir(file), ".settings-*")
	if err != nil {
		return fmt.Errorf("save settings: %w", err)
	}
	defer os.Remove(tmp.Name())
	_, err = tmp.Write(text)
	if chmodErr := tmp.Chmod(mode); err == nil {
		err = chmodErr
	}
	if closeErr := tmp.Close(); err == nil {
		err = closeErr
	}
	if err == nil {
		err = os.Rename(tmp.Name(), file)
	}
	if err != nil {
		return fmt.Errorf("save settings: %w", err)
	}
	return nil
}

// RemoveRules takes the rules of an effect out of a settings file for which gone reports true. Everything else stays.
func RemoveRules(file string, effect perm.Verdict, gone func(rule string) bool) error {
	return remove(file, effect.String(), gone)
}

// RemoveDirs takes working directories out of a settings file.
func RemoveDirs(file string, gone func(dir string) bool) error { return remove(file, dirsKey, gone) }

func remove(file, list string, gone func(string) bool) error {
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("remove from permissions.%s: %w", list, err)
	}
	tree, err := hujson.Parse(text)
	if err != nil {
		return fmt.Errorf("remove from permissions.%s in %s: %w", list, file, err)
	}
	path := "/permissions/" + list
	if tree.Find(path) == nil {
		return nil
	}
	std := tree.Find(path).Clone()
	std.Standardize()
	var have []string
	if err := json.Unmarshal(std.Pack(), &have); err != nil {
		return fmt.Errorf("%s: permissions.%s is not a list of texts", file, list)
	}
	for i := len(have) - 1; i >= 0; i-- {
		if !gone(have[i]) {
			continue
		}
		if err := tree.Patch(fmt.Appendf(nil, `[{"op":"remove","path":"%s/%d"}]`, path, i)); err != nil {
			return fmt.Errorf("remove from permissions.%s in %s: %w", list, file, err)
		}
	}
	tree.Format()
	return writeSettings(file, tree.Pack())
}
