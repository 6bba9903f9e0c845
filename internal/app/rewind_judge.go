package app

import (
	"encoding/json"
	"fmt"
	"path/filepath"

	"lathe/internal/file"
	"lathe/internal/perm"
)

// refuseBack says why a rewind leaves a path alone, "" if it does not; soft reasons give way where the user forces it.
// A rewind is the user's own wish, so what would be asked about is not; what the rules deny, and what lies outside the
// working directories, is not put back, whatever the list of checkpoints says: that is a file, which others may change.
func (r *run) refuseBack(path, link string) (why string, soft bool) {
	if !r.inRoots(path) {
		return "it lies outside the working directories (/add-dir adds one)", false
	}
	if link != "" {
		if !filepath.IsAbs(link) {
			link = filepath.Join(filepath.Dir(path), link)
		}
		if real, err := file.Resolve(link); err != nil || !r.inRoots(real) {
			return "it was a link that leads out of the working directories", false
		}
	}
	in, err := json.Marshal(map[string]string{"file_path": path, "content": ""})
	if err != nil {
		return fmt.Sprintf("it cannot be judged: %v", err), false
	}
	req, env := perm.Request{Tool: "Write", Input: in, Target: path}, r.env()
	env.Mode = perm.ModeDefault
	if d := perm.Decide(req, env); d.Verdict == perm.Deny {
		return d.Reason, false
	}
	env.Rules = nil // one that asks would speak first
	if d := perm.Decide(req, env); d.Source.Kind == "protected" {
		return d.Reason, true
	}
	return "", false
}

// inRoots reports whether a path, which has no links in it, is below the directories that the session may work in.
func (r *run) inRoots(path string) bool {
	roots := r.tools.workspace.Roots()
	if r.memory.Dir != "" {
		roots = append(roots[:len(roots):len(roots)], r.memory.Dir)
	}
	for _, root := range roots {
		if real, err := filepath.EvalSymlinks(root); err == nil {
			root = real
		}
		if rel, err := filepath.Rel(root, path); err == nil && filepath.IsLocal(rel) {
			return true
		}
	}
	return false
}
