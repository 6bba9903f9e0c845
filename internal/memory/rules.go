package memory

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"lathe/internal/frontmatter"
)

// maxRules bounds the rule files of one directory, so that a link to a large tree does no harm.
const maxRules = 1000

// Matching returns the rules whose paths fit one of the files, each once: the user's first, then the project's from
// the outermost directory inwards. Touched are absolute paths.
func (l *Loader) Matching(touched ...string) []File {
	var out []File
	seen := map[string]bool{}
	take := func(rulesDir, base, scope string) {
		for _, path := range ruleFiles(rulesDir) {
			if seen[real(path)] {
				continue
			}
			fresh := NewLoader(l.Places) // what one rule imports is no reason for another one not to
			if f, ok := fresh.scoped(path, base, scope, touched); ok && !seen[f.Text] {
				seen[real(path)], seen[f.Text] = true, true
				out = append(out, f)
			}
			l.Notices = append(l.Notices, fresh.Notices...)
		}
	}
	if l.User {
		for _, dir := range []string{l.Config, l.State} {
			if dir != "" {
				take(filepath.Join(dir, "rules"), l.Work, "user")
			}
		}
	}
	if l.Project {
		for _, dir := range l.ruleDirs(touched) {
			take(filepath.Join(dir, ".claude", "rules"), dir, "project")
		}
	}
	return out
}

// ruleDirs are the directories whose rules may count for the files, the outermost first.
func (l *Loader) ruleDirs(touched []string) []string {
	dirs := append(slices.Clone(l.Extra), ancestors(l.Work)...)
	for _, t := range touched {
		for _, d := range between(l.Work, t) {
			if !slices.Contains(dirs, d) {
				dirs = append(dirs, d)
			}
		}
	}
	return dirs
}

// scoped reads one rule if it has paths that fit. Patterns are relative to base.
func (l *Loader) scoped(path, base, scope string, touched []string) (File, bool) {
	text, ok := l.read(path)
	if !ok {
		return File{}, false
	}
	head, body := frontmatter.Parse(text)
	patterns := head.List("paths")
	if len(patterns) == 0 || !fits(newGlobs(patterns), base, touched) {
		return File{}, false
	}
	if body = l.expand(stripComments(body), filepath.Dir(path), scope, 0); strings.TrimSpace(body) == "" {
		return File{}, false
	}
	return File{Path: path, Scope: scope, Text: strings.TrimRight(body, "\n"), Globs: patterns}, true
}

// Fits reports whether one of the files, absolute, is among those that the globs mean, which are relative to base.
func Fits(patterns []string, base string, touched []string) bool {
	return fits(newGlobs(patterns), base, touched)
}

// fits reports whether a pattern matches one of the files, by the name that was used or by the one it really has.
func fits(g globs, base string, touched []string) bool {
	for _, t := range touched {
		for _, pair := range [][2]string{{base, t}, {real(base), real(t)}} {
			if rel, err := filepath.Rel(pair[0], pair[1]); err == nil && filepath.IsLocal(rel) && g.match(filepath.ToSlash(rel)) {
				return true
			}
		}
	}
	return false
}

// ruleFiles lists the Markdown files below a directory in the order of their names. Links are followed, each
// directory once.
func ruleFiles(dir string) []string {
	var out []string
	seen := map[string]bool{}
	var walk func(dir string)
	walk = func(dir string) {
		r := real(dir)
		if seen[r] || len(seen) > maxRules {
			return
		}
		seen[r] = true
		entries, err := os.ReadDir(dir) // sorted
		if err != nil {
			return
		}
		for _, e := range entries {
			path := filepath.Join(dir, e.Name())
			info, err := os.Stat(path)
			switch {
			case err != nil || len(out) >= maxRules:
			case info.IsDir():
				walk(path)
			case info.Mode().IsRegular() && strings.HasSuffix(e.Name(), ".md"):
				out = append(out, path)
			}
		}
	}
	walk(dir)
	return out
}
