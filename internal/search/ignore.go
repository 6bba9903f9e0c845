package search

import (
	"os"
	"path/filepath"
	"strings"
)

// vcsFolders hold a version control system's own files and are not searched.
var vcsFolders = map[string]bool{".git": true, ".hg": true, ".svn": true, ".bzr": true, ".jj": true, ".sl": true}

// scope holds what is ignored below one folder: the rules of its own files, and those of the folders above.
// It is not changed after it was made.
type scope struct {
	parent *scope
	base   string // the folder relative to the search root; for folders above it, what lies between (see above)
	above  string // for a folder above the search root: the path from it down to the root

	git    *rules   // .gitignore
	other  *rules   // .ignore and .rgignore
	isRepo bool     // the root of a repository: git rules from above do not count
	inRepo bool     // git rules count at all
	repo   []*rules // of a repository root: info/exclude, then the user's own list
}

// ignores judges one entry; dir is relative to the search root.
func (s *scope) ignores(dir, name string, isDir bool) bool {
	for c := s; c != nil; c = c.parent {
		if c.other != nil {
			if v := c.other.match(c.relative(dir), name, isDir); v != noRule {
				return v == ignored
			}
		}
	}
	if !s.inRepo {
		return false
	}
	for c := s; c != nil; c = c.parent {
		if c.git != nil {
			if v := c.git.match(c.relative(dir), name, isDir); v != noRule {
				return v == ignored
			}
		}
		if !c.isRepo {
			continue
		}
		for _, r := range c.repo {
			if v := r.match(c.relative(dir), name, isDir); v != noRule {
				return v == ignored
			}
		}
		return false
	}
	return false
}

// relative turns a folder below the search root into one below the scope's folder.
func (s *scope) relative(dir string) string {
	if s.above != "" {
		if dir == "" {
			return s.above
		}
		return s.above + "/" + dir
	}
	if s.base == "" {
		return dir
	}
	return strings.TrimPrefix(dir[len(s.base):], "/")
}

// found says which of the files that matter are in a folder.
type found struct{ git, gitignore, ignore bool }

func (f *found) see(name string) {
	switch name {
	case ".git":
		f.git = true
	case ".gitignore":
		f.gitignore = true
	case ".ignore", ".rgignore":
		f.ignore = true
	}
}

// enter returns the scope for a folder: s itself when the folder adds nothing.
func (s *scope) enter(abs, rel string, f found) *scope {
	if !f.git && !f.gitignore && !f.ignore {
		return s
	}
	c := &scope{parent: s, base: rel, inRepo: s.inRepo}
	if f.ignore {
		c.other = readRules(filepath.Join(abs, ".ignore"), filepath.Join(abs, ".rgignore"))
	}
	if f.git {
		if dir := gitDir(abs); dir != "" {
			c.isRepo, c.inRepo = true, true
			for _, r := range []*rules{readRules(filepath.Join(dir, "info", "exclude")), globalRules()} {
				if r != nil {
					c.repo = append(c.repo, r)
				}
			}
		}
	}
	if f.gitignore && c.inRepo {
		c.git = readRules(filepath.Join(abs, ".gitignore"))
	}
	return c
}

// maxRulesSize bounds what is read of an ignore file.
const maxRulesSize = 4 << 20

// readRules reads ignore files as one list, nil when they are missing or empty.
func readRules(paths ...string) *rules {
	var text strings.Builder
	for _, p := range paths {
		fi, err := os.Stat(p)
		if err != nil || !fi.Mode().IsRegular() || fi.Size() > maxRulesSize {
			continue
		}
		if b, err := os.ReadFile(p); err == nil {
			text.Write(b)
			text.WriteByte('\n')
		}
	}
	return parseRules(text.String())
}

// scopeFor collects the rules of the folders above root: those of its repository, and .ignore files on the way.
func scopeFor(root string) *scope {
	var dirs []string
	for d := filepath.Dir(root); ; d = filepath.Dir(d) {
		dirs = append(dirs, d)
		if filepath.Dir(d) == d {
			break
		}
	}
	s := &scope{}
	for i := len(dirs) - 1; i >= 0; i-- {
		var f found
		for _, n := range []string{".git", ".gitignore", ".ignore", ".rgignore"} {
			if _, err := os.Lstat(filepath.Join(dirs[i], n)); err == nil {
				f.see(n)
			}
		}
		c := s.enter(dirs[i], "", f)
		if c != s {
			rel, err := filepath.Rel(dirs[i], root)
			if err != nil {
				continue
			}
			c.above = filepath.ToSlash(rel)
			s = c
		}
	}
	return s
}

// gitDir returns the folder with a repository's shared files: .git, or where a .git file of a linked work tree or
// submodule points. It is empty when this is no repository.
func gitDir(abs string) string {
	dir := filepath.Join(abs, ".git")
	fi, err := os.Stat(dir)
	if err != nil {
		return ""
	}
	if fi.IsDir() {
		return dir
	}
	b, err := readSmall(dir)
	if err != nil {
		return ""
	}
	target, ok := strings.CutPrefix(strings.TrimSpace(b), "gitdir:")
	if !ok {
		return ""
	}
	dir = against(abs, strings.TrimSpace(target))
	if common, err := readSmall(filepath.Join(dir, "commondir")); err == nil {
		return against(dir, strings.TrimSpace(common))
	}
	return dir
}

func against(base, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(base, path)
}

func readSmall(path string) (string, error) {
	fi, err := os.Stat(path)
	if err != nil {
		return "", err
	}
	if !fi.Mode().IsRegular() || fi.Size() > 1<<16 {
		return "", os.ErrInvalid
	}
	b, err := os.ReadFile(path)
	return string(b), err
}

// globalRules reads the user's own ignore list: core.excludesFile of the user's git configuration, else git/ignore
// in the configuration folder.
func globalRules() *rules {
	home, _ := os.UserHomeDir()
	config := os.Getenv("XDG_CONFIG_HOME")
	if config == "" && home != "" {
		config = filepath.Join(home, ".config")
	}
	file := ""
	if config != "" {
		file = filepath.Join(config, "git", "ignore")
		if set := excludesFile(filepath.Join(config, "git", "config"), home); set != "" {
			file = set
		}
	}
	userConfig := os.Getenv("GIT_CONFIG_GLOBAL")
	if userConfig == "" && home != "" {
		userConfig = filepath.Join(home, ".gitconfig")
	}
	if userConfig != "" {
		if set := excludesFile(userConfig, home); set != "" {
			file = set
		}
	}
	if file == "" {
		return nil
	}
	return readRules(file)
}

// excludesFile reads core.excludesFile from a git configuration file.
func excludesFile(path, home string) string {
	text, err := readSmall(path)
	if err != nil {
		return ""
	}
	section, out := "", ""
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "[") {
			section = strings.ToLower(strings.Trim(line, "[] \t"))
			continue
		}
		key, value, ok := strings.Cut(line, "=")
		if !ok || section != "core" || !strings.EqualFold(strings.TrimSpace(key), "excludesfile") {
			continue
		}
		out = strings.Trim(strings.TrimSpace(value), `"`)
	}
	if rest, ok := strings.CutPrefix(out, "~/"); ok && home != "" {
		out = filepath.Join(home, rest)
	}
	return out
}
