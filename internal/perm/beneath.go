package perm

import (
	"io/fs"
	"path"
	"slices"
	"strings"

	"lathe/internal/shell"
)

// beneathAgainst applies the rules for reading to what a command shows of files that its words do not name: what is below
// its directories, and what git has in its history. No mode and no rule for the command opens that.
func (s *shellCall) beneathAgainst(c *shell.Command, u *usage, at []string) {
	if !s.restrictsReads() || s.confined() {
		return
	}
	unsure := func(why string) {
		s.out.unsure = append(s.out.unsure, because(Ask, "unsure", "the part "+quoted(c.Text)+": "+why))
	}
	deep, why := s.unnamed(&u.contents, at)
	if why != "" {
		unsure(why)
		return
	}
	var dirs []string
	for _, list := range [][]operand{u.reads, u.lands} {
		for _, o := range list {
			found, _ := s.paths(o.word, at, len(c.Moves) == 0) // what cannot be told is asked about with the path itself
			dirs = append(dirs, found...)
		}
	}
	switch {
	case len(u.lands) > 0: // copied or moved: under another name a rule for what it holds would not hold
	case !u.deep && !deep:
		return
	case len(u.reads) == 0 && at == nil:
		unsure("the directory that it reads is not known")
	case len(u.reads) == 0:
		dirs = at
	}
	for _, dir := range dirs {
		t := s.env.locate(dir, "/")
		if !t.dir {
			continue
		}
		if f, ok := s.env.keptBelow(t.real, u, &s.out.looks); !ok {
			unsure("there is too much below " + dir + " to look for files that may not be read; name the folder that is meant, or use Grep, which leaves them out")
			return
		} else if f.verdict != Abstain {
			unsure("it reads everything below " + dir + ", and " + f.reason)
			return
		}
	}
}

func (s *shellCall) restrictsReads() bool {
	r := s.env.Rules
	return r != nil && len(r.read[Deny])+len(r.read[Ask]) > 0
}

// keptBelow looks through a directory for the first thing that a rule keeps from being read; ok is false when there is too
// much to look at.
func (e *Env) keptBelow(dir string, u *usage, looks *int) (f finding, ok bool) {
	if e.reachedBelow(dir) == nil && !u.links {
		return finding{}, true
	}
	queue := []string{dir}
	for len(queue) > 0 {
		dir := queue[len(queue)-1]
		queue = queue[:len(queue)-1]
		entries, _ := e.fs().ReadDir(e.native(dir)) // an unreadable directory gives nothing to the command either
		for _, entry := range entries {
			if *looks--; *looks < 0 {
				return finding{}, false
			}
			if u.skips != nil && u.skips(entry.Name(), entry.IsDir()) {
				continue
			}
			name := dir + "/" + entry.Name()
			t := target{names: []string{name}}
			if u.links && entry.Type()&fs.ModeSymlink != 0 {
				t = e.locate(name, "/")
			}
			if entry.IsDir() && u.skips != nil {
				queue = append(queue, name) // not every file in it is read
				continue
			}
			if f := e.restricted("", false, t); f.verdict != Abstain {
				return f, true
			}
			switch {
			case entry.IsDir():
				queue = append(queue, name)
			case t.dir && !e.insideAll(t):
				if r := e.reachedBelow(t.real); r != nil {
					return byRule(Ask, r, "what the link "+name+" leads to"), true
				}
			}
		}
	}
	return finding{}, true
}

// grepSkips is what a search by grep leaves out because of --include: files with other names.
func grepSkips(a *args) func(name string, dir bool) bool {
	var only []string
	for _, f := range a.flags {
		switch {
		case f.name == "--exclude" || f.name == "--exclude-from":
			if len(only) == 0 {
				return nil // the first of them says what becomes of other names
			}
		case f.name == "--include" && f.value != nil:
			text, literal := f.value.Literal()
			if !literal || strings.ContainsAny(text, "[\\") {
				return nil
			}
			only = append(only, text)
		}
	}
	if len(only) == 0 || a.why != "" {
		return nil
	}
	return func(name string, dir bool) bool {
		return !dir && !slices.ContainsFunc(only, func(p string) bool { return globName(p, name) })
	}
}

