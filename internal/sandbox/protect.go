package sandbox

import (
	"os"
	"path/filepath"
	"strings"

	"lathe/internal/perm"
)

// rootNames may not come to be in a working directory: each decides what programs run when the directory is next
// used. An empty directory stands in their place while a command runs.
var rootNames = []string{".claude", ".lathe", ".mcp.json", ".vscode", ".idea"}

// looseNames are of that kind too, but a placeholder would mislead: git takes a file HEAD for a revision and
// compilers ask an empty .git for its version. They are looked after when a command ends: a new repository is made
// inert, and a HEAD that would turn the directory itself into one is taken away.
var looseNames = []string{".git", "HEAD"}

// homeNames are the same for the home directory, where it can be written at all.
var homeNames = []string{
	".bashrc", ".bash_profile", ".bash_login", ".bash_aliases", ".bash_logout", ".profile", ".zshrc", ".zprofile", ".zshenv",
	".zlogin", ".zlogout", ".gitconfig", ".config/git", ".mcp.json", ".claude.json", ".lathe.json", ".ssh", ".gnupg", ".npmrc",
	".config/fish", ".config/autostart", ".local/bin", "bin", ".pam_environment", ".xprofile", ".config/systemd",
}

const (
	maxLinks    = 40   // as many as a system follows
	scanDepth   = 3    // how deep protected names are looked for below a working directory
	scanEntries = 5000 // how many entries are looked at for it
)

// protectRoot keeps the protected names of a working directory: those at its top must not even come to be, those
// that exist further down stay as they are.
func (d *deriver) protectRoot(root string) {
	for _, name := range rootNames {
		d.protect(root, name)
	}
	for _, name := range looseNames {
		path := filepath.Join(root, name)
		if exists(path) {
			d.protect(root, name)
		}
		if name == "HEAD" || !exists(path) {
			d.policy.Restore = appendNew(d.policy.Restore, path)
		}
	}
	left := scanEntries
	d.scan(root, 0, &left)
	for _, agent := range []string{".claude", ".lathe"} {
		trees := filepath.Join(root, agent, "worktrees")
		entries, _ := os.ReadDir(trees)
		for _, e := range entries {
			if tree := filepath.Join(trees, e.Name()); e.IsDir() {
				d.write(tree)
				d.protectRoot(tree)
			}
		}
	}
	if root == d.start() && d.in.Repo != "" && d.in.Repo != root {
		d.repository(filepath.Join(d.in.Repo, ".git"), false)
	}
}

// protect keeps one name in a directory.
func (d *deriver) protect(dir, name string) {
	path := filepath.Join(dir, name)
	info, err := os.Lstat(path)
	switch {
	case err != nil:
		d.absent(path)
	case info.Mode()&os.ModeSymlink != 0:
		d.linked(path)
	case name == ".git":
		d.repository(path, true)
	default:
		d.keep(path)
	}
}

// linked keeps a protected name that is a link: where it leads, each link on the way, and what would come to be at the end of
// one that dangles.
func (d *deriver) linked(path string) {
	if r, ok := real(path); ok {
		d.keep(r)
	}
	for range maxLinks {
		to, err := os.Readlink(path)
		if err != nil {
			break
		}
		d.policy.Restore = appendNew(d.policy.Restore, path)
		if !filepath.IsAbs(to) {
			to = filepath.Join(filepath.Dir(path), to)
		}
		path = to
		if dir, ok := real(filepath.Dir(path)); ok {
			path = filepath.Join(dir, filepath.Base(path))
		}
	}
	if !exists(path) && withinAny(path, d.policy.Write) {
		d.policy.Aside = appendNew(d.policy.Aside, path)
	}
}

// absent asks for a name that does not exist to stay so.
func (d *deriver) absent(path string) {
	if dir, ok := real(filepath.Dir(path)); ok {
		d.policy.Absent = appendNew(d.policy.Absent, filepath.Join(dir, filepath.Base(path)))
	} else if withinAny(path, d.policy.Write) {
		d.policy.Aside = appendNew(d.policy.Aside, path)
	}
}

