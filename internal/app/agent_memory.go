package app

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"lathe/internal/agent"
	"lathe/internal/file"
	"lathe/internal/memory"
	"lathe/internal/perm"
	"lathe/internal/pipeline/attach"
	"lathe/internal/sys"
)

// agentNotes is the memory of the agent that a conversation works by.
type agentNotes struct {
	memory.Auto
	added []string // tools that the agent has for its memory only: they write nowhere else
}

// openNotes gives an agent its memory, and the tools for it.
func (r *run) openNotes(def *agent.Def) {
	dir, ok := r.notesDir(*def)
	if !ok {
		return
	}
	r.notes = &agentNotes{Auto: memory.Auto{Dir: dir}}
	if def.Tools == nil {
		return
	}
	def.Tools = slices.Clone(def.Tools)
	for _, name := range []string{"Read", "Write", "Edit"} {
		if !slices.Contains(def.Tools, name) {
			def.Tools = append(def.Tools, name)
			r.notes.added = append(r.notes.added, name)
		}
	}
}

// notesDir is where an agent keeps its notes. Those of a project stay in the project, whatever links it has.
func (r *run) notesDir(def agent.Def) (string, bool) {
	off := r.o.Bare || r.o.Recording != nil || sys.IsOn(r.place.Sys.Getenv("CLAUDE_CODE_DISABLE_AUTO_MEMORY"))
	if def.Memory == "" || off || !r.place.Wants(def.Memory) {
		return "", false
	}
	name, d := dirName(def.Name), r.place.Sys.Dirs
	if def.Memory == "user" {
		own := filepath.Join(d.State, "agent-memory", name)
		if other := filepath.Join(d.Config, "agent-memory", name); d.Config != "" && !isDir(own) && isDir(other) {
			return other, true // another program keeps it
		}
		return own, true
	}
	if !r.place.Trusted {
		return "", false
	}
	folder := map[string]string{"project": "agent-memory", "local": "agent-memory-local"}[def.Memory]
	top := first(r.place.ProjectRoot, r.place.Project)
	dir := filepath.Join(top, ".claude", folder, name)
	if !staysBelow(top, filepath.Join(dir, memory.IndexName)) {
		r.warn("the memory of the agent " + def.Name + " is not used: a link leads out of the project, in " + dir)
		return "", false
	}
	return dir, true
}

// staysBelow reports whether a path, as far as it exists, is below top when its links are resolved.
func staysBelow(top, path string) bool {
	top, err := filepath.EvalSymlinks(top)
	if err != nil {
		return false
	}
	for {
		_, err := os.Lstat(path)
		if err == nil {
			break
		}
		up := filepath.Dir(path)
		if up == path {
			return false
		}
		path = up
	}
	real, err := filepath.EvalSymlinks(path)
	return err == nil && (real == top || file.Below(top, real))
}

// dirName makes an agent's name one of a directory.
func dirName(name string) string {
	name = strings.Map(func(r rune) rune {
		if strings.ContainsRune(`/\:*?"<>|`, r) {
			return '-'
		}
		return r
	}, name)
	if name == "." { // the folder of all agents' notes
		return "-"
	}
	return strings.ReplaceAll(name, "..", "--")
}

// notesSource attaches what the agent must know of its memory, and the head of its index.
func (r *run) notesSource() []attach.Source {
	if r.notes == nil {
		return nil
	}
	return []attach.Source{attach.AgentMemory(r.notes.Auto, r.takeTouched, func(path string) bool {
		_, ok := r.tools.files.Get(path)
		return ok
	})}
}

// over lets an agent keep its notes without a question; what forbids it comes first.
func (n *agentNotes) over(env perm.Env) perm.Env {
	if n == nil {
		return env
	}
	env.Free = append(slices.Clip(env.Free), n.Dir)
	for _, tool := range []string{"Read", "Edit"} {
		text := tool + "(/" + filepath.ToSlash(n.Dir) + "/**)"
		env.Rules = env.Rules.With(perm.Rule{Text: text, Effect: perm.Allow, Source: perm.Source{Scope: "session"}})
	}
	return env
}

// refuses reports a call of a tool that the agent has for its memory only, on another file.
func (n *agentNotes) refuses(req perm.Request, abs func(string) string) (perm.Decision, bool) {
	if n == nil || req.Tool == "Read" || !slices.Contains(n.added, req.Tool) {
		return perm.Decision{}, false
	}
	var in struct {
		Path string `json:"file_path"`
	}
	if json.Unmarshal(req.Input, &in) == nil && in.Path != "" && n.Holds(first(req.Target, abs(in.Path))) {
		return perm.Decision{}, false
	}
	return perm.Decision{
		Verdict: perm.Deny, Reason: "this agent has " + req.Tool + " for its memory only: for files in " + n.Dir,
		Source: perm.Source{Kind: "tool"},
	}, true
}
