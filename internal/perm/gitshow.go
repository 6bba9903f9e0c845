package perm

import (
	"slices"
	"strings"
	"sync"

	"lathe/internal/shell"
)

// contents is what a command of git may show of files that its words do not name.
type contents struct {
	shows    bool         // it shows the content of files
	specs    []shell.Word // operands that may limit it to paths
	objects  bool         // it shows what its paths do not limit, whatever else is given
	worktree bool         // only of tracked files as they are in the work tree and the index, where its operands are paths
	present  bool         // only of files that are there now
	dashed   bool         // all of specs are paths
}

// What flags of git say of content. gitSummary are those with which a command that shows differences by itself does not.
// gitNoContent are those with which no command shows any by them: with whatever else, it may.
var (
	gitSummary   = []string{"-s", "--no-patch", "--quiet", "--stat", "--numstat", "--shortstat", "--dirstat", "--summary", "--compact-summary", "--raw", "--name-only", "--name-status"}
	gitNoContent = sync.OnceValue(func() *flagTable {
		t := parseFlags(gitRevFlags + gitRefFlags + " " + strings.Join(gitSummary, " ") + " --cumulative --no-color --color -a -b -w -z -R -M -C -D -B -G -S -l -X -O -# " +
			"--color-moved --no-color-moved --no-renames --rename-empty --no-rename-empty --find-renames --find-copies --find-copies-harder --break-rewrites " +
			"--irreversible-delete --full-index --abbrev --no-abbrev --minimal --patience --histogram --anchored --diff-algorithm --diff-filter --pickaxe-all " +
			"--pickaxe-regex --relative --no-relative --text --ignore-cr-at-eol --ignore-space-at-eol --ignore-space-change --ignore-all-space --ignore-blank-lines " +
			"--ignore-matching-lines -I --exit-code --ignore-submodules --submodule --src-prefix --dst-prefix --no-prefix --default-prefix --line-prefix " +
			"--ita-invisible-in-index --no-ext-diff --no-textconv --indent-heuristic --no-indent-heuristic --merge-base --ws-error-highlight --skip-to --rotate-to " +
			"--cached --staged --base --ours --theirs --disk-usage --no-object-names --use-bitmap-index --summary --numbered --email --committer --group -e " +
			"--root --stdin --no-commit-id -v --creation-factor --no-dual-color --include-untracked --only-untracked -1230q")
		delete(t.long, "diff-merges")
		t.short['L'] = 0
		return t
	})
)

// asksContent reports whether a flag is given that is not known to show no content.
func asksContent(use *args) bool {
	t := gitNoContent()
	for _, f := range use.flags {
		if name, long := strings.CutPrefix(f.name, "--"); long && t.long[name] == 0 || !long && t.short[f.name[1]&0x7f] == 0 {
			return true
		}
	}
	return false
}

