package perm

import "strings"

// protectedDirs are directories whose content decides what programs run; writing there is never approved by a
// rule. Both folders of agent settings are protected, whichever is in use.
var protectedDirs = map[string]bool{
	".git": true, ".vscode": true, ".idea": true, ".husky": true, ".cargo": true, ".devcontainer": true,
	".yarn": true, ".mvn": true, ".claude": true, ".lathe": true,
}

// protectedFiles are files of that kind, anywhere.
var protectedFiles = map[string]bool{
	".gitconfig": true, ".gitmodules": true,
	".bashrc": true, ".bash_profile": true, ".bash_login": true, ".bash_aliases": true, ".bash_logout": true,
	".zshrc": true, ".zprofile": true, ".zshenv": true, ".zlogin": true, ".zlogout": true, ".profile": true, ".envrc": true,
	".npmrc": true, ".yarnrc": true, ".yarnrc.yml": true, ".pnp.cjs": true, ".pnp.loader.mjs": true,
	".pnpmfile.cjs": true, "bunfig.toml": true, ".bunfig.toml": true,
	".bazelrc": true, ".bazelversion": true, ".bazeliskrc": true,
	".pre-commit-config.yaml": true,
	"lefthook.yml":            true, "lefthook.yaml": true, "lefthook.toml": true, "lefthook.json": true,
	".lefthook.yml": true, ".lefthook.yaml": true, ".lefthook.toml": true, ".lefthook.json": true,
	"lefthook-local.yml": true, "lefthook-local.yaml": true, ".lefthook-local.yml": true, ".lefthook-local.yaml": true,
	"gradle-wrapper.properties": true, "maven-wrapper.properties": true,
	".devcontainer.json": true, ".ripgreprc": true, "pyrightconfig.json": true,
	".mcp.json": true, ".claude.json": true, ".lathe.json": true,
}

// protected says why a path may not be written without asking, or "".
func (e *Env) protected(path string) (why string) {
	if foldsCase(e.Platform) {
		path = foldName(path)
	}
	for _, dir := range e.Free {
		if _, ok := cutDir(path, e.fold(e.common(dir))); ok {
			return ""
		}
	}
	for _, dir := range e.Protected {
		if _, ok := cutDir(path, e.fold(e.common(dir))); ok {
			return "it is in a folder that configures this program"
		}
	}
	rest, parent, last := foldName(path), "", "" // on any platform: a folder or a mounted disk may fold case where the system does not
	for rest != "" {
		var seg string
		seg, rest, _ = strings.Cut(strings.TrimLeft(rest, "/"), "/")
		if seg == "" {
			break
		}
		next, _, _ := strings.Cut(rest, "/")
		switch {
		case (seg == ".claude" || seg == ".lathe") && next == "worktrees" && strings.Count(rest, "/") >= 2:
			// A work tree of the agent's own: judged by what is inside it.
			_, rest, _ = strings.Cut(rest, "/")
		case protectedDirs[seg], parent == ".config" && seg == "git":
			return "it is in " + seg + ", whose content decides what programs run"
		}
		parent, last = seg, seg
	}
	if protectedFiles[last] {
		return last + " decides what programs run"
	}
	for _, root := range e.Workspace.Roots {
		if path == e.fold(e.common(root)+"/HEAD") {
			return "a HEAD file could turn the directory into a git repository with settings of its own"
		}
	}
	return ""
}

func (e *Env) fold(s string) string {
	if foldsCase(e.Platform) {
		return foldName(s)
	}
	return s
}

// credential says why a path may not be read without asking, wherever it is: the agent's own keys.
func (e *Env) credential(path string) (why string) {
	path = e.fold(path)
	for _, dir := range []string{"/.claude/", "/.lathe/"} {
		_, rest, ok := strings.Cut(path, dir)
		if !ok {
			continue
		}
		if rest == ".credentials.json" || rest == "credentials.json" || strings.HasPrefix(rest, "ide/") ||
			strings.HasPrefix(rest, "auth") {
			return "it holds keys of the agent"
		}
	}
	return ""
}
