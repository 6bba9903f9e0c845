package sandbox

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"lathe/internal/perm"
)

// walkEntries is how many files are looked at to find what rules with stars match.
const walkEntries = 200_000

// matcher finds the existing paths that rules mean, since the system's means take paths and no patterns.
type matcher struct {
	d     *deriver
	rules []pathRule
	left  int
}

type pathRule struct {
	perm.PathRule
	kind kind
}

func (m *matcher) add(rules []perm.PathRule, k kind) {
	for _, r := range rules {
		m.rules = append(m.rules, pathRule{r, k})
	}
}

func (m *matcher) run() error {
	m.left = walkEntries
	starts := map[string][]*pathRule{}
	for i := range m.rules {
		r := &m.rules[i]
		if r.Whole {
			m.whole(r)
			continue
		}
		if r.Name != "" && r.kind == kept && !exists(filepath.Join(r.Base, r.Name)) {
			m.d.absent(filepath.Join(r.Base, r.Name)) // further down, a new one cannot be told beforehand
		}
		for _, dir := range m.starts(r) {
			starts[dir] = append(starts[dir], r)
		}
	}
	dirs := make([]string, 0, len(starts))
	for dir := range starts {
		dirs = append(dirs, dir)
	}
	slices.Sort(dirs)
	for _, dir := range dirs {
		if err := m.walk(dir, starts[dir]); err != nil {
			return err
		}
	}
	return nil
}

// whole handles a rule without stars.
func (m *matcher) whole(r *pathRule) {
	if r.Base == "" {
		return // a rule for everything: the engine's answer stands, no program could run
	}
	if info, err := os.Lstat(r.Base); err == nil {
		m.found(r, r.Base, info.Mode())
		return
	}
	if r.kind == kept && exists(filepath.Dir(r.Base)) {
		m.d.absent(r.Base)
	}
}

// starts are the directories to look for matches in: where the pattern starts, or the working directories when
// that is above them.
func (m *matcher) starts(r *pathRule) []string {
	base := r.Base
	if base == "" {
		base = "/"
	}
	var out []string
	roots := m.d.roots
	for _, dir := range m.d.in.Look {
		if r, ok := real(dir); ok {
			roots = appendNew(slices.Clip(roots), r)
		}
	}
	for _, root := range roots {
		switch {
		case within(root, base):
			out = appendNew(out, root)
		case within(base, root):
			return []string{base}
		}
	}
	if out == nil {
		out = []string{base}
	}
	return out
}

func (m *matcher) walk(dir string, rules []*pathRule) error {
	return filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			if e != nil && e.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		if m.left--; m.left < 0 {
			return fmt.Errorf("the sandbox cannot enforce the rule %s: there are more than %d files below %s; name a directory in the rule", rules[0].Rule.Text, walkEntries, dir)
		}
		gone := false
		for _, r := range rules {
			if r.Match(path) {
				m.found(r, path, e.Type())
				gone = gone || r.kind == hidden
			}
		}
		if gone && e.IsDir() {
			return fs.SkipDir
		}
		return nil
	})
}

// found notes a match. Of a link, what it leads to counts.
func (m *matcher) found(r *pathRule, path string, mode fs.FileMode) {
	target, ok := real(path)
	if !ok {
		return
	}
	if mode&fs.ModeSymlink != 0 && r.kind == kept && filepath.Dir(path) == m.d.start() {
		m.d.policy.Restore = appendNew(m.d.policy.Restore, path)
	}
	if r.kind == hidden {
		m.d.hide(target)
		return
	}
	m.d.keep(target)
}
