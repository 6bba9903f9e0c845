package memory

import (
	"crypto/sha256"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"lathe/internal/frontmatter"
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
	Globs []string // of a rule that counts for certain files only
}

// Places says where instruction files are looked for.
type Places struct {
	Home, Config, State  string // the user's home, ~/.claude and ~/.lathe
	Work                 string // the working directory
	User, Project, Local bool   // which scopes load
	// Extra are further directories whose files count like those of the working directory.
	Extra []string
	// Exclude are globs over absolute paths: what they match is not loaded.
	Exclude []string
	Root    string // of the repository; empty outside one
	Trusted bool   // the project is trusted, so its links may lead outside
}

// Loader reads instruction files. What AtStart gave does not come again from Below.
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
	for _, dir := range append(slices.Clone(l.Extra), ancestors(l.Work)...) {
		out = l.project(out, dir)
	}
	return out
}

// Below returns the files of the directories between the working directory and the touched files, without those that
// count from the start. Each call reads them anew.
func (l *Loader) Below(touched ...string) []File {
	fresh := NewLoader(l.Places)
	maps.Copy(fresh.seen, l.seen)
	maps.Copy(fresh.texts, l.texts)
	var out []File
	done := map[string]bool{}
	for _, t := range touched {
		for _, dir := range between(l.Work, t) {
			if !done[dir] {
				done[dir] = true
				out = fresh.project(out, dir)
			}
		}
	}
	l.Notices = append(l.Notices, fresh.Notices...)
	return out
}

// between are the directories below work on the way to a file, the outermost first.
func between(work, path string) []string {
	rel, err := filepath.Rel(work, filepath.Dir(path))
	if err != nil || rel == "." || !filepath.IsLocal(rel) {
		return nil
	}
	var out []string
	dir := work
	for _, part := range strings.Split(rel, string(filepath.Separator)) {
		dir = filepath.Join(dir, part)
		out = append(out, dir)
	}
	return out
}

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
		if l.leadsOut(path, dir, scope) {
			continue
		}
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

// leadsOut reports a file of the project that is a link to somewhere outside it. What stands there is the user's, and
// a repository that was only opened must not send it to a model; a trusted project may link to shared files.
func (l *Loader) leadsOut(path, dir, scope string) bool {
	if scope == "user" || l.Trusted {
		return false
	}
	target := real(path)
	if within(target, real(dir)) || within(target, real(l.Work)) || l.Root != "" && within(target, real(l.Root)) {
		return false
	}
	if _, err := os.Stat(path); err == nil {
		l.Notices = append(l.Notices, fmt.Sprintf("%s was left out: it is a link to a file outside the project, which is not trusted (lathe trust)", path))
	}
	return true
}

// rules reads the rule files that have no paths of their own; those with paths wait for a matching file.
func (l *Loader) rules(out []File, dir, scope string) []File {
	for _, p := range ruleFiles(dir) {
		if l.leadsOut(p, dir, scope) {
			continue
		}
		text, ok := l.read(p)
		if !ok {
			continue
		}
		head, body := frontmatter.Parse(text)
		if len(head.List("paths")) > 0 {
			continue
		}
		if body = l.expand(stripComments(body), filepath.Dir(p), scope, 0); strings.TrimSpace(body) != "" {
			out = append(out, File{Path: p, Scope: scope, Text: strings.TrimRight(body, "\n")})
		}
	}
	return out
}

// excluded reports whether a pattern of the settings leaves the file out.
func (l *Loader) excluded(path string) bool {
	for _, p := range l.Exclude {
		for _, name := range []string{path, real(path)} {
			if ok, err := doublestar.Match(filepath.ToSlash(p), filepath.ToSlash(name)); ok && err == nil {
				return true
			}
		}
	}
	return false
}

// read returns a file's text once: not again under another name or as a copy.
func (l *Loader) read(path string) (string, bool) {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		return "", false
	}
	key := real(path)
	if l.seen[key] || l.excluded(path) {
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
