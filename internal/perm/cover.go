package perm

import (
	"path"
	"strings"

	"lathe/internal/shell"
)

// cover asks what allows a command: the read-only programs, the mode, an allow rule.
func (s *shellCall) cover(c *shell.Command, layers []layer, at []string) {
	if c.Kind == shell.Group || c.Kind == shell.Simple && len(c.Words) == 0 && len(c.Assigns) == 0 {
		return // redirections alone are judged by themselves
	}
	f := s.coverage(c, layers, at)
	if f.verdict == Ask {
		if len(c.Words) > 0 && c.Kind == shell.Simple && f.source.Kind == "default" {
			s.want(layers)
		} else {
			s.out.noSuggest = true
		}
	}
	s.add(c.Text, f)
	for _, l := range layers {
		if name, _ := l.words[0].Literal(); path.Base(name) == "tee" {
			s.teeFiles(c, l, at)
		}
	}
}

func (s *shellCall) coverage(c *shell.Command, layers []layer, at []string) finding {
	why := "it is not a simple command"
	switch c.Kind {
	case shell.Test:
		if why = s.testClause(c, at); why == "" {
			return because(Allow, "readonly", "the test only looks")
		}
	case shell.Simple:
		var f finding
		if f, why = s.harmless(c, layers, at); f.verdict != Abstain {
			return f
		}
	case shell.Function:
		why = "a function can take the name of any program"
	}
	r, ruleWhy := s.allowedBy(c, layers)
	if r != nil {
		return byRule(Allow, r, "the part "+quoted(c.Text))
	}
	if ruleWhy != "" {
		why = ruleWhy
	}
	kind := "default"
	if c.Kind != shell.Simple || ruleWhy != "" {
		kind = "unparsed"
	}
	return because(Ask, kind, uncovered(c.Text)+why)
}

// harmless says that a command only reads, or is one of mode acceptEdits, with every path where it may be.
func (s *shellCall) harmless(c *shell.Command, layers []layer, at []string) (f finding, why string) {
	if len(layers) == 0 {
		return f, "it sets variables for later commands"
	}
	if why = unsafeAssigns(c.Assigns); why != "" {
		return f, why
	}
	if why = s.hereText(c); why != "" {
		return f, why
	}
	last := layers[0]
	for _, l := range layers {
		if l.plain {
			last = l
		}
	}
	for _, w := range last.words[0].Pieces {
		if w.Kind != shell.Lit {
			return f, "its program is not known"
		}
	}
	name, _ := last.words[0].Literal()
	if name == "cd" {
		return s.changesDir(c, at)
	}
	p, name := lookup(last.words)
	if p == nil {
		return f, "the program " + name + " is not known to only read"
	}
	if name == "git" && s.elsewhere(at) {
		return f, "git may run in another repository, whose settings can name programs"
	}
	if name == "git" {
		if runs := s.gitRuns(); runs != "" {
			return f, "git would run " + runs + ", and this repository is not trusted"
		}
	}
	if dir := s.planted(name, at); dir != "" {
		return f, name + " may be a program of " + dir + ", which is on the search path"
	}
	u := p.use(last.words)
	if why = s.usagePaths(c, &u, at); why != "" {
		return f, why
	}
	if u.why == "" {
		return because(Allow, "readonly", name+" with these words only reads"), ""
	}
	if u.edits && s.env.Mode == ModeAcceptEdits {
		return because(Allow, "mode", "the mode acceptEdits allows "+name+" in the working directories"), ""
	}
	return f, u.why
}

// hereText says why the text that a command is given on its input may hold a secret.
func (s *shellCall) hereText(c *shell.Command) (why string) {
	for _, r := range c.Redirs {
		if r.Kind != shell.RedirText {
			continue
		}
		for _, p := range r.Target.Pieces {
			if p.Kind == shell.Var || p.Kind == shell.Opaque {
				if _, why := s.piece(p, false); why != "" {
					return "its input " + strings.TrimPrefix(why, "it ")
				}
			}
		}
	}
	return ""
}

