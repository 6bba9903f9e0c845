package perm

import (
	"lathe/internal/shell"
)

// redirects judges the files that redirections open.
func (s *shellCall) redirects(c *shell.Command, at []string, cover bool) {
	for _, r := range c.Redirs {
		switch r.Kind {
		case shell.RedirText:
			s.inputText(c, r, cover)
			continue
		case shell.RedirDup:
			continue
		case shell.RedirUnsure:
			s.out.noSuggest = true
			s.out.guard = append(s.out.guard, because(Ask, "unparsed", "shells read the redirection "+r.Text+" differently"))
			continue
		}
		write := r.Kind == shell.RedirWrite
		if name, ok := r.Target.Literal(); ok && (name == "/dev/null" || write && (name == "/dev/stdout" || name == "/dev/stderr")) {
			s.add(r.Text, because(Allow, "readonly", "no file is opened"))
			continue
		}
		if onlyProcIn(r.Target) && !write {
			continue
		}
		s.redirect(c, r, at, write, cover)
	}
}

func (s *shellCall) redirect(c *shell.Command, r shell.Redir, at []string, write, cover bool) {
	f := finding{}
	list, why := s.paths(r.Target, at, len(c.Moves) == 0)
	if why == "" && write && (r.Target.Has(shell.Glob) || r.Target.Has(shell.Tilde)) {
		why = "it has a pattern or a tilde"
	}
	if why != "" && len(list) == 0 && s.everything() && !s.restrictsPaths() {
		f = because(Allow, "default", "a rule for all commands covers the file of "+r.Text)
	} else if why != "" {
		f = because(Ask, "path", "the file of "+r.Text+" cannot be told: "+why)
		if len(list) == 0 && s.restrictsPaths() && !s.confined() {
			s.out.unsure = append(s.out.unsure, f)
		}
	}
	for _, name := range list {
		t := s.env.locate(name, "/")
		s.mayBeLinked(t)
		g := s.env.judge("", access{path: name, write: write}, t)
		if s.env.Mode == ModePlan && g.verdict == Deny && s.env.restricted("", write, t).verdict != Deny {
			g.verdict = Ask
		}
		switch {
		case g.verdict == Ask && g.source.Kind == "rule":
			s.out.ask = append(s.out.ask, g)
		case g.source.Kind == "protected":
			s.out.guard = append(s.out.guard, g)
		case g.verdict == Ask && (!write || g.source.Kind == "default") && s.everything():
			g.verdict = Allow
		}
		if f.verdict == Abstain || g.verdict > f.verdict {
			f = g
		}
	}
	if f.verdict == Ask {
		s.out.noSuggest = true
	}
	if cover || f.verdict == Deny {
		s.add(r.Text, f)
	}
}

// everything says that an allow rule for all commands is in force, which also covers what they read and write.
func (s *shellCall) everything() bool {
	r, _ := s.allowedBy(&shell.Command{Kind: shell.Group}, nil)
	return r != nil
}

// inputText notes that the text on a compound command's input may expand to a secret.
func (s *shellCall) inputText(c *shell.Command, r shell.Redir, cover bool) {
	if c.Kind != shell.Group || !cover {
		return
	}
	if why := s.hereText(c); why != "" && !s.everything() {
		s.add(r.Text, because(Ask, "unparsed", why))
	}
}

// teeFiles judges the files that tee writes like those of a redirection: a rule for the command does not cover them.
func (s *shellCall) teeFiles(c *shell.Command, l layer, at []string) {
	for _, o := range allOperands(l.words, true).writes {
		if name, ok := o.word.Literal(); ok && name == "/dev/null" {
			continue
		}
		s.redirect(c, shell.Redir{Text: "tee " + o.word.Text, Target: o.word}, at, true, true)
	}
}
