package memory

import (
	"crypto/sha256"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Limits of instruction files.
const (
	maxFile  = 4 << 20 // bytes; a larger file is skipped
	maxDepth = 4       // hops of imports
)

// File is one instruction file, its imports expanded in place.
type File struct {
	Path  string
	Scope string // user, project, local
	Text  string
}

// Places says where instruction files are looked for.
type Places struct {
	Home, Config, State  string // the user's home, ~/.claude and ~/.lathe
	Work                 string // the working directory
	User, Project, Local bool   // which scopes load
}

// Loader reads instruction files and remembers what it has given, so that a file comes once.
type Loader struct {
	Places
	seen  map[string]bool   // resolved paths
	texts map[[32]byte]bool // contents, so that a copy under another name comes once
	// Notices are files that were skipped, and why.
	Notices []string
}

// NewLoader returns a loader.
func NewLoader(p Places) *Loader {
	return &Loader{Places: p, seen: map[string]bool{}, texts: map[[32]byte]bool{}}
}

// AtStart returns the files that count from the first prompt on, the most general first. Each call reads them anew.
func (l *Loader) AtStart() []File {
	fresh := NewLoader(l.Places)
	out := fresh.atStart()
	maps.Copy(l.seen, fresh.seen)
	maps.Copy(l.texts, fresh.texts)
	l.Notices = append(l.Notices, fresh.Notices...)
	return out
}

func (l *Loader) atStart() []File {
	var out []File
	if l.User {
		for _, dir := range []string{l.Config, l.State} {
			if dir != "" {
				out = l.directory(out, dir, "user", "CLAUDE.md", "AGENTS.md")
				out = l.rules(out, filepath.Join(dir, "rules"), "user")
			}
		}
	}
	for _, dir := range ancestors(l.Work) {
		out = l.project(out, dir)
	}
	return out
}

// Below returns the files of the directories between the working directory and a touched file that were not
// given yet.
func (l *Loader) Below(touched string) []File {
	rel, err := filepath.Rel(l.Work, filepath.Dir(touched))
	if err != nil || rel == "." || strings.HasPrefix(rel, "..") {
		return nil
	}
	var out []File
	dir := l.Work
	for _, part := range strings.Split(rel, string(filepath.Separator)) {
		dir = filepath.Join(dir, part)
		out = l.project(out, dir)
	}
	return out
}

// Mark says that a file was given in an earlier run of the session.
func (l *Loader) Mark(path string) { l.seen[real(path)] = true }

func (l *Loader) project(out []File, dir string) []File {
	if l.Project {
		out = l.directory(out, dir, "project", "CLAUDE.md", filepath.Join(".claude", "CLAUDE.md"), "AGENTS.md", filepath.Join(".lathe", "AGENTS.md"))
		out = l.rules(out, filepath.Join(dir, ".claude", "rules"), "project")
	}
	if l.Local {
		out = l.directory(out, dir, "local", "CLAUDE.local.md")
	}
	return out
}

func ancestors(dir string) []string {
	var out []string
	for d := dir; ; {
		out = append(out, d)
		up := filepath.Dir(d)
		if up == d {
			break
		}
		d = up
	}
	slices.Reverse(out)
	return out
}

func (l *Loader) directory(out []File, dir, scope string, names ...string) []File {
	for _, name := range names {
		path := filepath.Join(dir, name)
		text, ok := l.read(path)
		if !ok {
			continue
		}
		text = l.expand(stripComments(text), filepath.Dir(path), scope, 0)
		if strings.TrimSpace(text) != "" {
			out = append(out, File{Path: path, Scope: scope, Text: strings.TrimRight(text, "\n")})
		}
	}
	return out
}

// rules reads the rule files that have no paths of their own; those with paths wait for a matching file.
func (l *Loader) rules(out []File, dir, scope string) []File {
	var paths []string
	_ = filepath.WalkDir(dir, func(p string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() && strings.HasSuffix(p, ".md") {
			paths = append(paths, p)
		}
		return nil
	})
	for _, p := range paths {
		text, ok := l.read(p)
		if !ok {
			continue
		}
		head, body := frontMatter(text)
		if strings.Contains("\n"+head, "\npaths:") {
			continue
		}
		if body = l.expand(stripComments(body), filepath.Dir(p), scope, 0); strings.TrimSpace(body) != "" {
			out = append(out, File{Path: p, Scope: scope, Text: strings.TrimRight(body, "\n")})
		}
	}
	return out
}

// read returns a file's text once: not again under another name or as a copy.
func (l *Loader) read(path string) (string, bool) {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		return "", false
	}
	key := real(path)
	if l.seen[key] {
		return "", false
	}
	l.seen[key] = true
	if info.Size() > maxFile {
		l.Notices = append(l.Notices, fmt.Sprintf("%s is larger than 4 MiB and was left out", path))
		return "", false
	}
	b, err := os.ReadFile(path)
	if err != nil {
		l.Notices = append(l.Notices, fmt.Sprintf("%s could not be read: %v", path, err))
		return "", false
	}
	sum := sha256.Sum256(b)
	if l.texts[sum] {
		return "", false
	}
	l.texts[sum] = true
	return strings.ToValidUTF8(strings.TrimPrefix(string(b), "\ufeff"), "\ufffd"), true
}

func real(path string) string {
	if r, err := filepath.EvalSymlinks(path); err == nil {
		return r
	}
	return path
}