// usagePaths judges every path that a command names. why is empty when all may be touched.
func (s *shellCall) usagePaths(c *shell.Command, u *usage, at []string) (why string) {
	if u.here && len(u.reads) == 0 || u.gitDir != nil {
		if at == nil {
			return "its directory is not known"
		}
	}
	if u.gitDir != nil {
		list, problem := s.paths(*u.gitDir, at, len(c.Moves) == 0)
		if problem != "" || len(list) != 1 || s.env.locate(list[0], "/").real != s.env.common(s.env.Workspace.Cwd) {
			return "git may run in another repository, whose settings can name programs"
		}
	}
	deep, why := s.unnamed(&u.contents, at)
	if why != "" {
		return why
	}
	u.deep = u.deep || deep
	for _, o := range u.reads {
		if onlyProcIn(o.word) {
			continue
		}
		if why = s.mayTouch(c, o, at, false, u); why != "" {
			return why
		}
	}
	for _, o := range u.writes {
		if why = s.mayTouch(c, o, at, true, u); why != "" {
			return why
		}
	}
	if why = s.landings(c, u, at); why != "" {
		return why
	}
	if u.deep && len(u.reads) == 0 {
		for _, dir := range at {
			if why = s.deep(dir, u); why != "" {
				return why
			}
		}
	}
	return ""
}

func (s *shellCall) mayTouch(c *shell.Command, o operand, at []string, write bool, u *usage) (why string) {
	list, why := s.paths(o.word, at, len(c.Moves) == 0)
	if why != "" {
		return why
	}
	glob := o.word.Has(shell.Glob)
	for _, name := range list {
		t := s.env.locate(name, "/")
		if glob && startsAsFlag(o.word, name, at) {
			return "a file name could become a flag"
		}
		a := access{path: name, write: write, list: o.list}
		var f finding
		if write && s.env.Mode != ModeAcceptEdits {
			f = s.env.guarded(a, t)
			if f.verdict == Abstain && !s.env.insideAll(t) {
				f = because(Ask, "path", t.lexical+" is outside the working directories")
			}
		} else {
			f = s.env.judge("", a, t)
		}
		if f.verdict == Deny || f.verdict == Ask {
			return f.reason
		}
		if u.deep && t.dir {
			if why = s.deep(t.real, u); why != "" {
				return why
			}
		}
	}
	return ""
}

// startsAsFlag says that a match of a pattern, as the shell passes it on, begins with a dash that no one wrote.
func startsAsFlag(w shell.Word, name string, at []string) bool {
	for _, p := range w.Pieces {
		if p.Kind == shell.Glob {
			break
		}
		if p.Kind != shell.Lit || p.Text != "" {
			return false
		}
	}
	for _, dir := range at {
		if rest, below := strings.CutPrefix(name, dir+"/"); below && strings.HasPrefix(rest, "-") {
			return true
		}
	}
	return false
}

func (s *shellCall) deep(dir string, u *usage) (why string) {
	if keys := s.env.keysBelow(dir, u.skips); keys != "" {
		return "it reads everything below " + dir + ", and " + keys + " may hold keys"
	}
	f, ok := s.env.below(dir, u.links, &s.out.looks)
	if !ok {
		return "there is too much below " + dir + " to look for files that may not be read"
	}
	if f.verdict != Abstain {
		return "it reads everything below " + dir + ", and " + f.reason
	}
	return ""
}

// changesDir covers cd to a directory that may be read.
func (s *shellCall) changesDir(c *shell.Command, at []string) (f finding, why string) {
	if at == nil {
		return f, "its directory is not known"
	}
	for _, dir := range at {
		to, ok := s.cdTarget(c, dir)
		if !ok {
			return f, "the directory that it changes to is not known"
		}
		if f = s.env.path("", access{path: to, list: true}); f.verdict != Allow {
			s.out.reads = append(s.out.reads, to)
			return finding{}, f.reason
		}
	}
	if f.source.Kind == "rule" {
		return f, ""
	}
	return because(Allow, "readonly", "cd stays inside the working directories"), ""
}

// testClause admits [[ … ]] that compares text and looks at files.
func (s *shellCall) testClause(c *shell.Command, at []string) (why string) {
	for i, w := range c.Words {
		text, literal := w.Literal()
		if literal {
			switch text {
			case "-eq", "-ne", "-lt", "-le", "-gt", "-ge", "-v", "-R", "-o", "-t":
				return "it evaluates arithmetic or looks at variables"
			case "-a", "-b", "-c", "-d", "-e", "-f", "-g", "-h", "-k", "-p", "-r", "-s", "-u", "-w", "-x", "-L", "-N", "-O", "-G", "-S", "-nt", "-ot", "-ef":
				u := usage{}
				for _, j := range []int{i - 1, i + 1} {
					if j >= 0 && j < len(c.Words) && (j > i || len(text) == 3) {
						u.reads = append(u.reads, operand{word: c.Words[j], list: true})
					}
				}
				if why = s.usagePaths(c, &u, at); why != "" {
					return why
				}
			}
			continue
		}
		if w.Has(shell.Opaque) || w.Has(shell.ProcOut) {
			return "a word of the test expands"
		}
	}
	return ""
}