// rgSkips is what rg leaves out by itself: names that begin with a dot, unless a flag may say otherwise. (So may a file with
// flags that the user's RIPGREP_CONFIG_PATH names: that is the user's own word.)
func rgSkips(a *args) func(name string, dir bool) bool {
	if a.why != "" || a.has("--hidden", "--unrestricted", "-u", "-g", "--glob", "--iglob", "--no-ignore") {
		return nil
	}
	return func(name string, _ bool) bool { return strings.HasPrefix(name, ".") }
}

// maybeFiles are the paths that a flag's value, or a word of a program that is not known, may name: as it is, behind an @
// or =, and between colons.
func maybeFiles(text string) []operand {
	var out []operand
	add := func(t string) {
		if t = strings.TrimLeft(t, "@<"); t != "" {
			out = append(out, operand{word: shell.Plain(t)})
		}
	}
	add(text)
	if _, value, ok := strings.Cut(text, "="); ok {
		add(value)
		text = value
	}
	for part := range strings.FieldsFuncSeq(text, func(r rune) bool { return strings.ContainsRune(":;,", r) }) {
		if part != text {
			add(part)
		}
	}
	return out
}

// gitShows are commands of git beyond those that only read which give out what it keeps, or copy it elsewhere.
var gitShows = map[string]bool{
	"archive": true, "format-patch": true, "fast-export": true, "bundle": true, "checkout-index": true, "difftool": true,
	"merge-tree": true, "merge-file": true, "unpack-file": true, "pack-objects": true, "send-email": true, "imap-send": true,
	"request-pull": true, "clone": true, "worktree": true, "upload-pack": true, "upload-archive": true, "http-backend": true, "daemon": true,
	"instaweb": true, "diff-pairs": true, "last-modified": true, "backfill": true,
}

// gitAgainst is how git's words are read against the rules for paths: whatever flags stand before its command, and also where
// the command does more than read.
func gitAgainst(words []shell.Word) usage {
	if plain, changed := gitPlain(words); changed {
		words = plain
	}
	u := programs()["git"].use(words)
	for _, o := range allOperands(words, false).reads {
		if text, literal := o.word.Literal(); literal {
			if _, file, ok := strings.Cut(text, ":"); ok && file != "" {
				u.maybe = append(u.maybe, operand{word: shell.Plain(file)})
			}
		}
	}
	if len(words) < 2 {
		return u
	}
	name, _ := words[1].Literal()
	if gitShows[name] && !u.contents.shows || name == "cat-file" && u.why != "" || name == "commit" && hasFlag(words, "--dry-run") {
		u.contents = contents{shows: true, objects: true}
	}
	return u
}

// gitChanges reports whether a command of git changes the files that its words name.
func gitChanges(words []shell.Word) bool {
	i := gitCommand(words)
	if i >= len(words) {
		return false
	}
	switch name, _ := words[i].Literal(); name {
	case "checkout", "restore", "mv", "rm", "clean", "stash":
		return true
	}
	return false
}

func hasFlag(words []shell.Word, flag string) bool {
	return slices.ContainsFunc(words, func(w shell.Word) bool { text, _ := w.Literal(); return text == flag })
}

// mayBeLinked notes that a path goes through a folder which is not there yet, where the script makes links.
func (s *shellCall) mayBeLinked(t target) bool {
	dir := parentDir(t.lexical)
	if !s.out.links || t.exists || dir == "" || s.confined() || s.env.locate(dir, "/").exists {
		return false
	}
	s.out.unsure = append(s.out.unsure, because(Ask, "unsure",
		dir+" is not there yet, and a link that the command makes may lead "+t.lexical+" to a file that a rule is about"))
	return true
}

// linksFirst reports whether the script makes a link: what is below a name that is not there yet may then be any file.
func (s *shellCall) linksFirst() bool {
	for i := range s.script.Commands {
		for _, l := range s.layers(&s.script.Commands[i]) {
			switch name, _ := l.words[0].Literal(); path.Base(name) {
			case "ln", "link", "mount", "bindfs":
				return true
			}
		}
	}
	return false
}
