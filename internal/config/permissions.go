package config

import (
	"encoding/json"
	"fmt"

	"lathe/internal/perm"
)

// Permissions is the joined permissions block.
type Permissions struct {
	Rules []perm.Rule
	Dirs  []string // additional directories
	Mode  string
	// Skipped counts allow rules and directories of layers that are not trusted.
	Skipped       int
	DisableBypass bool
	// BlockOutside refuses reads outside the working directories in every mode.
	BlockOutside bool
}

type permissionKeys struct {
	Allow, Ask, Deny []json.RawMessage
	Dirs             []string
	DefaultMode      string
	DisableBypass    string
	BlockOutside     bool
}

// Permissions joins the permissions blocks. Deny and ask rules count from every layer; allow rules and
// directories only from trusted ones. The mode comes from the highest layer; bypassPermissions and auto are
// taken only from the user's own files and the command line.
func (s *Settings) Permissions() Permissions {
	var out Permissions
	onlyManaged := s.managedOnly("allowManagedPermissionRulesOnly")
	for _, l := range s.Layers {
		if onlyManaged && l.Scope != Managed {
			continue
		}
		v, ok := l.Keys["permissions"]
		if !ok {
			continue
		}
		k := s.permissionKeys(l, v)
		s.rules(&out, l, "deny", perm.Deny, k.Deny)
		s.rules(&out, l, "ask", perm.Ask, k.Ask)
		if l.Trusted {
			s.rules(&out, l, "allow", perm.Allow, k.Allow)
			out.Dirs = appendNew(out.Dirs, k.Dirs...)
		} else {
			out.Skipped += len(k.Allow) + len(k.Dirs)
		}
		own := l.Scope == User || l.Scope == CLI || l.Scope == Managed
		power := k.DefaultMode == string(perm.ModeBypass) || k.DefaultMode == string(perm.ModeAuto)
		if out.Mode == "" && k.DefaultMode != "" && (own || l.Trusted && !power) {
			out.Mode = k.DefaultMode
		}
		out.BlockOutside = out.BlockOutside || k.BlockOutside
		out.DisableBypass = out.DisableBypass || k.DisableBypass == "disable"
	}
	return out
}

// permissionKeys decodes each key by itself: one with a value of the wrong type must not take the deny rules
// beside it along. A list that is a single text counts as a list of one.
func (s *Settings) permissionKeys(l *Layer, block json.RawMessage) permissionKeys {
	var k permissionKeys
	keys := map[string]json.RawMessage{}
	if json.Unmarshal(block, &keys) != nil {
		s.problem(l, "permissions", "must be an object")
		return k
	}
	read := func(key, what string, into any) {
		v, ok := keys[key]
		if ok && json.Unmarshal(v, into) != nil {
			text := fmt.Sprintf("%s:%d: permissions.%s must be %s (ignored)", l.name(), l.Line("/permissions/"+key), key, what)
			s.Problems = appendNew(s.Problems, text)
		}
	}
	rules := func(key string) (list []json.RawMessage) {
		if v := keys[key]; len(v) > 0 && v[0] == '"' {
			return []json.RawMessage{v}
		}
		read(key, "a list of texts", &list)
		return list
	}
	k.Allow, k.Ask, k.Deny = rules("allow"), rules("ask"), rules("deny")
	read("additionalDirectories", "a list of texts", &k.Dirs)
	read("defaultMode", "a text", &k.DefaultMode)
	read("disableBypassPermissionsMode", "a text", &k.DisableBypass)
	read("blockReadsOutsideWorkingDirectories", "true or false", &k.BlockOutside)
	return k
}

// managedOnly is a switch that only managed settings may set.
func (s *Settings) managedOnly(key string) bool {
	for _, l := range s.Layers {
		if v, ok := l.Keys[key]; ok && l.Scope == Managed {
			return string(v) == "true"
		}
	}
	return false
}

func (s *Settings) rules(out *Permissions, l *Layer, list string, effect perm.Verdict, raw []json.RawMessage) {
	for i, r := range raw {
		pointer := fmt.Sprintf("/permissions/%s/%d", list, i)
		var text string
		if json.Unmarshal(r, &text) != nil {
			s.Problems = appendNew(s.Problems, fmt.Sprintf("%s:%d: permissions.%s[%d] must be a text (skipped)", l.name(), l.Line(pointer), list, i))
			continue
		}
		src := perm.Source{Kind: "rule", Rule: text, Scope: string(l.Scope), File: l.File, Line: l.Line(pointer)}
		repo := l.Scope == Project || l.Scope == Local
		out.Rules = append(out.Rules, perm.Rule{Text: text, Effect: effect, Source: src, Dir: l.Anchor, Repo: repo})
	}
}