// repository lets git work in a repository without letting anybody change what git runs. path is its .git, a
// folder, or a file that names one elsewhere; inside says that it is in a working directory.
func (d *deriver) repository(path string, inside bool) {
	info, err := os.Lstat(path)
	switch {
	case err != nil:
	case info.IsDir():
		if inside {
			d.policy.Pinned = appendNew(d.policy.Pinned, path)
		}
		d.gitDir(path)
	case info.Mode().IsRegular():
		d.keep(path)
		if own, common, ok := linkedRepository(path); ok {
			d.gitDir(common)
			d.otherTrees(own, common)
		}
	}
}

// otherTrees keeps what git knows of the repository's other work trees and of its own: what is checked out there, and what
// is staged.
func (d *deriver) otherTrees(own, common string) {
	others, _ := filepath.Glob(filepath.Join(common, "worktrees", "*"))
	for _, path := range append(others, filepath.Join(common, "HEAD"), filepath.Join(common, "index")) {
		if path != own && exists(path) {
			d.keep(path)
		}
	}
}

// linkedRepository finds the folder of a linked work tree in its repository, and the repository. That counts only when the repository points back:
// else any file could make any folder writable.
func linkedRepository(file string) (own, common string, ok bool) {
	text, err := os.ReadFile(file)
	if err != nil {
		return "", "", false
	}
	own, found := strings.CutPrefix(strings.TrimSpace(string(text)), "gitdir: ")
	if !found {
		return "", "", false
	}
	if !filepath.IsAbs(own) {
		own = filepath.Join(filepath.Dir(file), own)
	}
	own, ok = real(own)
	if !ok || filepath.Base(filepath.Dir(own)) != "worktrees" {
		return "", "", false
	}
	back, err := os.ReadFile(filepath.Join(own, "gitdir"))
	if err != nil {
		return "", "", false
	}
	there, ok := real(strings.TrimSpace(string(back)))
	here, ok2 := real(file)
	common = filepath.Dir(filepath.Dir(own))
	return own, common, ok && ok2 && there == here && isGitDir(common)
}

func isGitDir(dir string) bool {
	return exists(filepath.Join(dir, "HEAD")) && exists(filepath.Join(dir, "objects")) && exists(filepath.Join(dir, "refs"))
}

// gitDir makes a git folder writable but for its settings, its hooks, and the pointers that would put others in
// their place. For commondir and config.worktree no placeholder can stand: git itself would read it. The
// second may be there for each linked work tree, too.
func (d *deriver) gitDir(dir string) {
	dir, ok := real(dir)
	if !ok || !isGitDir(dir) {
		d.keep(dir)
		return
	}
	d.write(dir)
	for _, name := range []string{"config", "hooks", "modules"} {
		path := filepath.Join(dir, name)
		switch info, err := os.Lstat(path); {
		case err == nil && info.Mode()&os.ModeSymlink != 0:
			d.linked(path)
		case err == nil:
			d.keep(path)
		case name == "hooks":
			d.absent(path)
		default:
			d.policy.Restore = appendNew(d.policy.Restore, path)
		}
	}
	trees, _ := filepath.Glob(filepath.Join(dir, "worktrees", "*"))
	for _, sub := range append(trees, dir) {
		for _, name := range []string{"commondir", "config.worktree", "gitdir"} {
			path := filepath.Join(sub, name)
			switch {
			case exists(path):
				d.keep(path)
			case sub == dir && name != "gitdir", name == "config.worktree":
				d.policy.Restore = appendNew(d.policy.Restore, path)
			}
		}
	}
}

// scan looks for protected names below a working directory. Repositories further down are kept whole.
func (d *deriver) scan(dir string, depth int, left *int) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	for _, e := range entries {
		if *left--; *left < 0 {
			return
		}
		path := filepath.Join(dir, e.Name())
		switch {
		case perm.ProtectedName(e.Name()) || e.Name() == "git" && filepath.Base(dir) == ".config":
			if e.Type()&os.ModeSymlink == 0 && (depth > 0 || e.Name() != ".git") {
				d.keep(path)
			}
		case e.IsDir() && depth < scanDepth && e.Name() != "node_modules":
			d.scan(path, depth+1, left)
		}
	}
}
