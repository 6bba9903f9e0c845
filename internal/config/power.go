package config

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Grant is one thing that a project's files would grant, run or set if the project is trusted.
type Grant struct {
	Key  string // "hooks", "permissions.allow", "env.PATH", ".mcp.json"
	Text string // its value, compact JSON or a file's text
	File string
	Line int
}

// powerKeys are the top-level keys whose values name programs, endpoints or models, say what of the environment leaves
// the machine, or switch off what the user has set up.
var powerKeys = []string{
	"autoMemoryDirectory",
	"apiKeyHelper", "awsAuthRefresh", "awsCredentialExport", "gcpAuthRefresh", "otelHeadersHelper", "model", "fastMode",
	"hooks", "allowedHttpHookUrls", "httpHookAllowedEnvVars", "disableAllHooks",
	"fallbackModel", "modelOverrides", "statusLine", "subagentStatusLine", "fileSuggestion", "sandbox", "enabledPlugins",
	"extraKnownMarketplaces", "enableAllProjectMcpServers", "enabledMcpjsonServers",
	"redactPatterns", "agent", "trace",
}

// ServersFile is the file of a project, beside the settings, that names MCP servers: programs that would be started.
const ServersFile = ".mcp.json"

// Grants lists what the project's and the local settings, .mcp.json in the first of the directories that has one, and
// the commands, skills and agents of the last directory would bring into force, with the files of it that their hooks and
// helpers name, in a fixed order. Deny and ask rules are not in it: they hold without trust.
func (s *Settings) Grants(dirs ...string) []Grant {
	var out []Grant
	for _, l := range s.Layers {
		if l.Scope != Project && l.Scope != Local {
			continue
		}
		add := func(key, ptr string, raw json.RawMessage) {
			out = append(out, Grant{Key: key, Text: compact(raw), File: l.File, Line: l.Line(ptr)})
		}
		for _, k := range powerKeys {
			if v, ok := l.Keys[k]; ok {
				add(k, "/"+k, v)
			}
		}
		for _, k := range l.objectKeys("env") {
			add("env."+k.name, "/env/"+pointer(k.name), k.value)
		}
		for _, k := range l.objectKeys("permissions") {
			if k.name == "allow" || k.name == "additionalDirectories" || k.name == "defaultMode" {
				add("permissions."+k.name, "/permissions/"+k.name, k.value)
			}
		}
	}
	for _, dir := range dirs {
		if dir == "" {
			continue
		}
		file := filepath.Join(dir, ServersFile)
		if b, err := os.ReadFile(file); err == nil && len(b) <= maxFile {
			out = append(out, Grant{Key: ServersFile, Text: strings.TrimSpace(string(b)), File: file, Line: 1})
			break
		}
	}
	dirs = slices.DeleteFunc(slices.Clone(dirs), func(dir string) bool { return dir == "" })
	if len(dirs) > 0 {
		out = append(out, definitions(dirs[len(dirs)-1])...)
	}
	return append(out, scripts(out, dirs)...)
}

type keyed struct {
	name  string
	value json.RawMessage
}

func (l *Layer) objectKeys(key string) []keyed {
	var fields map[string]json.RawMessage
	if json.Unmarshal(l.Keys[key], &fields) != nil {
		return nil
	}
	var out []keyed
	for _, k := range slices.Sorted(maps.Keys(fields)) {
		out = append(out, keyed{k, fields[k]})
	}
	return out
}

func compact(raw json.RawMessage) string {
	var v any
	if json.Unmarshal(raw, &v) != nil {
		return string(raw)
	}
	b, err := json.Marshal(v)
	if err != nil {
		return string(raw)
	}
	return string(b)
}

// GrantsHash is the hash that trust is bound to: the same grants in the same files, however they are laid out. top is
// the directory that is trusted; where below it a session starts makes no difference.
func GrantsHash(grants []Grant, top string) string {
	h := sha256.New()
	for _, g := range grants {
		file, err := filepath.Rel(top, g.File)
		if err != nil {
			file = g.File
		}
		fmt.Fprintf(h, "%d:%s %d:%s %d:%s\n", len(file), file, len(g.Key), g.Key, len(g.Text), g.Text)
	}
	return hex.EncodeToString(h.Sum(nil))
}