// gitContents notes what a command of git shows. A line range (-L 1,9:file) names its file.
func gitContents(name string, use *args, u *usage) {
	lines := false
	for _, f := range use.flags {
		if f.name != "-L" || f.value == nil || name == "blame" || name == "annotate" {
			continue
		}
		lines = true
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
	revs := len(use.operands) > len(c.specs) // before --
	patch, summary := asksContent(use), use.has(gitSummary...)
	switch name {
	case "status":
		c.shows, c.worktree, c.specs = use.has("-v", "--verbose"), !revs, nil
	case "log", "rev-list", "shortlog", "whatchanged", "stash list", "diff-tree", "diff-index", "diff-files":
		c.shows = patch
	case "stash show": // any flag takes the place of its summary
		c.shows = patch || len(use.flags) > 0 && !summary
	case "reflog":
		c.shows = patch
		if !use.dashed && len(c.specs) > 0 {
			c.specs = c.specs[1:] // show, or a ref
		}
	case "diff":
		c.shows = patch || !summary
		c.worktree = !use.has("--cached", "--staged", "--merge-base") && !revs
		c.objects = c.shows && anyObject(use, maybeHash)
	case "range-diff":
		c.shows = patch || !summary
	case "show":
		c.shows = (patch || !summary && !use.has("-q")) && (len(use.operands) == 0 || use.dashed && use.behind == 0 || anyObject(use, func(string) bool { return true }))
		c.objects = anyObject(use, maybeHash)
	case "cat-file":
		c.objects = !use.has("-t", "-s", "-e", "--batch-check") && anyObject(use, func(string) bool { return true })
	case "grep":
		cached := use.has("--cached")
		if !use.has("-l", "-L", "-c", "-q", "--files-with-matches", "--name-only", "--files-without-match", "--count", "--quiet") {
			c.shows, c.objects = cached || len(use.operands) > 0, anyObject(use, maybeHash)
		}
		c.worktree, c.present = !revs, !revs && !cached
	}
	if lines || c.shows && (use.has("--follow") || otherRepository(use)) {
		c.objects = true // from before a rename, from another repository
	}
	c.specs = withoutRevPaths(c.specs, use.dashed)
	u.contents = c
}

// otherRepository reports whether differences of submodules are shown in full.
func otherRepository(use *args) bool {
	for _, f := range use.flags {
		if f.name == "--submodule" && f.value != nil {
			if text, _ := f.value.Literal(); text != "log" && text != "short" {
				return true
			}
		}
	}
	return false
}

// maybeHash reports whether a word that names an object has the hash of one in it, which says nothing of its path:
// 0123abcd, 0123abcd^{}, v1-2-g0123abcd.
func maybeHash(text string) bool {
	for part := range strings.FieldsFuncSeq(text, func(r rune) bool { return strings.ContainsRune("^~@{}.-/", r) }) {
		if part = strings.TrimPrefix(part, "g"); len(part) >= 4 && strings.Trim(part, "0123456789abcdefABCDEF") == "" {
			return true
		}
	}
	return false
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
	named, revs, wide := false, false, false
	for _, w := range c.specs {
		text, _ := w.Literal()
		if strings.ContainsAny(text, `*?[\`) {
			return false, what + rule.Text + " keeps some from being read"
		}
		exists := false
		for _, dir := range at {
			t := s.env.locate(text, dir)
			exists = exists || t.exists
			if !c.present && (t.dir || !t.exists && c.dashed) && s.env.reachedBelow(t.lexical) != nil {
				wide = true // of a folder history has files that are not there now
			}
		}
		named = named || exists
		revs = revs || !exists && !c.dashed && !strings.HasPrefix(text, ":")
		wide = wide || strings.HasPrefix(text, ":") && !strings.HasPrefix(text, ":!") && !strings.HasPrefix(text, ":^")
	}
	if c.worktree && !c.objects && !revs && s.onlyReads() && s.noneTracked(at) {
		return false, ""
	}
	if named && !wide && !c.objects {
		return true, ""
	}
	return false, what + rule.Text + " keeps some from being read"
}

// onlyReads reports whether no part of the script can change what git tracks before another one shows it.
func (s *shellCall) onlyReads() bool {
	for i := range s.script.Commands {
		c := &s.script.Commands[i]
		if c.Kind == shell.Group || c.Kind == shell.Test {
			continue
		}
		layers := s.layers(c)
		if len(layers) == 0 {
			return false
		}
		last := layers[0]
		for _, l := range layers {
			if l.plain {
				last = l
			}
		}
		p, name := lookup(last.words)
		if name == "cd" {
			continue
		}
		if p == nil {
			return false
		}
		if u := p.use(last.words); u.why != "" {
			return false
		}
	}
	return true
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
	if len(at) == 0 {
		return e.reachedBelow("")
	}
	for _, dir := range at {
		if root, ok := e.repository(dir); ok && root != "" {
			dir = root
		}
		if r := e.reachedBelow(dir); r != nil {
			return r
		}
	}
	return nil
}

// reachedBelow is a rule that keeps something at or below a directory from being read, "" for any; nil without one.
func (e *Env) reachedBelow(dir string) *Rule {
	dirs := []string{dir}
	if e.Copy != "" {
		dirs = e.withOriginals(dirs)
		if _, ok := cutDir(e.common(e.Copy), dir); ok {
			dirs = append(dirs, e.common(e.Original))
		}
	}
	for _, effect := range []Verdict{Deny, Ask} {
		for i := range e.Rules.read[effect] {
			r := &e.Rules.read[effect][i]
			if dir == "" || slices.ContainsFunc(dirs, r.reaches) {
				return &r.rule
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
