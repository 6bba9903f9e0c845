package perm

import (
	"strings"

	"lathe/internal/shell"
)

// contents is what a command of git may show of files that its words do not name.
type contents struct {
	shows    bool         // it shows the content of files
	specs    []shell.Word // operands that may limit it to paths
	objects  bool         // it shows an object whose path is not known, whatever else is given
	worktree bool         // only of tracked files as they are in the work tree, where its operands are paths
	dashed   bool         // all of specs are paths
}

var (
	// gitPatch are the flags with which a command of git shows differences of content, gitSummary those with which one
	// that does so by itself does not.
	gitPatch = []string{
		"-p", "-u", "-U", "-c", "-m", "-W", "--patch", "--patch-with-raw", "--patch-with-stat", "--unified", "--cc", "--word-diff", "--word-diff-regex",
		"--color-words", "--binary", "--function-context", "--combined-all-paths", "--diff-merges", "--check",
	}
	gitSummary = []string{
		"-s", "-q", "--no-patch", "--quiet", "--stat", "--numstat", "--shortstat", "--dirstat", "--summary", "--compact-summary", "--raw", "--name-only", "--name-status",
	}
)

// gitContents notes what a command of git shows. A line range (-L 1,9:file) names its file.
func gitContents(name string, use *args, u *usage) {
	for _, f := range use.flags {
		if f.name != "-L" || f.value == nil || name == "blame" || name == "annotate" {
			continue
		}
		if text, literal := f.value.Literal(); !literal {
			u.no("a word of git expands")
		} else if i := strings.LastIndexByte(text, ':'); i >= 0 && i+1 < len(text) {
			u.reads = append(u.reads, operand{word: shell.Plain(text[i+1:])})
		}
	}
	c := contents{specs: use.operands, dashed: use.dashed}
	if use.dashed {
		c.specs = use.operands[use.behind:]
	}
	patch := use.has(gitPatch...)
	switch name {
	case "log", "rev-list", "shortlog", "whatchanged", "stash list", "stash show", "diff-tree", "diff-index", "diff-files":
		c.shows = patch
	case "reflog":
		c.shows = patch
		if !use.dashed && len(c.specs) > 0 {
			c.specs = c.specs[1:] // show, or a ref
		}
	case "diff":
		c.shows = patch || !use.has(gitSummary...)
		c.worktree = !use.has("--cached", "--staged", "--merge-base") && len(use.operands) == len(c.specs) // no revision before --
	case "range-diff":
		c.shows = patch || !use.has(gitSummary...)
	case "show":
		c.shows = (patch || !use.has(gitSummary...)) && (len(use.operands) == 0 || anyObject(use, func(string) bool { return true }))
		c.objects = anyObject(use, func(text string) bool { return len(text) >= 4 && strings.Trim(text, "0123456789abcdefABCDEF") == "" })
	case "cat-file":
		c.objects = !use.has("-t", "-s", "-e", "--batch-check") && anyObject(use, func(string) bool { return true })
	case "grep":
		c.shows = len(use.operands) > 0 && !use.has("-l", "-L", "-c", "-q", "--files-with-matches", "--files-without-match", "--count", "--quiet")
	}
	c.specs = withoutRevPaths(c.specs, use.dashed)
	u.contents = c
}

// anyObject reports whether an operand before "--" names an object by itself, not as a path of a revision.
func anyObject(use *args, is func(text string) bool) bool {
	list := use.operands
	if use.dashed {
		list = list[:use.behind]
	}
	for _, w := range list {
		text, literal := w.Literal()
		if !literal || !strings.Contains(text, ":") && is(text) {
			return true
		}
	}
	return false
}

// withoutRevPaths leaves out what is no path of the work tree: "revision:path" names one file, and limits nothing else.
func withoutRevPaths(words []shell.Word, dashed bool) []shell.Word {
	if dashed {
		return words
	}
	var out []shell.Word
	for _, w := range words {
		if text, _ := w.Literal(); !strings.Contains(text, ":") || strings.HasPrefix(text, ":") {
			out = append(out, w)
		}
	}
	return out
}

// unnamed says why a command of git may show a file that a rule keeps from being read: rules for reading hold in the
// repository, and its words do not limit it to paths that can be judged. deep says that they do, and that it may show what
// is below these.
func (s *shellCall) unnamed(c *contents, at []string) (deep bool, why string) {
	if !c.shows && !c.objects {
		return false, ""
	}
	rule := s.env.restrictsBelow(at)
	if rule == nil {
		return false, ""
	}
	const what = "it may show files that it does not name, and the rule "
	named, revs := false, false
	for _, w := range c.specs {
		text, _ := w.Literal()
		if strings.ContainsAny(text, `*?[\`) {
			return false, what + rule.Text + " keeps some from being read"
		}
		exists := false
		for _, dir := range at {
			exists = exists || s.env.locate(text, dir).exists
		}
		named = named || exists
		revs = revs || !exists && !c.dashed && !strings.HasPrefix(text, ":")
	}
	if c.worktree && !revs && s.noneTracked(at) {
		return false, ""
	}
	if named && !c.objects {
		return true, ""
	}
	return false, what + rule.Text + " keeps some from being read"
}

// noneTracked reports whether git tracks no file that a rule keeps from being read.
func (s *shellCall) noneTracked(at []string) bool {
	if len(at) != 1 {
		return false
	}
	root, ok := s.env.repository(at[0])
	if ok && (root == "" || s.env.empty(root)) {
		return true
	}
	if !ok || s.env.Tracked == nil {
		return false
	}
	paths, ok := s.env.Tracked(s.env.native(root))
	if !ok {
		return false
	}
	for _, p := range paths {
		if s.env.restricted("", false, target{names: []string{root + "/" + p}}).verdict != Abstain {
			return false
		}
	}
	return true
}

// empty reports whether a repository has no list of tracked files yet.
func (e *Env) empty(root string) bool {
	info, err := e.fs().Lstat(e.native(root + "/.git"))
	return err == nil && info.IsDir() && !e.has(root+"/.git", "index")
}

// restrictsBelow is a rule that keeps files of the repositories of these directories from being read; nil without one.
func (e *Env) restrictsBelow(at []string) *Rule {
	if e.Rules == nil {
		return nil
	}
	for _, effect := range []Verdict{Deny, Ask} {
		for i := range e.Rules.read[effect] {
			r := &e.Rules.read[effect][i]
			if len(at) == 0 {
				return &r.rule
			}
			for _, dir := range at {
				if root, ok := e.repository(dir); ok && root != "" {
					dir = root
				}
				if r.reaches(dir) {
					return &r.rule
				}
			}
		}
	}
	return nil
}

// reaches reports whether the pattern may match the directory or something below it.
func (p *pathPattern) reaches(dir string) bool {
	if p.all {
		return true
	}
	base := p.base
	if p.fold {
		dir, base = foldName(dir), foldName(base)
	}
	if !p.deep {
		for _, s := range p.segs {
			if s.any || s.pattern {
				break
			}
			base += "/" + s.text
		}
	}
	_, above := cutDir(dir, base)
	_, below := cutDir(base, dir)
	return above || below
}
