package perm

import (
	"path"
	"strings"

	"lathe/internal/shell"
)

// pathsAgainst applies what speaks against the paths of a command: deny and ask rules, and for what is written the
// protected paths, which no rule for a command opens. For programs that are not known, a word that names a denied
// file asks.
func (s *shellCall) pathsAgainst(c *shell.Command, l layer, at []string) {
	name, literal := l.words[0].Literal()
	if !literal {
		return
	}
	if base := path.Base(name); (base == "git" || base == "docker") && s.restrictsPaths() {
		all := allOperands(l.words, false)
		if gitChanges(l.words) {
			for _, o := range all.reads {
				s.operandAgainst(c, o, at, true, false)
			}
		}
		for _, o := range append(all.reads, all.maybe...) {
			s.operandAgainst(c, o, at, false, false)
		}
	}
	p := programs()[path.Base(name)]
	var u usage
	switch {
	case path.Base(name) == "git":
		u = gitAgainst(l.words)
	case p != nil:
		u = p.use(l.words)
	case writesOperands(path.Base(name)):
		u = allOperands(l.words, true)
	case s.restrictsPaths():
		u = allOperands(l.words, false)
	}
	for _, o := range u.reads {
		s.operandAgainst(c, o, at, false, p != nil || writesOperands(path.Base(name)))
	}
	for _, o := range u.maybe {
		s.operandAgainst(c, o, at, false, false)
	}
	for _, o := range u.writes {
		s.operandAgainst(c, o, at, true, true)
	}
	if p != nil {
		s.beneathAgainst(c, &u, at)
	}
	for _, src := range u.lands {
		list, _ := s.paths(src.word, at, len(c.Moves) == 0) // unknown names are not covered anyway
		for _, name := range list {
			s.operandAgainst(c, operand{word: appended(u.into, "/"+lastSegment(name))}, at, true, true)
		}
	}
}

func (s *shellCall) restrictsPaths() bool {
	r := s.env.Rules
	return r != nil && len(r.read[Deny])+len(r.read[Ask])+len(r.edit[Deny])+len(r.edit[Ask]) > 0
}

// writesOperands lists more programs whose operands are written, as far as guarding goes.
func writesOperands(name string) bool {
	switch name {
	case "tee", "ln", "install", "truncate", "chmod", "chown", "chgrp", "shred", "unlink", "link", "rsync", "patch", "mkfifo", "mknod",
		"sponge", "dd", "scp":
		return true
	}
	return false
}

// allOperands takes every word that is no flag, and the value of every flag, for a path.
func allOperands(words []shell.Word, write bool) (u usage) {
	for _, w := range words[1:] {
		text, literal := w.Literal()
		if file, ok := strings.CutPrefix(text, "@"); ok {
			w = shell.Plain(file)
		} else if literal && strings.HasPrefix(text, "-") {
			if !write && len(text) > 2 {
				u.maybe = append(u.maybe, maybeFiles(text[2:])...)
			}
			_, value, ok := strings.Cut(text, "=")
			if !ok {
				continue
			}
			w = shell.Plain(value)
		} else if literal && !write && strings.ContainsAny(text, ":=,;@<") {
			u.maybe = append(u.maybe, maybeFiles(text)...)
		} else if literal && strings.Contains(text, "=") && lastSegment(text) != "" {
			_, value, _ := strings.Cut(text, "=")
			w = shell.Plain(value)
		}
		if write {
			u.writes = append(u.writes, operand{word: w})
		} else {
			u.reads = append(u.reads, operand{word: w})
		}
	}
	return u
}

func (s *shellCall) operandAgainst(c *shell.Command, o operand, at []string, write, sure bool) {
	if !write && !s.restrictsPaths() && !s.env.BlockOutsideReads && !mayHoldKeys(o.word) {
		return
	}
	list, why := s.paths(o.word, at, len(c.Moves) == 0)
	if why != "" {
		_, literal := o.word.Literal()
		if (sure || literal) && s.restrictsPaths() && !onlyProcIn(o.word) && !s.confined() {
			s.out.unsure = append(s.out.unsure, because(Ask, "unsure",
				"the path "+o.word.Text+" cannot be compared with the rules for paths: "+why))
		}
		return // else it is covered by no default, and a rule for the command decides
	}
	for _, name := range list {
		t := s.env.locate(name, "/")
		f := s.env.restricted("", write, t)
		if f.verdict == Abstain && !write && s.env.BlockOutsideReads && sure && !s.env.insideAll(t) {
			f = because(Ask, "path", t.lexical+" is outside the working directories, and reads there always ask")
		}
		if f.verdict == Abstain && s.mayBeLinked(t) {
			return
		}
		switch {
		case f.verdict == Deny && sure:
			s.add(c.Text, f)
			continue
		case f.verdict != Abstain:
			f.verdict = Ask
			s.out.ask = append(s.out.ask, f)
			continue
		}
		g := s.env.guarded(access{write: write}, t)
		if g.verdict == Abstain && write && sure {
			g = s.env.startupFinding("", t)
		}
		if g.source.Kind == "protected" {
			s.out.noSuggest = true
			s.out.guard = append(s.out.guard, g)
		}
	}
}

func mayHoldKeys(w shell.Word) bool {
	return strings.Contains(w.Text, ".claude") || strings.Contains(w.Text, ".lathe") || w.Has(shell.Glob)
}
